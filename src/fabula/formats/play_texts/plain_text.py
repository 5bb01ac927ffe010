"""A play as plain text, and as JSON for programs."""

from __future__ import annotations

from collections.abc import Iterator

import orjson

from fabula.formats.play_texts.document import PlayDocument, WrittenLine, WrittenTurn, one_line, paragraphs, printable


def write_text(play: PlayDocument) -> str:
    return "\n\n".join(_blocks(play)) + "\n"


def write_json(play: PlayDocument) -> str:
    """The name and every line with its speaker."""
    lines = [
        {"turn": turn.turn_index, "kind": line.kind, "speaker": one_line(line.speaker), "text": printable(line.text)}
        for turn, line in play.lines()
    ]
    document = {"session_id": play.session_id, "display_name": one_line(play.title), "lines": lines}
    return orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()


def _blocks(play: PlayDocument) -> Iterator[str]:
    yield one_line(play.title).upper()
    yield from paragraphs(play.introduction)
    for chapter in play.chapters:
        if chapter.title:
            yield f"* * *\n\n{one_line(chapter.title)}"
        for turn in chapter.turns:
            yield from _turn(turn)


def _turn(turn: WrittenTurn) -> Iterator[str]:
    if turn.note:
        yield f"[{one_line(turn.note)}]"
    if turn.offered:
        yield "\n".join(f"  - {one_line(choice)}" for choice in turn.offered)
    yield from (block for line in turn.lines if (block := _line(line)))


def _line(line: WrittenLine) -> str:
    text, speaker = "\n\n".join(paragraphs(line.text)), one_line(line.speaker)
    match line.kind:
        case "player_input":
            return f"> {text}"
        case "dialogue":
            return f"{speaker}: “{text}”"
        case "thought":
            return f"({speaker} thinks: {text})"
        case "narration" | "action":
            return text
