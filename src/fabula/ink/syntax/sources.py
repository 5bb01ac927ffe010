"""Where text came from: one running position over all files of a story, and the log of problems at positions.

A position (`at`) is a single number: the base of its file plus the offset in the text that the parser saw. The parser
sees text without comments; `Sources.place` leads back to the author's own line and column.
"""

import re
import sys
from bisect import bisect_right
from dataclasses import dataclass, field

from fabula.ink.syntax.problems import Problem, Severity

_COMMENT = re.compile(r"/[/*]")
_SURROGATE = re.compile("[\ud800-\udfff]")
MAX_PROBLEMS = 300


@dataclass(frozen=True, kw_only=True, slots=True)
class Place:
    """A line and column, from 1, in a named file."""

    file: str | None
    line: int
    column: int


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceFile:
    """One file as the parser sees it: comments removed, line ends unified, and the way back to the original."""

    name: str | None
    base: int
    text: str
    line_starts: tuple[int, ...]
    cuts: tuple[tuple[int, int], ...]

    def place(self, offset: int) -> Place:
        seen, original = self.cuts[bisect_right(self.cuts, (offset, sys.maxsize)) - 1]
        position = original + offset - seen
        line = bisect_right(self.line_starts, position)
        return Place(file=self.name, line=line, column=position - self.line_starts[line - 1] + 1)


@dataclass(slots=True)
class Sources:
    """All files of one story, each on its own stretch of the running position."""

    files: list[SourceFile] = field(default_factory=list)
    _bases: list[int] = field(default_factory=list)
    size: int = 0

    def add(self, name: str | None, text: str) -> SourceFile:
        original = unify(text)
        seen, cuts = without_comments(original)
        starts = [0]
        find = original.find
        end = find("\n")
        while end >= 0:
            starts.append(end + 1)
            end = find("\n", end + 1)
        file = SourceFile(name=name, base=self.size, text=seen, line_starts=tuple(starts), cuts=cuts)
        self.files.append(file)
        self._bases.append(self.size)
        self.size += len(seen) + 1
        return file

    def place(self, at: int) -> Place:
        file = self.files[bisect_right(self._bases, at) - 1]
        return file.place(min(at - file.base, len(file.text)))


def unify(text: str) -> str:
    """One kind of line end, no byte order mark, and nothing that UTF-8 cannot write."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.isascii():
        text = _SURROGATE.sub("\ufffd", text.removeprefix("\ufeff"))
    return text


def without_comments(text: str) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The text without comments (their line ends stay), and the cuts (offset seen, offset in the original)."""
    pieces: list[str] = []
    cuts = [(0, 0)]
    seen = start = 0
    match = _COMMENT.search(text)
    while match:
        begin = match.start()
        pieces.append(text[start:begin])
        seen += begin - start
        if match.group() == "//":
            start = text.find("\n", begin)
            start = len(text) if start < 0 else start
        else:
            end = text.find("*/", begin + 2)
            start = len(text) if end < 0 else end + 2
            lines = "\n" * text.count("\n", begin, start)
            pieces.append(lines)
            seen += len(lines)
        cuts.append((seen, start))
        match = _COMMENT.search(text, start)
    if not pieces:
        return text, tuple(cuts)
    pieces.append(text[start:])
    return "".join(pieces), tuple(cuts)


@dataclass(slots=True)
class ProblemLog:
    """Problems as they are met, by position. A guess that turns out wrong takes its problems back with `drop`.

    `forgiving` logs take what earlier versions took: stories that were published then are still played.
    """

    entries: list[tuple[Severity, int, str]] = field(default_factory=list)
    errors: int = 0
    forgiving: bool = False

    def error(self, at: int, message: str) -> None:
        self._add(Severity.ERROR, at, message)

    def warning(self, at: int, message: str) -> None:
        self._add(Severity.WARNING, at, message)

    def todo(self, at: int, message: str) -> None:
        self._add(Severity.TODO, at, message)

    def has_room(self) -> bool:
        return len(self.entries) < MAX_PROBLEMS

    def mark(self) -> int:
        return len(self.entries)

    def drop(self, mark: int) -> None:
        self.errors -= sum(1 for entry in self.entries[mark:] if entry[0] is Severity.ERROR)
        del self.entries[mark:]

    def _add(self, severity: Severity, at: int, message: str) -> None:
        if len(self.entries) < MAX_PROBLEMS:
            self.entries.append((severity, at, message))
            self.errors += severity is Severity.ERROR
        elif severity is Severity.ERROR and not self.errors:
            # A story full of TODOs must still fail when it has an error.
            self.entries[-1] = (severity, at, message)
            self.errors += 1

    def problems(self, sources: Sources) -> tuple[Problem, ...]:
        """In reading order, each only once."""
        found: list[Problem] = []
        for severity, at, message in sorted(set(self.entries), key=lambda entry: (entry[1], entry[0], entry[2])):
            place = sources.place(at)
            found.append(
                Problem(
                    severity=severity,
                    message=message,
                    file=place.file,
                    line=place.line,
                    column=place.column,
                )
            )
        return tuple(found)
