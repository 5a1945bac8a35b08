/** `ParquetEncoder` on the module. */

import type { Schema } from '../iceberg/spec/schema.ts';
import type { EncodedFacts } from './encoded-facts.ts';
import { toEncodedFile } from './encoded-facts.ts';
import type { KernelExports } from './kernel-exports.ts';
import { span } from './kernel-exports.ts';
import type { EncodedFile, ParquetEncoder, ParquetOptions } from './kernel-port.ts';
import { optionsJson } from './options-json.ts';
import { schemaBytes } from './schema-bytes.ts';

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
      [schemaBytes(schema), JSON.stringify(optionsJson(options))],
      (wasm, [schemaText, optionsText]) =>
        wasm.floe_encoder_open(...span(schemaText), ...span(optionsText)),
    );
    exports.setReceiver(this.number, { write: onBytes });
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
    return toEncodedFile(this.#exports.facts() as EncodedFacts);
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#exports.forgetReceiver(this.number);
    if (this.#exports.isPoisoned) return;
    this.#exports.call([], (wasm) => {
      wasm.floe_encoder_close(this.number);
    });
  }
}
