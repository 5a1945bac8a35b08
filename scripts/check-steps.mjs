/** The steps of `npm run check`, shared with `npm test`, and how one is run. */

import { spawn } from 'node:child_process';

/** @typedef {{ name: string, command: string, args: string[] }} Step */

const lintFolders = ['src', 'test', 'wasm', 'scripts', 'bench'];

/** What needs no test runner. @type {Step[]} */
export const staticSteps = [
  { name: 'format', command: 'oxfmt', args: ['--check', '.'] },
  { name: 'lint', command: 'oxlint', args: ['--deny-warnings', '--type-aware', ...lintFolders] },
  { name: 'types of the core', command: 'tsc', args: ['-p', 'tsconfig.core.json'] },
  { name: 'types of the Worker', command: 'tsc', args: ['-p', 'tsconfig.json'] },
  { name: 'types of the tests', command: 'tsc', args: ['-p', 'test/tsconfig.json'] },
  { name: 'unused code', command: 'knip', args: ['--no-progress'] },
];

/** @type {Step[]} */
export const testSteps = [
  { name: 'unit tests', command: 'vitest', args: ['run', '--project', 'unit'] },
  { name: 'Workers runtime tests', command: 'vitest', args: ['run', '--project', 'workerd'] },
];

/** Quiet and offline: no banner, no metrics, no look-up of a real `cf` object. */
const quietEnvironment = {
  WRANGLER_HIDE_BANNER: 'true',
  WRANGLER_SEND_METRICS: 'false',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
};

/**
 * Runs one step from `node_modules/.bin` with its output passed on. A runner that cannot be
 * started, or that dies by a signal, has failed.
 *
 * @param {Step} step
 * @param {Record<string, string>} [environment] added to the process's own
 * @returns {Promise<{ ok: boolean, seconds: number }>}
 */
export function runStep(step, environment = {}) {
  const startedMs = performance.now();
  return new Promise((resolve) => {
    const child = spawn(`node_modules/.bin/${step.command}`, step.args, {
      stdio: ['ignore', 'inherit', 'inherit'],
      env: { ...process.env, ...quietEnvironment, ...environment },
    });
    const finish = (ok) => resolve({ ok, seconds: (performance.now() - startedMs) / 1000 });
    child.on('error', (error) => {
      console.error(`${step.command}: ${error.message}`);
      finish(false);
    });
    child.on('exit', (code) => finish(code === 0));
  });
}
