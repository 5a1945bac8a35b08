/**
 * Floe on the local Workers runtime: the same Worker and `wrangler.toml` a deployment uses, with the
 * bucket embedded and served over the S3 protocol, and nothing else needed.
 *
 * Miniflare is driven directly: it starts in half a second and answers three to four times as many
 * requests a second as `wrangler dev`, which puts a proxy and an inspector in between.
 */

import { execFile } from 'node:child_process';
import { access, mkdir, readFile, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { Log, LogLevel, Miniflare, convertV4MiniflareOptions } from 'miniflare';
import { unstable_getMiniflareWorkerOptions } from 'wrangler';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const HOST = '127.0.0.1';
/** Good for this machine's loopback address alone, so there is nothing in them to keep secret. */
const LOCAL_S3 = { accessKeyId: 'floe-local', secretAccessKey: 'floe-local-secret' };
const HEALTH_TIMEOUT_MS = 20_000;
const QUIET_WRANGLER = {
  WRANGLER_HIDE_BANNER: 'true',
  WRANGLER_SEND_METRICS: 'false',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  CI: 'true',
};

/** A cause a person can act upon; printed without a stack. */
export class StartError extends Error {}

/**
 * @param {{ port: number, stateDir: string, vars?: Record<string, string>, onLog?: (line: string) => void }} options
 *   `port` 0 takes a free one
 * @returns {Promise<{ origin: string, bucket: string, s3: { endpoint: string, accessKeyId: string, secretAccessKey: string }, stop: () => Promise<void> }>}
 */
export async function startLocalRuntime({ port, stateDir, vars = {}, onLog = () => {} }) {
  await requireKernel();
  if (port !== 0) await requireFreePort(port);
  const state = resolve(stateDir);
  await mkdir(state, { recursive: true });
  const bundleDir = join(state, 'worker');
  await bundleWorker(bundleDir);
  const { workerOptions } = unstable_getMiniflareWorkerOptions(join(ROOT, 'wrangler.toml'));
  const bucket = bucketName(workerOptions);
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      host: HOST,
      port,
      cf: false,
      log: new Log(LogLevel.ERROR),
      logRequests: false,
      handleRuntimeStdio: (stdout, stderr) => {
        forEachLine(stdout, onLog);
        forEachLine(stderr, onLog);
      },
      resourcePersistencePath: state,
      name: 'floe',
      modules: await bundledModules(bundleDir),
      compatibilityDate: workerOptions.compatibilityDate,
      compatibilityFlags: workerOptions.compatibilityFlags,
      durableObjects: workerOptions.durableObjects,
      r2Buckets: { LAKE: { id: bucket, s3Credentials: LOCAL_S3 } },
      bindings: {
        ...workerOptions.bindings,
        FLOE_LOCAL: '1',
        FLOE_LOCAL_S3_ACCESS_KEY_ID: LOCAL_S3.accessKeyId,
        FLOE_LOCAL_S3_SECRET_ACCESS_KEY: LOCAL_S3.secretAccessKey,
        // Not the one a .dev.vars file may hold: whether calls need a token is the caller's choice.
        FLOE_TOKEN: '',
        ...vars,
      },
    }),
  );
  let origin;
  try {
    ({ origin } = await miniflare.ready);
    await waitUntilHealthy(origin);
  } catch (error) {
    await miniflare.dispose().catch(() => undefined);
    throw error;
  }
  return {
    origin,
    bucket,
    s3: { endpoint: `${origin}/cdn-cgi/local/r2/s3`, ...LOCAL_S3 },
    stop: () => miniflare.dispose(),
  };
}

async function requireKernel() {
  const path = join(ROOT, 'wasm', 'kernel.wasm');
  await access(path).catch(() => {
    throw new StartError(
      'The columnar kernel wasm/kernel.wasm is missing. It is part of the repository: ' +
        'bring it back with "git checkout wasm/kernel.wasm", or build it with "npm run wasm:build".',
    );
  });
}

function requireFreePort(port) {
  return new Promise((done, fail) => {
    const probe = createServer();
    probe.once('error', (error) =>
      fail(
        error.code === 'EADDRINUSE'
          ? new StartError(
              `Port ${port} is taken. End what uses it, or choose another: PORT=${port + 1} npm start`,
            )
          : new StartError(`Port ${port} cannot be opened: ${error.message}`),
      ),
    );
    probe.listen(port, HOST, () => probe.close(done));
  });
}

/** Bundled by wrangler from `wrangler.toml`, exactly as a deployment would be. */
async function bundleWorker(bundleDir) {
  await rm(bundleDir, { recursive: true, force: true });
  const wrangler = join(ROOT, 'node_modules', 'wrangler', 'bin', 'wrangler.js');
  const arguments_ = [wrangler, 'deploy', '--dry-run', '--outdir', bundleDir];
  try {
    await promisify(execFile)(process.execPath, arguments_, {
      cwd: ROOT,
      env: { ...process.env, ...QUIET_WRANGLER },
    });
  } catch (error) {
    throw new StartError(`The Worker cannot be bundled:\n${error.stderr || error.message}`, {
      cause: error,
    });
  }
}

async function bundledModules(bundleDir) {
  const names = await readdir(bundleDir);
  const modules = [
    { type: 'ESModule', path: 'index.js', contents: await readFile(join(bundleDir, 'index.js')) },
  ];
  for (const name of names.filter((candidate) => candidate.endsWith('.wasm'))) {
    modules.push({
      type: 'CompiledWasm',
      path: name,
      contents: await readFile(join(bundleDir, name)),
    });
  }
  return modules;
}

function bucketName(workerOptions) {
  const lake = workerOptions.r2Buckets?.LAKE;
  const name = typeof lake === 'string' ? lake : lake?.id;
  if (name === undefined) throw new StartError('wrangler.toml has no R2 bucket bound as LAKE.');
  return name;
}

async function waitUntilHealthy(origin) {
  const deadline = Date.now() + HEALTH_TIMEOUT_MS;
  let last = 'no answer';
  while (Date.now() < deadline) {
    try {
      const response = await fetch(`${origin}/healthz`, { signal: AbortSignal.timeout(2000) });
      const text = await response.text();
      if (response.ok) return;
      last = `status ${response.status}: ${text.slice(0, 300)}`;
    } catch (error) {
      last = error.message;
    }
    await new Promise((done) => setTimeout(done, 100));
  }
  throw new StartError(
    `The Worker did not become healthy in ${HEALTH_TIMEOUT_MS / 1000} s (${last}).`,
  );
}

function forEachLine(stream, onLine) {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (text) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    for (const line of lines) if (line.trim() !== '') onLine(line);
  });
}
