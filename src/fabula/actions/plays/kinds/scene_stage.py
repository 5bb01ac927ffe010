"""The stage of a play of a graph: its scene by title, the cast of the story, guests, and the player."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.actions.house import House
from fabula.actions.repositories import CHARACTERS, STORIES, STORY_RESOURCES
from fabula.ports.store import Unit
from fabula.story.plays import PlayState, SessionSettings
from fabula.story.resources import Character
from fabula.story.stage import CastMember, OnStage, SceneOnStage


async def scene_on_stage(house: House, unit: Unit, session: SessionSettings, state: PlayState) -> OnStage:
    """The scene and the cast at a state. Of a character that cannot be read nothing is shown; a turn refuses it."""
    titles = await house.scene_titles.of(unit, state.graph)
    story = await STORIES.get(unit, session.story_id)
    resource = await STORY_RESOURCES.get(unit, story.resource_id)
    characters = await CHARACTERS.find_all(unit, resource.character_ids)
    node_id = state.world.current_node
    scene = SceneOnStage(node_id=node_id, title=titles.get(node_id, ""), number=_number(state))
    return OnStage(scene=scene, cast=_cast(state, list(characters.values())))


def _number(state: PlayState) -> int:
    """Which of the scenes on the way here this is, each counted when it was first entered."""
    entered = dict.fromkeys([*state.earlier_scenes, *(mark.node_id for mark in state.scenes)])
    here = state.world.current_node
    return list(entered).index(here) + 1 if here in entered else len(entered) + 1


def _cast(state: PlayState, characters: Sequence[Character]) -> list[CastMember]:
    present = set(state.world.active_characters)
    members = [
        CastMember(
            id=one.content.id,
            kind="character",
            name=one.content.name,
            in_scene=one.content.id in present,
            has_cover=one.cover is not None,
        )
        for one in characters
    ]
    guests = [
        CastMember(id=id, kind="guest", name=guest.display_name, in_scene=id in present)
        for id, guest in state.session_characters.items()
    ]
    return [*members, *guests, CastMember(id="player", kind="player", name=state.player_name, in_scene=True)]
