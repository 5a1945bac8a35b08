/** `npm start` as a child process on a free port, for measuring from outside. */

import { spawn } from 'node:child_process';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const START_TIMEOUT_MS = 60_000;

/**
 * @param {string} stateDir folder of the local state; kept when the server stops
 * @returns {Promise<{ port: number, stop: () => Promise<void> }>} once it is healthy
 */
export async function startServer(stateDir) {
  const port = await freePort();
  const child = spawn(process.execPath, ['scripts/start.mjs'], {
    env: { ...process.env, PORT: String(port), FLOE_STATE: stateDir },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  child.stderr.on('data', (chunk) => (stderr = (stderr + chunk).slice(-4000)));
  const ended = new Promise((resolve) => child.once('exit', resolve));
  const deadline = Date.now() + START_TIMEOUT_MS;
  while (Date.now() < deadline && child.exitCode === null) {
    // Until the runtime listens, the connection is refused.
    const response = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => null);
    if (response?.ok) {
      const stop = async () => {
        child.kill('SIGTERM');
        await ended;
      };
      return { port, stop };
    }
    await sleep(50);
  }
  child.kill('SIGKILL');
  throw new Error(`npm start did not become healthy: ${stderr}`);
}

function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
