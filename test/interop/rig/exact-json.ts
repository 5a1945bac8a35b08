/** JSON in which integers are `bigint` and other numbers `number`, so that nothing is rounded. */

export type ExactJson =
  | null
  | boolean
  | string
  | number
  | bigint
  | ExactJson[]
  | { [key: string]: ExactJson };

interface SourceTextJson {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown;
  stringify(value: unknown, replacer: (key: string, value: unknown) => unknown): string;
  rawJSON(text: string): unknown;
}

const json = JSON as unknown as SourceTextJson;

export function parseExactJson(text: string): ExactJson {
  return json.parse(text, (_key, value, context) =>
    typeof value === 'number' && /^-?\d+$/.test(context.source ?? '')
      ? BigInt(context.source ?? '')
      : value,
  ) as ExactJson;
}

export function toExactJson(value: unknown): string {
  return json.stringify(value, (_key, item) =>
    typeof item === 'bigint' ? json.rawJSON(item.toString()) : item,
  );
}
