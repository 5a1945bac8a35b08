/**
 * `npm test`: the static steps, every vitest project, and the proof that the committed kernel comes
 * from its sources. The last line is `N passed, N failed, N skipped` and counts single tests; a step
 * that is not a test, or a runner that crashes, counts as one failure.
 *
 * CI=true   a missing Python or JDK is a failure instead of a skip
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runStep, staticSteps } from './check-steps.mjs';
import { verifyKernel } from './kernel-proof.mjs';
import { readVitestReport } from './vitest-report.ts';

const projects = ['unit', 'workerd', 'interop'];

const totals = { passed: 0, failed: 0, skipped: 0 };
const skips = [];
const summary = [];

for (const step of [
  { name: 'interoperability rig', command: 'node', args: ['test/interop/rig/main.ts'] },
  ...staticSteps,
]) {
  const { ok, seconds } = await runStep(step);
  if (!ok) totals.failed += 1;
  summary.push(`${ok ? 'ok    ' : 'FAILED'} ${step.name} (${seconds.toFixed(0)} s)`);
}

const folder = mkdtempSync(join(tmpdir(), 'floe-test-'));
try {
  for (const project of projects) await runProject(project);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

const proof = await verifyKernel();
if (proof.status === 'passed') totals.passed += 1;
if (proof.status === 'failed') totals.failed += 1;
if (proof.status === 'skipped') {
  totals.skipped += 1;
  skips.push(`kernel proof: ${proof.message}`);
}
summary.push(`${proof.status === 'failed' ? 'FAILED' : 'ok    '} kernel proof: ${proof.message}`);

console.log(`\n${summary.join('\n')}`);
if (skips.length > 0) console.log(`\nSkipped:\n  ${skips.join('\n  ')}`);
process.exitCode = totals.failed > 0 ? 1 : 0;
console.log(`\n${totals.passed} passed, ${totals.failed} failed, ${totals.skipped} skipped`);

async function runProject(project) {
  const reportFile = join(folder, `${project}.json`);
  const args = ['run', '--project', project, '--reporter=default', '--reporter=json'];
  const { ok, seconds } = await runStep({
    name: project,
    command: 'vitest',
    args: [...args, `--outputFile.json=${reportFile}`],
  });
  const counted = readVitestReport(reportFile, ok);
  totals.passed += counted.passed;
  totals.failed += counted.failed;
  totals.skipped += counted.skipped;
  skips.push(...counted.skippedNames.map((name) => `${project}: ${name}`));
  summary.push(
    `${counted.failed === 0 ? 'ok    ' : 'FAILED'} ${project} tests: ${counted.passed} passed, ` +
      `${counted.failed} failed, ${counted.skipped} skipped (${seconds.toFixed(0)} s)` +
      (counted.note === '' ? '' : `; ${counted.note}`),
  );
}
