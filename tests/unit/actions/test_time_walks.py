"""Going back, one turn or many: clock, presence, variables and journal are those that were there, on every branch."""

from __future__ import annotations

import random
from typing import Any

from tests.functional.test_world_follower import WORLD
from tests.mass import Mass
from tests.unit.actions.conftest import Stage

from fabula.actions.followers.dispatch import FOLLOWER_WORK
from fabula.actions.library.schemas import CreateSchema, create_schema
from fabula.actions.plays.branches import Backtrack, SwitchBranch, backtrack, switch_branch
from fabula.actions.plays.journal import ListJournal, list_journal
from fabula.actions.plays.player import UpdateVariables, update_variables
from fabula.actions.plays.sessions import ShowSession, get_session
from fabula.actions.plays.start_session import StartSession, start_session

LINES = ("I wait until night.", "I look at the gate.", "I rest for two hours.", "I sleep.")
STEPS = 9
CHECKED = 5
"""Every so many walks are walked once more after followers have applied them."""


async def standing(stage: Stage, session_id: str) -> tuple[str, Any]:
    """The turn at the head, and all that is true there; how far followers have come is not."""
    session = await stage.play(session_id, get_session, ShowSession(history="none"))
    journal = await stage.play(session_id, list_journal, ListJournal())
    snapshot = session.snapshot.model_copy(update={"applied_version": None})
    return session.head_turn_id, (session.state_hash, snapshot, journal.entries)


async def one_step(stage: Stage, session_id: str, dice: random.Random, known: dict[str, Any]) -> None:
    match dice.randrange(6):
        case 0:
            await stage.say(session_id, dice.choice(LINES))
        case 1 | 2:
            op = {"type": "SetState", "key": "weather", "value": dice.randrange(4)}
            await stage.play(session_id, update_variables, UpdateVariables.model_validate({"update": {"ops": [op]}}))
        case 3:
            turn_index = (await stage.play(session_id, get_session, ShowSession(history="none"))).turn_index
            if turn_index:
                await stage.play(session_id, backtrack, Backtrack(turns=dice.randint(1, turn_index)))
        case _:
            turn_id = dice.choice(sorted(known))
            await stage.play(session_id, switch_branch, SwitchBranch(turn_id=turn_id))


async def test_state_after_going_back_is_the_state_before(stage: Stage, mass: Mass) -> None:
    quests = [
        {
            "quest_id": f"storm-{n}",
            "title": f"Storm {n}",
            "opens": {"condition": {"key": "weather", "op": "eq", "value": n}},
            "done": {"condition": {"key": "weather", "op": "gt", "value": n}},
            "fails": {"condition": {"key": "weather", "op": "lt", "value": n}},
        }
        for n in range(4)
    ]
    fields = {
        "gate_open": {"value_type": "bool", "default": False, "description": None},
        "weather": {"value_type": "int", "default": 0, "description": None},
    }
    schema = {"schema_id": "weather", "display_name": "Weather", "fields": fields}
    await stage.do(create_schema, CreateSchema.model_validate(schema))
    story_id = await stage.story(world_schema_id="weather", world={**WORLD, "quests": quests})
    seen = 0
    for walk in range(mass(200)):
        dice = random.Random(walk)
        session_id = (await stage.do(start_session, StartSession(story_id=story_id, seed=7))).session_id
        known = dict([await standing(stage, session_id)])
        for _ in range(STEPS):
            await one_step(stage, session_id, dice, known)
            turn_id, found = await standing(stage, session_id)
            assert known.setdefault(turn_id, found) == found
            seen += 1
        if walk % CHECKED == 0:
            await followers_are_done(stage)
            await same_when_applied(stage, session_id, known)
    assert seen == mass(200) * STEPS


async def followers_are_done(stage: Stage) -> None:
    """Does everything that follows the turns so far, in whatever order it comes."""
    for _ in range(400):
        async with stage.house.store.reading() as unit:
            if not await unit.work.unfinished(FOLLOWER_WORK):
                return
        await stage.house.work.take_up()
        for work_id in stage.house.work.ids():
            await stage.house.work.wait(work_id)
    raise AssertionError("what follows the turns is not done")


async def same_when_applied(stage: Stage, session_id: str, known: dict[str, Any]) -> None:
    """At every turn of every branch followers wrote what was worked out there, and left no gap."""
    for turn_id, before in known.items():
        session = await stage.play(session_id, switch_branch, SwitchBranch(turn_id=turn_id))
        assert session.snapshot.applied_version == session.snapshot.world_version
        assert (await standing(stage, session_id))[1] == before
