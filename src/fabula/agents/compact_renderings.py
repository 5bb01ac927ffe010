"""Compact renderings: how each piece of context is told when there is not room for all of it, longest first.

Whatever is left out, what stays keeps its marks: a secret that is told in short is still marked as one. Nothing is
computed before the packer asks for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, TypeVar

from fabula.agents.minds import minds_text
from fabula.agents.phrases import history_text, listed, node_text
from fabula.agents.renderings import SCENE_TITLE, canon_text, earlier_history_text, rendered, shared_history_text
from fabula.story.contexts import (
    ActorContext,
    ArchitectContext,
    CastMember,
    KeeperContext,
    Lore,
    LoreNote,
    NarratorContext,
    PlannerContext,
    ReplyerContext,
    RoleContext,
    SceneContext,
    StateView,
    SwiftContext,
)
from fabula.story.graph import Node
from fabula.story.schemas import SchemaField
from fabula.story.state import MemoryEntry
from fabula.story.values import Json, JsonObject

T = TypeVar("T")

CUT_STEP: Final = 16
"""So many of the oldest lines go at a time, so that the beginning of the history holds still for many turns."""
FEWEST_LINES: Final = (8, 4, 2)
SHORT_LINES: Final = (1_000, 200, 80)
"""Even the last few lines may be too long; then each is told in short."""
SHORT_NOTES: Final = (240, 120)
SHORT_CARDS: Final = (240, 80)
SHORT_SCENES: Final = (1_200, 400)
SHORT_VALUE: Final = 80
SHORT_MEMORY: Final = 160


def compact_renderings(context: RoleContext, key: str | None) -> Callable[[], Iterator[str]] | None:
    """What begins the shorter renderings of a piece of context; None where there are none."""
    shorten = None if key is None else _BY_KEY.get(key)
    if shorten is None or key is None:
        return None
    named = key
    return lambda: shorten(context, named)


def brief(text: str, most: int) -> str:
    """The beginning of a text up to the end of a sentence, or else of a word."""
    if len(text) <= most:
        return text
    end = text.rfind(". ", 0, most)
    if end > most // 3:
        return text[: end + 1]
    return text[: max(text.rfind(" ", 0, most), most // 2)].rstrip() + " …"


def newest_cuts(count: int, step: int = CUT_STEP) -> Iterator[int]:
    """How many of the oldest of some lines are left out, step by step; the last few always stay."""
    yield from range(step, count - FEWEST_LINES[0], step)
    yield from (count - few for few in FEWEST_LINES if few < count)


def halves(things: Sequence[T]) -> Iterator[Sequence[T]]:
    """The first half of some things, half of that, down to one."""
    count = len(things) // 2
    while count:
        yield things[:count]
        count //= 2


def newest_halves(things: Sequence[T]) -> Iterator[Sequence[T]]:
    """The last half of some things, half of that, down to one."""
    count = len(things) // 2
    while count:
        yield things[-count:]
        count //= 2


def _again(context: RoleContext, key: str, **changes: Any) -> str:
    return rendered(context.model_copy(update=changes)).get(key, "")


def _shared_history(context: RoleContext, key: str) -> Iterator[str]:
    """Without the oldest lines of the present scene; in the end each of the last ones in short."""
    if not isinstance(context, SceneContext) or not context.shared_history:
        return
    first = context.scene_began or 0
    kept: SceneContext = context
    for count in newest_cuts(len(context.shared_history) - first):
        kept = _without_lines(context, first, first + count)
        yield shared_history_text(kept)
    for most in SHORT_LINES:
        last = _briefly(kept.shared_history[first:], most)
        changes = {"shared_history": [*kept.shared_history[:first], *last], "lore": _lore_without_matched(kept)}
        yield shared_history_text(kept.model_copy(update=changes))


def _earlier_history(context: RoleContext, key: str) -> Iterator[str]:
    """Without the oldest lines from before the present scene, and without the scenes that are no longer told of."""
    if not isinstance(context, SceneContext) or not context.scene_began:
        return
    for count in newest_cuts(context.scene_began):
        yield earlier_history_text(_without_lines(context, 0, count))


def _without_lines(context: SceneContext, first: int, end: int) -> SceneContext:
    """The context without some lines. What they alone called to mind goes with them; the lore of the scene moves on."""
    gone = end - first

    def later(place: int) -> int:
        return place if place < first else max(first, place - gone)

    matched = [
        note.model_copy(update={"heard_at": later(note.heard_at)})
        for note in context.lore.matched
        if note.heard_at is not None and (not first <= note.heard_at < end or note.of_scene)
    ]
    return context.model_copy(
        update={
            "shared_history": [*context.shared_history[:first], *context.shared_history[end:]],
            "lore": context.lore.model_copy(update={"matched": matched}),
            "scene_began": None if context.scene_began is None else later(context.scene_began),
            "past_scenes": [
                scene.model_copy(update={"began": later(scene.began)})
                for scene in context.past_scenes
                if not first <= scene.began < end
            ],
        }
    )


def _lore_without_matched(context: SceneContext) -> Lore:
    return context.lore.model_copy(update={"matched": []})


def _newest(title: str, entries: Sequence[MemoryEntry]) -> Iterator[str]:
    """The newest of some lines, in the end each of them in short."""
    kept = entries
    for count in newest_cuts(len(entries)):
        kept = entries[count:]
        yield history_text(title, kept)
    for most in SHORT_LINES:
        yield history_text(title, _briefly(kept, most))


def _briefly(entries: Sequence[MemoryEntry], most: int) -> list[MemoryEntry]:
    return [entry.model_copy(update={"text": brief(entry.text, most)}) for entry in entries[-FEWEST_LINES[-1] :]]


def _session_history(context: RoleContext, key: str) -> Iterator[str]:
    if isinstance(context, ReplyerContext):
        yield from _newest("The play so far", context.session_history)


def _private_memory(context: RoleContext, key: str) -> Iterator[str]:
    if isinstance(context, ActorContext):
        yield from _newest("What you thought lately", context.private_memory)


def _completed_beats(context: RoleContext, key: str) -> Iterator[str]:
    if isinstance(context, KeeperContext):
        yield from _newest("The beats of this turn", context.completed_beats)


def _so_far(context: RoleContext, key: str) -> Iterator[str]:
    if isinstance(context, SceneContext):
        for lines in newest_halves(context.so_far.splitlines()):
            yield _again(context, key, so_far="\n".join(lines))


def _memories(context: RoleContext, key: str) -> Iterator[str]:
    if isinstance(context, SceneContext):
        short = [one.model_copy(update={"text": brief(one.text, SHORT_MEMORY)}) for one in context.memories]
        for some in (short, *newest_halves(short)):
            yield _again(context, key, memories=some)


def _minds(context: RoleContext, key: str) -> Iterator[str]:
    """How each stands to the others in short, then only those who spoke last."""
    if not isinstance(context, SceneContext):
        return
    short = [one.model_copy(update={"stands": one.stands[:1]}) for one in context.minds]
    yield minds_text(context.model_copy(update={"minds": short}))
    spoke = {entry.speaker_id: place for place, entry in enumerate(context.shared_history)}
    for some in halves(sorted(short, key=lambda one: -spoke.get(one.id, -1))):
        told = {one.id for one in some}
        yield minds_text(context.model_copy(update={"minds": [one for one in short if one.id in told]}))


def _canon(context: RoleContext, key: str) -> Iterator[str]:
    if isinstance(context, SceneContext):
        for some in halves(context.canon):
            yield canon_text(context.model_copy(update={"canon": some}))


def _base_lore(context: RoleContext, key: str) -> Iterator[str]:
    for base in (*_short_notes(context.lore.base), *halves(_shortest(context.lore.base))):
        yield _again(context, key, lore=context.lore.model_copy(update={"base": base}))


def _matched_lore(context: RoleContext, key: str) -> Iterator[str]:
    """First in short, then without the last one, until only one is left."""
    by_itself = isinstance(context, (PlannerContext, ArchitectContext, ReplyerContext))
    notes = [note for note in context.lore.matched if by_itself or note.heard_at is None]
    shortest = _shortest(notes)
    fewer = (shortest[:count] for count in range(len(shortest) - 1, 0, -1))
    for matched in (*_short_notes(notes), *fewer):
        yield _again(context, key, lore=context.lore.model_copy(update={"matched": matched}))


def _short_notes(notes: Sequence[LoreNote]) -> Iterator[list[LoreNote]]:
    for most in SHORT_NOTES:
        yield [note.model_copy(update={"content": brief(note.content, most)}) for note in notes]


def _shortest(notes: Sequence[LoreNote]) -> list[LoreNote]:
    return [note.model_copy(update={"content": brief(note.content, SHORT_NOTES[-1])}) for note in notes]


def _current_cast(context: RoleContext, key: str) -> Iterator[str]:
    if isinstance(context, SceneContext):
        for most in SHORT_CARDS:
            yield _again(context, key, current_cast=[_short_card(one, most) for one in context.current_cast])


def _available_characters(context: RoleContext, key: str) -> Iterator[str]:
    if isinstance(context, (PlannerContext, ArchitectContext)):
        short: list[CastMember] = []
        for most in SHORT_CARDS:
            short = [_short_card(one, most) for one in context.available_characters]
            yield _again(context, key, available_characters=short)
        for some in halves(short):
            yield _again(context, key, available_characters=some)


def _short_card(member: CastMember, most: int) -> CastMember:
    """A character in short. Its facts stay as they are, with their marks, or go as a whole."""
    return member.model_copy(
        update={
            "personality": brief(member.personality, most),
            "style": brief(member.style, most // 2),
            "system_prompt": brief(member.system_prompt, most) if most == SHORT_CARDS[0] else "",
            "facts": member.facts if most == SHORT_CARDS[0] else [],
        }
    )


def _current_node(context: RoleContext, key: str) -> Iterator[str]:
    if isinstance(context, SceneContext):
        for node in _short_scenes(context.current_node):
            yield node_text(SCENE_TITLE, node)


def _previous_node(context: RoleContext, key: str) -> Iterator[str]:
    if isinstance(context, (NarratorContext, KeeperContext, SwiftContext)) and context.previous_node is not None:
        for node in _short_scenes(context.previous_node):
            yield node_text("The scene before", node)


def _short_scenes(node: Node) -> Iterator[Node]:
    for most in SHORT_SCENES:
        yield node.model_copy(update={"scene": brief(node.scene, most), "goal": brief(node.goal, most // 2)})


def _world_state(context: RoleContext, key: str) -> Iterator[str]:
    """Long values in short, then without what only characters have."""
    if isinstance(context, SceneContext):
        state = context.world_state
        short = StateView(
            custom=_short_values(state.custom),
            player_state=None if state.player_state is None else _short_values(state.player_state),
            character_state={id: _short_values(held) for id, held in state.character_state.items()},
        )
        for some in (short, short.model_copy(update={"character_state": {}})):
            yield _again(context, key, world_state=some)


def _short_values(variables: JsonObject) -> JsonObject:
    return {key: _short_value(value) for key, value in variables.items()}


def _short_value(value: Json) -> Json:
    if isinstance(value, str):
        return brief(value, SHORT_VALUE)
    if isinstance(value, list):
        return [_short_value(one) for one in value[:3]]
    if isinstance(value, dict):
        return {name: _short_value(one) for name, one in list(value.items())[:3]}
    return value


def _world_schema(context: RoleContext, key: str) -> Iterator[str]:
    if isinstance(context, (ArchitectContext, KeeperContext, SwiftContext)):
        yield _again(context, key, world_fields=_bare(context.world_fields or {}))


def _player_schema(context: RoleContext, key: str) -> Iterator[str]:
    fields = getattr(context, "player_fields", None)
    if fields:
        yield _again(context, key, player_fields=_bare(fields))


def _bare(fields: dict[str, SchemaField]) -> dict[str, SchemaField]:
    return {name: field.model_copy(update={"description": ""}) for name, field in fields.items()}


def _hints(context: RoleContext, key: str) -> Iterator[str]:
    if isinstance(context, (KeeperContext, SwiftContext)):
        for some in halves(context.progression_hints):
            yield _again(context, key, progression_hints=some)


def _section_summaries(context: RoleContext, key: str) -> Iterator[str]:
    if isinstance(context, ArchitectContext):
        for count in newest_cuts(len(context.section_summaries)):
            yield listed("Sections built so far", context.section_summaries[count:])


def _graph_summary(context: RoleContext, key: str) -> Iterator[str]:
    if isinstance(context, ArchitectContext):
        for some in newest_halves(context.graph_nodes):
            yield _again(context, key, graph_nodes=some)


def _recent_nodes(context: RoleContext, key: str) -> Iterator[str]:
    if isinstance(context, ArchitectContext):
        for some in newest_halves(context.recent_nodes):
            yield _again(context, key, recent_nodes=some)


_BY_KEY: Final[dict[str, Callable[[RoleContext, str], Iterator[str]]]] = {
    "available_characters": _available_characters,
    "canon": _canon,
    "completed_beats": _completed_beats,
    "current_cast": _current_cast,
    "current_node": _current_node,
    "earlier_history": _earlier_history,
    "graph_summary": _graph_summary,
    "lorebook_base": _base_lore,
    "lorebook_matched": _matched_lore,
    "memories": _memories,
    "minds": _minds,
    "player_state_schema": _player_schema,
    "player_state_schema_seed": _player_schema,
    "previous_node": _previous_node,
    "private_memory": _private_memory,
    "progression_hints": _hints,
    "recent_section_detail": _recent_nodes,
    "section_summaries": _section_summaries,
    "session_history": _session_history,
    "shared_history": _shared_history,
    "story_so_far": _so_far,
    "world_state": _world_state,
    "world_state_schema": _world_schema,
    "world_state_schema_seed": _world_schema,
}
