/** A child process that answers one line of JSON for each line of JSON it is sent. */

import { spawn, type ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import { parseExactJson, type ExactJson } from './exact-json.ts';

const stderrBytesKept = 8000;

export class LineProcess {
  readonly #name: string;
  readonly #child: ChildProcess;
  readonly #lines: AsyncGenerator<string>;
  #stderr = '';
  #queue: Promise<unknown> = Promise.resolve();

  constructor(name: string, command: string, args: string[], env: Record<string, string> = {}) {
    this.#name = name;
    this.#child = spawn(command, args, {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    this.#child.stderr?.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString()).slice(-stderrBytesKept);
    });
    const { stdout } = this.#child;
    if (stdout === null) throw new Error(`${name} has no output`);
    this.#lines = linesOf(stdout);
  }

  /** Requests are answered one after the other. @throws the error that the process answered */
  request(body: Record<string, unknown>): Promise<ExactJson> {
    const answer = this.#queue.then(async () => {
      this.#child.stdin?.write(`${JSON.stringify(body)}\n`);
      const line = await this.#lines.next();
      if (line.done === true) throw new Error(`${this.#name} ended: ${this.#stderr}`);
      const value = parseExactJson(line.value) as Record<string, ExactJson>;
      if (value['error'] !== undefined)
        throw new Error(`${this.#name}: ${JSON.stringify(value['error'])}`);
      return value;
    });
    this.#queue = answer.catch(() => undefined);
    return answer;
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null) return;
    const ended = new Promise((resolve) => this.#child.once('exit', resolve));
    this.#child.stdin?.end();
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 5000);
    await ended;
    clearTimeout(timer);
  }
}

/** Lines end at LF only: `node:readline` also ends them at U+2028, which JSON texts may hold. */
async function* linesOf(stream: Readable): AsyncGenerator<string> {
  stream.setEncoding('utf8');
  let rest = '';
  for await (const chunk of stream) {
    const lines = `${rest}${String(chunk)}`.split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
}
