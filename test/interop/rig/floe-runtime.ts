/** A real `npm start` process with a state folder of its own, driven over HTTP. */

import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = path.join(path.dirname(fileURLToPath(import.meta.url)), '../../..');
const startTimeoutMs = 60_000;
const outputBytesKept = 20_000;

export class FloeRuntime {
  readonly stateFolder = mkdtempSync(path.join(tmpdir(), 'floe-interop-'));
  #child: ChildProcess | undefined;
  #origin = '';
  #output = '';

  /** Scheme, host and port; another port after each start. */
  get origin(): string {
    return this.#origin;
  }

  /** The end of what the process printed. */
  get output(): string {
    return this.#output;
  }

  /** Starts, or starts again on the same state, and waits until it is healthy. */
  async start(): Promise<void> {
    const port = await freePort();
    this.#origin = `http://127.0.0.1:${port}`;
    const child = spawn(process.execPath, ['scripts/start.mjs'], {
      cwd: root,
      env: { ...process.env, PORT: String(port), FLOE_STATE: this.stateFolder },
      stdio: ['ignore', 'pipe', 'pipe'],
      // A process group of its own, so that the runtime below can be killed with it.
      detached: true,
    });
    this.#child = child;
    const keep = (chunk: Buffer): void => {
      this.#output = (this.#output + chunk.toString()).slice(-outputBytesKept);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    const deadline = Date.now() + startTimeoutMs;
    while (Date.now() < deadline) {
      if (child.exitCode !== null) throw new Error(`npm start ended:\n${this.#output}`);
      // The port is closed until the runtime listens.
      const response = await fetch(`${this.#origin}/healthz`).catch(() => null);
      if (response?.ok === true) return;
      await sleep(100);
    }
    throw new Error(`npm start was not healthy in ${startTimeoutMs} ms:\n${this.#output}`);
  }

  /** SIGKILL to the process and the runtime below it, at once. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** A clean end; also removes the state. */
  async stop(): Promise<void> {
    await this.#end('SIGTERM');
    rmSync(this.stateFolder, { recursive: true, force: true });
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    const child = this.#child;
    if (child?.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    process.kill(-child.pid, signal);
    const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
    await ended;
    clearTimeout(timer);
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
