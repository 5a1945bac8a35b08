import { describe, expect, it } from 'vitest';
import { JsonNode, parseJson, serializeJson } from '../../../src/iceberg/json.ts';

describe('JSON', () => {
  it('keeps every digit of 64-bit integers', () => {
    const text = '{"a":9223372036854775807,"b":-9223372036854775808,"c":9007199254740993,"d":1.5}';
    expect(serializeJson(parseJson(text))).toBe(text);
  });

  it('reads safe integers and decimals as numbers, larger integers as bigints', () => {
    expect(parseJson('[1,-0.5,9007199254740991,9007199254740992]')).toEqual([
      1,
      -0.5,
      9007199254740991,
      9007199254740992n,
    ]);
  });

  it('C077: refuses an id in float form, whose digits are lost already', () => {
    const node = new JsonNode(parseJson('{"snapshot-id":4.5982866113522427e+18}'));
    expect(() => node.member('snapshot-id').long()).toThrow(/\$\.snapshot-id.*64-bit integer/);
  });

  it('refuses integers beyond 64 bits', () => {
    expect(() => new JsonNode(parseJson('9223372036854775808')).long()).toThrow(/64-bit/);
    expect(() => new JsonNode(parseJson('2147483648')).int()).toThrow(/32-bit/);
  });

  it('names the path of what is wrong, and the kind of the document', () => {
    const node = new JsonNode(parseJson('{"a":[{"b":"x"}]}'), '$', 'invalid');
    const item = node.member('a').items()[0];
    expect(() => item?.member('b').int()).toThrow('$.a[0].b: expected a 32-bit integer');
    expect(() => item?.member('c')).toThrow('$.a[0]: "c" is missing');
    try {
      item?.member('c');
    } catch (error) {
      expect(error).toMatchObject({ kind: 'invalid', code: 'json.missing-key' });
    }
  });

  it('fails on malformed and on endlessly nested text', () => {
    expect(() => parseJson('{"a":')).toThrow(/Malformed JSON/);
    expect(() => parseJson('['.repeat(200_000))).toThrow(/Malformed JSON/);
  });

  it('keeps a key named like the prototype an ordinary key', () => {
    const node = new JsonNode(parseJson('{"__proto__":"x"}'));
    expect([...node.stringMap()]).toEqual([['__proto__', 'x']]);
    expect(node.optional('toString')).toBeNull();
  });
});
