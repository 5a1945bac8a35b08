"""The validator's proof: it accepts a foreign writer's table and notices every single break.

Prints one JSON line a case: `{"name", "ok", "message"}`. Run with `python -m tests.self_test`.
"""

import json
import re
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path

from floe_validator import validate
from floe_validator.storage import LocalStorage

from .breaks import BREAKS, Break
from .foreign_table import KNOWN_ABSENCES, BreakableTable, write_table


def accepts(uri: str) -> str | None:
    report = validate(uri, LocalStorage(), KNOWN_ABSENCES)
    if report.findings:
        return "; ".join(f"{f.code} {f.where}: {f.message}" for f in report.findings[:5])
    if (report.snapshots, report.data_files, report.rows) != (3, 3, 120):
        return f"walked {report.snapshots} snapshots, {report.data_files} files, {report.rows} rows"
    return None


def notices(metadata: Path, code: str, break_table: Break, target: Path) -> str | None:
    """The broken table has a finding of that code which the whole table has not.

    A code the foreign writer cannot pass in the first place is noticed in its own table.
    """
    before = Counter(f.code for f in validate(str(metadata), LocalStorage()).findings)
    table = BreakableTable(metadata, target)
    break_table(table)
    after = Counter(f.code for f in validate(table.write(), LocalStorage()).findings)
    if after[code] > before[code] or (code in KNOWN_ABSENCES and after[code] > 0):
        return None
    return f"found only {sorted(after - before)}"


def codes_in_source() -> set[str]:
    """Every code the validator can report, from its own source."""
    source = "".join(p.read_text() for p in Path(__file__).parent.parent.glob("floe_validator/*.py"))
    literal = set(re.findall(r'report\.(?:check|equal)\(\s*"([^"]+)"', source))
    computed = {f"{kind}.{what}" for kind in ("manifest", "manifest-list")
                for what in ("exists", "readable")}
    headers = {f"manifest-list.header.{key}" for key in
               ("snapshot-id", "parent-snapshot-id", "sequence-number", "format-version")}
    return literal | computed | headers


def run(name: str, case) -> bool:
    try:
        message = case()
    except Exception:
        message = traceback.format_exc()
    print(json.dumps({"name": name, "ok": message is None, "message": message or ""}), flush=True)
    return message is None


def main() -> int:
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        metadata = write_table(root)
        failed += not run("accepts a table written by PyIceberg", lambda: accepts(str(metadata)))
        failed += not run(
            "accepts the same table after its links were rewritten",
            lambda: accepts(BreakableTable(metadata, root / "copy").write()),
        )
        untested = codes_in_source() - set(BREAKS)
        failed += not run("has a broken table for every code it can report",
                          lambda: f"none for {sorted(untested)}" if untested else None)
        for code, breaks in BREAKS.items():
            for index, break_table in enumerate(breaks):
                target = root / f"{code}-{index}"
                name = f"notices {code}" + (f" ({index + 1})" if len(breaks) > 1 else "")
                failed += not run(name, lambda: notices(metadata, code, break_table, target))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
