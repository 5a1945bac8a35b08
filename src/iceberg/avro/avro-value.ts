/** Avro data as values. A `long` is always a bigint, an `int` always a number. */

export type AvroValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | readonly AvroValue[]
  | ReadonlyMap<string, AvroValue>
  | AvroRecord;

/**
 * A record whose fields are found by Iceberg field id, in whatever order the file has them. Files
 * without ids are found by name.
 */
export class AvroRecord {
  readonly #byId = new Map<number, AvroValue>();
  readonly #byName = new Map<string, AvroValue>();

  set(fieldId: number | null, name: string, value: AvroValue): this {
    if (fieldId === null) this.#byName.set(name, value);
    else this.#byId.set(fieldId, value);
    return this;
  }

  /** Null when the field is null or the file does not have it. */
  get(fieldId: number, name: string): AvroValue {
    return this.#byId.get(fieldId) ?? this.#byName.get(name) ?? null;
  }
}
