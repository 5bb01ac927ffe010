"""The player's lines: typed at a terminal with editing and history, or read from a pipe one by one."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from fabula.cli.player.paper import Paper


class Lines(Protocol):
    """`next` answers a line, or None when there are no more. A terminal raises KeyboardInterrupt on Ctrl+C."""

    async def next(self, prompt: str = "> ") -> str | None: ...


class PipedLines:
    """Lines of standard input; each is shown, so that what comes out reads as a transcript."""

    def __init__(self, paper: Paper) -> None:
        self._paper = paper

    async def next(self, prompt: str = "> ") -> str | None:
        line: str = await asyncio.to_thread(sys.stdin.readline)
        if not line:
            return None
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
            return (await self._session.prompt_async(prompt)).strip()
        except EOFError:
            return None


def open_lines(paper: Paper, history: Path, commands: Sequence[str]) -> Lines:
    """Typed lines where someone sits at a terminal, else piped ones."""
    if sys.stdin.isatty() and paper.colourful:
        return TypedLines(history, commands)
    return PipedLines(paper)
