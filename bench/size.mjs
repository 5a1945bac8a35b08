/** What a deployment uploads, compressed as the platform counts it. */

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

export function runSizeBench() {
  const folder = mkdtempSync(join(tmpdir(), 'floe-size-'));
  try {
    execFileSync(
      process.execPath,
      ['node_modules/wrangler/bin/wrangler.js', 'deploy', '--dry-run', '--outdir', folder],
      { stdio: 'ignore', env: { ...process.env, WRANGLER_SEND_METRICS: 'false' } },
    );
    const uploaded = readdirSync(folder).filter((name) => /\.(js|wasm)$/.test(name));
    const sizes = uploaded.map((name) => gzipSync(readFileSync(join(folder, name)), { level: 9 }));
    return {
      kernelGzipBytes: gzipSync(readFileSync('wasm/kernel.wasm'), { level: 9 }).length,
      workerGzipBytes: sizes.reduce((sum, bytes) => sum + bytes.length, 0),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
