/**
 * The module's C interface (`wasm/README.md`) made safe: memory is copied in and out, a result of -1 becomes
 * an `IcebergError`, a trap poisons the instance. Views of the memory are stale after any call, so none is kept.
 */

import type { ErrorContext, ErrorKind } from '../iceberg/errors.ts';
import { IcebergError } from '../iceberg/errors.ts';

interface Exports {
  readonly memory: WebAssembly.Memory;
  floe_start(seedLow: number, seedHigh: number): void;
  floe_alloc(length: number): number;
  floe_free(pointer: number, length: number): void;
  floe_facts(): number;
  floe_facts_length(): number;
  floe_bytes(): number;
  floe_bytes_length(): number;
  floe_forget(): void;
  floe_decoder_open(
    format: number,
    formatLength: number,
    sliceBytes: number,
    rowBytesMax: number,
    rawBytesMax: number,
  ): number;
  floe_decoder_push(decoder: number, pointer: number, length: number): number;
  floe_decoder_finish(decoder: number): number;
  floe_decoder_ready(decoder: number): number;
  floe_decoder_decode(decoder: number, schema: number, schemaLength: number): number;
  floe_decoder_decode_into(
    decoder: number,
    encoder: number,
    schema: number,
    schemaLength: number,
  ): number;
  floe_decoder_advance(decoder: number): number;
  floe_decoder_close(decoder: number): void;
  floe_encoder_open(
    schema: number,
    schemaLength: number,
    options: number,
    optionsLength: number,
  ): number;
  floe_encoder_append(encoder: number, pointer: number, length: number): number;
  floe_encoder_encoded_bytes(encoder: number): number;
  floe_encoder_partitions(encoder: number): number;
  floe_encoder_open_partition(encoder: number, partition: number): number;
  floe_encoder_finish(encoder: number): number;
  floe_encoder_close(encoder: number): void;
}

/** Bytes lent to a call: where they lie in the module's memory. */
export interface Lent {
  readonly pointer: number;
  readonly length: number;
}

/** What an encoder hands out; the bytes are the receiver's own copy. */
export interface Receiver {
  readonly write: (chunk: Uint8Array) => void;
  /** Rows of a partition as an Arrow IPC stream. */
  readonly spill?: (partition: number, ipc: Uint8Array) => void;
}

const textEncoder = new TextEncoder();
const textDecoder = new TextDecoder();

export class KernelExports {
  readonly #exports: Exports;
  readonly #receivers = new Map<number, Receiver>();
  #panic: string | null = null;
  /** What the module last asked for and did not get. */
  #exhaustedBytes: number | null = null;
  #writeFailure: unknown = undefined;
  #isPoisoned = false;

  constructor(module: WebAssembly.Module) {
    const instance = new WebAssembly.Instance(module, {
      floe: {
        write: (encoder: number, pointer: number, length: number) => {
          this.#receive(pointer, length, this.#receivers.get(encoder)?.write);
        },
        spill: (encoder: number, partition: number, pointer: number, length: number) => {
          const spill = this.#receivers.get(encoder)?.spill;
          this.#receive(pointer, length, (rows) => spill?.(partition, rows));
        },
        panicked: (pointer: number, length: number) => {
          this.#panic = textDecoder.decode(this.#view(pointer, length));
        },
        exhausted: (bytes: number) => {
          this.#exhaustedBytes = bytes >>> 0;
        },
      },
    });
    // The module is ours and its exports are those of `wasm/src/abi.rs`; TypeScript cannot see them.
    this.#exports = instance.exports as unknown as Exports;
    const [low = 0, high = 0] = crypto.getRandomValues(new Uint32Array(2));
    this.#exports.floe_start(low, high);
  }

  get memoryBytes(): number {
    return this.#exports.memory.buffer.byteLength;
  }

  get isPoisoned(): boolean {
    return this.#isPoisoned;
  }

  /** Where an encoder's bytes go from now on. */
  setReceiver(encoder: number, receiver: Receiver): void {
    this.#receivers.set(encoder, receiver);
  }

  forgetReceiver(encoder: number): void {
    this.#receivers.delete(encoder);
  }

  /**
   * Calls the module with `inputs` copied into its memory, and frees them. Returns the number it answers.
   * @throws what the kernel reports; too-large `kernel.out-of-memory` when its memory is full; `internal`
   * `kernel.trapped` when it traps otherwise. After a trap the instance is poisoned: every call throws
   */
  call(
    inputs: readonly (Uint8Array | string)[],
    action: (exports: Exports, lent: readonly Lent[]) => number | void,
  ): number {
    if (this.#isPoisoned) {
      throw new IcebergError('internal', 'kernel.trapped', 'The kernel instance is unusable');
    }
    try {
      const lent = inputs.map((input) => this.#lend(input));
      const answer = action(this.#exports, lent) ?? 0;
      for (const { pointer, length } of lent) this.#exports.floe_free(pointer, length);
      if (answer < 0) throw this.#reportedError();
      return answer;
    } catch (error) {
      if (error instanceof IcebergError) throw error;
      throw this.#poison(error);
    }
  }

  /** The JSON left by the last call. */
  facts(): unknown {
    const wasm = this.#exports;
    return JSON.parse(textDecoder.decode(this.#view(wasm.floe_facts(), wasm.floe_facts_length())));
  }

  /** A copy of the bytes left by the last call, null for none; the module's own are freed. */
  takeBytes(): Uint8Array | null {
    const wasm = this.#exports;
    const length = wasm.floe_bytes_length();
    const bytes = length === 0 ? null : this.#view(wasm.floe_bytes(), length).slice();
    wasm.floe_forget();
    return bytes;
  }

  #view(pointer: number, length: number): Uint8Array {
    // Numbers from the module are signed here.
    return new Uint8Array(this.#exports.memory.buffer, pointer >>> 0, length >>> 0);
  }

  #lend(input: Uint8Array | string): Lent {
    const bytes = typeof input === 'string' ? textEncoder.encode(input) : input;
    const pointer = this.#exports.floe_alloc(bytes.byteLength);
    this.#view(pointer, bytes.byteLength).set(bytes);
    return { pointer, length: bytes.byteLength };
  }

  #receive(pointer: number, length: number, take?: (bytes: Uint8Array) => void): void {
    try {
      take?.(this.#view(pointer, length).slice());
    } catch (error) {
      // It must not be lost on the way through the module, which only sees that the call failed.
      this.#writeFailure = error;
      throw error;
    }
  }

  #reportedError(): IcebergError {
    const facts = this.facts() as {
      kind: ErrorKind;
      code: string;
      message: string;
      context: ErrorContext;
    };
    const { line, column } = facts.context;
    const place = line === undefined ? '' : `Line ${line}, column ${column}: `;
    return new IcebergError(facts.kind, facts.code, place + facts.message, {
      context: facts.context,
    });
  }

  #poison(cause: unknown): unknown {
    this.#isPoisoned = true;
    if (this.#writeFailure !== undefined) return this.#writeFailure;
    if (this.#exhaustedBytes !== null) {
      const message = `The rows need more memory than the kernel may have: ${this.#exhaustedBytes} bytes more`;
      return new IcebergError('too-large', 'kernel.out-of-memory', message, {
        context: { memoryBytes: this.memoryBytes },
        cause,
      });
    }
    const message = this.#panic ?? (cause instanceof Error ? cause.message : String(cause));
    return new IcebergError('internal', 'kernel.trapped', `The kernel trapped: ${message}`, {
      cause,
    });
  }
}

/** Pointer and length, as the C interface takes them. */
export function span(lent: Lent | undefined): [pointer: number, length: number] {
  return lent === undefined ? [0, 0] : [lent.pointer, lent.length];
}
