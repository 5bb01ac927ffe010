"""The player's lines: typed at a terminal with editing and history, or read from a pipe one by one."""

from __future__ import annotations

import asyncio
import re
import sys
from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Protocol

from fabula.cli.player.terminal_writer import TerminalWriter

# A terminal hands on bytes that are no text as half surrogates, which nothing can store.
_NO_TEXT = re.compile(r"[\ud800-\udfff]")
MOST = 10**9
"""Nobody counts further; the digits that somebody may type have no end."""


class Lines(Protocol):
    """`next` answers a line, or None when there are no more. A terminal raises KeyboardInterrupt on Ctrl+C."""

    async def next(self, prompt: str = "> ") -> str | None: ...


class PipedLines:
    """Lines of standard input; each is shown, so that what comes out reads as a transcript.

    Bytes that are no text become the replacement character.
    """

    def __init__(self, writer: TerminalWriter) -> None:
        self._paper = writer

    async def next(self, prompt: str = "> ") -> str | None:
        read: bytes = await asyncio.to_thread(sys.stdin.buffer.readline)
        if not read:
            return None
        line = read.decode(sys.stdin.encoding, "replace")
        self._paper.say(f"{prompt}{line.rstrip()}")
        return line.strip()


class TypedLines:
    """Lines typed at a terminal."""

    def __init__(self, history: Path, commands: Sequence[str]) -> None:
        # Imported here: a pipe needs none of it.
        from prompt_toolkit import PromptSession
        from prompt_toolkit.completion import WordCompleter
        from prompt_toolkit.history import FileHistory

        completer = WordCompleter(list(commands), sentence=True)
        self._session: PromptSession[str] = PromptSession(
            history=FileHistory(str(history)), completer=completer, complete_while_typing=False
        )

    async def next(self, prompt: str = "> ") -> str | None:
        try:
            typed = await self._session.prompt_async(prompt)
        except EOFError:
            return None
        return _NO_TEXT.sub("\ufffd", typed).strip()


def open_lines(writer: TerminalWriter, history: Path, commands: Sequence[str]) -> Lines:
    """Typed lines where someone sits at a terminal, else piped ones."""
    if sys.stdin.isatty() and writer.colourful:
        return TypedLines(history, commands)
    return PipedLines(writer)


async def lines_until_left(lines: Lines, writer: TerminalWriter) -> AsyncIterator[str]:
    """Every line until there are no more. Ctrl+C asks first; a second one leaves."""
    warned = False
    while True:
        writer.gap()
        try:
            line = await lines.next()
        except KeyboardInterrupt:
            if warned:
                return
            warned = True
            writer.say("Press Ctrl+C again to leave, or type /quit.", "yellow")
            continue
        warned = False
        if line is None:
            return
        yield line


def typed_number(line: str) -> int | None:
    """The number that a line holds, if it holds nothing else; one beyond counting is MOST."""
    if not line.isdecimal():
        return None
    return int(line) if len(line) < len(str(MOST)) else MOST
