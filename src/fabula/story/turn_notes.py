"""What stands in the margin beside a turn, read from its kept result: what changed and by whom, and what was refused.

A result is plain JSON, and may be of an old version: what is not there makes no note.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal

from pydantic import ValidationError

from fabula.story.checks import Resolution
from fabula.story.values import Json, JsonObject, Sparse, Value

ChangedBy = Literal["after_player_input", "after_turn_outputs", "entering", "story"]
Scope = Literal["world", "player", "character"]
Place = tuple[Scope, str, str]
MOST_NOTES = 40
"""Of one turn and kind."""

_SCOPES: Mapping[str, Scope] = {
    "SetState": "world",
    "RemoveState": "world",
    "SetPlayerState": "player",
    "RemovePlayerState": "player",
    "SetCharacterState": "character",
    "RemoveCharacterState": "character",
}


class VariableChange(Value):
    """A variable that a turn changed. A value that was not there, or is gone, is null."""

    scope: Scope
    owner: str
    key: str
    before: Json
    after: Json
    by: ChangedBy


class RefusedChange(Value):
    """What a model wanted to change and might not; `about` names it."""

    about: str
    reason: str


class HelpNote(Sparse):
    """A role whose model failed; `stand_in` names who took its place, if anybody did."""

    optional = frozenset({"stand_in"})
    agent: str
    reason: str
    stand_in: str | None = None


class Thought(Value):
    beat_index: int
    speaker_id: str
    text: str


class TaggedLine(Value):
    text: str
    tags: list[str]


class FlashbackNote(Value):
    """Something that came back to somebody, as it was told."""

    character_id: str
    character_name: str
    text: str


class TurnNotes(Sparse):
    """The notes of a turn. `scene` is the node that was entered; `lines` are those of an Ink story, where one has tags;
    `outcome` is what came of words in a talk; `rolls` are what the dice decided; `flashback` is what came back to
    somebody.
    """

    optional = frozenset(
        {"changes", "refused", "helped", "thoughts", "scene", "outcome", "lines", "rolls", "flashback"}
    )
    turn_id: str
    changes: list[VariableChange] = []
    refused: list[RefusedChange] = []
    helped: list[HelpNote] = []
    thoughts: list[Thought] = []
    scene: str | None = None
    outcome: str | None = None
    lines: list[TaggedLine] = []
    rolls: list[Resolution] = []
    flashback: FlashbackNote | None = None


def notes_of(turn_id: str, result: JsonObject, before: JsonObject | None, *, thoughts: bool) -> TurnNotes:
    """The notes of a turn: its result, and the state before it (`world_state`), if it was not the first."""
    ink = _object(result, "ink")
    director = _object(result, "director")
    noted = [one for one in _list(result, "notes") if isinstance(one, dict)]
    return TurnNotes(
        turn_id=turn_id,
        changes=[] if before is None else list(_changes(result, before))[:MOST_NOTES],
        refused=[RefusedChange(about=_about(one), reason=_text(one, "reason")) for one in noted if "op" in one],
        helped=[
            HelpNote(agent=_text(one, "agent"), reason=_text(one, "reason"), stand_in=_text(one, "stand_in") or None)
            for one in noted
            if "agent" in one
        ],
        thoughts=list(_thoughts(result)) if thoughts else [],
        scene=_text(director, "current_node_id") or None if director.get("transitioned") is True else None,
        outcome=_text(_object(ink, "outcome"), "outcome") or None,
        lines=_tagged(ink),
        rolls=list(_rolls(result))[:MOST_NOTES],
        flashback=_flashback(_object(result, "flashback")),
    )


def _flashback(told: JsonObject) -> FlashbackNote | None:
    names = ("character_id", "character_name", "text")
    return FlashbackNote.model_validate({name: _text(told, name) for name in names}) if told else None


def _changes(result: JsonObject, before: JsonObject) -> Iterator[VariableChange]:
    after = _object(_object(result, "snapshot"), "world_state")
    first, second = (_places(_object(result, name)) for name in ("first_keeper", "second_keeper"))

    def by(place: Place) -> ChangedBy:
        if "ink" in result:
            return "story"
        # What both set alike was set by the first.
        if place in first and (place not in second or first[place] == new.get(place)):
            return "after_player_input"
        return "after_turn_outputs" if place in second else "entering"

    old, new = _variables(before), _variables(after)
    for place in sorted(old.keys() | new.keys()):
        if old.get(place) != new.get(place):
            scope, owner, key = place
            yield VariableChange(
                scope=scope, owner=owner, key=key, before=old.get(place), after=new.get(place), by=by(place)
            )


def _variables(world: JsonObject) -> dict[Place, Json]:
    found: dict[Place, Json] = {}
    for key, value in _object(world, "custom").items():
        found["world", "", key] = value
    for key, value in _object(world, "player_state").items():
        found["player", "", key] = value
    for owner, values in _object(world, "character_state").items():
        if isinstance(values, dict):
            for key, value in values.items():
                found["character", owner, key] = value
    return found


def _places(keeper: JsonObject) -> dict[Place, Json]:
    """The variables that a keeper changed, and what it set them to."""
    ops = [op for op in _list(_object(keeper, "update"), "ops") if isinstance(op, dict)]
    return {
        (_SCOPES[_text(op, "type")], _text(op, "character"), _text(op, "key")): op.get("value")
        for op in ops
        if _text(op, "type") in _SCOPES
    }


def _thoughts(result: JsonObject) -> Iterator[Thought]:
    for beat in _list(result, "completed_beats"):
        if not isinstance(beat, dict) or not isinstance(index := beat.get("beat_index"), int):
            continue
        for segment in _list(_object(beat, "response"), "segments"):
            if isinstance(segment, dict) and segment.get("kind") == "thought":
                yield Thought(beat_index=index, speaker_id=_text(beat, "speaker_id"), text=_text(segment, "text"))


def _rolls(result: JsonObject) -> Iterator[Resolution]:
    for one in _list(result, "resolutions"):
        try:
            yield Resolution.model_validate(one)
        except ValidationError:
            continue  # of another version of the rules: the line in the transcript still tells it


def _tagged(ink: JsonObject) -> list[TaggedLine]:
    lines = [
        TaggedLine(text=_text(line, "text"), tags=[str(tag) for tag in _list(line, "tags")])
        for line in _list(ink, "lines")
        if isinstance(line, dict)
    ]
    return lines if any(line.tags for line in lines) else []


def _about(note: JsonObject) -> str:
    op = _object(note, "op")
    names = [_text(op, name) for name in ("character", "key", "node_id")]
    return " · ".join(name for name in names if name) or _text(op, "type")


def _object(found: JsonObject, name: str) -> JsonObject:
    value = found.get(name)
    return value if isinstance(value, dict) else {}


def _list(found: JsonObject, name: str) -> list[Json]:
    value = found.get(name)
    return value if isinstance(value, list) else []


def _text(found: JsonObject, name: str) -> str:
    value = found.get(name)
    return value if isinstance(value, str) else ""
