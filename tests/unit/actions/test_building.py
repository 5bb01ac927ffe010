"""A world is built by talking: what is said is true at once, shown as added, and can be undone."""

from __future__ import annotations

import pytest
from tests.unit.actions.conftest import Stage

from fabula.actions.building.build_world import (
    BuildingView,
    NameBuilding,
    OpenBuilding,
    SayInBuilding,
    UndoInBuilding,
    close_building,
    open_building,
    say_in_building,
    undo_in_building,
)
from fabula.actions.canon.changes import ListChanges, list_changes
from fabula.actions.canon.worlds import CreateWorld, create_world
from fabula.ports.errors import NotFound


async def opened(stage: Stage) -> BuildingView:
    await stage.do(create_world, CreateWorld(world_id="salt", display_name="Saltmere"))
    return await stage.do(open_building, OpenBuilding(world_id="salt"))


async def said(stage: Stage, building: BuildingView, text: str) -> BuildingView:
    return await stage.do(say_in_building, SayInBuilding(building_id=building.building_id, text=text))


async def test_from_nothing_the_architect_asks_and_what_is_said_is_true(stage: Stage) -> None:
    building = await opened(stage)
    assert "?" in building.reply and building.added == []
    told = await said(stage, building, "There is a town called Saltmere. Nobody can breathe under water.")
    assert [one.kind for one in told.added] == ["entity", "axiom"]
    assert told.coverage["places"] == 1 and told.coverage["laws"] == 1 and "people" in told.gaps
    assert "?" in told.reply and told.reply != building.reply
    listed = await stage.do(list_changes, ListChanges(world_id="salt"))
    assert {one.status for one in listed.changes} == {"committed"}
    assert {one.authority for one in listed.changes} == {"gm"}
    assert {one.evidence[0].ref for one in listed.changes} == {building.building_id}


async def test_an_item_is_undone_and_closing_tells_what_is_left(stage: Stage) -> None:
    building = await opened(stage)
    told = await said(stage, building, "There is a town called Saltmere. Nobody can breathe under water.")
    undone = await stage.do(undo_in_building, UndoInBuilding(item_id=told.added[1].item_id))
    assert undone.sentence == "Nobody can breathe under water."
    closed = await stage.do(close_building, NameBuilding(building_id=building.building_id))
    assert [one.sentence for one in closed.added] == ["There is Saltmere, a place."]


async def test_what_the_author_says_later_takes_the_place_of_what_they_said_before(stage: Stage) -> None:
    building = await opened(stage)
    await said(stage, building, "There is a town called Saltmere. There is a town called Ashby. Orr lives in Saltmere.")
    await said(stage, building, "Orr lives in Ashby.")
    closed = await stage.do(close_building, NameBuilding(building_id=building.building_id))
    there = [one.sentence for one in closed.added if "Orr is located" in one.sentence]
    assert there == ["Orr is located in Ashby."]


async def test_wondering_adds_nothing_and_is_told_so(stage: Stage) -> None:
    building = await opened(stage)
    told = await said(stage, building, "Maybe there are dragons?")
    assert told.added == [] and told.reply


async def test_a_building_that_nobody_opened_is_not_there(stage: Stage) -> None:
    with pytest.raises(NotFound):
        await stage.do(say_in_building, SayInBuilding(building_id="building_x", text="Hello."))
    with pytest.raises(NotFound):
        await stage.do(open_building, OpenBuilding(world_id="nowhere"))
