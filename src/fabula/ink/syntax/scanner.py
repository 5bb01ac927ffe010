"""The lowest layer of the parser: a cursor over one text, its small tokens, and its problems.

A method that looks for something moves the cursor only when it finds it. Errors are said once a line: what follows the
first mistake on a line is usually its echo.
"""

import re

from fabula.ink.syntax.sources import ProblemLog, SourceFile

# Letters of the scripts that the reference allows in names, besides the plain ones.
_NAME = (
    "0-9A-Z_a-z\u0080-\u024f\u0370-\u0373\u0376\u0377\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03ff\u0400-\u0481"
    "\u048a-\u04ff\u0531-\u0556\u0561-\u0587\u058f\u0590-\u06ff\u4e00-\u9fff\uac00-\ud7af"
)
_IDENTIFIER = re.compile(f"[{_NAME}]+")
_SPACE = re.compile(r"[ \t]*")
_SPACE_AND_LINES = re.compile(r"[ \t\n]*")
_REST_OF_LINE = re.compile(r"[^\n]*")
_BRACE_SIGNS = re.compile(r"[{}|\\]")

RESERVED = frozenset(
    (
        "true",
        "false",
        "not",
        "return",
        "else",
        "VAR",
        "CONST",
        "temp",
        "LIST",
        "function",
    )
)
MAX_NESTING = 40
MAX_PARTS = 1_000_000


class Scanner:
    """A cursor over one file."""

    def __init__(self, file: SourceFile, log: ProblemLog) -> None:
        self.text = file.text
        self.base = file.base
        self.log = log
        self.pos = 0
        self.depth = 0
        self._parts = 0
        self._last_error = -1
        self._said_until = -1
        self._braces_seen_until = 0
        self._pipes: dict[int, int] = {}

    # -- tokens ---------------------------------------------------------------------------------------------------

    def space(self) -> None:
        match = _SPACE.match(self.text, self.pos)
        if match:
            self.pos = match.end()

    def space_and_lines(self) -> None:
        match = _SPACE_AND_LINES.match(self.text, self.pos)
        if match:
            self.pos = match.end()

    def sign(self, sign: str) -> bool:
        if self.text.startswith(sign, self.pos):
            self.pos += len(sign)
            return True
        return False

    def sees(self, sign: str) -> bool:
        return self.text.startswith(sign, self.pos)

    def identifier(self) -> str | None:
        """A name: letters, digits and underscores, but not digits alone."""
        match = _IDENTIFIER.match(self.text, self.pos)
        if match is None:
            return None
        name = match.group()
        if name.isdigit() and name.isascii():
            return None
        self.pos = match.end()
        return name

    def word(self) -> str:
        """The name under the cursor, without moving; empty when there is none."""
        match = _IDENTIFIER.match(self.text, self.pos)
        return match.group() if match else ""

    def rest_of_line(self) -> str:
        match = _REST_OF_LINE.match(self.text, self.pos)
        return match.group() if match else ""

    def at_line_end(self) -> bool:
        """Only spaces up to the end of the line or file; the cursor goes past them, not past the line end."""
        self.space()
        return self.pos >= len(self.text) or self.text[self.pos] == "\n"

    def line_end(self) -> bool:
        """Past the end of the line, when nothing but spaces is left on it and the file goes on."""
        match = _SPACE.match(self.text, self.pos)
        end = match.end() if match else self.pos
        if self.text.startswith("\n", end):
            self.pos = end + 1
            return True
        return False

    def at_line_start(self) -> bool:
        """Only spaces between the last line end and the cursor."""
        pos = self.pos
        while pos > 0 and self.text[pos - 1] in " \t":
            pos -= 1
        return pos > 0 and self.text[pos - 1] == "\n"

    def expect_line_end(self, what: str = "end of line") -> None:
        if self.at_line_start():
            return
        if not self.at_line_end():
            self.expected(what)
            self.skip_line()
        else:
            self.pos = min(self.pos + 1, len(self.text))

    def skip_line(self) -> None:
        end = self.text.find("\n", self.pos)
        self.pos = len(self.text) if end < 0 else end + 1

    # -- problems -------------------------------------------------------------------------------------------------

    def error(self, message: str, pos: int | None = None) -> None:
        where = self.pos if pos is None else pos
        if self._is_said(where):
            return
        self._last_error = where
        end = self.text.find("\n", where)
        self._said_until = len(self.text) if end < 0 else end
        self.log.error(self.base + where, message)

    def _is_said(self, where: int) -> bool:
        """An error already stands earlier on this line, and no dropped guess took it back."""
        return self._last_error <= where <= self._said_until and self._last_error_stands()

    def _last_error_stands(self) -> bool:
        entries = self.log.entries
        return bool(entries) and (entries[-1][1] >= self.base + self._last_error or not self.log.has_room())

    def warn(self, message: str, pos: int) -> None:
        self.log.warning(self.base + pos, message)

    def expected(self, what: str) -> None:
        if self._is_said(self.pos):
            return
        rest = self.rest_of_line()[:200].strip()
        saw = f"'{rest[:60]}'" if rest else "end of line"
        self.error(f"Expected {what} but saw {saw}")

    def expect(self, sign: str, what: str) -> bool:
        if self.sign(sign):
            return True
        self.expected(what)
        return False

    def too_deep(self) -> bool:
        if self.depth <= MAX_NESTING:
            return False
        self.error(f"This is nested too deeply (more than {MAX_NESTING} levels)")
        end = self.text.find("\n", self.pos)
        self.pos = len(self.text) if end < 0 else end
        return True

    def too_large(self) -> bool:
        """Counts one more part; a file with too many is given up here."""
        self._parts += 1
        if self._parts <= MAX_PARTS:
            return False
        if self._parts == MAX_PARTS + 1:
            self.log.error(self.base + self.pos, f"This file is too large (more than {MAX_PARTS} pieces)")
        self.pos = len(self.text)
        return True

    # -- braces ---------------------------------------------------------------------------------------------------

    def closing_brace_of_alternatives(self, opening: int) -> int | None:
        """The `}` that belongs to the `{` at `opening`, if a `|` stands directly between the two; else None.

        Braces are counted once over a stretch of text, so that nested braces cost no second look.
        """
        if opening >= self._braces_seen_until:
            self._count_braces(opening)
        return self._pipes.get(opening)

    def _count_braces(self, opening: int) -> None:
        text = self.text
        self._pipes = {}
        open_at: list[int] = []
        with_pipe: list[bool] = []
        pos = opening
        while True:
            match = _BRACE_SIGNS.search(text, pos)
            if match is None:
                pos = len(text) + 1
                break
            sign, pos = match.group(), match.end()
            if sign == "{":
                open_at.append(pos - 1)
                with_pipe.append(False)
                if len(open_at) > 2 * MAX_NESTING:
                    break
            elif sign == "|":
                with_pipe[-1] = True
            elif sign == "\\":
                pos += 1
            else:
                begin = open_at.pop()
                if with_pipe.pop():
                    self._pipes[begin] = pos - 1
                if not open_at:
                    break
        for begin, piped in zip(open_at, with_pipe, strict=True):
            if piped:
                self._pipes[begin] = len(text)
        self._braces_seen_until = pos
