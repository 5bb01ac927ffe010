"""Renderings: each piece of context as plain text, under the key by which presets refer to it.

An empty text means that there is nothing to tell, and its entry is left out of the prompt.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, assert_never

from fabula.agents.phrases import (
    cast_text,
    changed_state,
    facts_line,
    facts_text,
    fields_text,
    hint_line,
    history_text,
    listed,
    lore_text,
    member_line,
    memories_text,
    name_line,
    names,
    node_line,
    node_text,
    nodes_json,
    player_text,
    scene_lore_text,
    state_text,
    time_text,
    titled,
)
from fabula.story.contexts import (
    ActorContext,
    ArchitectContext,
    CastMember,
    DirectorContext,
    KeeperContext,
    NarratorContext,
    NewsNote,
    PlannerContext,
    ReplyerContext,
    RoleContext,
    SceneContext,
    StateView,
    SwiftContext,
)

SCENE_TITLE: Final = "The scene"
IN_SCENE_TITLE: Final = "What happened in it"
CHANGED_TITLE: Final = "What of the state is not as it was at first"


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
        "story_concept": titled("The concept", context.story_concept),
        "lorebook_base": lore_text("Lore", context.lore.base),
        "lorebook_matched": lore_text("Lore that the concept calls to mind", context.lore.matched),
        "available_characters": cast_text("The cast", context.available_characters),
    }


def _architect(context: ArchitectContext) -> dict[str, str]:
    world = fields_text("World variables", context.world_fields or {})
    player = fields_text("Player variables", context.player_fields or {})
    return {
        "story_concept": titled("The concept", context.story_concept),
        "planned_story": titled("The plan", context.planned_story),
        "lorebook_base": lore_text("Lore", context.lore.base),
        "lorebook_matched": lore_text("Lore that this section calls to mind", context.lore.matched),
        "available_characters": cast_text("The cast", context.available_characters),
        "world_state_schema_seed": world,
        "player_state_schema_seed": player,
        "world_state_schema": world,
        "player_state_schema": player,
        "section_summaries": listed("Sections built so far", context.section_summaries),
        "graph_summary": listed("Nodes that exist", map(node_line, context.graph_nodes)),
        "recent_section_detail": titled("The last section in full", nodes_json(context.recent_nodes)),
        "total_sections": f"The plan has {context.total_sections} sections.",
        "section_index": f"Build section {context.section_index + 1} of {context.total_sections} now.",
        "target_node_count": f"Write about {context.target_node_count} nodes.",
        "current_section": titled("The section to build", context.current_section),
        "problems": listed("Put these right", context.problems),
    }


def _scene(context: SceneContext) -> dict[str, str]:
    notes = context.lore.matched
    came = came_with(context)
    return {
        "lorebook_base": lore_text("Lore", context.lore.base),
        "lorebook_matched": lore_text("Lore that comes to mind now", (one for one in notes if one.heard_at is None)),
        "player": player_text(context.player),
        "current_cast": _current_cast_text(context),
        "state_at_first": _first_state_text(context),
        "earlier_history": earlier_history_text(context, came),
        "current_node": node_text(SCENE_TITLE, context.current_node, _facts_beside_canon(context)),
        "scene_lore": scene_lore_text(context.scene_lore),
        "story_so_far": titled("The story before that", context.so_far),
        "memories": memories_text("What comes to mind from earlier", context.memories),
        "canon": canon_text(context),
        "news": news_text(context),
        "story_time": time_text(context.time),
        "transitioned_this_turn": changed_text(context),
        "world_state": _world_state_text(context),
        "present": _present_text(context, came),
        "shared_history": shared_history_text(context, came),
    }


Came = Mapping[int, Sequence[CastMember]]
"""Those whose cards stand in the history, by the lines that they stand before."""


def came_with(context: SceneContext) -> Came:
    """Those who were met, by the line of the history that they noticed first, or said."""
    waited_for = {one.id: one for one in context.met}
    found: dict[int, list[CastMember]] = {}
    for place, entry in enumerate(context.shared_history if waited_for else ()):
        for id in (entry.speaker_id, *(entry.heard_by or ())):
            if (member := waited_for.pop(id, None)) is not None:
                found.setdefault(place, []).append(member)
        if not waited_for:
            break
    return found


def _current_cast_text(context: SceneContext) -> str:
    """The cards of those in the scene, where they do not stand in the history."""
    if context.met:
        return ""
    return cast_text(_cast_title(context), _others(context), with_cards=isinstance(context, SwiftContext))


def _present_text(context: SceneContext, came: Came) -> str:
    """Who is in the scene, where the history tells who they are; who has just come is told of in full."""
    if not context.met:
        return ""
    told = {one.id for some in came.values() for one in some}
    swift = isinstance(context, SwiftContext)

    def line(member: CastMember) -> str:
        facts = [one for one in member.facts if not one.always and not context.canon]
        if member.id not in told:
            facts = [one for one in member.facts if one.always or not context.canon]
            return member_line(member.model_copy(update={"facts": facts}), with_cards=swift)
        return f"{name_line(member)}. Facts: {facts_line(facts)}" if facts else name_line(member)

    return listed(_cast_title(context), [line(one) for one in _others(context)] or ["Nobody but the player."])


def _facts_beside_canon(context: SceneContext) -> str:
    """What not everybody knows of those in the scene, where the history tells who they are.

    It changes with the cast, like canon, beside which it stands. Where there is none, it is told with their names.
    """
    if not context.met or not context.canon:
        return ""
    known = {one.name: [fact for fact in one.facts if not fact.always] for one in _others(context)}
    lines = "".join(f"\n- {name}: {facts_line(facts)}" for name, facts in known.items() if facts)
    return f"\nWhat is known of those in it:{lines}" if lines else ""


def _cast_title(context: SceneContext) -> str:
    return "Who else is in the scene" if isinstance(context, ActorContext) else "Who is in the scene"


def _others(context: SceneContext) -> list[CastMember]:
    """Who is in the scene; of an actor, who else is."""
    own = context.actor.id if isinstance(context, ActorContext) else None
    return [one for one in context.current_cast if one.id != own]


def _first_state_text(context: SceneContext) -> str:
    """The values that variables had at first, but for those that are told with what the variables mean."""
    first = context.at_first
    if first is None:
        return ""
    of_world = {} if hasattr(context, "world_fields") else first.custom
    of_player = None if hasattr(context, "player_fields") else first.player_state
    untold = StateView(custom=of_world, player_state=of_player, character_state=first.character_state)
    return state_text("The state at first", untold)


def _world_state_text(context: SceneContext) -> str:
    """The state, or what of it is not as it was at first."""
    if context.at_first is None:
        return state_text("The state now", context.world_state)
    changed = state_text(CHANGED_TITLE, changed_state(context.world_state, context.at_first))
    return changed or titled(CHANGED_TITLE, "Nothing is.")


def shared_history_text(context: SceneContext, came: Came | None = None) -> str:
    """What happened in the present scene, as a role is told it; all that happened, where that is told in one piece."""
    if isinstance(context, ReplyerContext):
        return "" if context.session_history else history_text("What happened so far", context.shared_history)
    if context.scene_began is None:
        return _lines_text("What happened so far", context, 0, len(context.shared_history), came)
    return _lines_text(IN_SCENE_TITLE, context, context.scene_began, len(context.shared_history), came)


def earlier_history_text(context: SceneContext, came: Came | None = None) -> str:
    """What happened before the present scene.

    Each scene that is over is told with the very words with which it was told while it lasted, so that the next scene
    only adds to the prompt.
    """
    if not context.scene_began:
        return ""
    starts = [
        (scene.began, "\n\n".join(filter(None, [node_text(SCENE_TITLE, scene.node), scene_lore_text(scene.lore)])))
        for scene in context.past_scenes
    ]
    starts = [one for one in starts if one[0] < context.scene_began]
    ends = [began for began, _ in starts] + [context.scene_began]
    parts = [_lines_text("What happened before that", context, 0, ends[0], came)]
    for (began, scene), end in zip(starts, ends[1:], strict=True):
        parts += [scene, _lines_text(IN_SCENE_TITLE, context, began, end, came)]
    return "\n\n".join(part for part in parts if part)


def _lines_text(title: str, context: SceneContext, first: int, end: int, came: Came | None) -> str:
    """Some lines of the shared history, with the lore that they called to mind, and those who came with them."""
    notes = [
        note.model_copy(update={"heard_at": note.heard_at - first}) if first else note
        for note in context.lore.matched
        if note.heard_at is not None and first <= note.heard_at < end
    ]
    entries = context.shared_history[first:end]
    swift = isinstance(context, SwiftContext)
    cards = {
        place - first: [member_line(one, with_cards=swift) for one in some]
        for place, some in (came or {}).items()
        if first <= place < end
    }
    return history_text(title, entries, notes, came=cards, with_audience=swift)


def changed_text(context: SceneContext) -> str:
    """Where the turn stands: prompts tell of past scenes, too."""
    title = context.current_node.title
    return f"The scene has just changed to: {title}." if context.transitioned_this_turn else f"The scene is: {title}."


def canon_text(context: SceneContext) -> str:
    """What is true in the world."""
    return listed("What is true in this world", (note.text for note in context.canon))


def news_text(context: SceneContext) -> str:
    """What came to pass out of sight and is noticed now."""
    called = {member.id: member.name for member in context.current_cast}
    return listed(
        "What came to pass elsewhere; let it be noticed once, as the scene begins",
        (_news_line(note, called) for note in context.news),
    )


def _news_line(note: NewsNote, called: dict[str, str]) -> str:
    known = ", ".join(called[id] for id in note.known_to if id in called)
    return f"{note.text} (known to {known})" if known else note.text


def _narrator(context: NarratorContext) -> dict[str, str]:
    return {
        **_scene(context),
        "player_state_schema": fields_text("Player variables", context.player_fields),
        "previous_node": node_text("The scene before", context.previous_node),
        "previous_cast": names("Who was there before", context.previous_cast),
        "narrator_purpose": f"The purpose of this beat: {context.purpose}.",
    }


def _actor(context: ActorContext) -> dict[str, str]:
    return {
        **_scene(context),
        "story_so_far": titled("What you lived through before that", context.so_far),
        "memories": memories_text("What you remember from earlier", context.memories),
        "private_memory": history_text("What you thought lately", context.private_memory),
        "actor_purpose": f"You are {context.actor.name}. The purpose of this beat: {context.purpose}.",
    }


def _keeper(context: KeeperContext) -> dict[str, str]:
    return {
        **_scene(context),
        "world_state_schema": fields_text("World variables", context.world_fields),
        "player_state_schema": fields_text("Player variables", context.player_fields),
        "previous_node": node_text("The scene before", context.previous_node),
        "previous_cast": names("Who was there before", context.previous_cast),
        "node_change": titled("What changed with the scene", context.node_change or ""),
        "progression_hints": listed("What opens the ways on", map(hint_line, context.progression_hints)),
        "keeper_phase": f"The phase: {context.phase}.",
        "player_input": titled("The player's input", context.player_input),
        "completed_beats": beats_text(context),
    }


def beats_text(context: KeeperContext) -> str:
    """What was said and done in this turn: told, or pointed at where it ends the history."""
    if context.beats_above:
        return f"The beats of this turn are the last entries above, {len(context.completed_beats)} of them."
    return history_text("The beats of this turn", context.completed_beats)


def _replyer(context: ReplyerContext) -> dict[str, str]:
    return {
        **_scene(context),
        "player_state_schema": fields_text("Player variables", context.player_fields),
        "session_history": history_text("The play so far", context.session_history),
        "lorebook_matched": lore_text("Lore that comes to mind now", context.lore.matched),
        "reply_limit": f"Suggest {context.reply_limit} replies.",
    }


def _swift(context: SwiftContext) -> dict[str, str]:
    return {
        **_scene(context),
        "story_so_far": titled("The story before that, as the player knows it", context.so_far),
        "memories": memories_text("What each of them, and nobody else, remembers", context.memories, with_owners=True),
        "world_state_schema": fields_text("World variables", context.world_fields),
        "player_state_schema": fields_text("Player variables", context.player_fields),
        "previous_node": node_text("The scene before", context.previous_node),
        "progression_hints": listed("What opens the ways on", map(hint_line, context.progression_hints)),
        "player_input": titled("The player's input", context.player_input),
    }


def character_card(member: CastMember) -> str:
    """The card that tells an actor who it is."""
    lines = [f"You are {member.name} (id {member.id}).", f"Personality: {member.personality}", f"Style: {member.style}"]
    known = facts_text(member)
    return titled("Your character", "\n".join([*lines, member.system_prompt, *([known] if known else [])]))
