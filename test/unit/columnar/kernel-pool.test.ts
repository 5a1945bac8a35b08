import { describe, expect, it } from 'vitest';

import { KernelPool } from '../../../src/columnar/kernel-pool.ts';
import type { Kernel } from '../../../src/columnar/kernel.ts';
import { newKernel } from './kernel-fixture.ts';

const MIB = 1024 * 1024;

const realSleep = (ms: number): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, ms);
  });

/** A pool of stand-ins whose memory and state the test sets. */
function pool(options: { instancesMax: number; waitersMax: number }) {
  const clock = { nowMs: () => Date.now() + shiftMs, sleep: realSleep };
  let shiftMs = 0;
  const made: { memoryBytes: number; isPoisoned: boolean }[] = [];
  const kernels = new KernelPool(
    () => {
      const kernel = { memoryBytes: MIB, isPoisoned: false };
      made.push(kernel);
      return kernel as unknown as Kernel;
    },
    clock,
    { ...options, keptMemoryBytesMax: 48 * MIB, loanMsMax: 60_000 },
  );
  const passTime = (ms: number): void => {
    shiftMs += ms;
  };
  return { kernels, made, passTime };
}

describe('a pool of kernels', () => {
  it('lends an instance to one caller at a time, the next waits', async () => {
    const { kernels, made } = pool({ instancesMax: 1, waitersMax: 1 });
    const first = await kernels.acquire();
    let isServed = false;
    const second = kernels.acquire().then((lease) => {
      isServed = true;
      return lease;
    });
    await realSleep(20);
    expect(isServed).toBe(false);
    await expect(kernels.acquire()).rejects.toMatchObject({
      kind: 'overloaded',
      code: 'kernel.busy',
    });
    first.release();
    first.release();
    const lease = await second;
    expect(lease.kernel).toBe(first.kernel);
    expect(made).toHaveLength(1);
    lease.release();
  });

  it('drops an instance that has grown or trapped', async () => {
    const { kernels, made } = pool({ instancesMax: 1, waitersMax: 1 });
    const use = async () => {
      await kernels.use(() => null);
    };
    await use();
    await use();
    expect(made).toHaveLength(1);
    Object.assign(made[0] ?? {}, { memoryBytes: 49 * MIB });
    await use();
    await use();
    expect(made).toHaveLength(2);
    Object.assign(made[1] ?? {}, { isPoisoned: true });
    await use();
    await use();
    expect(made).toHaveLength(3);
  });

  it('lends on when a caller was killed and never gave its instance back', async () => {
    const { kernels, made, passTime } = pool({ instancesMax: 1, waitersMax: 1 });
    const lost = await kernels.acquire();
    passTime(60_001);
    const next = await kernels.acquire();
    expect(next.kernel).not.toBe(lost.kernel);
    lost.release();
    await expect(Promise.race([kernels.acquire(), realSleep(20)])).resolves.toBeUndefined();
    next.release();
    expect(made).toHaveLength(2);
  });

  it('serves those who wait in the order they came', async () => {
    const { kernels } = pool({ instancesMax: 1, waitersMax: 3 });
    const first = await kernels.acquire();
    const order: number[] = [];
    const waiting = [1, 2, 3].map(async (number) => {
      await kernels.use(() => order.push(number));
    });
    first.release();
    await Promise.all(waiting);
    expect(order).toEqual([1, 2, 3]);
  });

  it('takes the instance back when its user fails', async () => {
    const { kernels } = pool({ instancesMax: 1, waitersMax: 0 });
    const failing = kernels.use(() => {
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    await expect(kernels.use(() => 1)).resolves.toBe(1);
  });

  it('tells a waiter when an instance cannot be made', async () => {
    let isBroken = false;
    const kernels = new KernelPool(
      () => {
        if (isBroken) throw new Error('no memory');
        return { memoryBytes: 100 * MIB, isPoisoned: false } as unknown as Kernel;
      },
      { nowMs: () => Date.now(), sleep: realSleep },
      { instancesMax: 1, waitersMax: 1, keptMemoryBytesMax: 48 * MIB, loanMsMax: 60_000 },
    );
    const lease = await kernels.acquire();
    const waiting = kernels.acquire();
    isBroken = true;
    lease.release();
    await expect(waiting).rejects.toThrow('no memory');
    isBroken = false;
    await expect(kernels.acquire()).resolves.toBeDefined();
  });
});

describe('a kernel', () => {
  it('is unusable after its receiver of bytes failed, and passes that failure on', () => {
    const kernel = newKernel();
    const encoder = kernel.createParquetEncoder(
      {
        schemaId: 0,
        identifierFieldIds: [],
        fields: [{ id: 1, name: 'a', required: false, type: { type: 'long' } }],
      },
      { codec: 'zstd', compressionLevel: null, rowGroupBytes: 1, pageBytes: 1, dictionaryBytes: 1 },
      () => {
        throw new Error('the store is gone');
      },
    );
    expect(() => encoder.finish()).toThrow('the store is gone');
    expect(kernel.isPoisoned).toBe(true);
    expect(() => encoder.finish()).toThrow(/unusable/);
    encoder.close();
  });

  it('refuses options that make no file', () => {
    const open = (options: object) => () =>
      newKernel().createParquetEncoder(
        {
          schemaId: 0,
          identifierFieldIds: [],
          fields: [{ id: 1, name: 'a', required: false, type: { type: 'long' } }],
        },
        {
          codec: 'zstd',
          compressionLevel: null,
          rowGroupBytes: 1,
          pageBytes: 1,
          dictionaryBytes: 1,
          ...options,
        },
        () => {},
      );
    expect(open({ compressionLevel: 99 })).toThrow(/compressionLevel/);
    expect(open({ codec: 'lzo' })).toThrow(/codec/);
    expect(open({ rowGroupBytes: 0 })).toThrow(/rowGroupBytes/);
  });
});
