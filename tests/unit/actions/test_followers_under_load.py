"""While queues are late, what matters least is left out or put off, and counted; the world never."""

from __future__ import annotations

from tests.unit.actions.conftest import Stage

from fabula.ports.meters import FOLLOWERS_SHED, WORK_LAG_SECONDS
from fabula.ports.store import Unit
from fabula.ports.work import NewWork, Work

KINDS = ["world", "memory", "lore", "summary"]


async def dispatched(stage: Stage, *, late_s: int) -> dict[str, Work]:
    """What the dispatcher begins for a turn while both queues of followers are so late, by kind."""
    house = stage.house
    due = house.clock.now_ms() - late_s * 1000
    late = [NewWork(work_id=f"late-{kind}", kind=kind, due_at_ms=due) for kind in ("world.apply", "summary.update")]
    row = NewWork(
        work_id="row",
        kind="followers",
        key="turn_1",
        subject="session_1",
        input={"turn_id": "turn_1", "kinds": [*KINDS]},
        held=house.work.lease(),
    )

    async def begin(unit: Unit) -> Work:
        for one in late:
            await unit.work.begin(one)
        return await unit.work.begin(row)

    await house.work.start(await house.store.write(begin))
    await house.work.wait("row")
    found = await house.store.read(lambda unit: unit.work.of_subject("session_1"))
    return {work.kind: work for work in found if work.kind != "followers"}


async def test_while_nothing_is_late_every_follower_is_begun_at_once(stage: Stage) -> None:
    begun = await dispatched(stage, late_s=0)
    assert sorted(begun) == [
        "lore.precompute_scene_bundle",
        "memory.add_and_embed",
        "summary.update",
        "world.apply",
    ]
    assert all(work.due_at_ms <= stage.house.clock.now_ms() for work in begun.values())
    assert stage.house.meters.counts(FOLLOWERS_SHED) == {}


async def test_late_queues_lose_lore_first_and_put_memories_off_and_the_world_never_waits(stage: Stage) -> None:
    begun = await dispatched(stage, late_s=130)
    now = stage.house.clock.now_ms()
    assert sorted(begun) == ["memory.add_and_embed", "summary.update", "world.apply"]
    assert begun["memory.add_and_embed"].due_at_ms > now + 200_000
    assert max(begun["world.apply"].due_at_ms, begun["summary.update"].due_at_ms) <= now
    assert stage.house.meters.counts(FOLLOWERS_SHED) == {("lore", "skip"): 1, ("memory", "delay"): 1}
    assert stage.house.meters.counts(WORK_LAG_SECONDS)[("background",)] >= 130


async def test_a_queue_that_is_a_little_late_loses_only_lore(stage: Stage) -> None:
    begun = await dispatched(stage, late_s=20)
    assert sorted(begun) == ["memory.add_and_embed", "summary.update", "world.apply"]
    assert stage.house.meters.counts(FOLLOWERS_SHED) == {("lore", "skip"): 1}
