/**
 * `npm run bench`: measures what the project promises, and prints it beside the promise.
 *
 *   npm run bench -- --only kernel|http|size|start   one part, or several with commas
 *   npm run bench -- --json FILE                     writes the figures too
 */

import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { parseArgs } from 'node:util';

/** Each part is loaded when it is asked for, since the kernel's needs its peers. */
const parts = {
  kernel: runKernel,
  size: async () => (await import('./size.mjs')).runSizeBench(),
  start: async () => (await import('./http.mjs')).runStartBench(),
  http: async () => (await import('./http.mjs')).runHttpBench(),
};

/** Bounds of the promises; a figure's path in the results. */
const targets = [
  ['kernel.ratios.parquetWasmBuilders', '>=', 4],
  ['kernel.ratios.parquetWasmTyped', '>=', 2],
  ['kernel.ratios.pyarrow', '>=', 1.1],
  ['kernel.outputRatioPyarrow', '<=', 1.05],
  ['kernel.wasmPeakBytes', '<=', 64 * 1024 * 1024],
  ['kernel.arrowTimesNdjson', '>=', 2],
  ['kernel.partitionedShare', '>=', 0.6],
  ['kernel.thousandPartitionsPeakBytes', '<=', 64 * 1024 * 1024],
  ['size.kernelGzipBytes', '<=', 1_800_000],
  ['size.workerGzipBytes', '<=', 2_500_000],
  ['start.firstBatchMs', '<=', 60],
  ['http.durableRowsPerSecond', '>=', 100_000],
  ['http.smallBatchMsMedian', '<=', 20],
];

const { values } = parseArgs({ options: { only: { type: 'string' }, json: { type: 'string' } } });
const chosen = values.only === undefined ? Object.keys(parts) : values.only.split(',');
const unknown = chosen.filter((name) => !(name in parts));
if (unknown.length > 0) {
  console.error(
    `There is no part ${unknown.join(', ')}; choose from ${Object.keys(parts).join(', ')}`,
  );
  process.exit(2);
}

const results = {};
for (const name of chosen) {
  console.error(`measuring ${name} …`);
  results[name] = await parts[name]();
}
print(results);
if (values.json !== undefined) {
  writeFileSync(values.json, `${JSON.stringify(results, null, 2)}\n`);
}

/** Its Python peers come from the rig of the interoperability tests, installed when it is not there. */
async function runKernel() {
  const { installPython } = await import('../test/interop/rig/install.ts');
  const { runKernelBench } = await import('./kernel.mjs');
  const python = installPython();
  const figures = await runKernelBench(python.available ? { python: python.executable } : {});
  const { outputBytes, outputBytesPyarrow } = figures;
  if (outputBytesPyarrow === null) return figures;
  return { ...figures, outputRatioPyarrow: Number((outputBytes / outputBytesPyarrow).toFixed(3)) };
}

function print(measured) {
  const bounds = new Map(targets.map(([path, sign, bound]) => [path, { sign, bound }]));
  console.log(`\n${cpus()[0]?.model ?? 'unknown processor'}, ${cpus().length} cores\n`);
  for (const [path, value] of figures(measured)) {
    const target = bounds.get(path);
    const promise =
      target === undefined ? '' : `${target.sign} ${target.bound.toLocaleString('en')}`;
    const isMet = target === undefined || meets(value, target);
    const verdict = target === undefined ? '' : isMet ? 'ok' : 'MISSED';
    console.log(
      `${path.padEnd(40)} ${value.toLocaleString('en').padStart(14)}  ${promise.padEnd(16)} ${verdict}`,
    );
  }
}

function meets(value, { sign, bound }) {
  return sign === '>=' ? value >= bound : value <= bound;
}

function* figures(value, prefix = '') {
  for (const [key, item] of Object.entries(value)) {
    const path = prefix === '' ? key : `${prefix}.${key}`;
    if (typeof item === 'number') yield [path, item];
    else if (item !== null && typeof item === 'object') yield* figures(item, path);
  }
}
