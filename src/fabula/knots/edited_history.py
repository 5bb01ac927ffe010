"""What a story told, changed by hand: later prompts see the new words wherever they still saw the old ones.

A line of the transcript may be several lines of the history, because a turn's narration is one message. What has been
shortened meanwhile is found by its short form. The newest match counts.
"""

from __future__ import annotations

from collections.abc import Sequence

from fabula.knots.talk_memory import LONGEST_LINE, in_short
from fabula.story.ink_stories import Heard, HeardKind, InkPlay, Talk, TalkLine
from fabula.story.state import MemoryEntry


def reworded(ink: InkPlay, old: MemoryEntry, new: MemoryEntry | None) -> InkPlay:
    """The play in which a message reads differently, or (None) was never said."""
    pieces, kinds = _pieces(old), _kinds(old)
    place = _place(ink.history, pieces, kinds)
    history, earlier = list(ink.history), list(ink.earlier)
    if place:
        gone = set(place)
        heard = [] if new is None else [history[place[0]].model_copy(update={"text": _spelled(new)})]
        before = [one for index, one in enumerate(history[: place[-1] + 1]) if index not in gone]
        history = [*before, *heard, *history[place[-1] + 1 :]]
    for piece in pieces:
        earlier = _reworded_notes(earlier, piece, "" if new is None else _spelled(new))
    talks = {name: _reworded_talk(talk, name, old, new) for name, talk in ink.talks.items()}
    return ink.model_copy(update={"history": history, "earlier": earlier, "talks": talks})


def _spelled(line: MemoryEntry) -> str:
    """A message as the history has it."""
    text = f"{line.speaker_name}: {line.text}" if line.kind == "dialogue" and line.speaker_name else line.text
    return text[:LONGEST_LINE]


def _pieces(line: MemoryEntry) -> list[str]:
    parts = line.text.split("\n\n") if line.kind == "narration" else [_spelled(line)]
    return [part[:LONGEST_LINE] for part in parts if part.strip()]


def _kinds(line: MemoryEntry) -> tuple[HeardKind, ...]:
    match line.kind:
        case "player_input":
            return ("said", "choice")
        case "dialogue":
            return ("reply",)
        case _:
            return ("text", "reply")


def _place(history: Sequence[Heard], pieces: list[str], kinds: tuple[HeardKind, ...]) -> list[int]:
    """The lines of the history that are these pieces; of a telling that is half forgotten, its end."""
    shown = [index for index, one in enumerate(history) if one.kind in kinds]
    for first in range(len(shown) - len(pieces), -1, -1):
        found = shown[first : first + len(pieces)]
        if found and all(_is(history[at], piece) for at, piece in zip(found, pieces, strict=True)):
            return found
    for left in range(min(len(pieces) - 1, len(shown)), 0, -1):
        found = shown[:left]
        if all(_is(history[at], piece) for at, piece in zip(found, pieces[-left:], strict=True)):
            return found
    return []


def _is(heard: Heard, text: str) -> bool:
    """Whether a line of the history is this text. A choice is kept by its text and shown by its label."""
    while text != heard.text and heard.kind == "choice" and text.endswith(")") and " (" in text:
        text = text.rpartition(" (")[0]
    return heard.text == text


def _reworded_talk(talk: Talk, name: str, old: MemoryEntry, new: MemoryEntry | None) -> Talk:
    words = "" if new is None else new.text
    is_player = old.kind == "player_input"
    if not is_player and old.speaker_id != name:
        return talk
    lines = _reworded_lines(talk.lines, "said" if is_player else "reply", old.text, words)
    update: dict[str, object] = {"lines": lines, "earlier": _reworded_notes(talk.earlier, old.text, words)}
    if is_player:
        update |= {note: _reworded_notes(getattr(talk, note), old.text, words) for note in ("worked", "failed")}
    return talk.model_copy(update=update)


def _reworded_lines(lines: Sequence[TalkLine], field: str, old: str, new: str) -> list[TalkLine]:
    changed = list(lines)
    for index in range(len(changed) - 1, -1, -1):
        if getattr(changed[index], field) == old[:LONGEST_LINE]:
            line = changed[index].model_copy(update={field: new[:LONGEST_LINE]})
            changed[index : index + 1] = [line] if line.said or line.reply else []
            break
    return changed


def _reworded_notes(notes: Sequence[str], old: str, new: str) -> list[str]:
    """Short forms with the old words changed. An exchange was shortened as `said / answered`."""
    short, shorter = in_short(old), in_short(new)
    changed = []
    for note in notes:
        parts = [shorter if part == short else part for part in note.split(" / ")]
        changed.append(" / ".join(part for part in parts if part))
    return [note for note in changed if note]
