/**
 * Installs what the interoperability tests need beyond npm, from pinned versions, into one cached
 * folder: `FLOE_RIG`, or `floe-rig` in the user's cache. A part whose pins have not changed is left
 * as it is. A part that cannot be had says why; with `CI=true` that is a failure.
 */

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureMaven, findJavaHome, findPython } from './locate.ts';
import { run } from './run-command.ts';

const here = path.dirname(fileURLToPath(import.meta.url));
const javaProject = path.join(here, '../java');
const uvVersion = '0.13.8';
const sparkIcebergVersion = '1.12.0';
const sparkJarNames = ['iceberg-spark-runtime-4.1_2.13', 'iceberg-aws-bundle'];

export type Part<T> =
  | ({ readonly available: true } & T)
  | { readonly available: false; readonly reason: string };

export interface Rig {
  readonly python: Part<{ readonly executable: string }>;
  readonly java: Part<{ readonly executable: string; readonly classPath: string }>;
  readonly spark: Part<{ readonly javaHome: string; readonly jars: string }>;
}

export function rigFolder(): string {
  const cache = process.env['XDG_CACHE_HOME'] ?? path.join(homedir(), '.cache');
  return process.env['FLOE_RIG'] ?? path.join(cache, 'floe-rig');
}

let installed: Rig | undefined;

/** The rig, installed when it is not yet. @throws when an installation fails, or in CI lacks a part */
export function ensureRig(): Rig {
  installed ??= installParts();
  return installed;
}

function installParts(): Rig {
  const python = installPython();
  const javaHome = findJavaHome();
  const missing =
    javaHome === null
      ? 'no JDK 17 to 21 was found'
      : ensureMaven()
        ? null
        : 'Maven (mvn) is not on the PATH';
  const rig: Rig =
    javaHome === null || missing !== null
      ? {
          python,
          java: { available: false, reason: missing ?? '' },
          spark: { available: false, reason: missing ?? '' },
        }
      : {
          python,
          java: installJavaReader(javaHome),
          spark: python.available ? installSparkJars(javaHome) : python,
        };
  for (const [name, part] of Object.entries(rig) as [string, Part<object>][]) {
    if (part.available) continue;
    if (process.env['CI'] === 'true') throw new Error(`CI needs ${name}: ${part.reason}`);
  }
  return rig;
}

/** The Python part alone: readers, and the peers of the benchmark. */
export function installPython(): Rig['python'] {
  const base = findPython();
  if (base === null) {
    return {
      available: false,
      reason: 'no Python 3.11 or later was found (FLOE_PYTHON names one)',
    };
  }
  const requirements = path.join(here, 'requirements.txt');
  const folder = path.join(rigFolder(), 'python');
  const executable = path.join(folder, 'bin/python');
  once(folder, [readFileSync(requirements)], () => {
    run(base, ['-m', 'venv', '--clear', folder]);
    run(executable, ['-m', 'pip', 'install', '-q', `uv==${uvVersion}`]);
    const uv = path.join(folder, 'bin/uv');
    run(uv, ['pip', 'install', '-q', '--python', executable, '-r', requirements]);
  });
  return { available: true, executable };
}

function installSparkJars(javaHome: string): Rig['spark'] {
  const folder = path.join(rigFolder(), 'spark-jars');
  once(folder, [sparkIcebergVersion], () => {
    for (const name of sparkJarNames) {
      const artifact = `org.apache.iceberg:${name}:${sparkIcebergVersion}`;
      run(
        'mvn',
        [...mavenQuiet, 'dependency:copy', `-Dartifact=${artifact}`, `-DoutputDirectory=${folder}`],
        {
          env: { JAVA_HOME: javaHome },
        },
      );
    }
  });
  const jars = sparkJarNames.map((name) => path.join(folder, `${name}-${sparkIcebergVersion}.jar`));
  return { available: true, javaHome, jars: jars.join(',') };
}

function installJavaReader(javaHome: string): Rig['java'] {
  const folder = path.join(rigFolder(), 'java');
  const classes = path.join(folder, 'target/classes');
  const classPathFile = path.join(folder, 'class-path.txt');
  const pom = path.join(javaProject, 'pom.xml');
  const source = path.join(javaProject, 'src/main/java/floe/interop/TableReader.java');
  once(folder, [readFileSync(pom), readFileSync(source)], () => {
    run('cp', ['-r', `${javaProject}/.`, folder]);
    run(
      'mvn',
      [
        ...mavenQuiet,
        'compile',
        'dependency:build-classpath',
        `-Dmdep.outputFile=${classPathFile}`,
      ],
      { cwd: folder, env: { JAVA_HOME: javaHome } },
    );
  });
  return {
    available: true,
    executable: path.join(javaHome, 'bin/java'),
    classPath: `${classes}:${readFileSync(classPathFile, 'utf8').trim()}`,
  };
}

const mavenQuiet = ['-q', '-B', '-Dstyle.color=never'];

/** Runs `install` unless it succeeded before with the same pins; its stamp is written last. */
function once(folder: string, pins: (string | Buffer)[], install: () => void): void {
  const digest = createHash('sha256');
  for (const pin of pins) digest.update(pin);
  const expected = digest.digest('hex');
  const stamp = path.join(folder, 'installed');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === expected) return;
  mkdirSync(folder, { recursive: true });
  install();
  writeFileSync(stamp, expected);
}
