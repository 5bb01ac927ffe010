"""Renderings: each piece of context as plain text, under the key by which presets refer to it.

An empty text means that there is nothing to tell, and its entry is left out of the prompt.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import assert_never

from fabula.story.contexts import (
    ActorContext,
    ArchitectContext,
    CastMember,
    DirectorContext,
    KeeperContext,
    LoreNote,
    NarratorContext,
    PlannerContext,
    PlayerCard,
    ProgressionHint,
    ReplyerContext,
    RoleContext,
    SceneContext,
    StateView,
    SwiftContext,
)
from fabula.story.graph import All, Any, Comparison, Condition, Node, Not
from fabula.story.schemas import SchemaField
from fabula.story.state import MemoryEntry
from fabula.story.values import Json, JsonObject

_VERBS = {"dialogue": "says", "action": "does", "thought": "thinks", "player_input": "(the player)"}


def rendered(context: RoleContext) -> dict[str, str]:
    """Every piece of a context as text, by its context key."""
    match context:
        case PlannerContext():
            return _planner(context)
        case ArchitectContext():
            return _architect(context)
        case DirectorContext():
            return {**_scene(context), "player_state_schema": fields_text("Player variables", context.player_fields)}
        case NarratorContext():
            return _narrator(context)
        case ActorContext():
            return _actor(context)
        case KeeperContext():
            return _keeper(context)
        case ReplyerContext():
            return _replyer(context)
        case SwiftContext():
            return _swift(context)
        case _:
            assert_never(context)


def _planner(context: PlannerContext) -> dict[str, str]:
    return {
        "story_concept": _titled("The concept", context.story_concept),
        "lorebook_base": lore_text("Lore", context.lore.base),
        "lorebook_matched": lore_text("Lore that the concept calls to mind", context.lore.matched),
        "available_characters": cast_text("The cast", context.available_characters),
    }


def _architect(context: ArchitectContext) -> dict[str, str]:
    world = fields_text("World variables", context.world_fields or {})
    player = fields_text("Player variables", context.player_fields or {})
    return {
        "story_concept": _titled("The concept", context.story_concept),
        "planned_story": _titled("The plan", context.planned_story),
        "lorebook_base": lore_text("Lore", context.lore.base),
        "lorebook_matched": lore_text("Lore that this section calls to mind", context.lore.matched),
        "available_characters": cast_text("The cast", context.available_characters),
        "world_state_schema_seed": world,
        "player_state_schema_seed": player,
        "world_state_schema": world,
        "player_state_schema": player,
        "section_summaries": _listed("Sections built so far", context.section_summaries),
        "graph_summary": _listed("Nodes that exist", map(_node_line, context.graph_nodes)),
        "recent_section_detail": _titled("The last section in full", _nodes_json(context.recent_nodes)),
        "total_sections": f"The plan has {context.total_sections} sections.",
        "section_index": f"Build section {context.section_index + 1} of {context.total_sections} now.",
        "target_node_count": f"Write about {context.target_node_count} nodes.",
        "current_section": _titled("The section to build", context.current_section),
        "problems": _listed("Put these right", context.problems),
    }


def _scene(context: SceneContext) -> dict[str, str]:
    notes = context.lore.matched
    changed = "The scene has just changed." if context.transitioned_this_turn else "The scene is the same as before."
    return {
        "lorebook_base": lore_text("Lore", context.lore.base),
        "lorebook_matched": lore_text("Lore that comes to mind now", (one for one in notes if one.heard_at is None)),
        "player": player_text(context.player),
        "current_cast": cast_text("Who is in the scene", context.current_cast),
        "current_node": node_text("The scene", context.current_node),
        "transitioned_this_turn": changed,
        "world_state": state_text(context.world_state),
        "shared_history": history_text("What happened so far", context.shared_history, notes),
    }


def _narrator(context: NarratorContext) -> dict[str, str]:
    return {
        **_scene(context),
        "player_state_schema": fields_text("Player variables", context.player_fields),
        "previous_node": node_text("The scene before", context.previous_node),
        "previous_cast": _names("Who was there before", context.previous_cast),
        "narrator_purpose": f"The purpose of this beat: {context.purpose}.",
    }


def _actor(context: ActorContext) -> dict[str, str]:
    others = [member for member in context.current_cast if member.id != context.actor.id]
    return {
        **_scene(context),
        "current_cast": cast_text("Who else is in the scene", others),
        "private_memory": history_text("What you thought lately", context.private_memory),
        "actor_purpose": f"You are {context.actor.name}. The purpose of this beat: {context.purpose}.",
    }


def _keeper(context: KeeperContext) -> dict[str, str]:
    return {
        **_scene(context),
        "world_state_schema": fields_text("World variables", context.world_fields),
        "player_state_schema": fields_text("Player variables", context.player_fields),
        "previous_node": node_text("The scene before", context.previous_node),
        "previous_cast": _names("Who was there before", context.previous_cast),
        "node_change": _titled("What changed with the scene", context.node_change or ""),
        "progression_hints": _listed("What opens the ways on", map(hint_line, context.progression_hints)),
        "keeper_phase": f"The phase: {context.phase}.",
        "player_input": _titled("The player's input", context.player_input),
        "completed_beats": history_text("The beats of this turn", context.completed_beats),
    }


def _replyer(context: ReplyerContext) -> dict[str, str]:
    return {
        **_scene(context),
        "player_state_schema": fields_text("Player variables", context.player_fields),
        "session_history": history_text("The play so far", context.session_history),
        "shared_history": ""
        if context.session_history
        else history_text("What happened so far", context.shared_history),
        "lorebook_matched": lore_text("Lore that comes to mind now", context.lore.matched),
        "reply_limit": f"Suggest {context.reply_limit} replies.",
    }


def _swift(context: SwiftContext) -> dict[str, str]:
    return {
        **_scene(context),
        "current_cast": cast_text("Who is in the scene", context.current_cast, with_cards=True),
        "world_state_schema": fields_text("World variables", context.world_fields),
        "player_state_schema": fields_text("Player variables", context.player_fields),
        "previous_node": node_text("The scene before", context.previous_node),
        "progression_hints": _listed("What opens the ways on", map(hint_line, context.progression_hints)),
        "player_input": _titled("The player's input", context.player_input),
    }


def character_card(member: CastMember) -> str:
    """The card that tells an actor who it is."""
    lines = [f"You are {member.name} (id {member.id}).", f"Personality: {member.personality}", f"Style: {member.style}"]
    return _titled("Your character", "\n".join([*lines, member.system_prompt]))


def lore_text(title: str, notes: Iterable[LoreNote]) -> str:
    return _listed(title, (f"{note.title}: {note.content}" for note in notes))


def player_text(player: PlayerCard) -> str:
    return _titled("The player", f"{player.name}. {player.description}".strip())


def cast_text(title: str, cast: Iterable[CastMember], *, with_cards: bool = False) -> str:
    """The cast without its live state: that changes often, and stands with the state."""
    return _listed(title, (_member_line(member, with_cards=with_cards) for member in cast))


def _member_line(member: CastMember, *, with_cards: bool) -> str:
    line = f"{member.name} (id {member.id}). Personality: {member.personality} Style: {member.style}"
    return f"{line} {member.system_prompt}".rstrip() if with_cards else line


def _names(title: str, cast: Iterable[CastMember]) -> str:
    return _listed(title, (f"{member.name} (id {member.id})" for member in cast))


def node_text(title: str, node: Node | None) -> str:
    if node is None:
        return ""
    return _titled(title, f"{node.title} (id {node.id})\n{node.scene}\nGoal: {node.goal}")


def fields_text(title: str, fields: Mapping[str, SchemaField]) -> str:
    return _listed(title, (_field_line(key, field) for key, field in fields.items()))


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
    return _titled("The state now", "\n".join(line for line in lines if line))


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
    return _titled(title, "\n".join(lines))


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


def _node_line(node: Node) -> str:
    ways = ", ".join(way.to for way in node.transitions) or "an ending so far"
    return f"{node.id}: {node.title} -> {ways}"


def _nodes_json(nodes: list[Node]) -> str:
    """Nodes in the shape in which the architect writes them, which knows no priority."""
    leave_out = {"transitions": {"__all__": {"priority"}}}
    return "\n".join(_json(node.model_dump(mode="json", by_alias=True, exclude=leave_out)) for node in nodes)


def _listed(title: str, lines: Iterable[str]) -> str:
    return _titled(title, "\n".join(f"- {line}" for line in lines))


def _titled(title: str, body: str) -> str:
    return f"## {title}\n{body.strip()}" if body.strip() else ""


def _json(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)
