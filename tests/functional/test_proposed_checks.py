"""A model proposes what the dice of a deed are held against: from closed lists, and only the code rolls."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.fork_server import ForkServer
from tests.functional.test_plays_by_rules import of_kind
from tests.scripted import Theatre, theatre
from tests.turn_kills import Victim, victim

from fabula.testing.model_script import Fail, Say
from fabula.testing.troupe import is_for_resolver


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Theatre]:
    async with theatre(tmp_path) as stage:
        yield stage


async def started(stage: Theatre | Victim, pace: str = "ensemble") -> str:
    given = {"story_id": stage.story_id, "api_group_id": "troupe", "preset_id": pace}
    return str((await stage.client.raw("story.start_session", **given, rules="d20", seed=3))["session_id"])


def proposes(**fields: Any) -> Say:
    return Say(text=f"Here you are: {json.dumps(fields)}")


async def rolled(stage: Theatre, session: str, line: str = "I climb the gate.") -> dict[str, Any]:
    (resolved,) = of_kind(await stage.client.turn(session, line), "check_resolved")
    return dict(resolved["resolution"])


def asked(stage: Theatre) -> int:
    return sum(is_for_resolver(request.body) for request in stage.models.requests)


async def by_rule(stage: Theatre) -> dict[str, Any]:
    """What comes of the deed where the model proposes nothing."""
    stage.troupe.check = Say(text="{}")
    return await rolled(stage, await started(stage))


async def test_a_model_chooses_stat_difficulty_and_circumstances_from_what_is_offered(stage: Theatre) -> None:
    stage.troupe.check = proposes(
        stat="stealth", difficulty="hard", circumstances=["in_the_dark"], reason="It is night."
    )
    found = await rolled(stage, await started(stage))
    check = found["check"]
    assert (check["stat"], check["skill"], found["target"], check["edge"]) == (
        "dexterity",
        "stealth",
        15,
        "disadvantage",
    )
    assert {"source": "in the dark", "value": 0} in check["modifiers"]
    assert len(found["roll"]["raw"]) == 2, "disadvantage rolls two dice"
    assert asked(stage) == 1


UNUSABLE: tuple[Say | Fail, ...] = (
    proposes(stat="luck"),
    proposes(stat="stealth", difficulty="impossible for anybody"),
    proposes(stat="stealth", circumstances=["blessed_by_the_gods"]),
    proposes(stat="stealth", circumstances=["helped"] * 2),
    proposes(stat="stealth", circumstances=["helped", "higher_ground", "by_surprise", "well_prepared"]),
    proposes(stat=["stealth"], difficulty=3),
    proposes(target=1, roll=20, level="critical_success", modifiers=[{"source": "me", "value": 99}]),
    Say(text='[["stat", "stealth"]]'),
    Say(text="The player succeeds."),
    Say(text='{"stat": ' + "[" * 3000),
    Fail(status=500),
)


async def test_what_is_not_on_offer_changes_nothing_and_no_model_decides_an_outcome(stage: Theatre) -> None:
    expected = await by_rule(stage)
    for number, said in enumerate(UNUSABLE):
        stage.troupe.check = said
        # Other words for the same deed: the same ones would be answered from the memo.
        found = await rolled(stage, await started(stage), f"I climb the gate{'!' * number}.")
        kept = {name: found["check"][name] for name in ("stat", "skill", "target", "edge", "modifiers")}
        assert kept == {name: expected["check"][name] for name in kept}, said
    assert asked(stage) >= len(UNUSABLE)


async def test_told_again_the_same_is_rolled_whatever_the_model_would_say_now(stage: Theatre) -> None:
    session = await started(stage)
    stage.troupe.check = proposes(stat="stealth", difficulty="easy")
    first = await rolled(stage, session)
    stage.troupe.check = proposes(stat="athletics", difficulty="hard")
    (again,) = of_kind(await stage.client.turn(session, "", "session.regenerate"), "check_resolved")
    assert {**again["resolution"]["check"], "check_id": ""} == {**first["check"], "check_id": ""}
    assert again["resolution"]["roll"] == first["roll"] and again["resolution"]["target"] == first["target"]


async def test_nobody_is_asked_where_nothing_is_risky_or_the_pace_is_swift(stage: Theatre) -> None:
    session = await started(stage)
    await stage.client.turn(session, "Hello, Mara.")
    await stage.client.turn(await started(stage, "swift"), "I climb the gate.")
    assert asked(stage) == 0


async def test_the_target_of_who_stands_against_a_deed_is_their_own_roll(stage: Theatre) -> None:
    stage.troupe.check = proposes(stat="athletics", difficulty="easy")
    found = await rolled(stage, await started(stage), "I attack Mara.")
    assert found["opposed"]["total"] == found["target"]
    (request,) = [one for one in stage.models.requests if is_for_resolver(one.body)]
    assert "Difficulties" not in str(request.body["messages"][-1])


async def test_a_turn_that_is_killed_after_its_check_rolls_it_once(fork_server: ForkServer, tmp_path: Path) -> None:
    async with victim(fork_server, tmp_path) as killed:
        killed.troupe.check = proposes(stat="stealth", difficulty="hard")
        session = await started(killed)
        await killed.play_until(session, "I climb the gate.", "director_completed")
        # Whatever the model would say now: it was asked, and is not asked again.
        killed.troupe.check = proposes(stat="athletics", difficulty="easy")
        await killed.start()
        head = (await killed.rested(session))["head_turn_id"]
        (notes,) = (await killed.client.call("session_turn.notes", session, turn_ids=[head]))["turns"]
        (roll,) = notes["rolls"]
        assert (roll["check"]["skill"], roll["target"]) == ("stealth", 15)
