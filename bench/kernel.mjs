/**
 * The kernel against its peers: NDJSON in, zstd Parquet out; and against itself: Arrow in, files by partition.
 *
 * All figures are of CPU time. What is compared is that of the whole process, with compiling and collecting garbage,
 * for everybody alike: Python's peers have no other. Of JavaScript's the working thread alone is printed beside it.
 * Each run is a process of its own; runs are interleaved, so that a busy machine slows everybody alike; the median
 * counts.
 */

import { execFile } from 'node:child_process';
import { closeSync, existsSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import { ndjsonChunks } from './events.mjs';

const run = promisify(execFile);
const here = import.meta.dirname;

/**
 * @param {object} [options]
 * @param {number} [options.rows] events, 1,000,000 by default
 * @param {number} [options.runs] runs a peer, 3 by default
 * @param {number} [options.level] zstd level of all that let it be set, 1 by default
 * @param {string} [options.python] an interpreter with pyarrow and duckdb; found by itself where it can be
 * @param {(line: string) => void} [options.log]
 * @returns figures; a ratio is ours over theirs in rows per CPU-second, null where a peer could not run
 */
export async function runKernelBench(options = {}) {
  const { rows = 1_000_000, runs = 3, level = 1, log = console.log } = options;
  const python = options.python ?? findPython();
  const folder = mkdtempSync(path.join(tmpdir(), 'floe-bench-'));
  try {
    const input = path.join(folder, 'events.ndjson');
    writeEvents(input, rows);
    const arrowInput = path.join(folder, 'events.arrows');
    await run(process.execPath, [path.join(here, 'kernel-peer.mjs'), 'toArrow', input, arrowInput]);
    log(`kernel: ${rows} events, ${megabytes(statSync(input).size)} MB of NDJSON, zstd ${level}`);
    const results = new Map();
    for (let round = 1; round <= runs; round += 1) {
      for (const peer of PEERS) {
        const from = peer.isFromArrow ? arrowInput : input;
        const result = await runPeer(peer, { python, folder, input: from, level, log });
        if (result !== null) results.set(peer.name, [...(results.get(peer.name) ?? []), result]);
      }
      log(`kernel: round ${round} of ${runs} done`);
    }
    return summarize(results, rows, log);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const PEERS = [
  { name: 'floe', label: 'Floe kernel' },
  { name: 'floeArrow', label: 'Floe kernel, from an Arrow stream', isFromArrow: true },
  { name: 'floePartitioned', label: 'Floe kernel, by day(ts), bucket(16, user_id)' },
  { name: 'floeThousand', label: 'Floe kernel, by bucket(1000, user_id)' },
  { name: 'parquetWasmBuilders', label: 'JSON.parse + apache-arrow builders + parquet-wasm' },
  { name: 'parquetWasmTyped', label: 'JSON.parse + typed arrays + parquet-wasm' },
  { name: 'pyarrow', label: 'pyarrow read_json + write_table', isPython: true },
  { name: 'duckdb', label: 'DuckDB read_json + COPY', isPython: true },
];

function writeEvents(file, rows) {
  const descriptor = openSync(file, 'w');
  for (const chunk of ndjsonChunks(rows)) writeSync(descriptor, chunk);
  closeSync(descriptor);
}

async function runPeer(peer, { python, folder, input, level, log }) {
  const output = path.join(folder, `${peer.name}.parquet`);
  const values = [peer.name, input, output, String(level)];
  if (peer.isPython && python === null) return null;
  const command = peer.isPython ? python : process.execPath;
  const script = path.join(here, peer.isPython ? 'peers.py' : 'kernel-peer.mjs');
  try {
    const { stdout } = await run(command, [script, ...values], { maxBuffer: 1 << 24 });
    return JSON.parse(stdout.trim().split('\n').at(-1));
  } catch (error) {
    log(`kernel: ${peer.label} could not run: ${error.message.split('\n').slice(0, 3).join(' ')}`);
    return null;
  }
}

/** `FLOE_PYTHON`, or what the interoperability tests have installed. */
function findPython() {
  const candidates = [
    process.env.FLOE_PYTHON,
    path.join(homedir(), '.cache/floe-rig/python/bin/python'),
  ];
  return candidates.find((candidate) => candidate !== undefined && existsSync(candidate)) ?? null;
}

function summarize(results, rows, log) {
  const figures = new Map();
  for (const [name, list] of results) {
    if (list.some((result) => result.rows !== rows)) throw new Error(`${name} lost rows`);
    const processCpuSeconds = median(
      list.map((result) => result.processCpuSeconds ?? result.cpuSeconds),
    );
    figures.set(name, {
      ...list[0],
      // Python's peers have one figure.
      threadCpuSeconds:
        list[0].processCpuSeconds === undefined
          ? null
          : median(list.map((result) => result.cpuSeconds)),
      processCpuSeconds,
      memoryBytes: Math.max(...list.map((result) => result.memoryBytes ?? 0)),
      rowsPerCpuSecond: Math.round(rows / processCpuSeconds),
    });
  }
  const ours = figures.get('floe');
  if (ours === undefined) throw new Error('The kernel itself could not run');
  const ratio = (name) => {
    const theirs = figures.get(name);
    return theirs === undefined ? null : round(ours.rowsPerCpuSecond / theirs.rowsPerCpuSecond);
  };
  log(`${'CPU seconds'.padEnd(52)} process  thread    rows/CPU-s   ours ×   out MB   WASM MiB`);
  for (const { name, label } of PEERS) {
    const figure = figures.get(name);
    if (figure === undefined) {
      log(`${label.padEnd(52)} not run`);
      continue;
    }
    const cells = [
      label.padEnd(52),
      figure.processCpuSeconds.toFixed(2).padStart(7),
      (figure.threadCpuSeconds?.toFixed(2) ?? '').padStart(7),
      String(figure.rowsPerCpuSecond).padStart(13),
      (name === 'floe' ? '' : `${ratio(name)}`).padStart(8),
      megabytes(figure.outputBytes).padStart(8),
      figure.memoryBytes === 0 ? '' : (figure.memoryBytes / 2 ** 20).toFixed(0).padStart(10),
    ];
    log(cells.join(' '));
  }
  const timesNdjson = (name) => {
    const figure = figures.get(name);
    return figure === undefined ? null : round(figure.rowsPerCpuSecond / ours.rowsPerCpuSecond);
  };
  return {
    rowsPerCpuSecond: ours.rowsPerCpuSecond,
    ratios: {
      parquetWasmBuilders: ratio('parquetWasmBuilders'),
      parquetWasmTyped: ratio('parquetWasmTyped'),
      pyarrow: ratio('pyarrow'),
      duckdb: ratio('duckdb'),
    },
    wasmPeakBytes: ours.memoryBytes,
    arrowTimesNdjson: timesNdjson('floeArrow'),
    partitionedShare: timesNdjson('floePartitioned'),
    thousandPartitionsPeakBytes: figures.get('floeThousand')?.memoryBytes ?? null,
    outputBytes: ours.outputBytes,
    outputBytesPyarrow: figures.get('pyarrow')?.outputBytes ?? null,
  };
}

function round(value) {
  return Math.round(value * 100) / 100;
}

function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

function megabytes(bytes) {
  return (bytes / 1e6).toFixed(1);
}
