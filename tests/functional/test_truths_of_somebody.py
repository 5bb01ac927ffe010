"""What is true of somebody is the same on every engine, also where the versions of truths do not tell their order."""

from __future__ import annotations

from sqlalchemy import text

from fabula.adapters.stores.store import SqlStore
from fabula.ports.store import Store
from fabula.story.canon import Change, Decision, FactContent, Step, Verdict


async def test_of_truths_of_one_version_the_same_are_left_out_on_every_engine(store: Store) -> None:
    verdict = Verdict(result="accept", weight=1.0, steps=[Step(rule="accept_at", found=1.0, sentence="It is so.")])
    ends = {number: ("orr", "mara") if number % 2 else ("mara", "orr") for number in (3, 1, 4, 2, 5)}
    facts = [
        Change(
            change_id=f"c{number}",
            world_id="w",
            content=FactContent(subject=subject, predicate="knows", object=object),
            authority="gm",
            proposer="author",
        )
        for number, (subject, object) in ends.items()
    ]
    async with store.writing() as unit:
        await unit.canon.commit_new(
            [(fact, verdict) for fact in facts], Decision(by="author", at_ms=1, reason="it is so")
        )
    assert isinstance(store, SqlStore)
    # As in a database that was put together by hand.
    async with store.database.transaction("alone") as connection:
        await connection.execute(text("UPDATE canon_changes SET version = 7"))
    async with store.reading() as unit:
        for limit in range(1, 6):
            found = await unit.canon.touching("w", ["orr"], limit=limit)
            assert [row.change.change_id for row in found] == [f"c{number}" for number in range(6 - limit, 6)]
