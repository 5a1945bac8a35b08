/**
 * The one alarm of a Durable Object, and how the two objects use it. A handler that throws is called
 * again only a few times and then never; so a handler here catches everything, keeps its own
 * backoff, and every request sets a missing alarm anew.
 */

export interface Alarm {
  /** Null when none is set, and inside the handler until a new one is. */
  get(): Promise<number | null>;
  /** Replaces the one that is set; null removes it. */
  set(atMs: number | null): Promise<void>;
}

/** Makes sure that the alarm rings at `atMs` or earlier. A set that changes nothing is saved. */
export async function armNoLaterThan(alarm: Alarm, atMs: number): Promise<void> {
  const current = await alarm.get();
  if (current === null || current > atMs) await alarm.set(atMs);
}

/** `attempt` counts from 1. Doubles from `minMs` to `maxMs`, less up to a quarter. */
export function backoffMs(attempt: number, minMs: number, maxMs: number, fraction: number): number {
  const full = Math.min(minMs * 2 ** Math.min(attempt - 1, 30), maxMs);
  return Math.round(full * (1 - fraction / 4));
}
