/**
 * Proves that the committed `wasm/kernel.wasm` is what its sources give. Its own digest must be the
 * recorded one; it is built again and compared when the sources are not the recorded ones either,
 * and with CI=true always, once for the same sources and module on a machine (8 CPU-minutes).
 */

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { rigFolder } from '../test/interop/rig/install.ts';

const folder = 'wasm';
const sources = ['Cargo.lock', 'Cargo.toml', 'ahash', 'build.sh', 'src'];
/** What `wasm/build.sh` says it needs; one source with its own message. */
const debianPackages = ['rustc-web', 'cargo-web', 'rust-web-src', 'clang-22', 'lld-22', 'llvm-22'];
/** Exit codes of `wasm/build.sh`. */
const toolsMissing = 3;
const versionsDiffer = 4;

/** @returns {Promise<{ status: 'passed' | 'failed' | 'skipped', message: string }>} */
export async function verifyKernel() {
  const recorded = JSON.parse(readFileSync(join(folder, 'kernel.json'), 'utf8'));
  const actual = sha256(readFileSync(join(folder, 'kernel.wasm')));
  if (actual !== recorded.sha256) {
    return { status: 'failed', message: `kernel.wasm is ${actual}, recorded ${recorded.sha256}` };
  }
  const sourceSha256 = sourceDigest();
  const isRecorded = sourceSha256 === recorded.sourceSha256;
  if (isRecorded && process.env['CI'] !== 'true') {
    return { status: 'passed', message: 'kernel.wasm and its sources are the recorded ones' };
  }
  const proof = join(rigFolder(), 'kernel-proofs', `${sourceSha256}-${actual}`);
  if (existsSync(proof)) {
    return {
      status: 'passed',
      message: 'built from these sources on this machine before, and equal',
    };
  }
  let code = build();
  if (code === toolsMissing && process.env['CI'] === 'true' && process.getuid?.() === 0) {
    installTools();
    code = build();
  }
  if (code === 0) {
    mkdirSync(dirname(proof), { recursive: true });
    writeFileSync(proof, '');
    return { status: 'passed', message: 'built again from the sources, and equal' };
  }
  if (code === toolsMissing || code === versionsDiffer) {
    const what = code === toolsMissing ? 'lacks the tools' : 'has other versions of the tools';
    const message = `kernel.wasm cannot be built again to compare: this machine ${what}`;
    return { status: 'skipped', message };
  }
  return { status: 'failed', message: 'the sources do not give the committed kernel.wasm' };
}

/** What `sha256sum` prints for each source in byte order of the paths, hashed again. */
function sourceDigest() {
  const lines = sources
    .flatMap((name) => filesBelow(name))
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((name) => `${sha256(readFileSync(join(folder, name)))}  ${name}\n`);
  return sha256(lines.join(''));
}

function filesBelow(name) {
  const path = join(folder, name);
  if (!statSync(path).isDirectory()) return [name];
  return readdirSync(path).flatMap((child) => filesBelow(`${name}/${child}`));
}

function sha256(bytes) {
  return createHash('sha256').update(bytes).digest('hex');
}

function build() {
  return spawnSync('bash', [join(folder, 'build.sh'), '--verify'], { stdio: 'inherit' }).status;
}

function installTools() {
  const options = { stdio: 'inherit' };
  spawnSync('apt-get', ['update'], options);
  const install = ['install', '-y', '--no-install-recommends', ...debianPackages];
  spawnSync('apt-get', install, options);
}
