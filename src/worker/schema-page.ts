/** A table's columns as a page of documentation for people. */

import type { Context } from 'hono';
import { html } from 'hono/html';
import { serializeJson } from '../iceberg/json.ts';
import { typeText } from '../iceberg/metadata/schema-difference.ts';
import type { TableIdentifier } from '../iceberg/ports.ts';
import { childFields, isPrimitive } from '../iceberg/spec/data-types.ts';
import type { NestedField, Type } from '../iceberg/spec/schema.ts';
import { currentSchema, defaultSpec } from '../iceberg/spec/table-metadata-rules.ts';
import type { TableMetadata } from '../iceberg/spec/table-metadata.ts';
import { htmlPage } from './html-page.ts';
import { labelOf } from './table-request.ts';

/** Wide: a table. Narrow: a card a column, so that nothing has to be scrolled sideways. */
const STYLE = `
table { width: 100%; margin-top: 0.5rem; border-collapse: collapse; font-size: 0.925rem; }
th { padding: 0.4rem 0.75rem 0.4rem 0; text-align: left; color: var(--soft); font-weight: 500; border-bottom: 2px solid var(--line); }
td { padding: 0.5rem 0.75rem 0.5rem 0; vertical-align: top; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
td.name { padding-left: calc(var(--depth) * 1.25rem); font-weight: 600; }
td.id { color: var(--soft); white-space: nowrap; }
.mark { display: inline-block; margin-right: 0.3rem; padding: 0 0.45rem; border: 1px solid var(--line); border-radius: 999px; font-size: 0.8rem; font-weight: 400; white-space: nowrap; }
.depth-1 { --depth: 1; } .depth-2 { --depth: 2; } .depth-3 { --depth: 3; } .depth-4 { --depth: 4; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.15rem 1rem; margin: 1rem 0 0; }
dt { color: var(--soft); }
dd { margin: 0; overflow-wrap: anywhere; }
tr { --depth: 0; }
@media (max-width: 40rem) {
  thead { display: none; }
  table, tbody, tr { display: block; }
  tr { padding: 0.6rem 0; border-bottom: 1px solid var(--line); padding-left: calc(var(--depth) * 0.9rem); }
  td { display: block; padding: 0.05rem 0; border: 0; }
  td.name { padding-left: 0; }
  td:empty { display: none; }
  td.id::before { content: "id "; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: 0.5rem; }
}
`;
const INDENT_MAX = 4;

interface Line {
  readonly field: NestedField;
  readonly depth: number;
}

export async function schemaPage(
  context: Context,
  identifier: TableIdentifier,
  metadata: TableMetadata,
): Promise<Response> {
  const schema = currentSchema(metadata);
  const lines = schema.fields.flatMap((field) => linesOf(field, 0));
  const identifies = new Set(schema.identifierFieldIds);
  const name = labelOf(identifier);
  return await htmlPage(
    context,
    `${name} · columns`,
    STYLE,
    html`<h1>${name}</h1>
      <dl>
        ${described('Description', metadata.properties.get('comment') ?? '')}
        ${described('Columns', `${lines.length}, nested ones included`)}
        ${described('Schema', `id ${schema.schemaId}, format version ${metadata.formatVersion}`)}
        ${described('Partitions', partitionText(metadata))}
        ${described('Location', metadata.location)} ${described('Table', metadata.tableUuid)}
      </dl>
      <h2>Columns</h2>
      <table>
        <thead>
          <tr>
            <th scope="col">Column</th>
            <th scope="col">Type</th>
            <th scope="col">Description</th>
            <th scope="col">Id</th>
          </tr>
        </thead>
        <tbody>
          ${lines.map((line) => columnRow(line, identifies))}
        </tbody>
      </table>
      <h2>For programs</h2>
      <p>
        <a href="?format=iceberg">Iceberg JSON</a> · <a href="?format=arrow">Arrow schema</a> (an
        IPC stream without rows)
      </p>`,
  );
}

type Markup = ReturnType<typeof html>;

function columnRow({ field, depth }: Line, identifies: ReadonlySet<number>): Markup {
  const marks = [
    ...(field.required ? ['required'] : []),
    ...(identifies.has(field.id) ? ['identifies the row'] : []),
    ...(field.writeDefault === undefined ? [] : [`default ${serializeJson(field.writeDefault)}`]),
  ];
  return html`<tr class="depth-${Math.min(depth, INDENT_MAX)}">
    <td class="name">${field.name}</td>
    <td><code>${shortType(field.type)}</code></td>
    <td>${marks.map((mark) => html`<span class="mark">${mark}</span>`)}${field.doc ?? ''}</td>
    <td class="id">${field.id}</td>
  </tr>`;
}

function described(term: string, text: string): Markup | string {
  return text === ''
    ? ''
    : html`<dt>${term}</dt>
        <dd>${text}</dd>`;
}

/** The parts of a nested type have lines of their own. */
function shortType(type: Type): string {
  return isPrimitive(type) ? typeText(type) : type.type;
}

function linesOf(field: NestedField, depth: number): Line[] {
  return [{ field, depth }, ...childFields(field.type).flatMap((part) => linesOf(part, depth + 1))];
}

function partitionText(metadata: TableMetadata): string {
  const { fields } = defaultSpec(metadata);
  return fields.length === 0
    ? 'none'
    : fields.map(({ name, transform }) => `${name} (${transform})`).join(', ');
}
