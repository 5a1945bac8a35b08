import { describe, expect, it } from 'vitest';
import { applyUpdates } from '../../../../src/iceberg/metadata/apply-updates.ts';
import { checkRequirements } from '../../../../src/iceberg/metadata/check-requirements.ts';
import { newTableMetadata } from '../../../../src/iceberg/metadata/new-table.ts';
import { JsonNode } from '../../../../src/iceberg/json.ts';
import { unionByName } from '../../../../src/iceberg/metadata/union-by-name.ts';
import { evolveSchema } from '../../../../src/iceberg/operations/evolve-schema.ts';
import { schemaFieldIds } from '../../../../src/iceberg/spec/data-types.ts';
import type { InferredStruct, InferredType } from '../../../../src/iceberg/spec/inferred-type.ts';
import {
  parseSchema,
  serializeSchema,
  serializeType,
} from '../../../../src/iceberg/spec/schema-json.ts';
import { currentSchema } from '../../../../src/iceberg/spec/table-metadata-rules.ts';
import type { TableMetadata } from '../../../../src/iceberg/spec/table-metadata.ts';
import { struct } from '../fixtures.ts';

function list(element: InferredType): InferredType {
  return { type: 'list', element };
}

function table(schema: InferredStruct, properties = new Map<string, string>()): TableMetadata {
  return newTableMetadata({ tableUuid: 'u', location: 's3://b/t', schema, properties, nowMs: 1 });
}

function evolve(metadata: TableMetadata, missing: InferredStruct): TableMetadata {
  const change = evolveSchema(metadata, missing);
  if (change === null) return metadata;
  expect(checkRequirements(metadata, change.requirements)).toBeNull();
  return applyUpdates(metadata, change.updates, { nowMs: 2, previousMetadataLocation: null });
}

/** `name:id` of every field, nested ones in brackets. */
function shape(metadata: TableMetadata): string {
  return JSON.stringify(serializeSchema(currentSchema(metadata)).fields, (key, value: unknown) =>
    key === 'required' || key === 'element-required' ? undefined : value,
  )
    .replaceAll(/"(id|name|type|fields|element|element-id)":/g, '$1:')
    .replaceAll('"', '');
}

describe('unionByName', () => {
  it('C007: adds a column once it has a type, as an optional one', () => {
    const before = table(struct(['id', 'long']));
    expect(evolve(before, struct(['x', 'unknown']))).toBe(before);
    const after = evolve(before, struct(['x', 'long']));
    expect(currentSchema(after).fields[1]).toEqual({
      id: 2,
      name: 'x',
      required: false,
      type: { type: 'long' },
    });
  });

  it('C008: never adds a struct without fields, at any depth', () => {
    const before = table(struct(['id', 'long']));
    expect(evolve(before, struct(['meta', struct()]))).toBe(before);
    expect(evolve(before, struct(['o', struct(['in', struct()])]))).toBe(before);
    const after = evolve(before, struct(['meta', struct(['a', 'long'], ['b', struct()])]));
    expect(shape(after)).toContain('fields:[{id:3,name:a,type:long}]');
  });

  it('C009: defers a list until its element has a type', () => {
    const before = table(struct(['id', 'long']));
    expect(evolve(before, struct(['tags', list('unknown')]))).toBe(before);
    expect(evolve(before, struct(['tags', list(struct())]))).toBe(before);
    const after = evolve(before, struct(['tags', list('string')]));
    expect(shape(after)).toContain('type:{type:list,element-id:3,element:string}');
  });

  it('C026: adds a field inside a list of structs once', () => {
    const before = table(struct(['items', list(struct(['sku', 'string']))]));
    const missing = struct(['items', list(struct(['qty', 'long'], ['qty', 'long']))]);
    const after = evolve(before, missing);
    expect(shape(after)).toBe(
      '[{id:1,name:items,type:{type:list,element-id:2,element:' +
        '{type:struct,fields:[{id:3,name:sku,type:string},{id:4,name:qty,type:long}]}}}]',
    );
  });

  it('C027: adds every level below a known parent', () => {
    const before = table(struct(['c', struct(['id', 'long'])]));
    const geo = struct(['lat', 'double']);
    const after = evolve(
      before,
      struct(['c', struct(['addr', struct(['zip', 'string'], ['geo', geo])])]),
    );
    expect(shape(after)).toBe(
      '[{id:1,name:c,type:{type:struct,fields:[{id:2,name:id,type:long},' +
        '{id:3,name:addr,type:{type:struct,fields:[{id:4,name:zip,type:string},' +
        '{id:5,name:geo,type:{type:struct,fields:[{id:6,name:lat,type:double}]}}]}}]}}]',
    );
    expect(after.lastColumnId).toBe(6);
  });

  it('C029: never gives the id of a dropped column again', () => {
    const before = table(struct(['a', 'long'], ['b', 'long'], ['c', 'long']));
    const fields = currentSchema(before).fields.slice(0, 2);
    const dropped = applyUpdates(
      before,
      [
        {
          action: 'add-schema',
          schema: { schemaId: 1, fields, identifierFieldIds: [] },
          lastColumnId: 3,
        },
        { action: 'set-current-schema', schemaId: -1 },
      ],
      { nowMs: 2, previousMetadataLocation: null },
    );
    const after = evolve(dropped, struct(['d', 'string']));
    expect(currentSchema(after).fields[2]).toMatchObject({ id: 4, name: 'd' });
    expect(after.lastColumnId).toBe(4);
  });

  it('C030: counts nested ids, also of map keys and values', () => {
    const map: InferredType = { type: 'map', key: 'string', value: struct(['x', 'long']) };
    const before = table(struct(['a', 'long'], ['m', map]));
    expect(schemaFieldIds(currentSchema(before))).toEqual([1, 2, 3, 4, 5]);
    expect(before.lastColumnId).toBe(5);
    const once = evolve(before, struct(['b', 'long']));
    const twice = evolve(once, struct(['c', 'long']));
    expect(twice.lastColumnId).toBe(7);
  });

  it('C031: moves a name in the name mapping to the column that took it over', () => {
    const mapping = '[{"field-id":1,"names":["id"]},{"field-id":2,"names":["c","old_c"]}]';
    const before = table(
      struct(['id', 'long']),
      new Map([['schema.name-mapping.default', mapping]]),
    );
    const after = evolve({ ...before, lastColumnId: 2 }, struct(['c', 'string']));
    expect(after.properties.get('schema.name-mapping.default')).toBe(
      '[{"field-id":1,"names":["id"]},{"field-id":2,"names":["old_c"]},{"field-id":3,"names":["c"]}]',
    );
  });

  it('C033: of two that add a column at once, the second finds it, whatever its type', () => {
    const before = table(struct(['id', 'long']));
    const first = evolveSchema(before, struct(['nc', 'long']));
    const second = evolveSchema(before, struct(['NC', 'string']));
    const after = applyUpdates(before, first?.updates ?? [], {
      nowMs: 2,
      previousMetadataLocation: null,
    });
    expect(checkRequirements(after, second?.requirements ?? [])).toMatch(/last assigned field id/);
    expect(evolveSchema(after, struct(['NC', 'string']))).toBeNull();
    expect(currentSchema(after).fields.map((field) => field.name)).toEqual(['id', 'nc']);
  });

  it('C037: takes a name with a dot for a name, not a path', () => {
    const before = table(struct(['a', struct(['b', 'long'])]));
    const after = evolve(before, struct(['a.b', 'long']));
    expect(shape(after)).toBe(
      '[{id:1,name:a,type:{type:struct,fields:[{id:2,name:b,type:long}]}},{id:3,name:a.b,type:long}]',
    );
  });

  it('C039: folds names equal under lower case into one column, at every depth', () => {
    const before = table(struct(['userId', 'long'], ['o', struct(['X', 'long'])]));
    expect(evolve(before, struct(['userid', 'long'], ['O', struct(['x', 'long'])]))).toBe(before);
    const both = evolve(
      before,
      struct(['N', struct(['A', 'long'])], ['n', struct(['a', 'long'], ['B', 'long'])]),
    );
    expect(shape(both)).toContain(
      'name:N,type:{type:struct,fields:[{id:5,name:A,type:long},{id:6,name:B,type:long}]}',
    );
    const created = table(struct(['STRASSE', 'long'], ['straße', 'long'], ['Straße', 'long']));
    expect(currentSchema(created).fields.map((field) => field.name)).toEqual(['STRASSE', 'straße']);
  });

  it('C039: finds the exact name in a table that another writer gave two that fold together', () => {
    const before = table(struct(['a', struct(['x', 'long'])], ['b', struct(['x', 'long'])]));
    const schema = currentSchema(before);
    const fields = schema.fields.map((field) => (field.id === 2 ? { ...field, name: 'A' } : field));
    const union = unionByName({ ...schema, fields }, struct(['A', struct(['y', 'long'])]), 4);
    const sizes = union.schema.fields.map(
      ({ type }) => type.type === 'struct' && type.fields.length,
    );
    expect(sizes).toEqual([1, 2]);
  });

  it('C040: refuses the names of metadata columns, whatever their case', () => {
    const before = table(struct(['id', 'long']));
    for (const name of ['_file', '_pos', '_row_id', '_DELETED', '_partition']) {
      expect(() => evolve(before, struct([name, 'long']))).toThrow(
        expect.objectContaining({ kind: 'invalid', code: 'schema.reserved-name' }),
      );
    }
    expect(() => table(struct(['_file', 'string']))).toThrow(/metadata column/);
  });

  it('leaves a column of another kind as it is', () => {
    const before = table(struct(['a', 'long'], ['s', struct(['x', 'long'])]));
    expect(evolve(before, struct(['a', struct(['b', 'long'])], ['s', 'string']))).toBe(before);
  });

  it('refuses too many columns and too deep a nesting', () => {
    const { schemas, lastColumnId } = table(struct(['id', 'long']));
    const schema = schemas[0];
    if (schema === undefined) throw new Error('no schema');
    const limits = { columnsMax: 3, depthMax: 4 };
    const wide = struct(['a', 'long'], ['b', 'long'], ['c', 'long']);
    expect(() => unionByName(schema, wide, lastColumnId, { limits })).toThrow(
      expect.objectContaining({ code: 'schema.too-many-columns' }),
    );
    let deep: InferredType = 'long';
    for (let i = 0; i < 40; i += 1) deep = struct(['n', deep]);
    expect(() => unionByName(schema, struct(['d', deep]), lastColumnId)).toThrow(
      expect.objectContaining({ code: 'schema.too-deep' }),
    );
  });
});

describe('the schema policy', () => {
  function columns(fields: [string, string][], rules: Parameters<typeof unionByName>[3]) {
    const known = fields.map(([name, type], i) => ({ id: i + 1, name, required: false, type }));
    const schema = parseSchema(new JsonNode({ type: 'struct', fields: known }));
    return (arrived: InferredStruct) => unionByName(schema, arrived, fields.length, rules);
  }

  function types(union: ReturnType<typeof unionByName>): unknown[] {
    return union.schema.fields.map(({ type }) => serializeType(type));
  }

  it('strict adds nothing and names what is missing, the topmost name of each', () => {
    const before = table(struct(['id', 'long'], ['c', struct(['x', 'long'])]));
    const arrived = struct(
      ['ID', 'long'],
      ['c', struct(['x', 'long'], ['addr', struct(['zip', 'string'])])],
      ['a.b', 'long'],
      ['nothing', 'unknown'],
      ['_file', 'string'],
    );
    const union = unionByName(currentSchema(before), arrived, before.lastColumnId, {
      policy: 'strict',
    });
    expect(union.missingColumns).toEqual([['c', 'addr'], ['a.b'], ['_file']]);
    expect(union.changed).toBe(false);
    expect(union.lastColumnId).toBe(before.lastColumnId);
    expect(evolveSchema(before, arrived, { policy: 'strict' })).toBeNull();
  });

  it('add never changes the type of a column', () => {
    const union = columns([['n', 'int']], { policy: 'add' })(struct(['n', 'long']));
    expect(union.changed).toBe(false);
  });

  it('widen adds columns, and promotes where the specification allows it', () => {
    const union = columns(
      [
        ['n', 'int'],
        ['f', 'float'],
        ['d', 'decimal(9,2)'],
        ['s', 'string'],
        ['l', 'long'],
      ],
      { policy: 'widen', formatVersion: 2 },
    )(
      struct(
        ['N', 'long'],
        ['f', 'double'],
        ['d', 'decimal(18,2)'],
        ['s', 'long'],
        ['l', 'double'],
        ['x', 'long'],
      ),
    );
    expect(types(union)).toEqual(['long', 'double', 'decimal(18,2)', 'string', 'long', 'long']);
    expect(union.schema.fields.map((field) => field.name).join('')).toBe('nfdslx');
  });

  it('C036: widen never goes between timestamps with and without a zone, nor to a smaller scale', () => {
    const union = columns(
      [
        ['a', 'timestamp'],
        ['b', 'timestamptz'],
        ['c', 'decimal(9,2)'],
        ['d', 'date'],
      ],
      { policy: 'widen', formatVersion: 3 },
    )(
      struct(
        ['a', 'timestamptz'],
        ['b', 'timestamp'],
        ['c', 'decimal(18,3)'],
        ['d', 'timestamptz'],
      ),
    );
    expect(union.changed).toBe(false);
  });

  it('widen promotes dates and unknown columns in version 3 only, and at any depth', () => {
    const fields: [string, string][] = [
      ['d', 'date'],
      ['u', 'unknown'],
    ];
    const arrived = struct(['d', 'timestamp'], ['u', struct(['x', 'long'])]);
    expect(
      columns(fields, { policy: 'widen', formatVersion: 2 })(arrived).schema.fields[0]?.type,
    ).toEqual({ type: 'date' });
    expect(types(columns(fields, { policy: 'widen', formatVersion: 3 })(arrived))).toEqual([
      'timestamp',
      { type: 'struct', fields: [{ id: 3, name: 'x', required: false, type: 'long' }] },
    ]);
    const nested = table(struct(['o', struct(['l', list('int')])]));
    const wide = struct(['o', struct(['l', list('long')])]);
    const change = evolveSchema(nested, wide, { policy: 'widen' });
    expect(JSON.stringify(change?.updates)).toContain('"elementId":3,"element":{"type":"long"}');
  });

  it('widen leaves a date alone that partition values are made of', () => {
    const spec = (transform: string) => ({
      specId: 0,
      fields: [{ sourceId: 1, fieldId: 1000, name: 'd_p', transform }],
    });
    const before = { ...table(struct(['d', 'date'])), formatVersion: 3, nextRowId: 0n } as const;
    const arrived = struct(['d', 'timestamp']);
    const change = (transform: string) =>
      evolveSchema({ ...before, partitionSpecs: [spec(transform)] }, arrived, { policy: 'widen' });
    expect(change('bucket[4]')).toBeNull();
    expect(change('identity')).toBeNull();
    expect(change('month')).not.toBeNull();
  });

  it('C040: no column is added that has the name of a partition field', () => {
    const before = {
      ...table(struct(['ts', 'timestamptz'])),
      partitionSpecs: [
        {
          specId: 0,
          fields: [{ sourceId: 1, fieldId: 1000, name: 'ts_day', transform: 'day' }],
        },
      ],
    };
    expect(() => evolveSchema(before, struct(['TS_day', 'string']))).toThrow(
      expect.objectContaining({ kind: 'invalid', code: 'schema.partition-name' }),
    );
  });

  it('adds the types of version 3 to tables of version 3 only', () => {
    const before = table(struct(['id', 'long']));
    expect(() => evolveSchema(before, struct(['n', 'timestamp_ns']))).toThrow(
      expect.objectContaining({ kind: 'invalid', code: 'type.needs-version-3' }),
    );
    const upgraded = { ...before, formatVersion: 3, nextRowId: 0n } as const;
    expect(evolveSchema(upgraded, struct(['n', 'timestamp_ns']))).not.toBeNull();
  });
});
