"""Show how things stand: the default binding, the dashboard's counts, and what was touched last."""

from __future__ import annotations

from typing import Literal

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.repositories import ALL_STORIES, SESSIONS
from fabula.actions.setups.default_binding import default_group
from fabula.actions.views import Nothing, View
from fabula.ports.actors import Actor
from fabula.ports.store import Unit
from fabula.story.values import Value

RECENT = 5


class GlobalConfig(View):
    type: Literal["global_config"] = "global_config"
    api_group_id: str | None
    preset_id: str | None


class Health(Value):
    status: Literal["ok"] = "ok"


class Counts(Value):
    characters_total: int
    characters_with_cover: int
    story_resources_total: int
    stories_total: int
    sessions_total: int


class RecentStory(Value):
    story_id: str
    display_name: str
    resource_id: str
    introduction: str
    updated_at_ms: int


class RecentSession(Value):
    session_id: str
    story_id: str
    display_name: str
    turn_index: int
    updated_at_ms: int


class Dashboard(View):
    type: Literal["dashboard"] = "dashboard"
    health: Health
    counts: Counts
    global_config: GlobalConfig
    recent_stories: list[RecentStory]
    recent_sessions: list[RecentSession]


@allowed("player")
async def get_global_config(house: House, actor: Actor, command: Nothing) -> GlobalConfig:
    """The api group and preset that are taken when none is named."""
    async with house.store.reading() as unit:
        return await _global_config(unit)


@allowed("player")
async def get_dashboard(house: House, actor: Actor, command: Nothing) -> Dashboard:
    """Counts, the default binding, and the stories and sessions that changed last; of sessions, the caller's own."""
    async with house.store.reading() as unit:
        return Dashboard(
            health=Health(),
            counts=await _counts(unit, actor),
            global_config=await _global_config(unit),
            recent_stories=await _recent_stories(unit),
            recent_sessions=await _recent_sessions(unit, actor),
        )


async def _global_config(unit: Unit) -> GlobalConfig:
    group, preset = await default_group(unit), await unit.resources.first("preset")
    if group is None or preset is None:
        return GlobalConfig(api_group_id=None, preset_id=None)
    return GlobalConfig(api_group_id=group, preset_id=preset)


async def _counts(unit: Unit, actor: Actor) -> Counts:
    return Counts(
        characters_total=await unit.resources.count("character"),
        characters_with_cover=await unit.resources.count("character", having="cover"),
        story_resources_total=await unit.resources.count("story_resources"),
        stories_total=await unit.resources.count("story"),
        sessions_total=await _count_sessions(unit, actor),
    )


async def _count_sessions(unit: Unit, actor: Actor) -> int:
    if actor.sees_only is None:
        return await unit.resources.count("session")
    return await unit.plays.count_reached(actor.sees_only)


async def _recent_sessions(unit: Unit, actor: Actor) -> list[RecentSession]:
    plays = await unit.plays.recent(limit=RECENT, token_id=actor.sees_only)
    sessions = await SESSIONS.find_all(unit, [play.session_id for play in plays])
    return [
        RecentSession(
            session_id=play.session_id,
            story_id=sessions[play.session_id].story_id,
            display_name=sessions[play.session_id].display_name,
            turn_index=play.turn_index,
            updated_at_ms=play.updated_at_ms,
        )
        for play in plays
        if play.session_id in sessions
    ]


async def _recent_stories(unit: Unit) -> list[RecentStory]:
    rows = await unit.resources.recent("story", limit=RECENT)
    return [
        RecentStory(
            story_id=story.story_id,
            display_name=story.display_name,
            resource_id=story.resource_id,
            introduction=story.introduction,
            updated_at_ms=row.updated_at_ms,
        )
        for row, story in await ALL_STORIES.read_whole(rows)
    ]
