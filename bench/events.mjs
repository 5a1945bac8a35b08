/**
 * Deterministic web events for benchmarks: 12 columns, about 300 bytes a row. The same seed gives the same
 * bytes on every machine.
 */

const EVENT_TYPES = [
  'page_view',
  'click',
  'scroll',
  'search',
  'add_to_cart',
  'remove_from_cart',
  'checkout',
  'purchase',
  'login',
  'logout',
  'share',
  'error',
];
const COUNTRIES = ['US', 'DE', 'PL', 'FR', 'GB', 'JP', 'BR', 'IN', 'CA', 'ES', 'IT', 'NL', 'SE'];
const DEVICES = ['desktop', 'mobile', 'tablet', 'tv'];
const SECTIONS = ['products', 'articles', 'help', 'account', 'search', 'collections'];
const REFERRERS = [
  'https://www.google.com/',
  'https://duckduckgo.com/',
  'https://news.ycombinator.com/',
  'https://www.bing.com/',
];
/** 2026-01-01T00:00:00Z */
const START_MS = 1_767_225_600_000;

/** The table the events belong to; `ts` is declared, the rest is what inference would find. */
export const EVENTS_SCHEMA = {
  schemaId: 0,
  identifierFieldIds: [],
  fields: [
    field(1, 'event_id', 'string'),
    field(2, 'ts', 'timestamptz'),
    field(3, 'user_id', 'long'),
    field(4, 'session', 'string'),
    field(5, 'event_type', 'string'),
    field(6, 'url', 'string'),
    field(7, 'referrer', 'string'),
    field(8, 'country', 'string'),
    field(9, 'device', 'string'),
    field(10, 'duration_ms', 'long'),
    field(11, 'price', 'double'),
    field(12, 'ok', 'boolean'),
  ],
};

function field(id, name, type) {
  return { id, name, required: false, type: { type } };
}

/** xorshift128 of Marsaglia: small, quick, and the same everywhere. */
class Random {
  #a;
  #b = 362436069;
  #c = 521288629;
  #d = 88675123;

  constructor(seed) {
    this.#a = seed >>> 0 || 1;
    for (let index = 0; index < 16; index += 1) this.next();
  }

  /** 0 ≤ n < 2^32 */
  next() {
    const mixed = this.#a ^ (this.#a << 11);
    this.#a = this.#b;
    this.#b = this.#c;
    this.#c = this.#d;
    this.#d = (this.#d ^ (this.#d >>> 19) ^ mixed ^ (mixed >>> 8)) >>> 0;
    return this.#d;
  }

  below(limit) {
    return this.next() % limit;
  }

  of(list) {
    return list[this.below(list.length)];
  }

  hex(digits) {
    let text = '';
    while (text.length < digits) text += this.next().toString(16).padStart(8, '0');
    return text.slice(0, digits);
  }
}

/** One event a call, in the order of time. */
export function createEventSource(seed = 1) {
  const random = new Random(seed);
  let micros = 0;
  return () => {
    micros += random.below(40_000);
    const ms = START_MS + Math.floor(micros / 1000);
    const ts = `${new Date(ms).toISOString().slice(0, -1)}${String(micros % 1000).padStart(3, '0')}Z`;
    const type = random.of(EVENT_TYPES);
    const userId = random.below(200_000);
    const id = random.hex(30);
    return {
      event_id: `${id.slice(0, 8)}-${id.slice(8, 12)}-4${id.slice(12, 15)}-a${id.slice(15, 18)}-${id.slice(18, 30)}`,
      ts,
      user_id: userId,
      session: `s-${userId.toString(36)}-${random.below(20).toString(36)}`,
      event_type: type,
      url: `https://shop.example.com/${random.of(SECTIONS)}/${random.below(5000)}?page=${random.below(30)}`,
      referrer: random.below(3) === 0 ? null : random.of(REFERRERS),
      country: random.of(COUNTRIES),
      device: random.of(DEVICES),
      duration_ms: random.below(60_000),
      price: random.below(4) === 0 ? random.below(50_000) / 100 : null,
      ok: random.below(50) !== 0,
    };
  };
}

/** NDJSON in chunks of about `chunkBytes`. */
export function* ndjsonChunks(rows, { seed = 1, chunkBytes = 1 << 20 } = {}) {
  const next = createEventSource(seed);
  let lines = [];
  let bytes = 0;
  for (let row = 0; row < rows; row += 1) {
    const line = `${JSON.stringify(next())}\n`;
    lines.push(line);
    bytes += line.length;
    if (bytes >= chunkBytes) {
      yield Buffer.from(lines.join(''));
      lines = [];
      bytes = 0;
    }
  }
  if (lines.length > 0) yield Buffer.from(lines.join(''));
}
