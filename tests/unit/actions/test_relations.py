"""People of a play change with ordinary turns: listed with reasons, and undone by going back."""

from __future__ import annotations

from tests.unit.actions.conftest import Stage

from fabula.actions.plays.branches import Backtrack, backtrack
from fabula.actions.plays.relations import ListRelations, RelationView, list_relations


async def stands(stage: Stage, session_id: str) -> dict[str, RelationView]:
    listed = await stage.play(session_id, list_relations, ListRelations())
    return {one.character_id: one for one in listed.relations if one.towards == "player"}


async def test_a_threat_in_a_scene_is_felt_explained_and_gone_when_one_goes_back(stage: Stage) -> None:
    session_id = await stage.session()
    assert await stands(stage, session_id) == {}
    await stage.say(session_id, "I will kill you, Mara.")
    mara = (await stands(stage, session_id))["mara"]
    assert mara.fear > 0.15 and mara.stands.startswith("is wary of User") and "uneasy around User" in mara.stands
    assert [(step.turn_index, step.reason) for step in mara.steps] == [(1, "User threatened Mara")]
    await stage.play(session_id, backtrack, Backtrack(turns=1))
    assert await stands(stage, session_id) == {}


async def test_the_same_play_has_the_same_relations_on_another_line(stage: Stage) -> None:
    session_id = await stage.session()
    for _ in range(2):
        await stage.say(session_id, "Thank you, Mara. You are very kind.")
    first = await stands(stage, session_id)
    await stage.play(session_id, backtrack, Backtrack(turns=2))
    for _ in range(2):
        await stage.say(session_id, "Thank you, Mara. You are very kind.")
    assert await stands(stage, session_id) == first and first["mara"].affinity == 0.28
