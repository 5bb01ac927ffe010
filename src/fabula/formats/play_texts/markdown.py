"""A play as Markdown: the player's words are quotations, speech has its speaker, deeds are set in italics.

What was said is text. Marks that would make more of it, as headings, links, pictures or HTML, are escaped; stars and
underscores stay, because storytellers use them for emphasis.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from fabula.formats.play_texts.document import PlayDocument, WrittenLine, WrittenTurn, one_line, paragraphs

_INSIDE = re.compile(r"([\\`\[\]<>|~])")
_BEGINNING = re.compile(r"^(#{1,6}(?=\s|$)|[-+*](?=\s|$)|=+$|-{2,}|\d{1,9}[.)](?=\s|$))")


def write_markdown(play: PlayDocument) -> str:
    return "\n\n".join(_blocks(play)) + "\n"


def _blocks(play: PlayDocument) -> Iterator[str]:
    yield f"# {escaped(one_line(play.title))}"
    yield from (f"*{escaped(part)}*" for part in paragraphs(play.introduction))
    for chapter in play.chapters:
        if chapter.title:
            yield f"## {escaped(one_line(chapter.title))}"
        for turn in chapter.turns:
            yield from _turn(turn)


def _turn(turn: WrittenTurn) -> Iterator[str]:
    if turn.note:
        yield f"**⚑ {escaped(one_line(turn.note))}**"
    if turn.offered:
        yield "\n".join(f"- {escaped(one_line(choice))}" for choice in turn.offered)
    for line in turn.lines:
        if block := _line(line):
            yield block


def _line(line: WrittenLine) -> str:
    text = [escaped(part) for part in paragraphs(line.text)]
    speaker = escaped(one_line(line.speaker))
    match line.kind:
        case "player_input":
            return "\n".join(f"> {part}" for part in text)
        case "dialogue":
            return f"**{speaker}:** “{_joined(text)}”"
        case "action":
            return "\n\n".join(f"*{part}*" for part in text)
        case "thought":
            return f"*({speaker} thinks: {_joined(text)})*"
        case "narration":
            return "\n\n".join(text)


def _joined(text: list[str]) -> str:
    return "\n\n".join(text)


def escaped(text: str) -> str:
    """A text that no reader of Markdown takes for a heading, a list, a link, a picture or HTML."""
    plain = _INSIDE.sub(r"\\\1", text)
    begun = _BEGINNING.match(plain)
    if begun is None:
        return plain
    mark = begun[0]
    # A number keeps its digits: the escape stands before its full stop.
    return f"{mark[:-1]}\\{mark[-1]}{plain[begun.end() :]}" if mark[0].isdigit() else f"\\{plain}"
