/** The engines that read a table back, each in a process that is started when first asked. */

import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { type ExactJson } from './exact-json.ts';
import type { Rig } from './install.ts';
import { LineProcess } from './line-process.ts';

const enginesFolder = path.join(path.dirname(fileURLToPath(import.meta.url)), '../engines');

export type Row = Record<string, ExactJson>;

export interface TableAddress {
  /** The REST catalog's address. */
  readonly catalog: string;
  readonly namespace: string;
  readonly table: string;
  readonly metadata: string;
  readonly endpoint: string;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly region: string;
}

export interface ValidatorReport {
  findings: string[];
  checks: bigint;
  snapshots: bigint;
  dataFiles: bigint;
  rowGroups: bigint;
  rows: bigint;
}

export class Engines {
  readonly #rig: Rig;
  #python: LineProcess | undefined;
  #spark: LineProcess | undefined;
  #java: LineProcess | undefined;

  constructor(rig: Rig) {
    this.#rig = rig;
  }

  async python(operation: string, address: object): Promise<Record<string, ExactJson>> {
    const { python } = this.#rig;
    if (!python.available) throw new Error(python.reason);
    this.#python ??= new LineProcess('python', python.executable, [
      path.join(enginesFolder, 'python_engines.py'),
    ]);
    const answer = await this.#python.request({ operation, ...address });
    return answer as Record<string, ExactJson>;
  }

  async validate(address: TableAddress): Promise<ValidatorReport> {
    return (await this.python('validate', address)) as unknown as ValidatorReport;
  }

  async spark(address: TableAddress, query?: string): Promise<Row[]> {
    const { spark, python } = this.#rig;
    if (!spark.available) throw new Error(spark.reason);
    if (!python.available) throw new Error(python.reason);
    this.#spark ??= new LineProcess(
      'spark',
      python.executable,
      [path.join(enginesFolder, 'spark_engine.py')],
      {
        JAVA_HOME: spark.javaHome,
        SPARK_JARS: spark.jars,
        SPARK_LOCAL_IP: '127.0.0.1',
        AWS_REGION: address.region,
        PYSPARK_PYTHON: python.executable,
      },
    );
    return rowsOf(await this.#spark.request({ ...address, ...(query && { query }) }));
  }

  async java(address: TableAddress): Promise<Row[]> {
    const { java } = this.#rig;
    if (!java.available) throw new Error(java.reason);
    this.#java ??= new LineProcess(
      'java',
      java.executable,
      ['-Xmx512m', '-XX:TieredStopAtLevel=1', '-cp', java.classPath, 'floe.interop.TableReader'],
      { AWS_REGION: address.region },
    );
    return rowsOf(await this.#java.request({ ...address }));
  }

  /** The same rows by name of engine; only the ones that this machine has. */
  readers(): Record<string, (address: TableAddress) => Promise<Row[]>> {
    return {
      ...(this.#rig.python.available && {
        'DuckDB iceberg_scan': async (table) => rowsOf(await this.python('duckdb-scan', table)),
        'DuckDB ATTACH': async (table) => rowsOf(await this.python('duckdb-attach', table)),
        PyIceberg: async (table) => rowsOf(await this.python('pyiceberg', table)),
      }),
      ...(this.#rig.spark.available && { Spark: (table) => this.spark(table) }),
      ...(this.#rig.java.available && { 'Iceberg Java': (table) => this.java(table) }),
    };
  }

  async close(): Promise<void> {
    await Promise.all([this.#python?.close(), this.#spark?.close(), this.#java?.close()]);
  }
}

export function rowsOf(answer: ExactJson): Row[] {
  return (answer as { rows: Row[] }).rows;
}
