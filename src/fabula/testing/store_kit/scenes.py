"""The law of scenes that have ended."""

from __future__ import annotations

from dataclasses import replace

from fabula.ports.store import Store
from fabula.story.scenes import SceneRecord
from fabula.testing.plays_kit import finished, new_turn, opened


def _scene(name: str) -> SceneRecord:
    return SceneRecord(
        scene_id=name,
        title="The Gate",
        purpose="Open it.",
        place="gate",
        participants=["mara"],
        began_turn=0,
        began_minute=0,
        ended_turn=1,
        ended_minute=10,
        outcome="left",
        summary="Mara opened the gate.",
    )


async def _ended(store: Store, turn: str, parent: str, scene: str | None) -> None:
    async with store.writing() as unit:
        done = replace(finished(turn), scene=None if scene is None else _scene(scene))
        await unit.plays.begin(new_turn(turn, parent))
        assert await unit.plays.commit(done)


class ScenesLaw:
    async def test_a_line_has_the_scenes_that_ended_on_it_newest_first_and_no_others(self, store: Store) -> None:
        await opened(store)
        await _ended(store, "t1", "t0", "first")
        await _ended(store, "t2", "t1", None)
        await _ended(store, "t3", "t2", "second")
        async with store.writing() as unit:
            await unit.plays.move_head("s", "t2")
        await _ended(store, "o3", "t2", "other")
        async with store.reading() as unit:
            found = await unit.scenes.at("t3")
            assert [one.record for one in found] == [_scene("second"), _scene("first")]
            assert [one.turn_id for one in found] == ["t3", "t1"]
            assert [one.record.scene_id for one in await unit.scenes.at("o3")] == ["other", "first"]
            assert [one.record.scene_id for one in await unit.scenes.at("t2")] == ["first"]
            assert await unit.scenes.at("t0") == []

    async def test_scenes_are_read_in_parts(self, store: Store) -> None:
        await opened(store)
        for number in range(1, 6):
            await _ended(store, f"t{number}", f"t{number - 1}", f"s{number}")
        async with store.reading() as unit:
            first = await unit.scenes.at("t5", limit=2)
            rest = await unit.scenes.at("t5", above=first[-1].depth)
        assert [one.record.scene_id for one in (*first, *rest)] == ["s5", "s4", "s3", "s2", "s1"]

    async def test_scenes_go_with_the_last_play_of_their_tree(self, store: Store) -> None:
        await opened(store)
        await _ended(store, "t1", "t0", "first")
        async with store.writing() as unit:
            await unit.plays.remove("s")
        await opened(store)
        await _ended(store, "t1", "t0", None)
        async with store.reading() as unit:
            assert await unit.scenes.at("t1") == []
