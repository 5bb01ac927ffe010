"""Any sequence of beginnings, holdings, endings and deaths: work answers what a plain dictionary would."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, TypeVar

import hypothesis.strategies as st
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from tests.mass import Mass
from tests.templates import fill_folder

from fabula.adapters.stores import open_store
from fabula.ports.store import Store, Unit
from fabula.ports.work import Lease, NewWork, Work
from fabula.settings import Settings
from fabula.story.error_values import ErrorValue
from fabula.testing.postgres import new_database
from fabula.testing.world import FixedClock

T = TypeVar("T")
numbers = st.integers(0, 1000)
owners = st.sampled_from(["ann", "bob", "cid"])
LEASE_MS = 100


@dataclass
class Piece:
    """Work in the model."""

    key: str
    status: str
    owner: str = ""
    attempt: int = 0
    tries: int = 0
    until: int = 0
    due: int = 0


class WorkMachine(RuleBasedStateMachine):
    """Owners hold what they may, and end also what they no longer hold."""

    make_settings: ClassVar[Callable[[Path], Settings]] = staticmethod(
        lambda folder: Settings(data_dir=fill_folder(folder, "store"))
    )

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.loop = asyncio.new_event_loop()
        self.clock = FixedClock()
        self.store: Store = open_store(type(self).make_settings(Path(self.folder.name)), self.clock)
        self.loop.run_until_complete(self.store.open())
        self.pieces: dict[str, Piece] = {}
        self.seen: list[Work] = []

    def teardown(self) -> None:
        self.loop.run_until_complete(self.store.close())
        self.loop.close()
        self.folder.cleanup()

    def write(self, change: Callable[[Unit], Awaitable[T]]) -> T:
        return self.loop.run_until_complete(self.store.write(change))

    @property
    def now(self) -> int:
        return self.clock.now_ms()

    def lease(self, owner: str) -> Lease:
        return Lease(owner=owner, until_ms=self.now + LEASE_MS)

    def free(self, piece: Piece, gone: str | None) -> bool:
        if piece.status == "waiting":
            return piece.due <= self.now
        return piece.status == "running" and (piece.until <= self.now or piece.owner == gone)

    def take(self, id: str, owner: str) -> None:
        piece = self.pieces[id]
        piece.status, piece.owner, piece.until = "running", owner, self.now + LEASE_MS
        piece.attempt, piece.tries = piece.attempt + 1, piece.tries + 1

    @rule(key=st.sampled_from(["", "k1", "k2"]), owner=st.none() | owners, wait=st.integers(0, 80))
    def begin(self, key: str, owner: str | None, wait: int) -> None:
        id = f"w{len(self.pieces):03}"
        held = None if owner is None else self.lease(owner)
        new = NewWork(work_id=id, kind="errand", key=key, due_at_ms=self.now + wait, held=held)
        there = [n for n, one in self.pieces.items() if key == one.key and one.status in ("waiting", "running", "done")]
        work = self.write(lambda unit: unit.work.begin(new))
        if key and there:
            assert [work.work_id] == there
            return
        self.pieces[id] = Piece(key=key, status="waiting", due=self.now + wait)
        if owner is not None:
            self.take(id, owner)
            self.seen.append(work)

    @precondition(lambda self: self.pieces)
    @rule(which=numbers, owner=owners, gone=st.none() | owners)
    def hold(self, which: int, owner: str, gone: str | None) -> None:
        id = sorted(self.pieces)[which % len(self.pieces)]
        dead = [] if gone is None else [gone]
        work = self.write(lambda unit: unit.work.hold(id, self.lease(owner), gone=dead))
        assert (work is not None) == self.free(self.pieces[id], gone)
        if work is not None:
            self.take(id, owner)
            self.seen.append(work)

    @rule(owner=owners, gone=st.none() | owners, limit=st.integers(1, 3))
    def hold_due(self, owner: str, gone: str | None, limit: int) -> None:
        dead = [] if gone is None else [gone]
        free = sorted((one.due, id) for id, one in self.pieces.items() if self.free(one, gone))
        found = self.write(lambda unit: unit.work.hold_due(["errand"], self.lease(owner), gone=dead, limit=limit))
        assert [work.work_id for work in found] == [id for _, id in free[:limit]]
        for work in found:
            self.take(work.work_id, owner)
        self.seen += found

    @precondition(lambda self: self.seen)
    @rule(which=numbers, how=st.sampled_from(["finish", "fail", "bury", "put_off", "let_go"]))
    def end(self, which: int, how: str) -> None:
        held = self.seen[which % len(self.seen)]
        piece = self.pieces[held.work_id]
        mine = (piece.status, piece.owner, piece.attempt) == ("running", held.owner, held.attempt)
        assert self.write(lambda unit: self.ending(unit, held, how)) == mine
        if mine:
            piece.status = {"finish": "done", "fail": "failed", "bury": "dead"}.get(how, "waiting")
            piece.owner = "" if piece.status == "waiting" else piece.owner
            piece.due = {"put_off": self.now + 50, "let_go": self.now}.get(how, piece.due)
            piece.tries -= how == "let_go"

    async def ending(self, unit: Unit, held: Work, how: str) -> bool:
        match how:
            case "finish":
                return await unit.work.finish(held, {"by": held.owner})
            case "put_off":
                return await unit.work.put_off(
                    held, due_at_ms=self.now + 50, error=ErrorValue(name="backend", message=held.owner)
                )
            case "let_go":
                return await unit.work.let_go(held)
            case "fail":
                return await unit.work.fail(held, ErrorValue(name="backend", message=held.owner))
            case _:
                return await unit.work.bury(held, ErrorValue(name="backend", message=held.owner))

    @precondition(lambda self: self.pieces)
    @rule(which=numbers)
    def cancel(self, which: int) -> None:
        id = sorted(self.pieces)[which % len(self.pieces)]
        done = self.write(lambda unit: unit.work.cancel(id))
        assert done == (self.pieces[id].status in ("waiting", "running"))
        if done:
            self.pieces[id].status = "cancelled"

    @rule(owner=owners)
    def extend(self, owner: str) -> None:
        mine = {id for id, one in self.pieces.items() if one.status == "running" and one.owner == owner}
        assert self.write(lambda unit: unit.work.extend(sorted(self.pieces), self.lease(owner))) == mine
        for id in mine:
            self.pieces[id].until = self.now + LEASE_MS

    @rule(ms=st.integers(1, 120))
    def wait(self, ms: int) -> None:
        self.clock.advance(ms)

    @rule()
    def open_again(self) -> None:
        self.loop.run_until_complete(self.store.close())
        self.loop.run_until_complete(self.store.open())

    @invariant()
    def the_table_says_the_same(self) -> None:
        for id, piece in self.pieces.items():
            work = self.write(lambda unit, id=id: unit.work.get(id))  # type: ignore[misc]
            assert work is not None
            assert (work.status, work.owner, work.attempt, work.tries) == (
                piece.status,
                piece.owner,
                piece.attempt,
                piece.tries,
            )


def test_any_sequence_of_work_on_sqlite(mass: Mass) -> None:
    run_state_machine_as_test(
        WorkMachine,
        settings=settings(
            max_examples=mass(20), stateful_step_count=40, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )


def test_any_sequence_of_work_on_postgres(mass: Mass, postgres_server: str, postgres_template: str) -> None:
    class OnPostgres(WorkMachine):
        def __init__(self) -> None:
            self.database = new_database(postgres_server, template=postgres_template)
            address = self.database.__enter__()
            type(self).make_settings = staticmethod(lambda folder: Settings(data_dir=folder, database_url=address))
            super().__init__()

        def teardown(self) -> None:
            super().teardown()
            self.database.__exit__(None, None, None)

    run_state_machine_as_test(
        OnPostgres,
        settings=settings(
            max_examples=mass(4), stateful_step_count=25, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
