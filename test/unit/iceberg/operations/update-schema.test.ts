import { describe, expect, it } from 'vitest';
import { JsonNode, parseJson } from '../../../../src/iceberg/json.ts';
import { applyUpdates } from '../../../../src/iceberg/metadata/apply-updates.ts';
import { checkRequirements } from '../../../../src/iceberg/metadata/check-requirements.ts';
import { newTableMetadata } from '../../../../src/iceberg/metadata/new-table.ts';
import {
  differenceText,
  schemaDifference,
} from '../../../../src/iceberg/metadata/schema-difference.ts';
import type { ColumnChange } from '../../../../src/iceberg/operations/column-change.ts';
import { parseColumnChange } from '../../../../src/iceberg/operations/column-change.ts';
import { updateSchema } from '../../../../src/iceberg/operations/update-schema.ts';
import type { PartitionField } from '../../../../src/iceberg/spec/partition-spec.ts';
import { parseSchema, serializeType } from '../../../../src/iceberg/spec/schema-json.ts';
import { currentSchema } from '../../../../src/iceberg/spec/table-metadata-rules.ts';
import type { TableMetadata } from '../../../../src/iceberg/spec/table-metadata.ts';
import { BIG_ID } from '../fixtures.ts';

/** Ids after creation: id 1, n 2, d 3, o 4 (zip 7), l 5 (element 8: sku 9), m 6 (key 10, value 11). */
const SCHEMA = `{"type":"struct","identifier-field-ids":[1],"fields":[
  {"id":1,"name":"id","required":true,"type":"long"},
  {"id":2,"name":"n","required":false,"type":"int"},
  {"id":3,"name":"d","required":false,"type":"date"},
  {"id":4,"name":"o","required":false,"type":{"type":"struct","fields":[
    {"id":5,"name":"zip","required":false,"type":"string"}]}},
  {"id":6,"name":"l","required":false,"type":{"type":"list","element-id":7,"element-required":false,
    "element":{"type":"struct","fields":[{"id":8,"name":"sku","required":true,"type":"string"}]}}},
  {"id":9,"name":"m","required":false,"type":{"type":"map","key-id":10,"key":"string","value-id":11,
    "value-required":true,"value":"float"}}]}`;

function table(changes: Partial<TableMetadata> = {}, formatVersion: 2 | 3 = 2): TableMetadata {
  const metadata = newTableMetadata({
    tableUuid: 'u',
    location: 's3://b/t',
    schema: parseSchema(new JsonNode(parseJson(SCHEMA))),
    formatVersion,
    nowMs: 1,
  });
  return { ...metadata, ...changes };
}

/** Commits what the update asks for. */
function evolve(metadata: TableMetadata, ...changes: ColumnChange[]): TableMetadata {
  const { change, schema, difference } = updateSchema(metadata, changes);
  if (change === null) return metadata;
  expect(checkRequirements(metadata, change.requirements)).toBeNull();
  const after = applyUpdates(metadata, change.updates, {
    nowMs: 2,
    previousMetadataLocation: null,
  });
  expect(currentSchema(after).fields).toEqual(schema.fields);
  expect(difference).toEqual(schemaDifference(currentSchema(metadata), currentSchema(after)));
  return after;
}

function names(metadata: TableMetadata): string {
  return currentSchema(metadata)
    .fields.map((field) => field.name)
    .join(' ');
}

function texts(metadata: TableMetadata, ...changes: ColumnChange[]): string[] {
  return updateSchema(metadata, changes).difference.map(differenceText);
}

function refusal(code: string) {
  return expect.objectContaining({ kind: 'invalid', code });
}

function partitionedBy(...fields: Omit<PartitionField, 'fieldId'>[]): Partial<TableMetadata> {
  return {
    partitionSpecs: [
      { specId: 0, fields: fields.map((field, i) => ({ ...field, fieldId: 1000 + i })) },
    ],
    lastPartitionId: 999 + fields.length,
  };
}

describe('changing a schema', () => {
  it('adds columns at any depth, with ids above the last one given', () => {
    const after = evolve(
      table(),
      {
        action: 'add',
        path: ['o', 'geo'],
        type: { type: 'list', element: 'double' },
        doc: 'where',
      },
      { action: 'add', path: ['l', 'element', 'qty'], type: 'long' },
      { action: 'add', path: ['top'], type: 'decimal(9, 2)', position: { at: 'first' } },
    );
    expect(after.lastColumnId).toBe(15);
    expect(names(after)).toBe('top id n d o l m');
    const [, , , , o, l] = currentSchema(after).fields;
    expect(JSON.stringify([o, l].map((field) => field && serializeType(field.type)))).toBe(
      '[{"type":"struct","fields":[{"id":7,"name":"zip","required":false,"type":"string"},' +
        '{"id":12,"name":"geo","required":false,"type":{"type":"list","element-id":13,' +
        '"element":"double","element-required":false},"doc":"where"}]},' +
        '{"type":"list","element-id":8,"element":{"type":"struct","fields":[' +
        '{"id":9,"name":"sku","required":true,"type":"string"},' +
        '{"id":14,"name":"qty","required":false,"type":"long"}]},"element-required":false}]',
    );
  });

  it('C029: gives a column that is added again after a drop another id', () => {
    const dropped = evolve(table(), { action: 'drop', path: ['m'] });
    const after = evolve(dropped, { action: 'add', path: ['m'], type: 'string' });
    expect(currentSchema(after).fields.at(-1)).toMatchObject({ id: 12, name: 'm' });
  });

  it('C037: addresses by names, so that a dot is part of one', () => {
    const after = evolve(
      table(),
      { action: 'add', path: ['o.zip'], type: 'long' },
      { action: 'widen', path: ['n'], type: 'long' },
      { action: 'rename', path: ['o', 'zip'], name: 'post.code' },
    );
    expect(names(after)).toBe('id n d o l m o.zip');
    expect(texts(table(), { action: 'rename', path: ['o', 'zip'], name: 'post.code' })).toEqual([
      'rename o."post.code": zip → post.code',
    ]);
  });

  it('C032: keeps the id of a renamed column, and its old name is free', () => {
    const after = evolve(
      table(),
      { action: 'rename', path: ['n'], name: 'quantity' },
      { action: 'add', path: ['n'], type: 'long' },
    );
    const ids = currentSchema(after).fields.map(({ id, name }) => `${name}=${id}`);
    expect(ids.filter((one) => /^(n|quantity)=/.test(one))).toEqual(['quantity=2', 'n=12']);
  });

  it('renames a column in case only, and finds one whatever the case', () => {
    expect(names(evolve(table(), { action: 'rename', path: ['N'], name: 'N' }))).toContain(
      'id N d',
    );
  });

  it('moves first, before and after, within one struct', () => {
    const move = (column: string, position: (ColumnChange & { action: 'move' })['position']) =>
      names(evolve(table(), { action: 'move', path: [column], position }));
    expect(move('m', { at: 'first' })).toBe('m id n d o l');
    expect(move('id', { at: 'after', column: 'd' })).toBe('n d id o l m');
    expect(move('m', { at: 'before', column: 'n' })).toBe('id m n d o l');
    expect(() => move('m', { at: 'after', column: 'zip' })).toThrow(
      refusal('schema.unknown-neighbour'),
    );
    expect(() => move('m', { at: 'after', column: 'm' })).toThrow(
      refusal('schema.unknown-neighbour'),
    );
    expect(texts(table(), { action: 'move', path: ['m'], position: { at: 'first' } })).toEqual([
      'order: id, n, d, o, l, m → m, id, n, d, o, l',
    ]);
  });

  it('widens columns, elements and map values, and makes them optional', () => {
    const changes: ColumnChange[] = [
      { action: 'widen', path: ['n'], type: 'long' },
      { action: 'widen', path: ['m', 'value'], type: 'double' },
      { action: 'make-optional', path: ['m', 'value'] },
      { action: 'make-optional', path: ['l', 'element', 'sku'] },
    ];
    evolve(table(), ...changes);
    expect(texts(table(), ...changes)).toEqual([
      'type n: int → long',
      'nullability l.element.sku: required → optional',
      'type m.value: float → double',
      'nullability m.value: required → optional',
    ]);
  });

  it('is nothing to commit when it changes nothing', () => {
    const { change, difference } = updateSchema(table(), [
      { action: 'widen', path: ['n'], type: 'int' },
      { action: 'make-optional', path: ['o'] },
      { action: 'set-doc', path: ['n'], doc: null },
    ]);
    expect([change, difference]).toEqual([null, []]);
  });

  it('sets docs and identifier fields', () => {
    const changes: ColumnChange[] = [
      { action: 'set-doc', path: ['o', 'zip'], doc: 'post code' },
      { action: 'set-identifier-fields', paths: [] },
      { action: 'drop', path: ['id'] },
    ];
    expect(names(evolve(table(), ...changes))).toBe('n d o l m');
    expect(texts(table(), ...changes)).toEqual([
      'doc o.zip: post code',
      'drop id: long required',
      'identifier-fields: id → ',
    ]);
  });

  it('C030: asks for the last id with nested ones counted, so that a second change applies', () => {
    const once = evolve(table(), { action: 'add', path: ['a'], type: 'long' });
    const { change } = updateSchema(once, [{ action: 'add', path: ['b'], type: 'long' }]);
    expect(change?.requirements).toContainEqual({
      type: 'assert-last-assigned-field-id',
      lastAssignedFieldId: 12,
    });
  });

  it('C031: finds a renamed column in imported files by both names, a dropped one by none', () => {
    const mapping = '[{"field-id":1,"names":["id"]},{"field-id":2,"names":["n"]}]';
    const key = 'schema.name-mapping.default';
    const before = table({ properties: new Map([[key, mapping]]) });
    const renamed = evolve(before, { action: 'rename', path: ['n'], name: 'quantity' });
    expect(renamed.properties.get(key)).toContain('{"field-id":2,"names":["n","quantity"]}');
    const taken = evolve(renamed, { action: 'add', path: ['n'], type: 'string' });
    expect(taken.properties.get(key)).toContain('{"field-id":2,"names":["quantity"]}');
    expect(taken.properties.get(key)).toContain('{"field-id":12,"names":["n"]}');
  });
});

describe('an illegal change of a schema', () => {
  const cases: [string, ColumnChange][] = [
    ['schema.unknown-column', { action: 'drop', path: ['nope'] }],
    ['schema.unknown-column', { action: 'drop', path: ['n', 'x'] }],
    ['schema.unknown-column', { action: 'drop', path: ['l', 'sku'] }],
    ['schema.unknown-column', { action: 'drop', path: [] }],
    ['schema.not-a-struct', { action: 'add', path: ['n', 'x'], type: 'long' }],
    ['schema.not-a-struct', { action: 'rename', path: ['m', 'value'], name: 'v' }],
    ['schema.map-key', { action: 'widen', path: ['m', 'key'], type: 'binary' }],
    ['schema.duplicate-name', { action: 'add', path: ['N'], type: 'long' }],
    ['schema.duplicate-name', { action: 'rename', path: ['n'], name: 'ID' }],
    ['schema.reserved-name', { action: 'add', path: ['_pos'], type: 'long' }],
    ['schema.reserved-name', { action: 'rename', path: ['n'], name: '_file' }],
    ['schema.empty-name', { action: 'rename', path: ['n'], name: '' }],
    ['schema.empty-struct', { action: 'drop', path: ['o', 'zip'] }],
    ['schema.empty-struct', { action: 'add', path: ['x'], type: { type: 'struct', fields: [] } }],
    ['schema.identifier-field', { action: 'drop', path: ['id'] }],
    ['schema.identifier-field', { action: 'make-optional', path: ['id'] }],
    ['schema.identifier-field', { action: 'set-identifier-fields', paths: [['n']] }],
    [
      'schema.identifier-field',
      { action: 'set-identifier-fields', paths: [['l', 'element', 'sku']] },
    ],
    ['schema.illegal-promotion', { action: 'widen', path: ['id'], type: 'int' }],
    ['schema.illegal-promotion', { action: 'widen', path: ['n'], type: 'double' }],
    ['schema.illegal-promotion', { action: 'widen', path: ['d'], type: 'timestamp' }],
    ['schema.illegal-promotion', { action: 'widen', path: ['o'], type: 'string' }],
    [
      'schema.illegal-promotion',
      { action: 'widen', path: ['n'], type: { type: 'list', element: 'int' } },
    ],
    [
      'schema.required-without-default',
      { action: 'add', path: ['r'], type: 'long', required: true },
    ],
    [
      'schema.default-needs-version-3',
      { action: 'add', path: ['r'], type: 'long', initialDefault: 1 },
    ],
    ['type.needs-version-3', { action: 'add', path: ['v'], type: 'variant' }],
    ['type.unknown', { action: 'add', path: ['v'], type: 'varchar' }],
  ];

  it.each(cases)('is refused with %s: %j', (code, change) => {
    expect(() => updateSchema(table(), [change])).toThrow(refusal(code));
  });

  it('leaves at least one column', () => {
    const drops = ['n', 'd', 'o', 'l', 'm', 'id'].map((name): ColumnChange => ({
      action: 'drop',
      path: [name],
    }));
    const changes: ColumnChange[] = [{ action: 'set-identifier-fields', paths: [] }, ...drops];
    expect(() => updateSchema(table(), changes)).toThrow(refusal('schema.no-columns'));
  });

  it('does not count too many columns or levels against the table of another writer', () => {
    const limits = { columnsMax: 11, depthMax: 2 };
    const rename: ColumnChange = { action: 'rename', path: ['n'], name: 'x' };
    expect(() => updateSchema(table(), [rename], { ...limits, columnsMax: 3 })).not.toThrow();
    const add: ColumnChange = { action: 'add', path: ['x'], type: 'long' };
    expect(() => updateSchema(table(), [add], limits)).toThrow(refusal('schema.too-many-columns'));
    const deep: ColumnChange = { action: 'add', path: ['l', 'element', 'x'], type: 'long' };
    expect(() => updateSchema(table(), [deep], limits)).toThrow(refusal('schema.too-deep'));
  });
});

describe('a column that the layout of a table needs', () => {
  const zip = { sourceId: 7, name: 'zip_trunc', transform: 'truncate[2]' };

  it('cannot be dropped, nor the struct it is in', () => {
    const metadata = table(partitionedBy(zip));
    for (const path of [['o'], ['o', 'zip']]) {
      expect(() => updateSchema(metadata, [{ action: 'drop', path }])).toThrow(
        refusal('schema.partition-source'),
      );
    }
    const sorted = table({
      sortOrders: [
        {
          orderId: 1,
          fields: [
            { sourceId: 2, transform: 'identity', direction: 'asc', nullOrder: 'nulls-last' },
          ],
        },
      ],
      defaultSortOrderId: 1,
    });
    expect(() => updateSchema(sorted, [{ action: 'drop', path: ['n'] }])).toThrow(
      refusal('schema.sort-source'),
    );
  });

  it('of an older spec cannot be dropped while there may be files of it', () => {
    const { partitionSpecs = [] } = partitionedBy(zip);
    const metadata = table({
      partitionSpecs: [...partitionSpecs, { specId: 1, fields: [] }],
      defaultSpecId: 1,
      lastPartitionId: 1000,
    });
    expect(names(evolve(metadata, { action: 'drop', path: ['o'] }))).toBe('id n d l m');
    const withFiles = { ...metadata, currentSnapshotId: BIG_ID };
    expect(() => updateSchema(withFiles, [{ action: 'drop', path: ['o'] }])).toThrow(
      refusal('schema.partition-source'),
    );
  });

  it('can be dropped once its field is void', () => {
    const metadata = table(partitionedBy({ ...zip, transform: 'void' }));
    expect(names(evolve(metadata, { action: 'drop', path: ['o'] }))).toBe('id n d l m');
  });

  it('C048: is widened where its partition values stay the same, and only there', () => {
    const widen = (sourceId: number, transform: string, path: string[], type: string) => {
      const field = { sourceId, name: 'p', transform };
      return () => updateSchema(table(partitionedBy(field), 3), [{ action: 'widen', path, type }]);
    };
    expect(widen(2, 'bucket[16]', ['n'], 'long')).not.toThrow();
    expect(widen(2, 'identity', ['n'], 'long')).not.toThrow();
    expect(widen(3, 'month', ['d'], 'timestamp')).not.toThrow();
    expect(widen(3, 'bucket[16]', ['d'], 'timestamp')).toThrow(refusal('schema.partition-source'));
    expect(widen(3, 'identity', ['d'], 'timestamp_ns')).toThrow(refusal('schema.partition-source'));
  });

  it('C040: has a name that no other column may take', () => {
    const metadata = table(partitionedBy(zip));
    for (const change of [
      { action: 'add', path: ['zip_trunc'], type: 'long' },
      { action: 'rename', path: ['n'], name: 'Zip_Trunc' },
    ] satisfies ColumnChange[]) {
      expect(() => updateSchema(metadata, [change])).toThrow(refusal('schema.partition-name'));
    }
  });
});

describe('format version 3', () => {
  it('C035: takes a required column with an initial default, which is then the write default', () => {
    const after = evolve(
      table({}, 3),
      { action: 'add', path: ['r'], type: 'string', required: true, initialDefault: 'x' },
      { action: 'add', path: ['o', 'v'], type: 'variant' },
      { action: 'set-write-default', path: ['n'], value: 7 },
    );
    expect(currentSchema(after).fields.at(-1)).toEqual({
      id: 12,
      name: 'r',
      required: true,
      type: { type: 'string' },
      initialDefault: 'x',
      writeDefault: 'x',
    });
    const changed = evolve(after, { action: 'set-write-default', path: ['r'], value: 'y' });
    expect(currentSchema(changed).fields.at(-1)).toMatchObject({
      initialDefault: 'x',
      writeDefault: 'y',
    });
    const removed = evolve(changed, { action: 'set-write-default', path: ['n'], value: null });
    expect(currentSchema(removed).fields[1]).not.toHaveProperty('writeDefault');
  });

  it('refuses a default that is not of the type', () => {
    expect(() =>
      updateSchema(table({}, 3), [{ action: 'set-write-default', path: ['n'], value: 'seven' }]),
    ).toThrow(refusal('schema.default'));
    expect(() =>
      updateSchema(table({}, 3), [
        { action: 'add', path: ['r'], type: 'variant', required: true, initialDefault: 1 },
      ]),
    ).toThrow(refusal('schema.default'));
  });

  it('widens dates, their defaults with them, and unknown columns to anything', () => {
    const after = evolve(
      table({}, 3),
      { action: 'add', path: ['u'], type: 'unknown' },
      { action: 'set-write-default', path: ['d'], value: '2020-02-29' },
      { action: 'widen', path: ['d'], type: 'timestamp' },
      { action: 'widen', path: ['u'], type: { type: 'list', element: 'long' } },
    );
    expect(currentSchema(after).fields[2]).toMatchObject({
      type: { type: 'timestamp' },
      writeDefault: '2020-02-29T00:00:00.000000',
    });
    expect(after.lastColumnId).toBe(13);
    expect(() =>
      updateSchema(table({}, 3), [{ action: 'widen', path: ['d'], type: 'timestamptz' }]),
    ).toThrow(refusal('schema.illegal-promotion'));
  });
});

describe('changes in a request', () => {
  function parse(text: string): ColumnChange {
    return parseColumnChange(new JsonNode(parseJson(text), '$', 'invalid'));
  }

  it('are read with nested types, defaults and positions', () => {
    expect(
      parse(
        '{"action":"add","path":["a.b","c"],"type":{"type":"map","key":"string","value":{"type":"list",' +
          '"element":{"type":"struct","fields":[{"name":"x","type":"int"}]}}},"required":true,' +
          '"initial-default":{},"position":{"after":"z"},"doc":"d"}',
      ),
    ).toEqual({
      action: 'add',
      path: ['a.b', 'c'],
      type: {
        type: 'map',
        key: 'string',
        value: {
          type: 'list',
          element: { type: 'struct', fields: [{ name: 'x', type: 'int' }] },
        },
      },
      required: true,
      initialDefault: {},
      doc: 'd',
      position: { at: 'after', column: 'z' },
    });
    expect(parse('{"action":"move","path":["a"],"position":{"first":true}}')).toEqual({
      action: 'move',
      path: ['a'],
      position: { at: 'first' },
    });
    expect(parse('{"action":"set-identifier-fields","paths":[["a"]]}')).toEqual({
      action: 'set-identifier-fields',
      paths: [['a']],
    });
  });

  it.each([
    ['schema.unknown-action', '{"action":"make-required","path":["a"]}'],
    ['schema.unknown-column', '{"action":"drop","path":[]}'],
    ['json.unexpected-type', '{"action":"drop","path":"a.b"}'],
    ['type.unknown', '{"action":"widen","path":["a"],"type":{"type":"set"}}'],
  ])('are refused with %s: %s', (code, text) => {
    expect(() => parse(text)).toThrow(refusal(code));
  });
});
