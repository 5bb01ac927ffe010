"""What is written down of a play: chapters of turns, turns of lines. Writers read nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

LineKind = Literal["player_input", "narration", "dialogue", "action", "thought"]

# No format shows these, XML forbids most of them, and a terminal obeys some.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x84\x86-\x9f\ud800-\udfff\ufffe\uffff]")


@dataclass(frozen=True, kw_only=True)
class WrittenLine:
    """One line of the transcript, or something that a character only thought."""

    kind: LineKind
    speaker: str
    text: str
    recorded_at_ms: int = 0


@dataclass(frozen=True, kw_only=True)
class WrittenTurn:
    """A turn. `note` is its name or bookmark; `offered` are the choices that the player had in it."""

    turn_index: int
    lines: Sequence[WrittenLine]
    note: str = ""
    offered: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Chapter:
    """Turns that belong together, as those of a scene do; a play without scenes is one chapter without a title."""

    title: str
    turns: Sequence[WrittenTurn]


@dataclass(frozen=True, kw_only=True)
class PlayDocument:
    """A play from its beginning to the end of one line. `introduction` is what the story says before the first turn."""

    session_id: str
    title: str
    story: str
    player: str
    begun_at_ms: int
    written_at_ms: int
    chapters: Sequence[Chapter]
    introduction: str = ""

    def lines(self) -> Iterator[tuple[WrittenTurn, WrittenLine]]:
        """Every line in order, with its turn."""
        for chapter in self.chapters:
            for turn in chapter.turns:
                for line in turn.lines:
                    yield turn, line


def printable(text: str) -> str:
    """A text without what cannot be printed; lines end in one way."""
    return _UNPRINTABLE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def one_line(text: str) -> str:
    """A name or a title, which stands in one line."""
    return " ".join(printable(text).split())


def paragraphs(text: str) -> list[str]:
    """The lines of a text that have something in them."""
    return [part.strip() for part in printable(text).split("\n") if part.strip()]


def moment(at_ms: int) -> datetime:
    return datetime.fromtimestamp(at_ms / 1000, UTC)
