"""Gather what a session plays: story version, cast, schemas, lore, prompts and models.

What was gathered is kept with the revisions of everything in it. The next turn of any session that plays the same
asks the store for those revisions alone, in one read, and gathers anew only when one of them has changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import orjson
from cachetools import LRUCache
from pydantic import ValidationError

from fabula.actions.repositories import (
    API_GROUPS,
    APIS,
    CHARACTERS,
    PRESETS,
    SCHEMAS,
    SESSIONS,
    STORIES,
    STORY_RESOURCES,
    WORLDS,
)
from fabula.actions.setups.game_systems import system_of_play
from fabula.actions.setups.story_lore import lore_of_books
from fabula.loops.scene.play_setup import PlaySetup
from fabula.ports.errors import InvalidRequest, StoreError
from fabula.ports.store import Kind, Reference, Unit
from fabula.ports.stored import damaged, decode_stored, versioned
from fabula.ports.threads import run_in_thread
from fabula.rules.sheets import with_sheet
from fabula.story.free_plays import FreeWorld, facts_kept
from fabula.story.graph import Graph
from fabula.story.plays import SessionSettings
from fabula.story.resources import CharacterContent
from fabula.story.stories import Story
from fabula.story.values import JsonObject
from fabula.story.worlds import private_world_id

SMALL_GRAPH, SMALL_DOCUMENT = 100, 100_000
"""Graphs of so many nodes or letters are read and written faster than a thread is reached."""
BUNDLES_KEPT = 64
SESSIONS_KEPT = 256


@dataclass(frozen=True, kw_only=True)
class _Kept:
    setup: PlaySetup
    graph_blob: str
    revisions: dict[Reference, int]


@dataclass(frozen=True, kw_only=True)
class KeptSetup:
    """What is kept of what a session plays: what it was gathered from, and how many lines of the past are told."""

    names: Sequence[Reference]
    lines: int = 0


class PlaySetups:
    """PlaySetups that were gathered lately, by what they play."""

    def __init__(self) -> None:
        self._shared: LRUCache[tuple[str, ...], _Kept] = LRUCache(BUNDLES_KEPT)
        self._of_sessions: LRUCache[str, _Kept] = LRUCache(SESSIONS_KEPT)

    def kept_for(self, session_id: str) -> KeptSetup | None:
        """What is kept for a session, if anything."""
        kept = self._of_sessions.get(session_id)
        return None if kept is None else KeptSetup(names=list(kept.revisions), lines=kept.setup.past_lines)

    def if_current(self, session_id: str, graph_blob: str, revisions: Mapping[Reference, int]) -> PlaySetup | None:
        """The setup that is kept for a session, if these revisions say that nothing of it has changed."""
        kept = self._of_sessions.get(session_id)
        if kept is None or kept.graph_blob != graph_blob or kept.revisions != revisions:
            return None
        return kept.setup

    async def of(self, unit: Unit, session: SessionSettings, graph_blob: str) -> PlaySetup:
        """The setup of a session for the version of the graph that it plays."""
        return replace((await self._shared_by(unit, session, graph_blob)).setup, session=session)

    async def played_by(self, unit: Unit, session_id: str, graph_blob: str) -> PlaySetup:
        """The same for a session by its id, whose settings are read again only when they were changed."""
        kept = self._of_sessions.get(session_id)
        if kept is None or kept.graph_blob != graph_blob or not await _is_current(unit, kept):
            session = await SESSIONS.get(unit, session_id)
            shared = await self._shared_by(unit, session, graph_blob)
            itself = await unit.resources.revisions([Reference(kind="session", id=session_id)])
            setup = replace(shared.setup, session=session)
            kept = replace(shared, setup=setup, revisions={**shared.revisions, **itself})
            self._of_sessions[session_id] = kept
        return kept.setup

    async def _shared_by(self, unit: Unit, session: SessionSettings, graph_blob: str) -> _Kept:
        key = (session.story_id, graph_blob, session.api_group_id, session.preset_id, session.rules or "")
        kept = self._shared.get(key)
        if kept is None or not await _is_current(unit, kept):
            kept = self._shared[key] = await _gathered(unit, session, graph_blob)
        return kept


async def _is_current(unit: Unit, kept: _Kept) -> bool:
    return await unit.resources.revisions(list(kept.revisions)) == kept.revisions


async def gather_new_setup(unit: Unit, session: SessionSettings) -> PlaySetup:
    """The setup of a session that is about to start, with the graph as it is now."""
    story = await STORIES.get(unit, session.story_id)
    return await _bundle(unit, session, story, story.graph)


async def keep_graph(unit: Unit, graph: Graph) -> str:
    """Keeps a version of a graph, by its content, for the sessions that play it."""
    return await unit.blobs.put(await graph_document(graph))


async def graph_document(graph: Graph) -> bytes:
    """A version of a graph as it is kept."""
    return _written(graph) if len(graph.nodes) <= SMALL_GRAPH else await run_in_thread(_written, graph)


def _written(graph: Graph) -> bytes:
    return orjson.dumps(versioned("graph", graph.as_json()))


async def read_graph(unit: Unit, blob: str) -> Graph:
    data = await unit.blobs.get(blob)
    if data is None:
        raise StoreError("The graph that this session plays is missing. Restore a backup.")
    return _graph_in(data) if len(data) <= SMALL_DOCUMENT else await run_in_thread(_graph_in, data)


def _graph_in(data: bytes) -> Graph:
    try:
        return Graph.model_validate(decode_stored("graph", data))
    except ValidationError as error:
        raise damaged("The graph that this session plays", error) from None


async def _gathered(unit: Unit, session: SessionSettings, graph_blob: str) -> _Kept:
    story = await STORIES.get(unit, session.story_id)
    setup = await _bundle(unit, session, story, await read_graph(unit, graph_blob))
    resource = await STORY_RESOURCES.get(unit, story.resource_id)
    names = _names(setup, story, resource.lorebook_ids)
    revisions = await unit.resources.revisions(names)
    of_apis = {name.id: revision for name, revision in revisions.items() if name.kind == "api"}
    setup = replace(setup, api_revisions=of_apis, lore_bundle=await _lore_bundle(unit, setup))
    return _Kept(setup=setup, graph_blob=graph_blob, revisions=revisions)


async def _lore_bundle(unit: Unit, setup: PlaySetup) -> JsonObject | None:
    """What some process prepared of this very lore; read with all else that is gathered, and never by a turn alone."""
    if not setup.wants_bundle:
        return None
    return await unit.lore_bundles.get(await run_in_thread(lambda: setup.lore_version))


def _names(setup: PlaySetup, story: Story, lorebook_ids: list[str]) -> list[Reference]:
    """Everything that a setup was gathered from."""
    by_kind: dict[Kind, list[str]] = {
        "story": [story.story_id],
        "story_resources": [story.resource_id],
        "character": list(setup.characters),
        "schema": list(setup.character_schemas),
        "lorebook": lorebook_ids,
        "preset": [setup.preset.preset_id],
        "api_group": [setup.group.api_group_id],
        "api": list(setup.apis),
        "game_system": [] if setup.system is None else [setup.system.system_id],
        "world": [] if setup.world_id is None else [setup.world_id],
    }
    return [Reference(kind=kind, id=id) for kind, ids in by_kind.items() for id in ids]


async def _bundle(unit: Unit, session: SessionSettings, story: Story, graph: Graph) -> PlaySetup:
    resource = await STORY_RESOURCES.get(unit, story.resource_id)
    cast = await CHARACTERS.get_all(unit, _needed(graph, resource.character_ids))
    characters = {id: _with_kept(story.free, one.content) for id, one in cast.items()}
    schema_ids = {story.world_schema_id, story.player_schema_id, *(one.schema_id for one in characters.values())}
    schemas = await SCHEMAS.get_all(unit, sorted(schema_ids))
    lore = await lore_of_books(unit, resource.lorebook_ids)
    group = await API_GROUPS.get(unit, session.api_group_id)
    system = await system_of_play(unit, session.rules, story)
    world_id = story.world_id or (None if system is None else private_world_id(story.story_id))
    world = None if world_id is None else await WORLDS.find(unit, world_id)
    return PlaySetup(
        session=session,
        graph=graph,
        nodes={node.id: node for node in graph.nodes},
        introduction=story.introduction,
        world=story.world,
        world_id=world_id,
        clocks=() if world is None else tuple(world.clocks),
        threads=() if world is None else tuple(world.threads),
        conflicts=() if world is None else tuple(world.conflicts),
        templates=() if world is None else tuple(world.templates),
        directives=() if world is None else tuple(world.directives),
        world_minute=0 if world is None else world.minute,
        world_zero=None if world is None else world.session_zero,
        caps=None if world is None else world.caps,
        free=story.free,
        world_schema=schemas[story.world_schema_id],
        player_schema=with_sheet(schemas[story.player_schema_id], system),
        characters=characters,
        character_schemas={id: with_sheet(schema, system) for id, schema in schemas.items()},
        system=system,
        lore=lore,
        preset=await PRESETS.get(unit, session.preset_id),
        group=group,
        apis=await APIS.get_all(unit, sorted(set(group.bindings.model_dump().values()))),
    )


def _with_kept(free: FreeWorld | None, one: CharacterContent) -> CharacterContent:
    """A character with what it keeps to itself in free play."""
    kept = [] if free is None else facts_kept(free, one.id)
    return one.model_copy(update={"facts": [*one.facts, *kept]}) if kept else one


def _needed(graph: Graph, cast: list[str]) -> list[str]:
    """The whole cast of the resource; a graph that names anyone else cannot be played."""
    for node in graph.nodes:
        for id in node.characters:
            if id not in cast:
                raise InvalidRequest(f"The node '{node.id}' names the character '{id}', who is not in the cast.")
    return cast
