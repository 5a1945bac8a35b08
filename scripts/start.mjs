/**
 * `npm start`: Floe on this machine, with nothing but Node.
 *
 * PORT        port to listen on, default 8787
 * FLOE_STATE  folder that keeps tables and logs between runs, default .floe/state
 * FLOE_TOKEN  when set, calls need it, as in a deployment
 * LOG_LEVEL   debug, info, warn or error, default warn
 */

import { examplesFor } from './examples.mjs';
import { StartError, startLocalRuntime } from './local-runtime.mjs';

const PORT_DEFAULT = 8787;
const PORT_MAX = 65_535;
const PARENT_CHECK_MS = 250;

try {
  await main();
} catch (error) {
  if (!(error instanceof StartError)) throw error;
  console.error(`\n${error.message}\n`);
  process.exitCode = 1;
}

async function main() {
  const port = parsePort(process.env['PORT']);
  const stateDir = process.env['FLOE_STATE'] || '.floe/state';
  console.log('Starting Floe …');
  const runtime = await startLocalRuntime({
    port,
    stateDir,
    vars: { LOG_LEVEL: 'warn', ...passedOn(['FLOE_TOKEN', 'LOG_LEVEL', 'CORS_ORIGINS']) },
    onLog: (line) => console.error(line),
  });
  let isStopping = false;
  const stop = () => {
    if (isStopping) return;
    isStopping = true;
    void runtime.stop().finally(() => process.exit(0));
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  whenAbandoned(stop);
  console.log(banner(runtime, stateDir, Boolean(process.env['FLOE_TOKEN'])));
}

/**
 * npm hands a signal to the shell between it and this process, which ends without passing it on: so
 * under npm the end of the parent means the same as the signal.
 */
function whenAbandoned(stop) {
  if (process.env['npm_lifecycle_event'] === undefined) return;
  const parent = process.ppid;
  setInterval(() => {
    if (process.ppid !== parent) stop();
  }, PARENT_CHECK_MS).unref();
}

function parsePort(text) {
  if (text === undefined || text === '') return PORT_DEFAULT;
  const port = Number(text);
  if (Number.isInteger(port) && port >= 0 && port <= PORT_MAX) return port;
  throw new StartError(`PORT must be a whole number from 0 to ${PORT_MAX}, not "${text}".`);
}

function passedOn(names) {
  return Object.fromEntries(
    names.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : [])),
  );
}

function banner({ origin, bucket, s3 }, stateDir, needsToken) {
  const { curl, duckdb, pyiceberg } = examplesFor(origin, needsToken);
  return `
Floe is running.

  Ingest and tables   ${origin}
  Iceberg catalog     ${origin}/iceberg
  Files over S3       ${s3.endpoint}/${bucket}  (key ${s3.accessKeyId}, secret ${s3.secretAccessKey})
  State               ${stateDir}

Send rows:

${curl}

Read them with DuckDB:

${duckdb}

Read them with PyIceberg:

${pyiceberg}

Stop with Ctrl+C.`;
}
