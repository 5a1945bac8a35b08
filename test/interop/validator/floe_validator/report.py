"""What a walk found. A finding has a stable code, the place, and a sentence for people."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Finding:
    code: str
    where: str
    message: str


@dataclass
class Report:
    """Collects findings; `allowed` are codes that the caller knows the writer to lack."""

    allowed: frozenset[str] = frozenset()
    findings: list[Finding] = field(default_factory=list)
    checks: int = 0
    snapshots: int = 0
    manifests: int = 0
    data_files: int = 0
    row_groups: int = 0
    rows: int = 0

    def check(self, code: str, condition: bool, where: str, message: str) -> bool:
        """Counts one check; records a finding when `condition` is false and not allowed."""
        self.checks += 1
        if not condition and code not in self.allowed:
            self.findings.append(Finding(code, where, message))
        return condition

    def equal(self, code: str, actual: object, expected: object, where: str, what: str) -> bool:
        return self.check(
            code, actual == expected, where, f"{what} is {actual!r}, expected {expected!r}"
        )
