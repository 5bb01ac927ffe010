"""Who notices what: one observation for everyone who was there and could perceive it, decided by rule.

- The player's words reach those who were in the scene when they were said.
- What is told in a turn reaches those who are in the scene at its end and were there before, came with the scene, or
  spoke. Who came or went in between is not sure to have heard it, and remembers nothing of it.
- A whisper stays between the one who whispers and those it names; a thought, and what is muttered to oneself, with the
  one who has it.
- The player is told everything but the thoughts of others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fabula.language.words import words_of

PLAYER_OWNER = "player"

_WHISPER = re.compile(
    r"\b(?:whisper\w*|murmur\w* (?:in|into|to)|in (?:her|his|their|your|my) ear|flüster\w*|chuchot\w*)\b", re.I
)
_TO_ONESELF = re.compile(
    r"\b(?:under (?:my|her|his|their) breath|to (?:myself|herself|himself|themselves|themself)|i think to myself)\b",
    re.I,
)


@dataclass(frozen=True, kw_only=True)
class NoticedLine:
    """Something that was said, done, told or thought in a turn. `speaker_id` is a character, or the player."""

    id: str
    kind: str
    speaker_id: str
    speaker_name: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Presence:
    """Who was in the scene when a turn began, and when it ended, by id; `moved` says that it is another scene.

    Without `see_all` they notice what is said, and the narration is for the player alone.
    """

    before: frozenset[str]
    after: frozenset[str]
    moved: bool
    names: Mapping[str, str]
    see_all: bool = True


def observers(line: NoticedLine, presence: Presence, speakers: Iterable[str]) -> list[str]:
    """The owners who notice a line, the player among them, sorted."""
    if line.kind == "thought" or _TO_ONESELF.search(line.text):
        return [PLAYER_OWNER if line.speaker_id not in presence.names else line.speaker_id]
    if line.kind == "narration" and not presence.see_all:
        around = frozenset[str]()
    elif line.kind == "player_input":
        around = presence.before
    else:
        stayed = presence.after if presence.moved else presence.after & presence.before
        around = stayed | frozenset(speakers)
    around = frozenset(one for one in around if one in presence.names)
    if _WHISPER.search(line.text):
        around = frozenset(one for one in around if one == line.speaker_id or _is_named(presence.names[one], line.text))
    return sorted({*around, PLAYER_OWNER})


def speakers_of(lines: Sequence[NoticedLine], presence: Presence) -> frozenset[str]:
    """The characters who spoke or acted in a turn: they were there."""
    return frozenset(line.speaker_id for line in lines if line.kind in ("dialogue", "action")) & presence.names.keys()


def _is_named(name: str, text: str) -> bool:
    said = set(words_of(text.replace("'s", "")))
    return any(word in said for word in words_of(name) if len(word) > 2)
