"""Any sequence of turns, changes, moves and forks: plays answer what a plain tree in memory would."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar, TypeVar

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from tests.mass import Mass
from tests.templates import fill_folder

from fabula.adapters.stores import open_store
from fabula.ports.errors import Conflict, InvalidRequest
from fabula.ports.plays import Finished, MessageChange, NewTurn
from fabula.ports.store import Store, Unit
from fabula.settings import Settings
from fabula.story.error_values import ErrorValue
from fabula.testing.plays_kit import finished, new_turn, said, says
from fabula.testing.postgres import new_database
from fabula.testing.world import FixedClock

T = TypeVar("T")
numbers = st.integers(0, 1000)


@dataclass
class Turn:
    """A turn in the model."""

    tree: str
    parent: str | None
    index: int
    session: str
    status: str = "running"
    key: str = ""
    changes: list[MessageChange] = field(default_factory=list)


@dataclass
class Play:
    """A session in the model."""

    tree: str
    head: str
    active: str | None = None


class PlaysMachine(RuleBasedStateMachine):
    """Turns are begun anywhere in a tree, and end in every way."""

    make_settings: ClassVar[Callable[[Path], Settings]] = staticmethod(
        lambda folder: Settings(data_dir=fill_folder(folder, "store"))
    )

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.loop = asyncio.new_event_loop()
        self.store: Store = open_store(type(self).make_settings(Path(self.folder.name)), FixedClock())
        self.loop.run_until_complete(self.store.open())
        self.plays: dict[str, Play] = {}
        self.turns: dict[str, Turn] = {}
        self.named = 0

    def teardown(self) -> None:
        self.loop.run_until_complete(self.store.close())
        self.loop.close()
        self.folder.cleanup()

    def write(self, change: Callable[[Unit], Awaitable[T]]) -> T:
        async def run() -> T:
            async with self.store.writing() as unit:
                return await change(unit)

        return self.loop.run_until_complete(run())

    def read(self, question: Callable[[Unit], Awaitable[T]]) -> T:
        async def run() -> T:
            async with self.store.reading() as unit:
                return await question(unit)

        return self.loop.run_until_complete(run())

    def name(self, kind: str) -> str:
        self.named += 1
        return f"{kind}{self.named:04}"

    def session(self, number: int) -> str:
        return sorted(self.plays)[number % len(self.plays)]

    def committed(self, number: int, tree: str | None = None) -> str:
        found = [
            id for id, turn in sorted(self.turns.items()) if turn.status == "committed" and tree in (None, turn.tree)
        ]
        return found[number % len(found)]

    def line(self, turn_id: str) -> list[str]:
        """The way from a turn up to the beginning."""
        way: list[str] = []
        at: str | None = turn_id
        while at is not None:
            way.append(at)
            at = self.turns[at].parent
        return way

    def transcript(self, turn_id: str) -> list[tuple[str, str]]:
        lines: dict[str, tuple[int, str]] = {}
        for id in reversed(self.line(turn_id)):
            for change in self.turns[id].changes:
                message = change.message
                if change.op == "say" or (change.op == "edit" and message.message_id in lines):
                    lines[message.message_id] = (message.sequence, message.text)
                elif change.op == "strike":
                    lines.pop(message.message_id, None)
        return [(id, text) for id, (_, text) in sorted(lines.items(), key=lambda item: item[1][0])]

    def changes(self, turn_id: str, lines: int, touched: int) -> list[MessageChange]:
        """Some new lines, and a change of an older one."""
        before = self.transcript(self.turns[turn_id].parent or turn_id)
        found = says(*(said(turn_id, 10 * self.named + n, f"line {n} of {turn_id}") for n in range(lines)))
        if before and touched % 3:
            id, _ = before[touched % len(before)]
            sequence = next(
                change.message.sequence
                for turn in self.turns.values()
                for change in turn.changes
                if change.op == "say" and change.message.message_id == id
            )
            edited = said(turn_id, sequence, f"changed in {turn_id}", message_id=id)
            found.append(MessageChange(op="edit" if touched % 3 == 1 else "strike", message=edited))
        return found

    def ended(self, turn_id: str, changes: list[MessageChange]) -> Finished:
        return finished(turn_id, changes)

    def keep(self, turn_id: str, changes: list[MessageChange]) -> None:
        turn = self.turns[turn_id]
        turn.status, turn.changes = "committed", changes
        self.plays[turn.session].head, self.plays[turn.session].active = turn_id, None

    @rule()
    def add(self) -> None:
        session, start = self.name("session"), self.name("turn")
        first = new_turn(start, None, session_id=session, turn_index=0)
        self.write(lambda unit: unit.plays.add(session, first, finished(start)))
        self.plays[session] = Play(tree=start, head=start)
        self.turns[start] = Turn(tree=start, parent=None, index=0, session=session, status="committed")

    @precondition(lambda self: self.plays)
    @rule(which=numbers, where=numbers, at_head=st.booleans(), key=st.sampled_from(["", "", "one", "two"]))
    def begin(self, which: int, where: int, at_head: bool, key: str) -> None:
        session = self.session(which)
        play = self.plays[session]
        parent = play.head if at_head else self.committed(where)
        turn_id, index = self.name("turn"), self.turns[parent].index + 1
        turn: NewTurn = new_turn(turn_id, parent, session_id=session, turn_index=index, key=key)
        is_of_this_tree = self.turns[parent].tree == play.tree
        known = self.keyed(session, key)
        if known is not None and is_of_this_tree:
            with pytest.raises(Conflict) as refused:
                self.write(lambda unit: unit.plays.begin(turn))
            assert refused.value.data["turn_id"] == known
        elif play.active is not None:
            with pytest.raises(Conflict) as refused:
                self.write(lambda unit: unit.plays.begin(turn))
            assert refused.value.data["active_turn_id"] == play.active
        elif not is_of_this_tree:
            with pytest.raises(InvalidRequest):
                self.write(lambda unit: unit.plays.begin(turn))
        else:
            self.write(lambda unit: unit.plays.begin(turn))
            self.turns[turn_id] = Turn(tree=play.tree, parent=parent, index=index, session=session, key=key)
            play.active = turn_id

    def keyed(self, session: str, key: str) -> str | None:
        """The turn that a key names."""
        found = [id for id, turn in self.turns.items() if key and (turn.session, turn.key) == (session, key)]
        assert len(found) <= 1
        return found[0] if found else None

    @precondition(lambda self: self.turns)
    @rule(which=numbers, lines=st.integers(0, 2), touched=numbers)
    def commit(self, which: int, lines: int, touched: int) -> None:
        running = sorted(id for id, turn in self.turns.items() if turn.status == "running")
        turn_id = (running or sorted(self.turns))[which % len(running or self.turns)]
        if self.turns[turn_id].status != "running":
            assert not self.write(lambda unit: unit.plays.commit(finished(turn_id)))
            return
        changes = self.changes(turn_id, lines, touched)
        assert self.write(lambda unit: unit.plays.commit(self.ended(turn_id, changes)))
        self.keep(turn_id, changes)

    @precondition(lambda self: self.turns)
    @rule(which=numbers)
    def fail(self, which: int) -> None:
        turn_id = sorted(self.turns)[which % len(self.turns)]
        turn = self.turns[turn_id]
        done = self.write(
            lambda unit: unit.plays.fail(turn_id, status="failed", error=ErrorValue(name="at", message=turn_id))
        )
        assert done == (turn.status == "running")
        if done:
            turn.status, self.plays[turn.session].active = "failed", None

    @precondition(lambda self: self.plays)
    @rule(which=numbers, touched=numbers)
    def amend(self, which: int, touched: int) -> None:
        session = self.session(which)
        play = self.plays[session]
        turn_id, index = self.name("turn"), self.turns[play.head].index
        self.turns[turn_id] = Turn(tree=play.tree, parent=play.head, index=index, session=session)
        changes = self.changes(turn_id, 0, touched)
        turn = new_turn(turn_id, play.head, session_id=session, turn_index=index, kind="amend")
        if play.active is not None:
            with pytest.raises(Conflict):
                self.write(lambda unit: unit.plays.amend(turn, self.ended(turn_id, changes)))
            del self.turns[turn_id]
        else:
            self.write(lambda unit: unit.plays.amend(turn, self.ended(turn_id, changes)))
            self.keep(turn_id, changes)

    @precondition(lambda self: self.plays)
    @rule(which=numbers, where=numbers)
    def move_head(self, which: int, where: int) -> None:
        session, turn_id = self.session(which), sorted(self.turns)[where % len(self.turns)]
        play, turn = self.plays[session], self.turns[turn_id]
        if turn.status != "committed" or turn.tree != play.tree:
            with pytest.raises(InvalidRequest):
                self.write(lambda unit: unit.plays.move_head(session, turn_id))
        elif play.active is not None:
            with pytest.raises(Conflict):
                self.write(lambda unit: unit.plays.move_head(session, turn_id))
        else:
            self.write(lambda unit: unit.plays.move_head(session, turn_id))
            play.head = turn_id

    @precondition(lambda self: self.turns)
    @rule(where=numbers)
    def fork(self, where: int) -> None:
        turn_id, session = self.committed(where), self.name("session")
        self.write(lambda unit: unit.plays.fork(session, turn_id))
        self.plays[session] = Play(tree=self.turns[turn_id].tree, head=turn_id)

    @precondition(lambda self: len(self.plays) > 1)
    @rule(which=numbers)
    def remove(self, which: int) -> None:
        session = self.session(which)
        play = self.plays.pop(session)
        self.write(lambda unit: unit.plays.remove(session))
        if play.active is not None:
            self.turns[play.active].status = "cancelled"
        if all(other.tree != play.tree for other in self.plays.values()):
            self.turns = {id: turn for id, turn in self.turns.items() if turn.tree != play.tree}

    @rule()
    def open_again(self) -> None:
        self.loop.run_until_complete(self.store.close())
        self.loop.run_until_complete(self.store.open())

    @invariant()
    def heads_and_transcripts_say_the_same(self) -> None:
        found = self.read(lambda unit: unit.plays.get_many(sorted(self.plays)))
        assert {id: (play.tree_id, play.head_turn_id, play.active_turn_id) for id, play in found.items()} == {
            id: (play.tree, play.head, play.active) for id, play in self.plays.items()
        }
        for play in self.plays.values():
            told = self.read(lambda unit, head=play.head: unit.plays.transcript(head))  # type: ignore[misc]
            assert [(line.message_id, line.text) for line in told] == self.transcript(play.head)
            for at, line in enumerate(told):
                near = (play.head, line.message_id)
                before = self.read(lambda unit, near=near: unit.plays.lines_before(*near, limit=2))  # type: ignore[misc]
                after = self.read(lambda unit, near=near: unit.plays.lines_after(*near, limit=2))  # type: ignore[misc]
                assert (before, after) == (told[max(0, at - 2) : at], told[at + 1 : at + 3])
                assert self.read(lambda unit, near=near: unit.plays.message(*near)) == line  # type: ignore[misc]

    @invariant()
    def trees_states_and_hashes_say_the_same(self) -> None:
        for tree in {play.tree for play in self.plays.values()}:
            found = self.read(lambda unit, tree=tree: unit.plays.tree(tree))  # type: ignore[misc]
            mine = {id: turn for id, turn in self.turns.items() if turn.tree == tree and turn.status != "running"}
            assert {turn.turn_id: (turn.parent_id, turn.status) for turn in found} == {
                id: (turn.parent, turn.status) for id, turn in mine.items()
            }
            hashes = {turn.turn_id: turn.state_hash for turn in found if turn.status == "committed"}
            assert hashes == {id: f"hash of {id}" for id in hashes}
        for play in self.plays.values():
            assert self.read(lambda unit, at=play.head: unit.plays.state(at)) == {"after": play.head}  # type: ignore[misc]

    @invariant()
    def keys_name_the_turns_that_were_begun_with_them(self) -> None:
        for session in self.plays:
            for key in ("one", "two"):
                found = self.read(lambda unit, s=session, k=key: unit.plays.by_key(s, k))  # type: ignore[misc]
                assert (None if found is None else found.turn_id) == self.keyed(session, key)

    @invariant()
    def ancestors_are_those_on_the_line(self) -> None:
        for play in self.plays.values():
            line = self.line(play.head)
            for asked in {0, self.turns[play.head].index // 2, self.turns[play.head].index}:
                expected = next(id for id in line if self.turns[id].index <= asked)
                found = self.read(lambda unit, at=play.head, n=asked: unit.plays.ancestor(at, n))  # type: ignore[misc]
                assert found.turn_id == expected

    @invariant()
    def what_runs_is_what_was_begun_and_has_not_ended(self) -> None:
        found = self.read(lambda unit: unit.plays.running())
        assert [turn.turn_id for turn in found] == sorted(
            id for id, turn in self.turns.items() if turn.status == "running"
        )


def test_any_sequence_of_turns_on_sqlite(mass: Mass) -> None:
    run_state_machine_as_test(
        PlaysMachine,
        settings=settings(
            max_examples=mass(15), stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )


def test_any_sequence_of_turns_on_postgres(mass: Mass, postgres_server: str, postgres_template: str) -> None:
    class OnPostgres(PlaysMachine):
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
            max_examples=mass(4), stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
