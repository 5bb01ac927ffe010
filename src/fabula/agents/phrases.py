"""Wording: people, places, lore, variables and what happened, each in the words in which roles read it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import assert_never

from fabula.story.calendars import StoryTime
from fabula.story.contexts import CastMember, KnownFact, LoreNote, PlayerCard, ProgressionHint, RecalledLine, StateView
from fabula.story.graph import All, Any, Comparison, Condition, Node, Not
from fabula.story.knowledge import SceneNote, Until, known_to
from fabula.story.scene_lore import ScenePiece
from fabula.story.schemas import SchemaField
from fabula.story.state import MemoryEntry
from fabula.story.values import Json, JsonObject

_ENCODER = json.JSONEncoder(ensure_ascii=False)
_PLAIN = {None: "null", True: "true", False: "false"}
_VERBS = {"dialogue": "says", "action": "does", "thought": "thinks", "player_input": "(the player)"}


def lore_text(title: str, notes: Iterable[LoreNote]) -> str:
    return listed(title, map(_note_line, notes))


def _note_line(note: LoreNote) -> str:
    return f"{note.title}{_mark(note)}: {note.content}"


def _mark(known: LoreNote | KnownFact) -> str:
    """Who knows something that not everyone knows, and whether it is to be kept."""
    marks = [f"known only to {', '.join(known.known_to)}"] if known.known_to else []
    marks += ["a secret that you do not tell or hint at"] if known.secret else []
    return f" ({'; '.join(marks)})" if marks else ""


def time_text(time: StoryTime | None) -> str:
    """What time it is in the story; nothing where no time passes."""
    return "" if time is None else f"It is {time.text}."


def player_text(player: PlayerCard) -> str:
    return titled("The player", f"{player.name}. {player.description}".strip())


def cast_text(title: str, cast: Iterable[CastMember], *, with_cards: bool = False) -> str:
    """The cast without its live state: that changes often, and stands with the state."""
    return listed(title, (member_line(member, with_cards=with_cards) for member in cast))


def member_line(member: CastMember, *, with_cards: bool) -> str:
    line = f"{member.name} (id {member.id}). Personality: {member.personality} Style: {member.style}"
    line = f"{line} {member.system_prompt}".rstrip() if with_cards else line
    facts = facts_line(member.facts)
    return f"{line} Facts: {facts}" if facts else line


def facts_line(facts: Iterable[KnownFact]) -> str:
    return " ".join(f"{fact.text}{_mark(fact)}" for fact in facts)


def facts_text(member: CastMember) -> str:
    """What a character knows of itself, and below it what it keeps to itself."""
    told = [f"- {fact.text}" for fact in member.facts if not fact.secret]
    kept = [f"- {fact.text}" for fact in member.facts if fact.secret]
    known = ["You know:", *told] if told else []
    secrets = ["You keep to yourself, and neither tell it nor hint at it:", *kept] if kept else []
    return "\n".join([*known, *secrets])


def names(title: str, cast: Iterable[CastMember]) -> str:
    return listed(title, map(name_line, cast))


def name_line(member: CastMember) -> str:
    return f"{member.name} (id {member.id})"


def node_text(title: str, node: Node | None, about_people: str = "") -> str:
    if node is None:
        return ""
    notes = "".join(f"\n- {note.text}{_note_mark(note)}" for note in node.notes)
    known = f"\nWhat is known of it:{notes}" if notes else ""
    return titled(title, f"{node.title} (id {node.id})\n{node.scene}\nGoal: {node.goal}{known}{about_people}")


def _note_mark(note: SceneNote) -> str:
    return _mark(KnownFact(text=note.text, known_to=known_to(note) or [], secret=note.secret))


def scene_lore_text(pieces: Iterable[ScenePiece]) -> str:
    """What is said and felt in a scene. Lore of the place itself stands as lore in the prompt already."""
    told = [one for one in pieces if one.kind == "gossip" or one.source.kind != "lore"]
    return listed("Said and felt here; use it where it fits", map(_scene_lore_line, told))


def _scene_lore_line(piece: ScenePiece) -> str:
    told_by = f" ({piece.teller} may tell it)" if piece.teller is not None else ""
    return f"{piece.kind.capitalize()}{told_by}: {piece.text}"


def fields_text(title: str, fields: Mapping[str, SchemaField]) -> str:
    return listed(title, (_field_line(key, field) for key, field in fields.items()))


def _field_line(key: str, field: SchemaField) -> str:
    allowed = f", one of {_json(field.enum_values)}" if field.enum_values is not None else ""
    knowers = _knowers(field)
    # Where not all know a variable, its first value may tell those who do not: it may be the value still.
    begins = f", at first {_json(field.default)}" if field.default is not None and not knowers else ""
    told = f": {field.description}" if field.description else ""
    return f"{key} ({field.value_type}{allowed}{begins}{knowers}){told}"


def _knowers(field: SchemaField) -> str:
    """Who knows a variable, for whoever plays several characters."""
    match field.known_by:
        case None | "everyone":
            return ""
        case Until(then=named):
            return f", known to {_named(named)} once it is out"
        case list() as named:
            return f", known to {_named(named)} only"


def _named(ids: Sequence[str] | None) -> str:
    return "everyone" if ids is None else ", ".join(ids) or "no character"


def state_text(title: str, state: StateView) -> str:
    """Variables with their values, one line for each holder."""
    lines = [_variables("World", state.custom)]
    if state.player_state is not None:
        lines.append(_variables("Player", state.player_state))
    lines += [_variables(character, state.character_state[character]) for character in sorted(state.character_state)]
    return titled(title, "\n".join(line for line in lines if line))


def changed_state(state: StateView, first: StateView) -> StateView:
    """The variables that have not the value that they had at first."""
    held = {one: _changed(now, first.character_state.get(one, {})) for one, now in state.character_state.items()}
    of_player = None if state.player_state is None else _changed(state.player_state, first.player_state or {})
    return StateView(custom=_changed(state.custom, first.custom), player_state=of_player, character_state=held)


def _changed(now: JsonObject, first: JsonObject) -> JsonObject:
    # One and true are equal, and not the same.
    return {key: value for key, value in now.items() if key not in first or _json(value) != _json(first[key])}


def _variables(holder: str, variables: JsonObject) -> str:
    pairs = "; ".join(f"{key} = {_json(variables[key])}" for key in sorted(variables))
    return f"{holder}: {pairs}" if pairs else ""


def history_text(
    title: str,
    entries: Iterable[MemoryEntry],
    notes: Iterable[LoreNote] = (),
    *,
    came: Mapping[int, Sequence[str]] | None = None,
    with_audience: bool = False,
) -> str:
    """What was said and done, oldest first, each with the lore that it called to mind: it only grows at its end.

    `came` are the cards of those who came with some of the lines, which stand before these. To who plays several
    characters it says which of them noticed what, wherever others did than the line before.
    """
    called: dict[int, list[str]] = {}
    for note in notes:
        if note.heard_at is not None:
            called.setdefault(note.heard_at, []).append(f"[Lore: {_note_line(note)}]")
    lines: list[str] = []
    noticed: list[str] | None = None
    for place, entry in enumerate(entries):
        if came:
            lines += [f"[Here is {card}]" for card in came.get(place, ())]
        if with_audience and entry.heard_by is not None and entry.heard_by != noticed:
            noticed = entry.heard_by
            lines.append(f"[Noticed by: {', '.join(noticed) or 'the player alone'}]")
        lines += [memory_line(entry), *called.get(place, ())]
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
    """Nodes in the shape in which the architect writes them, which knows no priority and no notes."""
    leave_out = {"transitions": {"__all__": {"priority"}}}
    return "\n".join(
        _json(node.model_copy(update={"notes": []}).model_dump(mode="json", by_alias=True, exclude=leave_out))
        for node in nodes
    )


def memories_text(title: str, memories: Iterable[RecalledLine], *, with_owners: bool = False) -> str:
    """What comes to mind, oldest first; told to one role for several owners, each with whose memory it is.

    What reads the same is told once: it happened twice, or several lived through it.
    """
    owners: dict[str, dict[str, None]] = {}
    for one in memories:
        owners.setdefault(one.text, {})[one.owner_name] = None
    return listed(title, (f"{', '.join(whose)}: {text}" if with_owners else text for text, whose in owners.items()))


def listed(title: str, lines: Iterable[str]) -> str:
    return titled(title, "\n".join(f"- {line}" for line in lines))


def titled(title: str, body: str) -> str:
    return f"## {title}\n{body.strip()}" if body.strip() else ""


def _json(value: Json) -> str:
    # Most variables are these, and to set the encoder up for one costs more than to write it.
    if value is None or value is True or value is False:
        return _PLAIN[value]
    return str(value) if isinstance(value, int) else _ENCODER.encode(value)
