/** How bodies are cut into rows, and where faults are said to be. */

import { describe, expect, it } from 'vitest';

import type { DecodeLimits, InferredStruct } from '../../../src/columnar/kernel-port.ts';
import { IcebergError } from '../../../src/iceberg/errors.ts';
import type { DecodeOptions } from './kernel-fixture.ts';
import { decode, field, ndjson, newKernel, schema, LIMITS } from './kernel-fixture.ts';

const target = schema(field(1, 'a', 'long'), field(2, 's', 'string'));
const nothing = schema();

function failure(body: string | Uint8Array, options: DecodeOptions = {}): IcebergError {
  try {
    decode(body, target, options);
  } catch (error) {
    if (error instanceof IcebergError) return error;
    throw error;
  }
  throw new Error('The body was accepted');
}

function place(error: IcebergError): unknown[] {
  return [error.code, error.context['line'], error.context['column']];
}

describe('NDJSON', () => {
  it('is the same however it is cut into chunks (C010)', () => {
    const body = '{"s":"żółw 🦊"}\n{"s":"終"}';
    const whole = decode(body, target).slices[0]?.ipc;
    for (let chunkBytes = 1; chunkBytes < 40; chunkBytes += 1) {
      const { slices, received } = decode(body, target, { chunkBytes });
      expect(received).toBe(2);
      expect(slices.map((slice) => slice.ipc)).toEqual([whole]);
    }
  });

  it('skips a byte order mark, blank lines and carriage returns, and splits on line feeds only (C011)', () => {
    const body = '\ufeff{"a":1}\r\n\r\n{"a":2}\r\n   \n{"s":"\u2028"}\n';
    expect(decode(body, target)).toMatchObject({ received: 3, accepted: 3 });
    expect(decode(body, target, { chunkBytes: 1 })).toMatchObject({ received: 3, accepted: 3 });
  });

  it.each(['', '\n\n', '\ufeff', '  \r\n'])('has no rows in %j (C014)', (body) => {
    const { received, slices } = decode(body, target);
    expect(received).toBe(0);
    expect(slices.every((slice) => slice.ipc === null)).toBe(true);
  });

  it('names line and column of malformed JSON, in the whole body', () => {
    expect(place(failure('{"a":1}\n\n{"a":1,"s":"żółw" x}\n'))).toEqual(['json.malformed', 3, 19]);
    expect(place(failure('{"a":1}\n{"a":1}{"a":2}\n'))).toEqual(['json.malformed', 2, 8]);
    expect(place(failure('{"a":1}\n{"a":01}\n'))[0]).toBe('json.malformed');
    expect(place(failure('{"a":1}\nnope\n')).slice(0, 2)).toEqual(['json.malformed', 2]);
    expect(place(failure('{"a":1}\n{"a":\n'))).toEqual(['json.malformed', 2, 6]);
    const many = `${'{"a":1}\n'.repeat(1000)}{"a":1,}\n`;
    const late = failure(many, { limits: { sliceBytes: 100 }, chunkBytes: 33 });
    expect(place(late)).toEqual(['json.malformed', 1001, 8]);
  });

  it('ends with a clear error when the memory of an instance is full', () => {
    const kernel = newKernel();
    const megabyte = `{"s":"${'x'.repeat((1 << 20) - 9)}"}\n`;
    const limits = { sliceBytes: 1 << 30 };
    expect(failure(megabyte.repeat(100), { kernel, limits })).toMatchObject({
      kind: 'too-large',
      code: 'kernel.out-of-memory',
    });
    expect(kernel.isPoisoned).toBe(true);
    expect(kernel.memoryBytes).toBeLessThanOrEqual(128 << 20);
  });

  it('says that a body ends in the middle of a row', () => {
    expect(place(failure('{"a":1}\n{"a":2,"s":"x'))).toEqual(['json.truncated', 2, 14]);
  });

  it('refuses bytes that are not UTF-8', () => {
    const bytes = Buffer.concat([
      Buffer.from('{"a":1}\n{"s":"'),
      Buffer.from([0xc3, 0x28]),
      Buffer.from('"}'),
    ]);
    expect(place(failure(new Uint8Array(bytes)))).toEqual(['json.invalid-utf8', 2, 7]);
  });

  it('refuses a row that is too long, also before its end has come', () => {
    const limits = { rowBytesMax: 50 };
    expect(failure(`{"s":"${'x'.repeat(60)}"}\n{"a":1}`, { limits })).toMatchObject({
      kind: 'too-large',
      code: 'row.too-large',
    });
    expect(failure(`{"a":1}\n{"s":"${'x'.repeat(60)}`, { limits, chunkBytes: 8 })).toMatchObject({
      code: 'row.too-large',
      context: { line: 2, limit: 50 },
    });
  });

  it('refuses deep nesting without running out of stack', () => {
    const nested = (depth: number) => `{"x":${'['.repeat(depth)}${']'.repeat(depth)}}`;
    expect(decode(nested(126), target)).toMatchObject({ accepted: 1 });
    expect(failure(nested(127)).code).toBe('json.too-deep');
    expect(failure(`{"a":${'['.repeat(50000)}${']'.repeat(50000)}}`).code).toBe('json.too-deep');
    expect(failure(`{"a":${'['.repeat(50000)}`).code).toBe('json.truncated');
  });
});

describe('JSON documents', () => {
  const json = { format: 'json' } as const;

  it.each([
    ['{"a":1}', 1],
    [' [ {"a":1} , {"a":2,"s":"],[}\\""} ] \n', 2],
    ['[]', 0],
    ['', 0],
    ['\ufeff[{"a":1}]', 1],
    ['[{"a":1},\n{"a":2}]', 2],
  ])('%j has %d rows, in chunks of any size', (body, rows) => {
    for (const chunkBytes of [1, 2, 3, 100]) {
      expect(decode(body, target, { ...json, chunkBytes })).toMatchObject({
        accepted: rows,
        received: rows,
      });
    }
  });

  it.each([
    ['[{"a":1},]', ['json.malformed', 1, 10]],
    ['[,{"a":1}]', ['json.malformed', 1, 2]],
    ['[{"a":1} {"a":2}]', ['json.malformed', 1, 10]],
    ['{"a":1} x', ['json.malformed', 1, 9]],
    ['{"a":1}{"a":2}', ['json.malformed', 1, 8]],
    ['[{"a":1}]]', ['json.malformed', 1, 10]],
    ['[\n{"a":1},\n{"ż":tru}]', ['json.malformed', 3, 9]],
    ['[{"a":1]}', ['json.malformed', 1, 8]],
    ['[{"a":1}', ['json.truncated', 1, 9]],
    ['[', ['json.truncated', 1, 2]],
    ['{"a":"', ['json.truncated', 1, 7]],
    ['42', ['json.not-an-object', 1, 1]],
    ['"x"', ['json.not-an-object', 1, 1]],
    ['?', ['json.malformed', 1, 1]],
  ])('%j is refused', (body, expected) => {
    expect(place(failure(body, json))).toEqual(expected);
    expect(place(failure(body, { ...json, chunkBytes: 1 }))).toEqual(expected);
  });

  it('rejects elements that are no objects', () => {
    const { rejected, accepted } = decode('[1,{"a":2},"x",null,[{}]]', target, json);
    expect(accepted).toBe(1);
    expect(rejected.map(({ row, code, raw }) => [row, code, raw])).toEqual([
      [0, 'json.not-an-object', '1'],
      [2, 'json.not-an-object', '"x"'],
      [3, 'json.not-an-object', 'null'],
      [4, 'json.not-an-object', '[{}]'],
    ]);
  });
});

describe('slices', () => {
  it('count rows over the whole body and hold whole rows', () => {
    const rows = Array.from({ length: 500 }, (_, a) => (a === 321 ? { a: 'x' } : { a }));
    for (const format of ['ndjson', 'json'] as const) {
      const body = format === 'json' ? JSON.stringify(rows) : ndjson(...rows);
      const result = decode(body, target, { format, limits: { sliceBytes: 200 }, chunkBytes: 70 });
      expect(result).toMatchObject({ received: 500, accepted: 499 });
      expect(result.rejected).toMatchObject([{ row: 321 }]);
      expect(result.slices.length).toBeGreaterThan(10);
    }
  });

  it('can be decoded again under another schema', () => {
    const decoder = newKernel().createBodyDecoder('ndjson', LIMITS);
    decoder.push(Buffer.from('{"a":1,"n":{"x":1.5}}\n'));
    decoder.finish();
    expect(decoder.decode(nothing)).toMatchObject({
      rowsAccepted: 1,
      ipc: null,
      unknown: { type: 'struct', fields: [{ name: 'a', type: 'long' }, { name: 'n' }] },
    });
    const second = decoder.decode(target);
    expect(second.ipc).not.toBeNull();
    expect(second.unknown?.fields).toEqual([
      { name: 'n', type: { type: 'struct', fields: [{ name: 'x', type: 'double' }] } },
    ]);
    decoder.advance();
    expect(decoder.ready).toBe(false);
  });

  it('holds back what follows a slice, and hands out its fault in its turn', () => {
    const limits: DecodeLimits = { ...LIMITS, sliceBytes: 10 };
    const decoder = newKernel().createBodyDecoder('json', limits);
    decoder.push(Buffer.from(`[${'{"a":1},'.repeat(20000)}{"a":2}]]`));
    decoder.finish();
    let rows = 0;
    const takeAll = () => {
      while (decoder.ready) {
        rows += decoder.decode(target).rowsAccepted;
        decoder.advance();
      }
    };
    expect(takeAll).toThrow(IcebergError);
    expect(rows).toBeGreaterThan(0);
  });
});

describe('columns the schema lacks', () => {
  function unknown(body: string, known = nothing): InferredStruct | null | undefined {
    const { slices, rejected } = decode(body, known);
    expect(rejected).toEqual([]);
    return slices[0]?.unknown;
  }
  const one = (type: unknown) => ({ type: 'struct', fields: [{ name: 'v', type }] });

  it.each([
    ['{"v":1}', 'long'],
    ['{"v":1}\n{"v":null}\n{"v":2.25}', 'double'],
    ['{"v":1e2}', 'double'],
    ['{"v":9223372036854775808}', 'long'],
    ['{"v":1e400}', 'double'],
    ['{"v":true}', 'boolean'],
    ['{"v":"2031-03-04T05:06:07Z"}', 'string'],
    ['{"v":null}\n{"v":"x"}', 'string'],
    ['{"v":{}}\n{"v":"x"}', 'string'],
    ['{"v":"x"}\n{"v":{"k":1}}\n{"v":[1]}', 'string'],
    ['{"v":[]}\n{"v":[null,1]}\n{"v":[1.5]}', { type: 'list', element: 'double' }],
    [
      '{"v":[{"a":1},{"b":"x"}]}',
      {
        type: 'list',
        element: {
          type: 'struct',
          fields: [
            { name: 'a', type: 'long' },
            { name: 'b', type: 'string' },
          ],
        },
      },
    ],
    [
      '{"v":{"in":{}, "a":[[true]]}}',
      {
        type: 'struct',
        fields: [
          { name: 'a', type: { type: 'list', element: { type: 'list', element: 'boolean' } } },
        ],
      },
    ],
  ])('%s gives %j', (body, type) => {
    expect(unknown(body)).toEqual(one(type));
  });

  it.each(['{"v":null}', '{"v":{}}', '{"v":[]}', '{"v":[null]}', '{"v":{"in":{"x":[]}}}', '{}'])(
    '%s gives none yet (C007, C008, C009)',
    (body) => {
      expect(unknown(body)).toBeNull();
    },
  );

  it('are nested under the parents the schema has', () => {
    const known = schema(
      field(1, 's', { type: 'struct', fields: [field(2, 'x', 'long')] }),
      field(3, 'l', {
        type: 'list',
        elementId: 4,
        elementRequired: false,
        element: { type: 'struct', fields: [field(5, 'x', 'long')] },
      }),
    );
    expect(unknown('{"S":{"x":1,"y":2},"l":[{"x":1},{"z":"q"}]}', known)?.fields).toEqual([
      { name: 's', type: { type: 'struct', fields: [{ name: 'y', type: 'long' }] } },
      {
        name: 'l',
        type: {
          type: 'list',
          element: { type: 'struct', fields: [{ name: 'z', type: 'string' }] },
        },
      },
    ]);
    expect(unknown('{"s":{"x":1}}', known)).toBeNull();
  });

  it('are one column when their names differ only in case', () => {
    expect(unknown('{"v":1}\n{"V":2.5}')).toEqual(one('double'));
  });

  it('do not come from rejected rows', () => {
    const { slices, rejected } = decode('{"a":"x","v":1}\n{"a":1}', target);
    expect(rejected).toHaveLength(1);
    expect(slices[0]?.unknown).toBeNull();
  });

  it('must have a name that is neither empty nor reserved', () => {
    const { rejected } = decode('{"_row_id":1}\n{"":1}\n{"x":{"_row_id":1}}', nothing);
    expect(rejected.map(({ row, code }) => [row, code])).toEqual([
      [0, 'column.reserved-name'],
      [1, 'column.invalid-name'],
    ]);
  });

  it('are counted, so that keys used as data do not make columns without end (C013)', () => {
    const body = Array.from({ length: 2001 }, (_, id) => `{"by_user":{"u${id}":1}}`).join('\n');
    expect(failure(body)).toMatchObject({
      kind: 'invalid',
      code: 'schema.too-many-columns',
      context: { limit: 2000 },
    });
  });
});
