"""Writes down what was said in a play: as Markdown or plain text to read, or as JSON for programs; pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

import orjson

from fabula.actions.plays.sessions import MessageLine, SessionView

Format = Literal["markdown", "text", "json"]


def markdown(session: SessionView) -> str:
    """A heading, the player's words as quotations, speech with its speaker, everything else as it was told."""
    return "\n\n".join([f"# {session.display_name}", *map(_markdown_line, session.history)]) + "\n"


def plain_text(session: SessionView) -> str:
    """The same without marks."""
    return "\n\n".join([session.display_name.upper(), *map(_text_line, session.history)]) + "\n"


def json(session: SessionView) -> str:
    """The name and every line with its speaker."""
    lines = [
        {"turn": one.turn_index, "kind": one.kind, "speaker": one.speaker_name, "text": one.text}
        for one in session.history
    ]
    document = {"session_id": session.session_id, "display_name": session.display_name, "lines": lines}
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()


def _markdown_line(line: MessageLine) -> str:
    match line.kind:
        case "player_input":
            return "\n".join(f"> {part}" for part in line.text.splitlines())
        case "dialogue":
            return f"**{line.speaker_name}:** “{line.text}”"
        case "action":
            return f"*{line.text}*"
        case _:
            return line.text


def _text_line(line: MessageLine) -> str:
    match line.kind:
        case "player_input":
            return f"> {line.text}"
        case "dialogue":
            return f"{line.speaker_name}: “{line.text}”"
        case _:
            return line.text


FORMATS: Mapping[Format, Callable[[SessionView], str]] = {"markdown": markdown, "text": plain_text, "json": json}
