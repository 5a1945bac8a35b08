/** The changes a caller can ask of a schema, and their JSON form in requests. */

import type { JsonNode, JsonValue } from '../json.ts';
import type { ColumnPath } from '../metadata/schema-editor.ts';
import type { InferredField, InferredType } from '../spec/inferred-type.ts';

export type ColumnPosition =
  | { readonly at: 'first' }
  | { readonly at: 'before' | 'after'; readonly column: string };

export type ColumnChange =
  | {
      readonly action: 'add';
      /** Ends with the name of the new column. */
      readonly path: ColumnPath;
      readonly type: InferredType;
      /** Needs an initial default, and so format version 3. */
      readonly required?: boolean;
      readonly doc?: string;
      /** What rows read that were written before; JSON single-value form. */
      readonly initialDefault?: JsonValue;
      /** What is stored when no value is given; the initial default when left out. */
      readonly writeDefault?: JsonValue;
      /** Last when left out. */
      readonly position?: ColumnPosition;
    }
  | { readonly action: 'drop'; readonly path: ColumnPath }
  | { readonly action: 'rename'; readonly path: ColumnPath; readonly name: string }
  | { readonly action: 'move'; readonly path: ColumnPath; readonly position: ColumnPosition }
  | { readonly action: 'widen'; readonly path: ColumnPath; readonly type: InferredType }
  | { readonly action: 'make-optional'; readonly path: ColumnPath }
  | { readonly action: 'set-doc'; readonly path: ColumnPath; readonly doc: string | null }
  | { readonly action: 'set-write-default'; readonly path: ColumnPath; readonly value: JsonValue }
  | { readonly action: 'set-identifier-fields'; readonly paths: readonly ColumnPath[] };

const TYPE_DEPTH_MAX = 64;

/**
 * One change as a request writes it, e.g. `{"action":"add","path":["a","b"],"type":"long"}`; `first`,
 * `before` and `after` are members of `position`.
 * @throws the node's kind, `schema.unknown-action` and `json.*`
 */
export function parseColumnChange(node: JsonNode): ColumnChange {
  const action = node.member('action').string();
  switch (action) {
    case 'add':
      return parseAdd(node);
    case 'drop':
    case 'make-optional':
      return { action, path: parsePath(node.member('path')) };
    case 'rename':
      return { action, path: parsePath(node.member('path')), name: node.member('name').string() };
    case 'move':
      return {
        action,
        path: parsePath(node.member('path')),
        position: parsePosition(node.member('position')),
      };
    case 'widen':
      return {
        action,
        path: parsePath(node.member('path')),
        type: parseColumnType(node.member('type'), 0),
      };
    case 'set-doc':
      return {
        action,
        path: parsePath(node.member('path')),
        doc: node.optional('doc')?.string() ?? null,
      };
    case 'set-write-default':
      return {
        action,
        path: parsePath(node.member('path')),
        value: node.optional('value')?.value ?? null,
      };
    case 'set-identifier-fields':
      return { action, paths: node.member('paths').items().map(parsePath) };
    default:
      throw node.fail('schema.unknown-action', `unknown change "${action}"`);
  }
}

function parseAdd(node: JsonNode): ColumnChange {
  const required = node.optional('required')?.boolean();
  const doc = node.optional('doc')?.string();
  const initialDefault = node.optional('initial-default')?.value;
  const writeDefault = node.optional('write-default')?.value;
  const position = node.optional('position');
  return {
    action: 'add',
    path: parsePath(node.member('path')),
    type: parseColumnType(node.member('type'), 0),
    ...(required === undefined ? {} : { required }),
    ...(doc === undefined ? {} : { doc }),
    ...(initialDefault === undefined ? {} : { initialDefault }),
    ...(writeDefault === undefined ? {} : { writeDefault }),
    ...(position === null ? {} : { position: parsePosition(position) }),
  };
}

function parsePath(node: JsonNode): string[] {
  const path = node.items().map((part) => part.string());
  if (path.length === 0) throw node.fail('schema.unknown-column', 'the path of a column is empty');
  return path;
}

function parsePosition(node: JsonNode): ColumnPosition {
  if (node.optional('first')?.boolean() === true) return { at: 'first' };
  const before = node.optional('before')?.string();
  if (before !== undefined) return { at: 'before', column: before };
  return { at: 'after', column: node.member('after').string() };
}

/** A primitive's text, or a nested type without ids. */
function parseColumnType(node: JsonNode, depth: number): InferredType {
  if (depth > TYPE_DEPTH_MAX) throw node.fail('schema.too-deep', 'types are nested too deeply');
  if (typeof node.value === 'string') return node.value;
  const kind = node.member('type').string();
  switch (kind) {
    case 'struct':
      return {
        type: 'struct',
        fields: node
          .member('fields')
          .items()
          .map((field): InferredField => ({
            name: field.member('name').string(),
            type: parseColumnType(field.member('type'), depth + 1),
          })),
      };
    case 'list':
      return { type: 'list', element: parseColumnType(node.member('element'), depth + 1) };
    case 'map':
      return {
        type: 'map',
        key: parseColumnType(node.member('key'), depth + 1),
        value: parseColumnType(node.member('value'), depth + 1),
      };
    default:
      throw node.fail('type.unknown', `unknown nested type "${kind}"`);
  }
}
