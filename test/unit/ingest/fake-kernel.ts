/**
 * A kernel for tests of what is around it: every line is one row of `JSON.parse`, a slice is ready
 * at each `sliceBytes`, and the "IPC" of a slice is the JSON text of its accepted rows.
 */

import type {
  BodyDecoder,
  DecodedSlice,
  DecodeLimits,
  InferredField,
  KernelInstance,
  KernelLender,
  RejectedRow,
} from '../../../src/columnar/kernel-port.ts';
import { IcebergError } from '../../../src/iceberg/errors.ts';
import type { Schema } from '../../../src/iceberg/spec/schema.ts';

export class FakeKernels implements KernelLender {
  lent = 0;
  lentMax = 0;
  closed = 0;
  chunkSizes: number[] = [];

  async use<T>(action: (kernel: KernelInstance) => Promise<T>): Promise<T> {
    this.lent += 1;
    this.lentMax = Math.max(this.lentMax, this.lent);
    try {
      return await action({
        memoryBytes: 0,
        createBodyDecoder: (_format, limits) => new LineDecoder(limits, this),
        createParquetEncoder: () => {
          throw new Error('the ingest path encodes nothing');
        },
      });
    } finally {
      this.lent -= 1;
    }
  }
}

class LineDecoder implements BodyDecoder {
  readonly #limits: DecodeLimits;
  readonly #log: FakeKernels;
  readonly #text = new TextDecoder();
  #rest = '';
  #lines: string[] = [];
  #bytes = 0;
  #firstRow = 0;
  #isFinished = false;

  constructor(limits: DecodeLimits, log: FakeKernels) {
    this.#limits = limits;
    this.#log = log;
  }

  push(chunk: Uint8Array): void {
    this.#log.chunkSizes.push(chunk.byteLength);
    const lines = (this.#rest + this.#text.decode(chunk, { stream: true })).split('\n');
    this.#rest = lines.pop() ?? '';
    for (const line of lines) this.#add(line);
  }

  finish(): void {
    this.#add(this.#rest);
    this.#rest = '';
    this.#isFinished = true;
  }

  get ready(): boolean {
    return this.#lines.length > 0 && (this.#isFinished || this.#bytes >= this.#limits.sliceBytes);
  }

  decode(schema: Schema): DecodedSlice {
    const known = new Map(schema.fields.map((field) => [field.name, field]));
    const missing = new Map<string, InferredField>();
    const rejected: RejectedRow[] = [];
    const accepted: unknown[] = [];
    for (const [index, line] of this.#lines.entries()) {
      const row = this.#firstRow + index;
      const value = parseLine(line, row);
      const bad = Object.entries(value).find(([, cell]) => cell === 'bad');
      if (bad !== undefined) {
        const [column] = bad;
        const code = 'value.type-mismatch';
        rejected.push({ row, column, code, message: 'not a number', raw: line });
        continue;
      }
      accepted.push(value);
      for (const [name, cell] of Object.entries(value)) {
        if (cell !== null && !known.has(name)) missing.set(name, { name, type: 'string' });
      }
    }
    return {
      rowsReceived: this.#lines.length,
      rowsAccepted: accepted.length,
      ipc: accepted.length === 0 ? null : new TextEncoder().encode(JSON.stringify(accepted)),
      rejected,
      unknown: missing.size === 0 ? null : { type: 'struct', fields: [...missing.values()] },
    };
  }

  decodeInto(): never {
    throw new Error('the ingest path takes slices');
  }

  advance(): void {
    this.#firstRow += this.#lines.length;
    this.#lines = [];
    this.#bytes = 0;
  }

  close(): void {
    this.#log.closed += 1;
  }

  #add(line: string): void {
    if (line.trim() === '') return;
    this.#lines.push(line);
    this.#bytes += line.length;
  }
}

function parseLine(line: string, row: number): Record<string, unknown> {
  try {
    return JSON.parse(line) as Record<string, unknown>;
  } catch {
    throw new IcebergError('invalid', 'json.malformed', 'Malformed JSON', {
      context: { line: row + 1, column: 1 },
    });
  }
}
