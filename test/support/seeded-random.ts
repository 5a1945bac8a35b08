import type { RandomSource } from '../../src/iceberg/ports.ts';

/** The same sequence for the same seed (mulberry32). */
export class SeededRandom implements RandomSource {
  #state: number;

  constructor(seed = 1) {
    this.#state = seed;
  }

  fraction(): number {
    return this.#next() / 2 ** 32;
  }

  int63(): bigint {
    const value = (BigInt(this.#next()) << 31n) | BigInt(this.#next() >>> 1);
    return value === 0n ? 1n : value;
  }

  uuid(): string {
    const hex = Array.from({ length: 4 }, () => this.#next().toString(16).padStart(8, '0')).join(
      '',
    );
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
  }

  #next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return (mixed ^ (mixed >>> 14)) >>> 0;
  }
}
