/** One running Floe with the engines beside it: what every interoperability test is given. */

import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import { Engines, type Row, type TableAddress } from './engines.ts';
import { toExactJson } from './exact-json.ts';
import { FloeRuntime } from './floe-runtime.ts';
import { ensureRig } from './install.ts';
import type { IngestResponseBody } from '../../../src/api/ingest.ts';

export const rig = ensureRig();

/** A suite that needs engines; where the machine cannot have them, its name says why it is skipped. */
export function describeWithEngines(name: string, suite: () => void): void {
  if (rig.python.available) describe(name, suite);
  else describe.skip(`${name} (skipped: ${rig.python.reason})`, suite);
}

export interface Answer {
  readonly status: number;
  /** The parsed body; null when there is none. */
  readonly body: unknown;
  readonly text: string;
}

export class Lake {
  readonly runtime = new FloeRuntime();
  readonly engines = new Engines(rig);
  #touched = new Set<string>();

  async request(method: string, path: string, init: RequestInit = {}): Promise<Answer> {
    const response = await fetch(`${this.runtime.origin}${path}`, { ...init, method });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.includes('json') === true;
    return { status: response.status, text, body: isJson && text !== '' ? JSON.parse(text) : null };
  }

  /**
   * Sends rows to `table` (`namespace/name`) and waits for the commit. Values that are `bigint` keep
   * every digit; a string or bytes are sent as they are.
   */
  post(
    table: string,
    body: unknown,
    options: { type?: string; query?: string; key?: string } = {},
  ): Promise<Answer> {
    this.#touched.add(table);
    const raw = typeof body === 'string' || body instanceof Uint8Array;
    return this.request('POST', `/ingest/${table}?wait=committed${options.query ?? ''}`, {
      headers: {
        'content-type': options.type ?? 'application/json',
        ...(options.key !== undefined && { 'idempotency-key': options.key }),
      },
      body: (raw ? body : toExactJson(body)) as string,
    });
  }

  /** Sends rows that must all be accepted and committed. */
  async append(table: string, body: unknown, type?: string): Promise<IngestResponseBody> {
    const answer = await this.post(table, body, type === undefined ? {} : { type });
    expect(answer.status, answer.text).toBe(200);
    const receipt = answer.body as IngestResponseBody;
    expect(receipt.errors).toEqual([]);
    expect(receipt.status).toBe('committed');
    return receipt;
  }

  /** Where engines find the table; what the REST catalog tells them. Null when it does not exist. */
  async address(table: string): Promise<TableAddress | null> {
    const [namespace = '', name = ''] = table.split('/');
    const path = `/iceberg/v1/namespaces/${namespace}/tables/${name}`;
    const answer = await this.request('GET', path);
    if (answer.status === 404) return null;
    expect(answer.status, answer.text).toBe(200);
    const loaded = answer.body as { 'metadata-location': string; config: Record<string, string> };
    const setting = (key: string): string => loaded.config[key] ?? '';
    return {
      catalog: `${this.runtime.origin}/iceberg`,
      namespace,
      table: name,
      metadata: loaded['metadata-location'],
      endpoint: setting('s3.endpoint'),
      accessKey: setting('s3.access-key-id'),
      secretKey: setting('s3.secret-access-key'),
      region: setting('s3.region') || setting('client.region'),
    };
  }

  async existing(table: string): Promise<TableAddress> {
    const address = await this.address(table);
    if (address === null) throw new Error(`${table} does not exist`);
    return address;
  }

  /** The metadata file with 64-bit numbers kept as text, read over S3. */
  async metadataText(table: string): Promise<string> {
    const { namespace, table: name } = await this.existing(table);
    return (await this.request('GET', `/iceberg/v1/namespaces/${namespace}/tables/${name}`)).text;
  }

  /**
   * Rows by every engine of this machine, which must agree; ordered by `key`. An engine is left out
   * only for a known fault of its own, which the caller names.
   */
  async rows(table: string, key: string, options: { without?: string } = {}): Promise<Row[]> {
    const address = await this.existing(table);
    let first: Row[] | undefined;
    for (const [engine, read] of Object.entries(this.engines.readers())) {
      if (engine === options.without) continue;
      const rows = sortedBy(key, await read(address));
      if (first === undefined) first = rows;
      else expect(rows, engine).toEqual(first);
    }
    return first ?? [];
  }

  /** Rows by the quickest engine. */
  async duckdb(table: string, query: string): Promise<Row[]> {
    const answer = await this.engines.python('duckdb-scan', {
      ...(await this.existing(table)),
      query,
    });
    return answer['rows'] as Row[];
  }

  /** Runs the validator on every table that was posted to since the last time. */
  async validateTouched(): Promise<void> {
    for (const table of this.#touched) {
      const address = await this.address(table);
      if (address === null) continue;
      const report = await this.engines.validate(address);
      expect(report.findings, `${table}: ${address.metadata}`).toEqual([]);
    }
    this.#touched.clear();
  }

  async close(): Promise<void> {
    await this.engines.close();
    await this.runtime.stop();
  }
}

export function sortedBy(key: string, rows: Row[]): Row[] {
  return rows.toSorted((a, b) => {
    const [left, right] = [a[key] ?? '', b[key] ?? ''];
    return left < right ? -1 : left > right ? 1 : 0;
  });
}

/** A lake for one test file; every table a test touched is validated after it. */
export function useLake(): Lake {
  const lake = new Lake();
  beforeAll(() => lake.runtime.start());
  afterEach(() => lake.validateTouched());
  afterAll(() => lake.close());
  return lake;
}
