"""A house on a store in memory, and one way to call an action there: no port, no socket, no process.

Tests of actions say what an action promises to whoever calls it. What a client sees of it over HTTP is told by the
tests in `tests/functional` and `tests/acceptance`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import pytest
from tests.live import GATE_GRAPH

from fabula.actions.house import House
from fabula.actions.library.characters import CreateCharacter, create_character
from fabula.actions.library.schemas import CreateSchema, create_schema
from fabula.actions.library.stories import CreateStory, create_story
from fabula.actions.library.story_resources import CreateStoryResources, create_story_resources
from fabula.actions.plays.sessions import SessionView, ShowSession, get_session
from fabula.actions.plays.start_session import StartSession, start_session
from fabula.actions.turns.run_turn import RunTurn, run_turn
from fabula.adapters.world import SystemClock
from fabula.ports.actors import OPERATOR, Actor
from fabula.testing.memory_store import memory_place
from fabula.wiring import open_house

A = TypeVar("A")
C = TypeVar("C")
MARA = {"id": "mara", "name": "Mara", "personality": "A wary gatekeeper.", "style": "dry", "schema_id": "keeper"}


@dataclass(frozen=True, kw_only=True)
class Stage:
    """A house, and how its actions are called; a change in how all of them are called is made here alone."""

    house: House

    async def do(self, action: Callable[[House, Actor, C], Awaitable[A]], command: C) -> A:
        return await action(self.house, OPERATOR, command)

    async def play(self, session_id: str, action: Callable[[House, Actor, str, C], Awaitable[A]], command: C) -> A:
        return await action(self.house, OPERATOR, session_id, command)

    async def character(self, **changes: Any) -> None:
        """Mara, and the schema that she needs."""
        await self.do(create_schema, CreateSchema(schema_id="keeper", display_name="Keeper", fields={}))
        content = {**MARA, "system_prompt": "", **changes}
        await self.do(create_character, CreateCharacter.model_validate({"content": content}))

    async def story(self, **changes: Any) -> str:
        """A gate, Mara before it, and a garden behind it; answers the story's id."""
        await self.character()
        open_field = {"gate_open": {"value_type": "bool", "default": False, "description": None}}
        world = {"schema_id": "world", "display_name": "World", "fields": open_field}
        await self.do(create_schema, CreateSchema.model_validate(world))
        await self.do(create_schema, CreateSchema(schema_id="player", display_name="Player", fields={}))
        concept = CreateStoryResources(story_concept="A gate that must be opened.", character_ids=["mara"])
        resource = await self.do(create_story_resources, concept)
        given = {
            "resource_id": resource.resource_id,
            "display_name": "The Gate",
            "graph": GATE_GRAPH,
            "world_schema_id": "world",
            "player_schema_id": "player",
            "introduction": "Rain falls on the old road.",
            **changes,
        }
        return (await self.do(create_story, CreateStory.model_validate(given))).story_id

    async def session(self) -> str:
        """A play of the gate; answers its id."""
        return (await self.do(start_session, StartSession(story_id=await self.story(), seed=7))).session_id

    async def say(self, session_id: str, words: str) -> SessionView:
        """Plays a turn to its end, with the understudy; answers the session afterwards."""
        turn = await run_turn(self.house, OPERATOR, session_id, RunTurn(player_input=words), request_id=words)
        await self.house.work.wait(turn.turn_id)
        return await self.play(session_id, get_session, ShowSession())


@pytest.fixture
async def stage() -> AsyncIterator[Stage]:
    with memory_place() as place:
        async with open_house(place.settings, store=place.store(SystemClock())) as house:
            yield Stage(house=house)
