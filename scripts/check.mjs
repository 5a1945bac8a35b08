/**
 * `npm run check`: everything that needs only Node, in the order in which it fails fastest. Prints
 * what each step took; stops at nothing, so that one run shows every fault.
 */

import { staticSteps, runStep, testSteps } from './check-steps.mjs';

let failed = 0;
for (const step of [...staticSteps, ...testSteps]) {
  const { ok, seconds } = await runStep(step);
  console.log(`${ok ? 'ok    ' : 'FAILED'} ${step.name} (${seconds.toFixed(1)} s)`);
  if (!ok) failed += 1;
}
if (failed > 0) {
  console.log(`${failed} of ${staticSteps.length + testSteps.length} steps failed`);
  process.exitCode = 1;
}
