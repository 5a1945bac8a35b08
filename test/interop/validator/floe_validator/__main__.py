"""`python -m floe_validator METADATA_URI`: prints findings, and fails when there are any.

For `s3://` URIs the environment gives S3_ENDPOINT, S3_ACCESS_KEY, S3_SECRET_KEY and S3_REGION.
"""

import os
import sys

from . import validate
from .storage import LocalStorage, S3Storage


def main(uri: str) -> int:
    storage = LocalStorage()
    if uri.startswith("s3://"):
        storage = S3Storage(os.environ["S3_ENDPOINT"], os.environ["S3_ACCESS_KEY"],
                            os.environ["S3_SECRET_KEY"], os.environ.get("S3_REGION", "auto"))
    report = validate(uri, storage)
    for finding in report.findings:
        print(f"{finding.code}: {finding.where}: {finding.message}")
    print(f"{report.checks} checks, {report.snapshots} snapshots, {report.data_files} data files, "
          f"{report.rows} rows, {len(report.findings)} findings")
    return 1 if report.findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
