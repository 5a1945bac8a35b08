/**
 * From a POST to *durable*, through `npm start` on this machine: the clients, the runtime's proxy, the
 * Worker and its Durable Objects share the cores. `/healthz` beside it shows what the runtime itself
 * answers, which bounds everything else.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createEventSource, ndjsonChunks } from './events.mjs';
import { startServer } from './local-server.mjs';

const LARGE_CLIENTS = 8;
const LARGE_ROWS = 300_000;
const SMALL_ROWS = 100;
const SMALL_REQUESTS = 300;
const FRESH_STARTS = 5;
const HEALTH_REQUESTS = 2000;
const NDJSON = { 'content-type': 'application/x-ndjson' };

/** Rows a second in 1 MB batches from 8 clients, and the latency of a small batch. */
export async function runHttpBench() {
  return withState(async (stateDir) => {
    const server = await startServer(stateDir);
    try {
      const client = createClient(server.port);
      await client.post('/ingest/bench/small?wait=committed', smallBatch(0));
      const health = await requestsPerSecond(client);
      const small = await smallLatency(client);
      const large = await largeThroughput(client);
      client.close();
      return { ...large, ...small, healthRequestsPerSecond: health };
    } finally {
      await server.stop();
    }
  });
}

/** The first batch that a freshly started runtime gets, of a table that exists; milliseconds. */
export async function runStartBench() {
  return withState(async (stateDir) => {
    const firstMs = [];
    const secondMs = [];
    for (let start = 0; start <= FRESH_STARTS; start += 1) {
      const server = await startServer(stateDir);
      const client = createClient(server.port);
      try {
        const first = await timed(() => client.post('/ingest/bench/first', smallBatch(start)));
        const second = await timed(() => client.post('/ingest/bench/first', smallBatch(start)));
        await client.post('/tables/bench/first/flush', Buffer.alloc(0));
        // The very first start makes the table; it is another thing to measure.
        if (start === 0) continue;
        firstMs.push(first);
        secondMs.push(second);
      } finally {
        client.close();
        await server.stop();
      }
    }
    return { firstBatchMs: quantile(firstMs, 0.5), secondBatchMs: quantile(secondMs, 0.5) };
  });
}

async function largeThroughput(client) {
  const batches = [...ndjsonChunks(LARGE_ROWS, { seed: 7 })];
  const bytes = batches.reduce((sum, batch) => sum + batch.length, 0);
  await client.post('/ingest/bench/large?wait=committed', batches[0]);
  let next = 0;
  let rows = 0;
  const started = performance.now();
  await Promise.all(
    Array.from({ length: LARGE_CLIENTS }, async () => {
      while (next < batches.length) {
        const batch = batches[next];
        next += 1;
        const receipt = await client.post('/ingest/bench/large', batch);
        rows += receipt.rows.accepted;
      }
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  if (rows !== LARGE_ROWS) throw new Error(`${rows} of ${LARGE_ROWS} rows were accepted`);
  return {
    durableRowsPerSecond: Math.round(rows / seconds),
    durableMegabytesPerSecond: Number((bytes / 1e6 / seconds).toFixed(1)),
  };
}

async function smallLatency(client) {
  const times = [];
  for (let index = 0; index < SMALL_REQUESTS; index += 1) {
    const batch = smallBatch(index + 1);
    times.push(await timed(() => client.post('/ingest/bench/small', batch)));
  }
  return { smallBatchMsMedian: quantile(times, 0.5), smallBatchMsP99: quantile(times, 0.99) };
}

async function requestsPerSecond(client) {
  let left = HEALTH_REQUESTS;
  const seconds = await timed(() =>
    Promise.all(
      Array.from({ length: LARGE_CLIENTS }, async () => {
        while (left > 0) {
          left -= 1;
          await client.get('/healthz');
        }
      }),
    ),
  );
  return Math.round(HEALTH_REQUESTS / (seconds / 1000));
}

function smallBatch(seed) {
  const next = createEventSource(seed + 1);
  const lines = Array.from({ length: SMALL_ROWS }, () => JSON.stringify(next()));
  return Buffer.from(lines.join('\n'));
}

function createClient(port) {
  const agent = new Agent({ keepAlive: true, maxSockets: LARGE_CLIENTS });
  const send = (method, path, body) =>
    new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, method, path, agent, headers: NDJSON };
      const outgoing = request(options, (response) => {
        const parts = [];
        response.on('data', (part) => parts.push(part));
        response.on('end', () => {
          const text = Buffer.concat(parts).toString();
          if (response.statusCode === 200) resolve(text === '' ? null : JSON.parse(text));
          else reject(new Error(`${method} ${path}: ${response.statusCode} ${text.slice(0, 300)}`));
        });
      });
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  return {
    post: (path, body) => send('POST', path, body),
    get: (path) => send('GET', path),
    close: () => agent.destroy(),
  };
}

async function timed(action) {
  const started = performance.now();
  await action();
  return performance.now() - started;
}

function quantile(values, q) {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))];
  return Number(value.toFixed(1));
}

async function withState(action) {
  const stateDir = mkdtempSync(join(tmpdir(), 'floe-bench-'));
  try {
    return await action(stateDir);
  } finally {
    rmSync(stateDir, { recursive: true, force: true });
  }
}
