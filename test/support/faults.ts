/**
 * Faults by position. Every outside call of a run counts; the n-th one fails, either before it had
 * any effect or after it had all of it. `calls` of a run without a fault tells how many n there are.
 */

export type FaultTiming = 'before' | 'after';

export class InjectedFault extends Error {
  override readonly name = 'InjectedFault';
}

export class Faults {
  calls = 0;
  /** Names of the calls in order, to tell where a failing run was hit. */
  readonly trace: string[] = [];
  readonly #at: number | null;
  readonly #timing: FaultTiming;
  readonly #onFault: () => void;
  readonly #makeError: (name: string) => Error;

  constructor(
    at: number | null,
    timing: FaultTiming,
    onFault: () => void = () => undefined,
    makeError: (name: string) => Error = (name) => new InjectedFault(`Injected fault at ${name}`),
  ) {
    this.#at = at;
    this.#timing = timing;
    this.#onFault = onFault;
    this.#makeError = makeError;
  }

  async around<T>(name: string, action: () => Promise<T>): Promise<T> {
    const isHit = this.#count(name);
    if (isHit && this.#timing === 'before') this.#fail(name);
    const value = await action();
    if (isHit) this.#fail(name);
    return value;
  }

  aroundSync<T>(name: string, action: () => T): T {
    const isHit = this.#count(name);
    if (isHit && this.#timing === 'before') this.#fail(name);
    const value = action();
    if (isHit) this.#fail(name);
    return value;
  }

  #count(name: string): boolean {
    this.calls += 1;
    this.trace.push(name);
    return this.calls === this.#at;
  }

  #fail(name: string): never {
    this.#onFault();
    throw this.#makeError(name);
  }
}

const ATTEMPTS_MAX = 3;

/** A client that repeats a call until it is answered; `onFailure` runs before it tries again. */
export function answering(onFailure: () => unknown): <T>(action: () => Promise<T>) => Promise<T> {
  return async (action) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await action();
      } catch (error) {
        if (attempt === ATTEMPTS_MAX) throw error;
        onFailure();
      }
    }
  };
}
