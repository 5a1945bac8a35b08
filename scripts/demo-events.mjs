/** Events of a web shop, the same ones in every run: seeded, nested, with gaps, and realistic sizes. */

const PATHS = ['/', '/search', '/item', '/cart', '/checkout', '/account', '/help'];
const KINDS = ['view', 'view', 'view', 'click', 'click', 'add_to_cart', 'purchase'];
const COUNTRIES = ['DE', 'PL', 'FR', 'US', 'JP', 'BR', 'IN', 'SE'];
const AGENTS = ['Firefox 144', 'Chrome 141', 'Safari 26', 'Edge 141'];
const TAGS = ['new', 'sale', 'returning', 'mobile', 'żółty', '新着'];
const CAMPAIGNS = ['winter', 'newsletter', 'referral'];
const EPOCH_MS = Date.UTC(2026, 10, 1);

/**
 * Event number `id`, from 0. From `campaignFrom` on some events have the column `campaign`, which the
 * events before have not.
 */
export function demoEvent(id, campaignFrom) {
  const random = randomOf(id);
  const kind = pick(KINDS, random);
  const event = {
    id,
    at: new Date(EPOCH_MS + id * 137).toISOString(),
    kind,
    user_id: Math.floor(random() * 20_000),
    session: `s-${Math.floor(random() * 1e9).toString(36)}`,
    path: pick(PATHS, random),
    duration_ms: Math.round(random() * 90_000) / 10,
    is_member: random() < 0.4,
    amount_cents: kind === 'purchase' ? 100 + Math.floor(random() * 50_000) : 0,
    client: { country: pick(COUNTRIES, random), agent: pick(AGENTS, random) },
    tags: TAGS.filter(() => random() < 0.2),
  };
  if (random() < 0.3) event.referrer = `https://example.org/${Math.floor(random() * 500)}`;
  if (id >= campaignFrom && random() < 0.5) event.campaign = pick(CAMPAIGNS, random);
  return event;
}

function pick(list, random) {
  return list[Math.floor(random() * list.length)];
}

/** A small generator (mulberry32) whose seed is the event's number. */
function randomOf(seed) {
  let state = (seed + 1) * 0x9e3779b1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
