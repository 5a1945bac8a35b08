/** `ParquetEncoder` on the module. */

import type { Schema } from '../iceberg/spec/schema.ts';
import type { KernelExports } from './kernel-exports.ts';
import { span } from './kernel-exports.ts';
import type { EncodedFile, ParquetEncoder, ParquetOptions } from './kernel-port.ts';
import { schemaBytes } from './schema-bytes.ts';

/** What the module answers: 64-bit numbers as decimal text, bounds in hexadecimal. */
interface EncodedFacts {
  readonly fileSizeInBytes: string;
  readonly recordCount: string;
  readonly splitOffsets: readonly string[];
  readonly columnSizes: readonly Pair[];
  readonly valueCounts: readonly Pair[];
  readonly nullValueCounts: readonly Pair[];
  readonly nanValueCounts: readonly Pair[];
  readonly lowerBounds: readonly Pair[];
  readonly upperBounds: readonly Pair[];
}

type Pair = readonly [fieldId: number, value: string];

export class WasmParquetEncoder implements ParquetEncoder {
  readonly #exports: KernelExports;
  /** How the module knows it. */
  readonly number: number;
  #isClosed = false;

  constructor(
    exports: KernelExports,
    schema: Schema,
    options: ParquetOptions,
    onBytes: (chunk: Uint8Array) => void,
  ) {
    this.#exports = exports;
    this.number = exports.call(
      [schemaBytes(schema), JSON.stringify(options)],
      (wasm, [schemaJson, optionsJson]) =>
        wasm.floe_encoder_open(...span(schemaJson), ...span(optionsJson)),
    );
    exports.onWrite(this.number, onBytes);
  }

  isOf(exports: KernelExports): boolean {
    return this.#exports === exports;
  }

  append(ipc: Uint8Array): void {
    this.#exports.call([ipc], (wasm, [bytes]) =>
      wasm.floe_encoder_append(this.number, ...span(bytes)),
    );
  }

  get encodedBytes(): number {
    return this.#exports.call([], (wasm) => wasm.floe_encoder_encoded_bytes(this.number));
  }

  finish(): EncodedFile {
    this.#exports.call([], (wasm) => wasm.floe_encoder_finish(this.number));
    const facts = this.#exports.facts() as EncodedFacts;
    return {
      fileSizeInBytes: BigInt(facts.fileSizeInBytes),
      recordCount: BigInt(facts.recordCount),
      splitOffsets: facts.splitOffsets.map(BigInt),
      columnSizes: counts(facts.columnSizes),
      valueCounts: counts(facts.valueCounts),
      nullValueCounts: counts(facts.nullValueCounts),
      nanValueCounts: counts(facts.nanValueCounts),
      lowerBounds: bounds(facts.lowerBounds),
      upperBounds: bounds(facts.upperBounds),
    };
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    if (this.#exports.isPoisoned) return;
    this.#exports.call([], (wasm) => {
      wasm.floe_encoder_close(this.number);
    });
  }
}

function counts(pairs: readonly Pair[]): Map<number, bigint> {
  return new Map(pairs.map(([fieldId, value]) => [fieldId, BigInt(value)]));
}

function bounds(pairs: readonly Pair[]): Map<number, Uint8Array> {
  return new Map(pairs.map(([fieldId, value]) => [fieldId, fromHex(value)]));
}

function fromHex(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length / 2);
  for (let index = 0; index < bytes.length; index += 1) {
    bytes[index] = Number.parseInt(text.slice(index * 2, index * 2 + 2), 16);
  }
  return bytes;
}
