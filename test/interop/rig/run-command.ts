/** Short child processes of the rig, waited for. */

import { spawnSync } from 'node:child_process';

const timeoutMs = 15 * 60 * 1000;

/** What a command printed, or null when it could not be run or failed. */
export function outputOf(
  command: string,
  args: string[],
  stream: 'stdout' | 'stderr' = 'stdout',
): string | null {
  const result = spawnSync(command, args, { encoding: 'utf8', timeout: timeoutMs });
  return result.status === 0 ? result[stream] : null;
}

export function succeeds(command: string, args: string[]): boolean {
  return spawnSync(command, args, { stdio: 'ignore', timeout: timeoutMs }).status === 0;
}

/** Runs a command that must succeed. @throws with the command and the end of what it printed */
export function run(
  command: string,
  args: string[],
  options: { cwd?: string; env?: Record<string, string> } = {},
): void {
  const result = spawnSync(command, args, {
    cwd: options.cwd,
    env: { ...process.env, ...options.env },
    encoding: 'utf8',
    timeout: timeoutMs,
  });
  if (result.status === 0) return;
  const printed = `${result.stdout}${result.stderr}`.slice(-2000);
  throw new Error(`${command} ${args.join(' ')} failed: ${result.error?.message ?? printed}`);
}
