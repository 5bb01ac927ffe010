"""Wording: people, places, lore, variables and what happened, each in the words in which roles read it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import assert_never

from fabula.story.contexts import CastMember, LoreNote, PlayerCard, ProgressionHint, StateView
from fabula.story.graph import All, Any, Comparison, Condition, Node, Not
from fabula.story.schemas import SchemaField
from fabula.story.state import MemoryEntry
from fabula.story.values import Json, JsonObject

_ENCODER = json.JSONEncoder(ensure_ascii=False)
_VERBS = {"dialogue": "says", "action": "does", "thought": "thinks", "player_input": "(the player)"}


def lore_text(title: str, notes: Iterable[LoreNote]) -> str:
    return listed(title, (f"{note.title}: {note.content}" for note in notes))


def player_text(player: PlayerCard) -> str:
    return titled("The player", f"{player.name}. {player.description}".strip())


def cast_text(title: str, cast: Iterable[CastMember], *, with_cards: bool = False) -> str:
    """The cast without its live state: that changes often, and stands with the state."""
    return listed(title, (_member_line(member, with_cards=with_cards) for member in cast))


def _member_line(member: CastMember, *, with_cards: bool) -> str:
    line = f"{member.name} (id {member.id}). Personality: {member.personality} Style: {member.style}"
    return f"{line} {member.system_prompt}".rstrip() if with_cards else line


def names(title: str, cast: Iterable[CastMember]) -> str:
    return listed(title, (f"{member.name} (id {member.id})" for member in cast))


def node_text(title: str, node: Node | None) -> str:
    if node is None:
        return ""
    return titled(title, f"{node.title} (id {node.id})\n{node.scene}\nGoal: {node.goal}")


def fields_text(title: str, fields: Mapping[str, SchemaField]) -> str:
    return listed(title, (_field_line(key, field) for key, field in fields.items()))


def _field_line(key: str, field: SchemaField) -> str:
    allowed = f", one of {_json(field.enum_values)}" if field.enum_values is not None else ""
    begins = f", at first {_json(field.default)}" if field.default is not None else ""
    told = f": {field.description}" if field.description else ""
    return f"{key} ({field.value_type}{allowed}{begins}){told}"


def state_text(state: StateView) -> str:
    """The variables as they are now, one line for each holder."""
    lines = [_variables("World", state.custom)]
    if state.player_state is not None:
        lines.append(_variables("Player", state.player_state))
    lines += [_variables(character, state.character_state[character]) for character in sorted(state.character_state)]
    return titled("The state now", "\n".join(line for line in lines if line))


def _variables(holder: str, variables: JsonObject) -> str:
    pairs = "; ".join(f"{key} = {_json(variables[key])}" for key in sorted(variables))
    return f"{holder}: {pairs}" if pairs else ""


def history_text(title: str, entries: Iterable[MemoryEntry], notes: Iterable[LoreNote] = ()) -> str:
    """What was said and done, oldest first, each with the lore that it called to mind: it only grows at its end."""
    called: dict[int, list[str]] = {}
    for note in notes:
        if note.heard_at is not None:
            called.setdefault(note.heard_at, []).append(f"[Lore: {note.title}: {note.content}]")
    lines = [line for place, entry in enumerate(entries) for line in (memory_line(entry), *called.get(place, ()))]
    return titled(title, "\n".join(lines))


def memory_line(entry: MemoryEntry) -> str:
    if entry.kind == "narration":
        return entry.text
    return f"{entry.speaker_name} {_VERBS[entry.kind]}: {entry.text}"


def hint_line(hint: ProgressionHint) -> str:
    return f"to {hint.to}: {condition_text(hint.condition)}"


def condition_text(condition: Condition | None) -> str:
    """A condition in words."""
    match condition:
        case None:
            return "always open"
        case Comparison():
            holder = {"global": "world", "player": "player", "character": condition.character or "?"}[condition.scope]
            return f"{holder} {condition.key} {condition.op} {_json(condition.value)}"
        case All():
            return "all of (" + ", ".join(condition_text(part) for part in condition.all) + ")"
        case Any():
            return "any of (" + ", ".join(condition_text(part) for part in condition.any) + ")"
        case Not():
            return f"not ({condition_text(condition.not_)})"
        case _:
            assert_never(condition)


def node_line(node: Node) -> str:
    ways = ", ".join(way.to for way in node.transitions) or "an ending so far"
    return f"{node.id}: {node.title} -> {ways}"


def nodes_json(nodes: list[Node]) -> str:
    """Nodes in the shape in which the architect writes them, which knows no priority."""
    leave_out = {"transitions": {"__all__": {"priority"}}}
    return "\n".join(_json(node.model_dump(mode="json", by_alias=True, exclude=leave_out)) for node in nodes)


def listed(title: str, lines: Iterable[str]) -> str:
    return titled(title, "\n".join(f"- {line}" for line in lines))


def titled(title: str, body: str) -> str:
    return f"## {title}\n{body.strip()}" if body.strip() else ""


def _json(value: Json) -> str:
    return _ENCODER.encode(value)
