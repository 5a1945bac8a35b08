/** Counts of one vitest run, from its JSON report. */

import { readFileSync } from 'node:fs';

/**
 * A run that failed must count at least one failure, whatever its report says or lacks: a runner
 * that crashed, a file that could not be loaded, an error outside of any test.
 *
 * @param {string} file path of the JSON report; may be missing
 * @param {boolean} exitedWell whether the runner ended with code 0
 * @returns {{ passed: number, failed: number, skipped: number, skippedNames: string[], note: string }}
 */
export function readVitestReport(file, exitedWell) {
  let report;
  try {
    report = JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    const note = `no report: ${error.message}`;
    return { passed: 0, failed: 1, skipped: 0, skippedNames: [], note };
  }
  const counted = { passed: 0, failed: 0, skipped: 0, skippedNames: [], note: '' };
  for (const suite of report.testResults) {
    // A file that cannot be loaded has no tests, and a failed hook leaves them skipped.
    const hasFailure = suite.assertionResults.some(({ status }) => status === 'failed');
    if (suite.status === 'failed' && !hasFailure) counted.failed += 1;
    for (const { status, fullName } of suite.assertionResults) {
      if (status === 'passed') counted.passed += 1;
      else if (status === 'failed') counted.failed += 1;
      else {
        counted.skipped += 1;
        counted.skippedNames.push(fullName);
      }
    }
  }
  if (!exitedWell && counted.failed === 0) {
    counted.failed = 1;
    counted.note = 'the runner failed outside of the tests';
  }
  if (counted.passed + counted.failed === 0) {
    counted.failed = 1;
    counted.note = 'no test ran';
  }
  return counted;
}
