/**
 * JSON with exact 64-bit integers, and a reader over parsed values whose errors name the path.
 *
 * The rule for numbers: an integer token outside ±(2^53 − 1) becomes a `bigint`; every other token
 * becomes a `number`. So an id never loses a digit, and a float form such as `4.5e+18`, which has
 * lost its digits already, is not taken for an integer.
 */

import { parse, stringify } from 'lossless-json';
import type { ErrorKind } from './errors.ts';
import { IcebergError } from './errors.ts';

export type JsonValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly JsonValue[]
  | JsonObject;

export interface JsonObject {
  readonly [key: string]: JsonValue;
}

const INT32_MIN = -(2 ** 31);
const INT32_MAX = 2 ** 31 - 1;
const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

/** @throws `kind` with code `json.malformed` (default kind: corrupt) */
export function parseJson(text: string, kind: ErrorKind = 'corrupt'): JsonValue {
  try {
    return parse(text, undefined, parseNumberToken) as JsonValue;
  } catch (cause) {
    // A SyntaxError, or a RangeError when the nesting exhausts the stack.
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new IcebergError(kind, 'json.malformed', `Malformed JSON: ${reason}`, { cause });
  }
}

/** Compact text; a `bigint` is written as its digits. */
export function serializeJson(value: JsonValue): string {
  const text = stringify(value);
  if (text === undefined) {
    throw new IcebergError('internal', 'json.not-serializable', 'The value has no JSON form');
  }
  return text;
}

/** An object without the keys whose value is `undefined`. */
export function jsonObject(entries: Readonly<Record<string, JsonValue | undefined>>): JsonObject {
  const object: Record<string, JsonValue> = {};
  for (const [key, value] of Object.entries(entries)) {
    if (value !== undefined) object[key] = value;
  }
  return object;
}

/** A map of strings as an object; `fromEntries` keeps even the key `__proto__` an ordinary one. */
export function jsonFromMap(map: ReadonlyMap<string, string>): JsonObject {
  return Object.fromEntries(map);
}

/** A 64-bit integer in the form the parser gives it, so that values compare equal after a round. */
export function jsonInt64(value: bigint): number | bigint {
  const asNumber = Number(value);
  return Number.isSafeInteger(asNumber) ? asNumber : value;
}

function parseNumberToken(token: string): number | bigint {
  const value = Number(token);
  return !Number.isSafeInteger(value) && /^-?\d+$/.test(token) ? BigInt(token) : value;
}

/**
 * One place in a parsed document. Reading something else than what is there throws an error of the
 * document's kind (`corrupt` for stored files, `invalid` for requests) that names the path.
 */
export class JsonNode {
  readonly value: JsonValue;
  readonly path: string;
  readonly #kind: ErrorKind;

  constructor(value: JsonValue, path = '$', kind: ErrorKind = 'corrupt') {
    this.value = value;
    this.path = path;
    this.#kind = kind;
  }

  fail(code: string, problem: string): IcebergError {
    return new IcebergError(this.#kind, code, `${this.path}: ${problem}`, {
      context: { path: this.path },
    });
  }

  #unexpected(expected: string): IcebergError {
    return this.fail('json.unexpected-type', `expected ${expected}, found ${describe(this.value)}`);
  }

  object(): JsonObject {
    const value = this.value;
    if (typeof value !== 'object' || value === null || isArray(value)) {
      throw this.#unexpected('an object');
    }
    return value;
  }

  /** The member `key`, or null when it is absent or null. */
  optional(key: string): JsonNode | null {
    const object = this.object();
    const value = Object.hasOwn(object, key) ? object[key] : undefined;
    if (value === undefined || value === null) return null;
    return new JsonNode(value, `${this.path}.${key}`, this.#kind);
  }

  member(key: string): JsonNode {
    const node = this.optional(key);
    if (node === null) throw this.fail('json.missing-key', `"${key}" is missing`);
    return node;
  }

  items(): JsonNode[] {
    if (!isArray(this.value)) throw this.#unexpected('a list');
    return this.value.map((item, i) => new JsonNode(item, `${this.path}[${i}]`, this.#kind));
  }

  /** The members of an object in order. */
  entries(): [string, JsonNode][] {
    return Object.entries(this.object()).map(([key, value]) => [
      key,
      new JsonNode(value, `${this.path}.${key}`, this.#kind),
    ]);
  }

  string(): string {
    if (typeof this.value !== 'string') throw this.#unexpected('a string');
    return this.value;
  }

  boolean(): boolean {
    if (typeof this.value !== 'boolean') throw this.#unexpected('true or false');
    return this.value;
  }

  /** A 32-bit integer. */
  int(): number {
    const value = this.value;
    if (typeof value !== 'number' || !Number.isSafeInteger(value)) {
      throw this.#unexpected('a 32-bit integer');
    }
    if (value < INT32_MIN || value > INT32_MAX) throw this.#unexpected('a 32-bit integer');
    return value;
  }

  /** A 64-bit integer, exact. */
  long(): bigint {
    const value = this.value;
    if (typeof value === 'number' && Number.isSafeInteger(value)) return BigInt(value);
    if (typeof value === 'bigint' && value >= INT64_MIN && value <= INT64_MAX) return value;
    throw this.#unexpected('an exact 64-bit integer');
  }

  /** Milliseconds since 1970, which stay within 2^53 for any real date. */
  millis(): number {
    if (typeof this.value !== 'number' || !Number.isSafeInteger(this.value)) {
      throw this.#unexpected('milliseconds since 1970');
    }
    return this.value;
  }

  /** An object whose members are all strings. */
  stringMap(): Map<string, string> {
    return new Map(this.entries().map(([key, node]) => [key, node.string()]));
  }
}

function isArray(value: JsonValue): value is readonly JsonValue[] {
  return Array.isArray(value);
}

function describe(value: JsonValue): string {
  if (value === null) return 'null';
  if (isArray(value)) return 'a list';
  if (typeof value === 'object') return 'an object';
  if (typeof value === 'string') return `the string "${value.slice(0, 40)}"`;
  return `${typeof value} ${String(value)}`;
}
