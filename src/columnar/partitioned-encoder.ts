/** `PartitionedEncoder` on the module: keeps the rows that its memory has no room for. */

import { IcebergError } from '../iceberg/errors.ts';
import { serializePartitionSpec } from '../iceberg/spec/partition-spec-json.ts';
import type { Schema } from '../iceberg/spec/schema.ts';
import type { EncodedFacts, PartitionFact } from './encoded-facts.ts';
import { toEncodedFile, toPartitionValue } from './encoded-facts.ts';
import type { KernelExports } from './kernel-exports.ts';
import { span } from './kernel-exports.ts';
import type {
  ParquetOptions,
  PartitionedEncoder,
  PartitionedFile,
  PartitioningOptions,
} from './kernel-port.ts';
import { optionsJson } from './options-json.ts';
import { schemaBytes } from './schema-bytes.ts';

export class WasmPartitionedEncoder implements PartitionedEncoder {
  readonly #exports: KernelExports;
  /** How the module knows it. */
  readonly number: number;
  /** Arrow IPC streams by partition, in the order of their rows. */
  readonly #spilled = new Map<number, Uint8Array[]>();
  #spilledBytes = 0;
  /** The partition whose file is written next; null while rows may come. */
  #next: number | null = null;
  #isClosed = false;

  constructor(
    exports: KernelExports,
    schema: Schema,
    options: ParquetOptions,
    partitioning: PartitioningOptions,
  ) {
    this.#exports = exports;
    const spec = serializePartitionSpec(partitioning.spec);
    const json = JSON.stringify({
      ...optionsJson(options),
      partitioning: { ...partitioning, spec },
    });
    this.number = exports.call([schemaBytes(schema), json], (wasm, [schemaText, optionsText]) =>
      wasm.floe_encoder_open(...span(schemaText), ...span(optionsText)),
    );
    this.#receive(() => {
      throw new IcebergError('internal', 'kernel.no-file', 'No file of a partition is open');
    });
  }

  isOf(exports: KernelExports): boolean {
    return this.#exports === exports;
  }

  append(ipc: Uint8Array): void {
    if (this.#next !== null) {
      const message = 'The files are being written: no rows can be added';
      throw new IcebergError('internal', 'kernel.encoder-finishing', message);
    }
    this.#append(ipc);
  }

  get partitionCount(): number {
    return this.#exports.call([], (wasm) => wasm.floe_encoder_partitions(this.number));
  }

  get waitingBytes(): number {
    const inside = this.#exports.call([], (wasm) => wasm.floe_encoder_encoded_bytes(this.number));
    return inside + this.#spilledBytes;
  }

  nextFile(onBytes: (chunk: Uint8Array) => void): PartitionedFile | null {
    const partition = this.#next ?? 0;
    this.#next = partition + 1;
    if (partition >= this.partitionCount) return null;
    this.#receive(onBytes);
    this.#exports.call([], (wasm) => wasm.floe_encoder_open_partition(this.number, partition));
    const spilled = this.#spilled.get(partition) ?? [];
    this.#spilled.delete(partition);
    for (let ipc = spilled.shift(); ipc !== undefined; ipc = spilled.shift()) {
      this.#spilledBytes -= ipc.byteLength;
      this.#append(ipc);
    }
    this.#exports.call([], (wasm) => wasm.floe_encoder_finish(this.number));
    const facts = this.#exports.facts() as EncodedFacts & {
      readonly partition: readonly PartitionFact[];
    };
    return { partition: facts.partition.map(toPartitionValue), file: toEncodedFile(facts) };
  }

  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#spilled.clear();
    this.#exports.forgetReceiver(this.number);
    if (this.#exports.isPoisoned) return;
    this.#exports.call([], (wasm) => {
      wasm.floe_encoder_close(this.number);
    });
  }

  #append(ipc: Uint8Array): void {
    this.#exports.call([ipc], (wasm, [bytes]) =>
      wasm.floe_encoder_append(this.number, ...span(bytes)),
    );
  }

  #receive(write: (chunk: Uint8Array) => void): void {
    this.#exports.setReceiver(this.number, {
      write,
      spill: (partition, ipc) => {
        const waiting = this.#spilled.get(partition);
        if (waiting === undefined) this.#spilled.set(partition, [ipc]);
        else waiting.push(ipc);
        this.#spilledBytes += ipc.byteLength;
      },
    });
  }
}
