"""The closed question: which of these ways a player's line means, or none; answered with one letter.

A small model that cannot write JSON can still choose. It is asked only where the rules are not sure; worked examples
show it that asking, looking and wishing are no choice.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from fabula.ports.models import Message
from fabula.story.conditions import Comparison, tests_of
from fabula.story.graph import Node, Transition
from fabula.story.values import Json

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXY"
NONE = "Z"
MOST_TOKENS = 6
_LETTER = re.compile(r"\A\W*(?:(?:THE\s+)?(?:ANSWER|LETTER|OPTION|WAY)(?:\s+IS)?\W+)?([A-Z])(?:\W*$|[).:])")
_LONGEST = 400

_TASK = (
    "You read one line of a player in an interactive story and say which way on it takes. Only what the player does or "
    "decides now takes a way. A question, a look around, a wish, something that is denied, or something about another "
    "matter takes none.\n\nAnswer with one letter and nothing else."
)

_EXAMPLES: tuple[tuple[str, str], ...] = (
    ("A: open the gate\nB: turn back\nZ: none of these\n\nPlayer: I push against the gate until it gives.", "A"),
    ("A: open the gate\nB: turn back\nZ: none of these\n\nPlayer: Who built this gate?", "Z"),
    ("A: open the gate\nB: turn back\nZ: none of these\n\nPlayer: I will not open it. Home we go.", "B"),
    ("A: trust the captain\nZ: none of these\n\nPlayer: I wish I could trust you, captain.", "Z"),
    ("A: trust the captain\nZ: none of these\n\nPlayer: Captain, you have my word.", "A"),
)


def closed_question(node: Node, titles: dict[str, str], line: str) -> tuple[Message, ...]:
    """The messages that ask which way of a node a line means."""
    ways = [f"{LETTERS[number]}: {name}" for number, name in enumerate(way_names(node, titles))]
    asked = "\n".join([*ways, f"{NONE}: none of these"])
    scene = f"The scene: {_short(node.scene)}\nWhat it is about: {_short(node.goal)}"
    shown = [
        message
        for question, answer in _EXAMPLES
        for message in (Message(role="user", content=question), Message(role="assistant", content=answer))
    ]
    return (
        Message(role="system", content=_TASK),
        *shown,
        Message(role="user", content=f"{scene}\n\n{asked}\n\nPlayer: {_short(line)}"),
    )


def read_letter(text: str, ways: int) -> int | None:
    """The way that a letter names; None for none of them, and for anything that is no letter on offer.

    Prose that happens to begin with the word `A` names nothing.
    """
    found = _LETTER.match(text.strip().upper()[:40])
    if found is None or found[1] == NONE:
        return None
    number = LETTERS.find(found[1])
    return number if 0 <= number < min(ways, len(LETTERS)) else None


def way_names(node: Node, titles: dict[str, str]) -> Sequence[str]:
    """What each way of a node is, in a few words: what players do to take it, and where it leads."""
    return [
        f"{_short(_deed(way) or titles.get(way.to, way.to))} (leads to: {titles.get(way.to, way.to)})"
        for way in node.transitions[: len(LETTERS)]
    ]


def _deed(way: Transition) -> str:
    """What a player does to take a way: what its author says that it means, else what it waits for, in words."""
    if way.means:
        return "; ".join(way.means[:3])
    return ", ".join(_test(test) for test in tests_of(way.condition))


def _test(test: Comparison) -> str:
    key = test.key.replace("_", " ")
    return key if test.value is True else f"{key} {_value(test.value)}"


def _value(value: Json) -> str:
    return f"is {value}" if not isinstance(value, bool) else "not"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…"
