/** The validator proves itself on a foreign writer's table before it judges ours. */

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { expect, it } from 'vitest';
import { describeWithEngines, rig } from './rig/lake.ts';

interface Case {
  name: string;
  ok: boolean;
  message: string;
}

const { python } = rig;
const selfTest = python.available
  ? spawnSync(python.executable, ['-m', 'tests.self_test'], {
      cwd: path.join(import.meta.dirname, 'validator'),
      encoding: 'utf8',
    })
  : null;
const cases = (selfTest?.stdout ?? '')
  .split('\n')
  .filter((line) => line !== '')
  .map((line) => JSON.parse(line) as Case);

describeWithEngines('the validator', () => {
  it('has run to its end', () => {
    expect(cases.length, selfTest?.stderr).toBeGreaterThan(100);
  });

  for (const { name, ok, message } of cases) {
    it(name, () => expect(ok, message).toBe(true));
  }
});
