/** The lines that `npm start` prints work as they stand. */

import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import { examplesFor } from '../../src/api/examples.ts';
import { describeWithEngines, rig, useLake } from './rig/lake.ts';

describeWithEngines('the printed examples', () => {
  const lake = useLake();
  const python = rig.python.available ? rig.python.executable : '';

  it('are printed by npm start', async () => {
    const { curl, duckdb, pyiceberg } = examplesFor(lake.runtime.origin, false);
    for (const example of [curl, duckdb, pyiceberg]) {
      // The banner follows the first healthy answer.
      await vi.waitFor(() => expect(lake.runtime.output).toContain(example), 5000);
    }
  });

  it('send rows with curl', () => {
    const { curl } = examplesFor(lake.runtime.origin, false);
    const printed = execFileSync('sh', ['-c', curl.replace('curl', 'curl -s')], {
      encoding: 'utf8',
    });
    expect(JSON.parse(printed)).toMatchObject({
      status: 'committed',
      rows: { received: 2, accepted: 2, quarantined: 0 },
    });
  });

  it('read them with DuckDB', () => {
    const { duckdb } = examplesFor(lake.runtime.origin, false);
    const home = mkdtempSync(path.join(tmpdir(), 'floe-duckdb-'));
    try {
      // Extensions that are already there are not fetched by INSTALL.
      mkdirSync(path.join(home, '.duckdb'));
      const packages = path.join(python, '../../lib');
      const extensions = execFileSync(
        python,
        ['-c', 'import duckdb, pathlib; print(pathlib.Path(duckdb.__file__).parent.parent)'],
        { encoding: 'utf8' },
      ).trim();
      expect(extensions).toContain(packages);
      symlinkSync(
        path.join(extensions, 'duckdb_ext/extensions'),
        path.join(home, '.duckdb/extensions'),
      );
      const program = 'import duckdb, sys; print(duckdb.sql(sys.argv[1]).fetchall())';
      const printed = execFileSync(python, ['-c', program, duckdb], {
        encoding: 'utf8',
        env: { ...process.env, HOME: home },
      });
      expect(printed.trim()).toBe("[(1, 'view', 12.5), (2, 'click', 3.25)]");
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });

  it('read them with PyIceberg', () => {
    const { pyiceberg } = examplesFor(lake.runtime.origin, false);
    const printed = execFileSync(python, ['-c', pyiceberg], { encoding: 'utf8' });
    expect(printed.trim()).toBe(
      "[{'id': 1, 'kind': 'view', 'ms': 12.5}, {'id': 2, 'kind': 'click', 'ms': 3.25}]",
    );
  });
});
