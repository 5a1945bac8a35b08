/**
 * A kernel without columns: an "Arrow stream" is a JSON array of rows and a "Parquet file" is the
 * JSON array of all appended ones. Enough to follow rows through the service and count them.
 */

import type {
  BodyDecoder,
  EncodedFile,
  KernelLender,
  ParquetEncoder,
  PartitionedEncoder,
  PartitioningKernelInstance,
} from '../../src/columnar/kernel-port.ts';

export function fakeIpc(rows: readonly unknown[]): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(rows));
}

export function readFakeRows(bytes: Uint8Array): unknown[] {
  return JSON.parse(new TextDecoder().decode(bytes)) as unknown[];
}

export class FakeKernel
  implements PartitioningKernelInstance, KernelLender<PartitioningKernelInstance>
{
  /** Appending a stream with this row fails, as a trap in the kernel does. */
  poison: unknown = undefined;
  readonly memoryBytes = 0;

  async use<T>(action: (kernel: PartitioningKernelInstance) => Promise<T>): Promise<T> {
    return await action(this);
  }

  createBodyDecoder(): BodyDecoder {
    throw new Error('The fake kernel does not decode bodies');
  }

  /** Knows no columns: the partition of a row is the row. */
  createPartitionedEncoder(): PartitionedEncoder {
    const partitions = new Map<number, unknown[]>();
    let waitingBytes = 0;
    let next: IterableIterator<[number, unknown[]]> | null = null;
    return {
      append: (ipc) => {
        waitingBytes += ipc.byteLength;
        for (const row of readFakeRows(ipc)) {
          partitions.set(Number(row), [...(partitions.get(Number(row)) ?? []), row]);
        }
      },
      get partitionCount() {
        return partitions.size;
      },
      get waitingBytes() {
        return waitingBytes;
      },
      nextFile: (onBytes) => {
        next ??= partitions.entries();
        const { value, done } = next.next();
        if (done === true) return null;
        const [partition, rows] = value;
        const bytes = fakeIpc(rows);
        onBytes(bytes);
        return { partition: [partition], file: fakeMetrics(rows.length, bytes.byteLength) };
      },
      close: () => undefined,
    };
  }

  createParquetEncoder(
    _schema: unknown,
    _options: unknown,
    onBytes: (chunk: Uint8Array) => void,
  ): ParquetEncoder {
    const rows: unknown[] = [];
    let encodedBytes = 0;
    return {
      append: (ipc) => {
        const appended = readFakeRows(ipc);
        if (this.poison !== undefined && appended.includes(this.poison)) {
          throw new Error('unreachable executed');
        }
        rows.push(...appended);
        encodedBytes += ipc.byteLength;
      },
      get encodedBytes() {
        return encodedBytes;
      },
      finish: () => {
        const bytes = fakeIpc(rows);
        onBytes(bytes.subarray(0, 1));
        onBytes(bytes.subarray(1));
        return fakeMetrics(rows.length, bytes.byteLength);
      },
      close: () => undefined,
    };
  }
}

export function fakeMetrics(recordCount: number, fileSizeInBytes: number): EncodedFile {
  return {
    recordCount: BigInt(recordCount),
    fileSizeInBytes: BigInt(fileSizeInBytes),
    columnSizes: new Map([[1, BigInt(fileSizeInBytes)]]),
    valueCounts: new Map([[1, BigInt(recordCount)]]),
    nullValueCounts: new Map([[1, 0n]]),
    nanValueCounts: new Map(),
    lowerBounds: new Map(),
    upperBounds: new Map(),
    splitOffsets: [4n],
  };
}
