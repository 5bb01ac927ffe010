"""TerminalWriter: text for people, wrapped word by word while it arrives, coloured where the terminal can."""

from __future__ import annotations

import re

from rich.console import Console
from rich.text import Text

WIDEST = 100
IN_A_PIPE = 88
# What stories say must never command the terminal: escape sequences and other controls are dropped.
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class TerminalWriter:
    """Writes paragraphs. Text may come in pieces of any size; a word is written when it is whole.

    `failed_turns` counts the turns whose failure was told here.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._width = min(console.width, WIDEST) if console.is_terminal else IN_A_PIPE
        self._column = 0
        self._indent = 0
        self._style = ""
        self._word = ""
        self._open = False
        self.failed_turns = 0
        self._passing = False

    @property
    def in_paragraph(self) -> bool:
        """Whether a line is being written."""
        return self._open and (self._column > 0 or bool(self._word))

    @property
    def colourful(self) -> bool:
        return self._console.is_terminal

    def begin(self, style: str = "", *, indent: int = 0) -> None:
        """A paragraph begins; one that is open ends first."""
        self.end()
        self._style, self._indent, self._column, self._open = style, indent, 0, True

    def more(self, text: str) -> None:
        """Some more of the paragraph's text."""
        for part in re.split(r"(\s+)", _CONTROLS.sub("", text)):
            if part and part.isspace():
                self._put_word()
                if "\n" in part and self._column:
                    self._new_line()
            else:
                self._word += part

    def end(self) -> None:
        """The paragraph ends."""
        if self._open:
            self._put_word()
            if self._column:
                self._new_line()
            self._open = False

    def say(self, text: str, style: str = "", *, indent: int = 0) -> None:
        """One whole paragraph."""
        self.begin(style, indent=indent)
        self.more(text)
        self.end()

    def paragraphs(self, text: str, style: str = "") -> None:
        """Whole paragraphs, each after an empty line; no text is no paragraph."""
        for paragraph in text.split("\n\n"):
            if paragraph.strip():
                self.gap()
                self.say(paragraph, style)

    def row(self, text: str, style: str = "", *, indent: int = 0) -> None:
        """One line as it is, for tables and trees: never wrapped, its spaces kept."""
        self.end()
        self._style = style
        self._write(" " * indent + _CONTROLS.sub("", text).replace("\n", " ") + "\n")

    def gap(self) -> None:
        """An empty line."""
        self.end()
        self._new_line()

    def passing(self, text: str) -> None:
        """One line that the next text takes the place of; for terminals only."""
        self._passing = True
        short = _CONTROLS.sub("", text)[: self._width - 1]
        self._console.file.write(f"\r\x1b[2K\x1b[2m{short}\x1b[0m")
        self._console.file.flush()

    def clear_passing(self) -> None:
        """Takes the passing line away."""
        if self._passing:
            self._passing = False
            self._console.file.write("\r\x1b[2K")
            self._console.file.flush()

    def _put_word(self) -> None:
        word, self._word = self._word, ""
        if not word:
            return
        if self._column and self._column + 1 + len(word) > self._width:
            self._new_line()
        lead = " " if self._column else " " * self._indent
        self._write(lead + word)
        self._column += len(lead) + len(word)

    def _new_line(self) -> None:
        self._write("\n")
        self._column = 0

    def _write(self, text: str) -> None:
        self.clear_passing()
        self._console.print(Text(text, style=self._style), end="", soft_wrap=True)
