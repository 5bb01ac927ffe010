"""What is wrong with a source: problems with a severity, a place in the author's file and a sentence."""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How much a problem matters: an error stops the compile, a warning and a TODO do not."""

    ERROR = "ERROR"
    WARNING = "WARNING"
    TODO = "TODO"


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """One thing the author should look at. Lines and columns count from 1."""

    severity: Severity
    message: str
    file: str | None
    line: int
    column: int

    def __str__(self) -> str:
        where = f"'{self.file}' line {self.line}" if self.file else f"line {self.line}"
        return f"{self.severity}: {where}: {self.message}"
