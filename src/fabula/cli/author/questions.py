"""Asks the author: at a terminal or in a pipe, where the answers stand on standard input line by line."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from fabula.cli.author.editor import edit_text
from fabula.cli.player.lines import Lines
from fabula.cli.player.terminal_writer import TerminalWriter
from fabula.ports.errors import InvalidRequest

END_OF_TEXT = "."


@dataclass(frozen=True, kw_only=True)
class Author:
    """The one who answers, and the writer on which they read."""

    writer: TerminalWriter
    lines: Lines

    async def answer(self, question: str, *, default: str | None = None) -> str:
        """An answer; an empty one, or no more input, means the default. Without a default it is asked for again."""
        hint = f" [{default}]" if default else ""
        while True:
            try:
                said = await self.lines.next(f"{question}{hint}: ")
            except KeyboardInterrupt:
                raise InvalidRequest("Stopped. What was made so far is kept.") from None
            if said:
                return said
            if default is not None:
                return default
            if said is None:
                raise InvalidRequest(f"The answers ended before this was known: {question}.")

    async def agrees(self, question: str, *, default: bool = True) -> bool:
        """A yes or no."""
        said = await self.answer(f"{question} (yes/no)", default="yes" if default else "no")
        return said.lower().startswith("y")

    async def edit(self, question: str, text: str) -> str:
        """A text as the author changes it: in their editor at a terminal, else written anew, line by line."""
        if not self.writer.colourful:
            return await self.text(question) or text
        try:
            return await asyncio.to_thread(edit_text, text) or text
        except InvalidRequest as error:
            self.writer.say(error.message, "yellow")
            return await self.text(question) or text

    async def text(self, question: str) -> str:
        """Several lines, ended by a line with a single point."""
        self.writer.say(f"{question} End with a line that holds only a point.", "dim")
        written: list[str] = []
        while (line := await self.lines.next("| ")) not in (None, END_OF_TEXT):
            written.append(line or "")
        return "\n".join(written).strip()
