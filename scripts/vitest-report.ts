/** Counts of one vitest run, from its JSON report. */

import { readFileSync } from 'node:fs';

interface VitestReport {
  testResults: {
    status: string;
    assertionResults: { status: string; fullName: string }[];
  }[];
}

export interface TestCounts {
  passed: number;
  failed: number;
  skipped: number;
  skippedNames: string[];
  /** Why a failure was counted that is not one of a test; empty otherwise. */
  note: string;
}

/**
 * A run that failed must count at least one failure, whatever its report says or lacks: a runner
 * that crashed, a file that could not be loaded, an error outside of any test.
 *
 * @param file path of the JSON report; may be missing
 * @param exitedWell whether the runner ended with code 0
 */
export function readVitestReport(file: string, exitedWell: boolean): TestCounts {
  let report: VitestReport;
  try {
    report = JSON.parse(readFileSync(file, 'utf8')) as VitestReport;
  } catch (error) {
    const cause = error instanceof Error ? error.message : String(error);
    return { passed: 0, failed: 1, skipped: 0, skippedNames: [], note: `no report: ${cause}` };
  }
  const counts: TestCounts = { passed: 0, failed: 0, skipped: 0, skippedNames: [], note: '' };
  for (const file of report.testResults) {
    // A file that cannot be loaded has no tests, and a failed hook leaves them skipped.
    const hasFailure = file.assertionResults.some(({ status }) => status === 'failed');
    if (file.status === 'failed' && !hasFailure) counts.failed += 1;
    for (const { status, fullName } of file.assertionResults) {
      if (status === 'passed') counts.passed += 1;
      else if (status === 'failed') counts.failed += 1;
      else {
        counts.skipped += 1;
        counts.skippedNames.push(fullName);
      }
    }
  }
  if (!exitedWell && counts.failed === 0) {
    counts.failed = 1;
    counts.note = 'the runner failed outside of the tests';
  }
  if (counts.passed + counts.failed + counts.skipped === 0) {
    counts.failed = 1;
    counts.note = 'no test ran';
  }
  return counts;
}
