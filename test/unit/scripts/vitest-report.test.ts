import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readVitestReport } from '../../../scripts/vitest-report.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'floe-report-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let written = 0;
function reportOf(content: unknown): string {
  const file = path.join(folder, `report-${(written += 1)}.json`);
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

function fileOf(status: string, ...statuses: string[]): unknown {
  const assertionResults = statuses.map((each, index) => ({ status: each, fullName: `t${index}` }));
  return { status, assertionResults };
}

describe('counting the tests of a run', () => {
  it('adds up passed, failed and skipped over the files, with the names of the skipped', () => {
    const file = reportOf({
      testResults: [fileOf('passed', 'passed', 'skipped'), fileOf('failed', 'failed', 'passed')],
    });
    expect(readVitestReport(file, false)).toEqual({
      passed: 2,
      failed: 1,
      skipped: 1,
      skippedNames: ['t1'],
      note: '',
    });
  });

  it.each([
    ['there is no report', path.join(folder, 'missing.json'), true],
    ['the report is cut off', reportOf('{"testResults": ['), false],
  ])('counts a failure when %s', (_case, file, exitedWell) => {
    expect(readVitestReport(file, exitedWell)).toMatchObject({ passed: 0, failed: 1 });
  });

  it('counts a failure for a file that could not be loaded', () => {
    const file = reportOf({ testResults: [fileOf('failed'), fileOf('passed', 'passed')] });
    expect(readVitestReport(file, false)).toMatchObject({ passed: 1, failed: 1 });
  });

  it('counts a failure for a hook that failed and left its tests skipped', () => {
    const file = reportOf({ testResults: [fileOf('failed', 'skipped', 'skipped')] });
    expect(readVitestReport(file, false)).toMatchObject({ failed: 1, skipped: 2 });
  });

  it('counts a failure when every test passed and the runner did not end well', () => {
    const file = reportOf({ testResults: [fileOf('passed', 'passed')] });
    expect(readVitestReport(file, false)).toMatchObject({ passed: 1, failed: 1 });
  });

  it('counts a failure when no test ran', () => {
    expect(readVitestReport(reportOf({ testResults: [] }), true)).toMatchObject({ failed: 1 });
  });
});
