/** `/tables/{namespace}/{table}/schema` over HTTP. */

import { tableFromIPC } from 'apache-arrow';
import { describe, expect, it } from 'vitest';
import { call, table } from './http-harness.ts';

const HOSTILE = `<img src=x onerror="alert('x')">&`;

async function declare(name: string, fields: readonly object[], rest: object = {}): Promise<void> {
  const answer = await call(`/tables/${name}`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ schema: { type: 'struct', fields }, ...rest }),
  });
  expect(answer.status).toBe(201);
}

const EVERY_TYPE = [
  'boolean',
  'int',
  'long',
  'float',
  'double',
  'decimal(38,3)',
  'date',
  'time',
  'timestamp',
  'timestamptz',
  'string',
  'uuid',
  'fixed[5]',
  'binary',
  { type: 'struct', fields: [{ id: 90, name: 'inner', required: true, type: 'date' }] },
  { type: 'list', 'element-id': 91, element: 'int', 'element-required': true },
  {
    type: 'map',
    'key-id': 92,
    key: 'string',
    'value-id': 93,
    value: 'int',
    'value-required': false,
  },
];

describe('GET …/schema', () => {
  it('gives the current schema as the specification writes it', async () => {
    await declare('schema/json', [
      { id: 5, name: 'id', required: true, type: 'long', doc: 'the order' },
    ]);
    const { body, headers } = await call('/tables/schema/json/schema');
    expect(body).toEqual({
      type: 'struct',
      'schema-id': 0,
      fields: [{ id: 1, name: 'id', required: true, type: 'long', doc: 'the order' }],
    });
    expect(headers.get('vary')).toContain('Accept');
    expect((await table('schema/json'))?.schema).toEqual(body);
  });

  it.each([true, false])('gives the Arrow schema of every type, required: %s', async (required) => {
    const name = `schema/arrow-${required}`;
    await declare(
      name,
      EVERY_TYPE.map((type, index) => ({ id: index, name: `c${index}`, required, type })),
    );
    for (const [path, headers] of [
      [`/tables/${name}/schema?format=arrow`, {}],
      [`/tables/${name}/schema`, { accept: 'application/vnd.apache.arrow.stream' }],
    ] as const) {
      const response = await call(path, { headers });
      expect(response.headers.get('content-type')).toBe('application/vnd.apache.arrow.stream');
    }
    const { bytes } = await call(`/tables/${name}/schema?format=arrow`);
    const arrow = tableFromIPC(bytes);
    expect(arrow.numRows).toBe(0);
    expect(arrow.schema.fields.map((field) => [field.name, field.nullable])).toEqual(
      EVERY_TYPE.map((_, index) => [`c${index}`, !required]),
    );
    expect(arrow.schema.fields.map((field) => field.metadata.get('PARQUET:field_id'))).toEqual(
      EVERY_TYPE.map((_, index) => String(index + 1)),
    );
    expect(String(arrow.schema.fields[5]?.type)).toBe('Decimal[38e+3]');
  });

  it('gives a page to who asks for one, with nothing of the table taken for markup', async () => {
    await declare(
      'schema/page',
      [
        { id: 1, name: HOSTILE, required: true, type: 'long', doc: `${HOSTILE} doc` },
        {
          id: 2,
          name: 'place',
          required: false,
          type: {
            type: 'struct',
            fields: [{ id: 3, name: 'zip', required: false, type: 'string', doc: 'postal code' }],
          },
        },
      ],
      { properties: { comment: HOSTILE } },
    );
    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    const { text, headers } = await call('/tables/schema/page/schema', { headers: { accept } });
    expect(headers.get('content-type')).toContain('text/html');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(text).not.toContain('<img');
    for (const shown of ['schema.page', '&lt;img src=x', 'postal code', 'required', 'max-width']) {
      expect(text).toContain(shown);
    }
    const json = await call('/tables/schema/page/schema?format=iceberg', { headers: { accept } });
    expect(json.headers.get('content-type')).toContain('application/json');
  });

  it.each([
    ['/tables/schema/missing/schema', 404, 'table.not-found'],
    ['/tables/schema/json/schema?format=avro', 400, 'request.invalid-parameter'],
  ])('%s answers %i %s', async (path, status, code) => {
    const answer = await call<{ error: { code: string } }>(path);
    expect([answer.status, answer.body.error.code]).toEqual([status, code]);
  });
});
