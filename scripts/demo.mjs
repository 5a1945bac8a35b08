/**
 * `npm run demo`: Floe on a free port with a temporary state; 100,000 events from several clients,
 * a new column on the way, then the table as an independent reader sees it. Stops by itself, with
 * exit code 1 when what is read is not what was sent.
 *
 * DEMO_EVENTS  events to send, default 100000
 */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { demoEvent } from './demo-events.mjs';
import { READER, readTable } from './demo-readback.mjs';
import { StartError, startLocalRuntime } from './local-runtime.mjs';

const EVENTS_DEFAULT = 100_000;
const BATCH_EVENTS = 2000;
const CLIENTS = 4;
/** The stream is committed in so many parts; the new column comes in the middle of one. */
const COMMITS = 5;
const NAMESPACE = 'demo';
const TABLE = 'events';

try {
  process.exitCode = (await main()) ? 0 : 1;
} catch (error) {
  console.error(`\n${error instanceof StartError ? error.message : (error.stack ?? error)}\n`);
  process.exitCode = 1;
}
// Whatever a runtime that failed to stop has left open must not keep the demo alive.
process.exit();

async function main() {
  const eventCount = Number(process.env['DEMO_EVENTS'] || EVENTS_DEFAULT);
  const stateDir = await mkdtemp(join(tmpdir(), 'floe-demo-'));
  const watch = stopwatch();
  let runtime = null;
  try {
    runtime = await startLocalRuntime({
      port: 0,
      stateDir,
      vars: { LOG_LEVEL: 'warn' },
      onLog: (line) => console.error(line),
    });
    console.log(`Floe runs at ${runtime.origin} (started in ${watch()} s)`);
    return await demonstrate(runtime, eventCount);
  } finally {
    await runtime?.stop();
    await rm(stateDir, { recursive: true, force: true });
  }
}

async function demonstrate(runtime, eventCount) {
  const campaignFrom = Math.floor(eventCount / 2);
  const ingestWatch = stopwatch();
  const sent = emptySums();
  const progress = progressLine(eventCount);
  for (let part = 0; part < COMMITS; part += 1) {
    const [first, end] = [part, part + 1].map((n) => Math.floor((eventCount * n) / COMMITS));
    await sendEvents(runtime.origin, { first, end, campaignFrom }, sent, progress);
    await flush(runtime.origin);
  }
  progress.end();
  const committedSeconds = ingestWatch();
  console.log(`Committed ${format(sent.count)} rows; reading them back with ${READER} …`);
  const readWatch = stopwatch();
  const { rows } = await readTable(runtime, NAMESPACE, TABLE);
  const readSeconds = readWatch();
  const got = sumUp(rows);
  await printTable(runtime.origin);
  console.log(`
  sent and committed  ${committedSeconds} s   ${perSecond(sent.count, committedSeconds)} rows/s
  read back           ${readSeconds} s   ${perSecond(got.count, readSeconds)} rows/s   (${READER})
`);
  return compare(sent, got);
}

/** Clients that each take the next batch until all are sent; `sums` takes what was sent. */
async function sendEvents(origin, { first, end, campaignFrom }, sums, progress) {
  let nextId = first;
  const client = async () => {
    while (nextId < end) {
      const batchFirst = nextId;
      nextId = Math.min(batchFirst + BATCH_EVENTS, end);
      const events = Array.from({ length: nextId - batchFirst }, (_, index) =>
        demoEvent(batchFirst + index, campaignFrom),
      );
      await post(origin, events);
      for (const event of events) addTo(sums, event);
      progress(sums.count);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
}

/** Repeats with the same key while the answer is "slow down": rows arrive once all the same. */
async function post(origin, events) {
  const key = `demo-${events[0].id}`;
  const body = events.map((event) => JSON.stringify(event)).join('\n');
  for (;;) {
    const response = await fetch(`${origin}/ingest/${NAMESPACE}/${TABLE}`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-ndjson', 'idempotency-key': key },
      body,
    });
    const answer = await response.json();
    if (response.status === 429 || response.status === 503) {
      const seconds = Number(response.headers.get('retry-after') ?? 1);
      await new Promise((done) => setTimeout(done, seconds * 1000));
      continue;
    }
    if (!response.ok) throw new Error(`${response.status} ${JSON.stringify(answer)}`);
    const { rows, errors } = answer;
    if (rows.accepted !== events.length) {
      throw new Error(`only ${rows.accepted} of ${events.length} rows: ${JSON.stringify(errors)}`);
    }
    return;
  }
}

async function flush(origin) {
  const response = await fetch(`${origin}/tables/${NAMESPACE}/${TABLE}/flush`, { method: 'POST' });
  if (!response.ok) throw new Error(`flush: ${response.status} ${await response.text()}`);
}

async function printTable(origin) {
  const address = `${origin}/tables/${NAMESPACE}/${TABLE}`;
  const table = await (await fetch(address)).json();
  const { snapshots } = await (await fetch(`${address}/snapshots`)).json();
  const columns = table.schema.fields.map(({ name }) => name).join(', ');
  console.log(`
Table ${table.namespace}.${table.name}
  columns     ${columns}
  rows        ${format(table.totals.rows)}
  files       ${format(table.totals.dataFiles)}  (${megabytes(table.totals.bytes)} MB)
  location    ${table.location}

  ${'snapshot'.padEnd(20)} ${'at'.padEnd(24)} ${'operation'.padEnd(9)} ${'added'.padStart(9)} ${'total'.padStart(9)} ${'files'.padStart(5)}`);
  for (const { snapshotId, timestampMs, operation, summary } of snapshots) {
    const at = new Date(timestampMs).toISOString();
    const added = format(summary['added-records']).padStart(9);
    const total = format(summary['total-records']).padStart(9);
    const files = format(summary['total-data-files']).padStart(5);
    console.log(
      `  ${snapshotId.padEnd(20)} ${at} ${operation.padEnd(9)} ${added} ${total} ${files}`,
    );
  }
}

function emptySums() {
  return { count: 0, ids: new Set(), amountCents: 0, durationTenths: 0, tags: 0, campaigns: 0 };
}

/** Takes 64-bit columns as the reader gives them, as `bigint`. */
function addTo(sums, event) {
  sums.count += 1;
  sums.ids.add(Number(event.id));
  sums.amountCents += Number(event.amount_cents);
  sums.durationTenths += Math.round(event.duration_ms * 10);
  sums.tags += event.tags?.length ?? 0;
  sums.campaigns += (event.campaign ?? null) === null ? 0 : 1;
}

function sumUp(rows) {
  const sums = emptySums();
  for (const row of rows) addTo(sums, row);
  return sums;
}

function compare(sent, got) {
  let isEqual = true;
  for (const key of Object.keys(sent)) {
    const [expected, actual] = [sent[key], got[key]].map((value) =>
      value instanceof Set ? value.size : value,
    );
    const isSame = expected === actual;
    isEqual &&= isSame;
    const label = key === 'ids' ? 'unique ids' : key;
    console.log(
      `  ${isSame ? 'same ' : 'DIFFERENT'} ${label.padEnd(15)} ${format(expected)}${isSame ? '' : ` sent, ${format(actual)} read`}`,
    );
  }
  console.log(isEqual ? '\nEvery row that was sent is in the table, once.' : '\nMISMATCH');
  return isEqual;
}

function progressLine(total) {
  const isTerminal = process.stdout.isTTY === true;
  let shownTenths = -1;
  const show = (done) => {
    const tenths = Math.floor((done / total) * (isTerminal ? 100 : 10));
    if (tenths === shownTenths) return;
    shownTenths = tenths;
    const text = `Sent ${format(done)} of ${format(total)} events, durable`;
    if (isTerminal) process.stdout.write(`\r${text}`);
    else console.log(text);
  };
  show.end = () => {
    if (isTerminal) process.stdout.write('\n');
  };
  return show;
}

/** Seconds since it was made, with two digits. */
function stopwatch() {
  const startedMs = performance.now();
  return () => ((performance.now() - startedMs) / 1000).toFixed(2);
}

function perSecond(count, seconds) {
  return format(Math.round(count / Number(seconds))).padStart(9);
}

function megabytes(bytes) {
  return (Number(bytes) / 1e6).toFixed(1);
}

function format(number) {
  return Number(number ?? 0).toLocaleString('en-US');
}
