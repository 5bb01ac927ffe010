"""Tells turns of Ink plays: the frames of their streams become paragraphs, and then what the story waits for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fabula.cli.player.terminal_writer import TerminalWriter
from fabula.cli.player.turn_listener import Teller
from fabula.story.events import AgentDegraded, AgentOutcome, AgentReplyDelta, InkText, TurnEvent

Ink = Mapping[str, Any]
"""Where an Ink play stands, as a session shows it."""


class InkTelling(Teller):
    """Shows what happens. What somebody says is told piece by piece."""

    def __init__(self, writer: TerminalWriter) -> None:
        super().__init__(writer)
        self._closing: str | None = None

    def waiting(self, ink: Ink, hint: str) -> None:
        """What the story waits for now."""
        self.writer.paragraphs(hint, "dim")
        if ink["ended"]:
            self.writer.gap()
            self.writer.say("THE END", "bold magenta", indent=2)
            return
        self._choices(ink["choices"])
        self.writer.paragraphs(_prompt(ink["input"]), "dim")

    def _event(self, event: TurnEvent) -> None:
        match event:
            case InkText():
                self.writer.paragraphs(event.text)
            case AgentReplyDelta():
                self._reply(event.character, event.delta)
            case AgentOutcome():
                self._close()
                self.writer.paragraphs(event.bridge_text or "")
            case AgentDegraded() if event.stand_in is not None:
                self._close()
                self.writer.paragraphs("(The model did not answer; the understudy plays this turn.)", "dim")

    def _reply(self, character: str, piece: str) -> None:
        if self._closing is None:
            self.writer.gap()
            self.writer.begin()
            self.writer.more(f"{character}: “" if character else "")
            self._closing = "”" if character else ""
        self.writer.more(piece)

    def _close(self) -> None:
        if self._closing is not None:
            self.writer.more(self._closing)
            self.writer.end()
            self._closing = None

    def _choices(self, choices: Sequence[Mapping[str, Any]]) -> None:
        if choices:
            self.writer.gap()
        for number, choice in enumerate(choices, 1):
            self.writer.say(f"{number}: {choice['text']}", "cyan")


def _prompt(asked: Mapping[str, Any]) -> str:
    match asked["kind"]:
        case "text":
            return f"[{asked['placeholder'] or 'Say something.'}]"
        case "agent":
            return f"[{asked['character']} is listening]"
        case "continue":
            return "[What do you do?]"
        case _:
            return ""


def awaited(ink: Ink) -> str:
    """What the story waits for, as a sentence of its own; empty at its end."""
    asked = ink["input"] or {"kind": "nothing"}
    match asked["kind"]:
        case "choice":
            return "The story waits for a choice."
        case "text":
            return (
                f"The story waits for words: {asked['placeholder']}"
                if asked["placeholder"]
                else "The story waits for words."
            )
        case "agent":
            return f"The story waits for your words to {asked['character']}."
        case "continue":
            return "The story waits for what you do, in your own words."
        case _:
            return ""
