"""SIGKILL inside every model call of a turn whose deed a model judges and whose check a model proposes: the turn is
resumed, that call alone is asked again, and the dice fall once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.campaign_kills import NotingTroupe, other_prompts
from tests.conftest import Place
from tests.fork_server import ForkServer
from tests.functional.test_gate_asks_a_model import CAPS, OPEN
from tests.functional.test_ink_kills import control_group
from tests.functional.test_proposed_checks import proposes
from tests.functional.test_turn_kills import same_as
from tests.scripted import ROLES
from tests.turn_kills import Victim, victim

from fabula.testing.troupe import is_for_judge, is_for_resolver

pytestmark = pytest.mark.all

CALLS = 7
"""Judge, resolver, keeper, director, narrator, actor, keeper."""


class Judges(NotingTroupe):
    """Counts how often a deed was judged and a check proposed, too."""

    judged = proposed = 0

    def __call__(self, request: Any) -> Any:
        self.judged += is_for_judge(request)
        self.proposed += is_for_resolver(request)
        return super().__call__(request)


async def begin(it: Victim, group: str) -> str:
    given = {"story_id": it.story_id, "api_group_id": group, "preset_id": "asking", "rules": "d20", "seed": 3}
    return str((await it.client.raw("story.start_session", **given))["session_id"])


async def prepare(it: Victim) -> None:
    """A world with rules that leave much open, and a preset that has a model asked about it."""
    await it.client.call("world.create", world_id="salt", display_name="Salt", caps=CAPS)
    await it.client.call("story.update", story_id=it.story_id, world_id="salt")
    agents: dict[str, Any] = {role: {"modules": []} for role in ROLES}
    agents["director"]["extra"] = {"pace": "ensemble", "feasibility": "model"}
    await it.client.call("preset.create", preset_id="asking", display_name="Asking", agents=agents)
    await control_group(it)


async def rolls(it: Victim, session: str) -> list[Mapping[str, Any]]:
    """What the dice of the last turn were, without its ids."""
    head = (await it.rested(session))["head_turn_id"]
    (notes,) = (await it.client.call("session_turn.notes", session, turn_ids=[head]))["turns"]
    return [{**one, "check": {**one["check"], "check_id": ""}} for one in notes["rolls"]]


async def test_a_turn_that_is_judged_and_rolled_for_is_killed_inside_each_of_its_model_calls(
    fork_server: ForkServer, place: Place, tmp_path: Path
) -> None:
    troupe = Judges()
    troupe.check = proposes(stat="stealth", difficulty="hard")
    lines = [f"{OPEN} It is number {number}. Then I climb the gate." for number in range(CALLS)]
    async with victim(fork_server, tmp_path, troupe, place.environment) as it:
        await prepare(it)
        control, expected = await begin(it, "control"), []
        for line in lines:
            assert (await it.client.turn(control, line))[-1]["type"] == "completed"
            expected.append((await it.rested(control), await rolls(it, control)))
        assert (troupe.judged, troupe.proposed) == (CALLS, CALLS)
        session = await begin(it, "troupe")
        for number, line in enumerate(lines):
            it.kill_at_call(number)
            await it.play_until(session, line, "")
            await it.start()
            shown, rolled = expected[number]
            await same_as(it, session, shown)
            assert await rolls(it, session) == rolled and len(rolled) == 1
    wanted, asked = troupe.asked["scripted-control"], troupe.asked["scripted-small"]
    assert len(wanted) == CALLS * CALLS and other_prompts(wanted, list(dict.fromkeys(asked))) == []
    assert len(asked) - len(wanted) == it.kills == CALLS
