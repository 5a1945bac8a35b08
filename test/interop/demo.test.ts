/** `npm run demo` proves itself: it compares what an independent reader finds with what it sent. */

import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';

/** What the README promises. */
const demoMsMax = 120_000;

it('npm run demo ends well within two minutes', () => {
  const demo = spawnSync(process.execPath, ['scripts/demo.mjs'], {
    encoding: 'utf8',
    timeout: demoMsMax,
  });
  expect(demo.status, `${demo.stdout}${demo.stderr}`.slice(-3000)).toBe(0);
});
