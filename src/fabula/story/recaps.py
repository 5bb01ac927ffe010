"""Previously: what happened in a play, in its own sentences, so short that it is read before going on.

No model is asked. What matters is chosen by where it stands:

1. how things stand now: what was told last, and what was said last;
2. what the player did last;
3. how each scene opened, the newest ones first;
4. what somebody said when they were first met, or when they were asked;
5. what the player did to get from scene to scene, and what came of their deeds on the way here.

The sentences stand in the order in which they were told, as long as there is room.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from fabula.language.english import bare, closed, to_second_person
from fabula.story.state import MemoryEntry

MOST_WORDS = 150
_LONGEST_SENTENCE = 40
_SHORT_SENTENCE = 6
_NAMELESS = frozenset({"", "user", "player", "you"})
_END = re.compile(r"(?<=[.!?…][\"'’”])\s+|(?<=[.!?…])\s+|(?<=[。！？])")
_DEED = re.compile(r"i(?:'m| am|'ll)? (?!am\b|was\b)[a-z]", re.IGNORECASE)
# Who says that they do not know tells nothing that one would want to be reminded of.
_EVASION = re.compile(
    r"\b(?:don't know|do not know|know nothing|can(?:no|')t (?:say|tell)|could not (?:say|tell)|no wiser|no idea)\b",
    re.IGNORECASE,
)
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, kw_only=True)
class PastTurn:
    """What was said in a turn; `opens_scene` where a scene began with it."""

    lines: Sequence[MemoryEntry]
    opens_scene: bool = False


@dataclass(frozen=True, kw_only=True)
class _Piece:
    """A sentence or two, the turn and the line in which they stand, and how dispensable they are."""

    turn: int
    line: int
    text: str
    rank: float


def recap(turns: Sequence[PastTurn], *, most_words: int = MOST_WORDS) -> str:
    """The story so far, from some of its turns in order: the last ones, and those with which scenes began."""
    pieces = _unrepeated(sorted(_pieces(turns), key=lambda piece: piece.rank))
    kept: list[_Piece] = []
    left = most_words
    for piece in pieces:
        if _words(piece.text) <= left:
            kept.append(piece)
            left -= _words(piece.text)
    return _in_order(kept, len(turns) - 1)


def _pieces(turns: Sequence[PastTurn]) -> Iterator[_Piece]:
    """All that could be said; a smaller rank is kept first."""
    met: set[str] = set()
    for number, turn in enumerate(turns):
        age = len(turns) - 1 - number
        yield from _last_pieces(number, turn) if age == 0 else _earlier_pieces(number, turn, age / 1000, met)
        met.update(line.speaker_name for line in turn.lines if line.kind == "dialogue")


def _last_pieces(number: int, turn: PastTurn) -> Iterator[_Piece]:
    """How things stand."""
    told, spoken = _told(turn.lines), _spoken(turn.lines)
    for rank, (line, text) in [
        *((0.0, one) for one in told[:1]),
        *((0.5, one) for one in spoken[-1:]),
        *((1.0, one) for one in told[1:2]),
        *((1.5, one) for one in told[-1:]),
        *((2.0, one) for one in _deeds(turn.lines)),
    ]:
        yield _Piece(turn=number, line=line, text=text, rank=rank)


def _earlier_pieces(number: int, turn: PastTurn, age: float, met: Collection[str]) -> Iterator[_Piece]:
    """How a scene opened and what led there; elsewhere what was answered, and what came of a deed."""
    told, deeds = _told(turn.lines), _deeds(turn.lines)
    for rank, (line, text) in [
        *((5.0, one) for one in deeds if turn.opens_scene),
        *((3.0, one) for one in told[: 2 if turn.opens_scene else 0]),
    ]:
        yield _Piece(turn=number, line=line, text=text, rank=rank + age)
    if told and not turn.opens_scene:
        words = [text for _, text in (*deeds[:1], told[0])]
        yield _Piece(turn=number, line=told[0][0], text=" ".join(words), rank=6 + age)
    was_asked = any(line.kind == "player_input" and "?" in line.text for line in turn.lines)
    for line, text in _spoken(turn.lines)[:1]:
        is_new = was_asked or turn.lines[line].speaker_name not in met
        if not _EVASION.search(text):
            yield _Piece(turn=number, line=line, text=text, rank=(4 if is_new else 7) + age)


def _deeds(lines: Sequence[MemoryEntry]) -> list[tuple[int, str]]:
    """What the player did: told to them where it is a deed, else as they said it."""
    return [
        (place, _deed(line)) for place, line in enumerate(lines) if line.kind == "player_input" and line.text.strip()
    ]


def _deed(line: MemoryEntry) -> str:
    said = " ".join(_sentences(line.text)[:2])
    if said.isascii() and _DEED.match(said):
        return closed(to_second_person(said, "them"))
    name = "" if line.speaker_name.strip().casefold() in _NAMELESS else f"{line.speaker_name}: "
    return f"{name}“{said}”"


def _told(lines: Sequence[MemoryEntry]) -> list[tuple[int, str]]:
    """The narrated sentences of a turn, with their lines."""
    return [
        (place, sentence)
        for place, line in enumerate(lines)
        if line.kind == "narration"
        for sentence in _sentences(line.text)
    ]


def _spoken(lines: Sequence[MemoryEntry]) -> list[tuple[int, str]]:
    """Who said what, each by their first sentence, or their first two where it is short."""
    found = []
    for place, line in enumerate(lines):
        sentences = _sentences(line.text) if line.kind == "dialogue" else []
        if sentences:
            is_short = _words(sentences[0]) <= _SHORT_SENTENCE
            found.append((place, f"{line.speaker_name}: “{' '.join(sentences[: 2 if is_short else 1])}”"))
    return found


def _sentences(text: str) -> list[str]:
    parts = (" ".join(part.split()) for part in _END.split(text))
    return [_shortened(part) for part in parts if part]


def _shortened(sentence: str) -> str:
    words = sentence.split()
    if _UNSPACED.search(sentence) and len(sentence) > 2 * _LONGEST_SENTENCE:
        return f"{sentence[: 2 * _LONGEST_SENTENCE]}…"
    return sentence if len(words) <= _LONGEST_SENTENCE else f"{bare(' '.join(words[:_LONGEST_SENTENCE]))}…"


def _words(text: str) -> int:
    """How many words a text has; two letters of a script without spaces count as one."""
    return len(text.split()) + len(_UNSPACED.findall(text)) // 2


def _unrepeated(pieces: Sequence[_Piece]) -> Iterator[_Piece]:
    told: set[str] = set()
    for piece in pieces:
        if piece.text not in told:
            told.add(piece.text)
            yield piece


def _in_order(pieces: Sequence[_Piece], last: int) -> str:
    """What came before is one paragraph, and how things stand is another."""
    # Sentences of one line have ranks in their own order.
    told = sorted(pieces, key=lambda piece: (piece.turn, piece.line, piece.rank))
    before, now = ([piece.text for piece in told if (piece.turn == last) is is_last] for is_last in (False, True))
    return "\n\n".join(" ".join(part) for part in (before, now) if part)
