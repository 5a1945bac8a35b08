/** Finds the Python and the JDK of the machine; nothing here installs them. */

import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { succeeds, outputOf } from './run-command.ts';

const pythonMinor = { min: 11, max: 14 };
/** What both the Iceberg library and Spark run on. */
const javaMajor = { min: 17, max: 21 };

/** A Python of the supported versions, or null. `FLOE_PYTHON` is asked first. */
export function findPython(): string | null {
  const names = ['python3.11', 'python3.12', 'python3.13', 'python3'];
  const configured = process.env['FLOE_PYTHON'];
  for (const name of configured === undefined ? names : [configured, ...names]) {
    const version = outputOf(name, ['-c', 'import sys; print(*sys.version_info[:2])']);
    const [major, minor] = (version ?? '').trim().split(' ').map(Number);
    if (major !== 3 || minor === undefined) continue;
    if (minor >= pythonMinor.min && minor <= pythonMinor.max) return name;
  }
  return null;
}

/** The home of a JDK of the supported versions, or null. */
export function findJavaHome(): string | null {
  const folders = ['/usr/lib/jvm', '/opt/java', '/Library/Java/JavaVirtualMachines'];
  const installed = folders
    .filter((folder) => existsSync(folder))
    .flatMap((folder) => readdirSync(folder).map((name) => path.join(folder, name)));
  const onPath = outputOf('java', ['-XshowSettings:properties', '-version'], 'stderr');
  const candidates = [
    process.env['JAVA_HOME'],
    /java\.home = (.*)/.exec(onPath ?? '')?.[1],
    ...installed.sort(),
    ...installed.map((folder) => path.join(folder, 'Contents/Home')),
  ];
  for (const home of candidates) {
    if (home === undefined || !existsSync(path.join(home, 'bin/javac'))) continue;
    const version = outputOf(path.join(home, 'bin/java'), ['-version'], 'stderr') ?? '';
    const major = Number(/version "(\d+)/.exec(version)?.[1]);
    if (major >= javaMajor.min && major <= javaMajor.max) return home;
  }
  return null;
}

/** Whether Maven is there. As root in CI it is installed when it is not. */
export function ensureMaven(): boolean {
  if (succeeds('mvn', ['-v'])) return true;
  if (process.env['CI'] !== 'true' || process.getuid?.() !== 0) return false;
  return (
    succeeds('apt-get', ['update']) &&
    succeeds('apt-get', ['install', '-y', '--no-install-recommends', 'maven'])
  );
}
