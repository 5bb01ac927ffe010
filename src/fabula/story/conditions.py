"""Conditions: comparisons of variables, alone or put together, and whether they hold in a state."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterator
from typing import Annotated, Final, Literal

from pydantic import Discriminator, Field, Tag

from fabula.story.state import WorldState
from fabula.story.values import Id, Json, Sparse, Value, same_json

SHORT_LIST: Final = 32
SHORT_TEXT: Final = 4_000
LONGEST_PART: Final = 64
"""Of what is looked for in a text that is not short so many letters count."""
FEW_PARTS: Final = 50
MOST_LETTERS_SORTED: Final = 400_000
WEIGHT_OF_LOOKING: Final = 10

Operator = Literal["eq", "ne", "gt", "gte", "lt", "lte", "contains"]


class Comparison(Sparse):
    """One comparison of one variable. A missing variable never fulfils it, not even `ne`."""

    optional = frozenset({"character"})
    scope: Literal["global", "player", "character"] = "global"
    character: Id | None = None
    key: str
    op: Operator
    value: Json


class All(Value):
    all: list[Condition] = Field(max_length=32)


class Any(Value):
    any: list[Condition] = Field(max_length=32)


class Not(Value):
    not_: Condition = Field(alias="not", serialization_alias="not")


def _kind_of_condition(raw: object) -> str:
    for kind, model in (("all", All), ("any", Any), ("not", Not)):
        if isinstance(raw, model) or (isinstance(raw, dict) and kind in raw):
            return kind
    return "test"


Condition = Annotated[
    Annotated[Comparison, Tag("test")]
    | Annotated[All, Tag("all")]
    | Annotated[Any, Tag("any")]
    | Annotated[Not, Tag("not")],
    Discriminator(_kind_of_condition),
]


for _model in (Comparison, All, Any, Not):
    _model.model_rebuild()


def holds(condition: Condition | None, state: WorldState) -> bool:
    """Whether a condition is fulfilled by the state."""
    match condition:
        case None:
            return True
        case Comparison():
            found = value_at(condition, state)
            return found is not None and _compare(condition.op, found[0], condition.value, state)
        case All():
            return all(holds(part, state) for part in condition.all)
        case Any():
            return any(holds(part, state) for part in condition.any)
        case Not():
            return not holds(condition.not_, state)


def value_at(test: Comparison, state: WorldState) -> tuple[Json] | None:
    """The value that a comparison reads, alone in a tuple; None where there is no such variable."""
    match test.scope:
        case "global":
            variables = state.custom
        case "player":
            variables = state.player_state
        case "character":
            variables = state.character_state.get(test.character or "", {})
    return (variables[test.key],) if test.key in variables else None


def _compare(op: Operator, left: Json, right: Json, state: WorldState) -> bool:
    match op:
        case "eq":
            return same_json(left, right)
        case "ne":
            return not same_json(left, right)
        case "contains":
            return _contains(left, right, state)
        case "gt" | "gte" | "lt" | "lte":
            return _ordered(op, left, right)


def _contains(whole: Json, part: Json, state: WorldState) -> bool:
    if isinstance(whole, list):
        if len(whole) > SHORT_LIST:
            return _comparable(part) in _lists.members(whole, state)
        return any(same_json(item, part) for item in whole)
    if isinstance(whole, str) and isinstance(part, str) and len(whole) > SHORT_TEXT:
        return _texts.has(whole, part[:LONGEST_PART])
    return isinstance(whole, (str, dict)) and isinstance(part, str) and part in whole


class _Texts:
    """Long texts in which a story looks for very many things: all that begins anywhere in one is sorted once, and then
    looked up. What is known of them is put in the place of what was known at one stroke, so that threads share it."""

    def __init__(self) -> None:
        self._known: tuple[dict[int, tuple[str, int]], dict[int, list[int]]] = ({}, {})

    def has(self, whole: str, part: str) -> bool:
        """Whether a part that is no longer than `LONGEST_PART` stands in a text."""
        asked, sorted_places = self._known
        known, times = asked.get(id(whole), (whole, 0))
        if times == 0 and sum(len(text) for text, _ in tuple(asked.values())) > MOST_LETTERS_SORTED:
            asked, sorted_places = self._known = {}, {}
        # The text is kept with it: as long as it is, no other one has its id.
        asked[id(whole)] = (known, times + 1)
        if times < FEW_PARTS:
            return part in whole

        def begins(place: int) -> str:
            return whole[place : place + LONGEST_PART]

        places = sorted_places.get(id(whole))
        if places is None:
            places = sorted_places[id(whole)] = sorted(range(len(whole)), key=begins)
        at = bisect_left(places, part, key=begins)
        return at < len(places) and whole.startswith(part, places[at])


_texts = _Texts()


class _Lists:
    """What long lists of the last state have in them: a story may ask for very many things whether they are in one
    list of ten thousands. Threads that ask of two states at once take each other's place, and no more."""

    def __init__(self) -> None:
        self._known: tuple[WorldState | None, dict[int, frozenset[Hashable]]] = (None, {})

    def members(self, whole: list[Json], state: WorldState) -> frozenset[Hashable]:
        known_state, members = self._known
        if known_state is not state:
            _, members = self._known = state, {}
        found = members.get(id(whole))
        if found is None:
            found = members[id(whole)] = frozenset(map(_comparable, whole))
        return found


_lists = _Lists()


def _comparable(value: Json) -> Hashable:
    """Equal for values that are the same JSON, and for no others."""
    if isinstance(value, bool):
        return ("bool", value)
    if isinstance(value, list):
        return ("list", *map(_comparable, value))
    if isinstance(value, dict):
        return ("dict", frozenset((key, _comparable(one)) for key, one in value.items()))
    return value


def _ordered(op: Operator, left: Json, right: Json) -> bool:
    if not (isinstance(left, (int, float)) and isinstance(right, (int, float))):
        return False
    if isinstance(left, bool) or isinstance(right, bool):
        return False
    return {"gt": left > right, "gte": left >= right, "lt": left < right, "lte": left <= right}[op]


def weight_of(test: Comparison) -> int:
    """As how many comparisons one counts: whoever looks for a text in a long one takes far longer than others."""
    return WEIGHT_OF_LOOKING if test.op == "contains" else 1


def tests_of(condition: Condition | None) -> Iterator[Comparison]:
    """Every single comparison inside a condition."""
    match condition:
        case None:
            return
        case Comparison():
            yield condition
        case All():
            for part in condition.all:
                yield from tests_of(part)
        case Any():
            for part in condition.any:
                yield from tests_of(part)
        case Not():
            yield from tests_of(condition.not_)
