/** The validator proves itself on a foreign writer's table before it judges ours. */

import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ensureRig } from './rig/install.ts';

interface Case {
  name: string;
  ok: boolean;
  message: string;
}

const { python } = ensureRig();
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

describe.skipIf(!python.available)('the validator', () => {
  it('has run to its end', () => {
    expect(cases.length, selfTest?.stderr).toBeGreaterThan(100);
  });

  for (const { name, ok, message } of cases) {
    it(name, () => expect(ok, message).toBe(true));
  }
});
