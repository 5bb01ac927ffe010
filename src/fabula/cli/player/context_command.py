"""The command of the terminal player that shows what the next prompts would be made of."""

from __future__ import annotations

from fabula.actions.plays.explain_context import ContextPrompt, ContextSection, ExplainContext, explain_context
from fabula.cli.player.player_session import PlayerSession
from fabula.cli.player.terminal_writer import TerminalWriter
from fabula.ports.actors import OPERATOR

_TOLD = {"whole": "", "compact": "in short: ", "dropped": "left out: ", "empty": ""}


async def context(player_session: PlayerSession, rest: str) -> None:
    """What each role would be told if the player said this next, section by section."""
    command = ExplainContext(player_input=rest.strip() or None)
    explained = await explain_context(player_session.house, OPERATOR, player_session.session_id, command)
    for prompt in explained.prompts:
        _show(player_session.writer, prompt)


def _show(writer: TerminalWriter, prompt: ContextPrompt) -> None:
    who = prompt.agent if prompt.character_id is None else f"{prompt.agent} ({prompt.character_id})"
    writer.say(f"{who}: about {prompt.tokens} of {prompt.budget} tokens", "bold")
    for section in prompt.sections:
        if section.told != "empty":
            writer.row(_line(section), "yellow" if section.told != "whole" else "", indent=2)
    empty = [section.name for section in prompt.sections if section.told == "empty"]
    if empty:
        writer.say(f"Nothing to tell: {', '.join(empty)}", "dim", indent=2)


def _line(section: ContextSection) -> str:
    line = f"{section.tokens:>6}  {section.kind:<13} {section.name}"
    if section.told == "whole":
        return line
    return f"{line} ({_TOLD[section.told]}{section.full_tokens} in full)"
