"""Any sequence of changes: the store answers what a plain dictionary would."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import ClassVar, TypeVar

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from tests.mass import Mass
from tests.templates import fill_folder

from fabula.adapters.stores import open_store
from fabula.ports.errors import Conflict, InUse, NotFound
from fabula.ports.store import Kind, Reference, Store, Unit
from fabula.settings import Settings
from fabula.story.values import JsonObject
from fabula.testing.postgres import new_database
from fabula.testing.world import FixedClock

T = TypeVar("T")

KINDS: tuple[Kind, ...] = ("schema", "character", "story")
names = st.builds(Reference, kind=st.sampled_from(KINDS), id=st.sampled_from(["a", "A", "b", "ab", "_", "é"]))
texts = st.text(max_size=20)
docs: st.SearchStrategy[JsonObject] = st.dictionaries(
    # `v` is the version of a document's shape.
    texts.filter(lambda name: name != "v"),
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers(-(2**53), 2**53)
        | st.floats(allow_nan=False, allow_infinity=False)
        | texts,
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
        max_leaves=5,
    ),
    max_size=3,
)


class Kept:
    """A resource in the model."""

    def __init__(self, doc: JsonObject, references: set[Reference], built_in: bool) -> None:
        self.doc, self.references, self.built_in, self.revision = doc, references, built_in, 1


class ResourcesMachine(RuleBasedStateMachine):
    """Units of one or more changes on resources and references; some are rolled back."""

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
        self.model: dict[Reference, Kept] = {}

    def teardown(self) -> None:
        self.loop.run_until_complete(self.store.close())
        self.loop.close()
        self.folder.cleanup()

    def write(self, change: Callable[[Unit], Awaitable[T]]) -> T:
        async def run() -> T:
            async with self.store.writing() as unit:
                return await change(unit)

        self.clock.advance(1)
        return self.loop.run_until_complete(run())

    def read(self, question: Callable[[Unit], Awaitable[T]]) -> T:
        async def run() -> T:
            async with self.store.reading() as unit:
                return await question(unit)

        return self.loop.run_until_complete(run())

    def missing(self, references: set[Reference], besides: Reference) -> bool:
        return any(one not in self.model and one != besides for one in references)

    def users(self, name: Reference) -> list[Reference]:
        return sorted(user for user, kept in self.model.items() if name in kept.references and user != name)

    @rule(name=names, doc=docs, references=st.sets(names, max_size=3), built_in=st.booleans())
    def add(self, name: Reference, doc: JsonObject, references: set[Reference], built_in: bool) -> None:
        def change(unit: Unit) -> Awaitable[object]:
            return unit.resources.add(name.kind, name.id, doc, references=list(references), built_in=built_in)

        if name in self.model:
            with pytest.raises(Conflict):
                self.write(change)
        elif self.missing(references, name):
            with pytest.raises(NotFound):
                self.write(change)
        else:
            self.write(change)
            self.model[name] = Kept(doc, references, built_in)

    @rule(name=names, doc=docs, references=st.sets(names, max_size=3), expected=st.none() | st.integers(1, 3))
    def put(self, name: Reference, doc: JsonObject, references: set[Reference], expected: int | None) -> None:
        def change(unit: Unit) -> Awaitable[object]:
            return unit.resources.put(name.kind, name.id, doc, references=list(references), expected_revision=expected)

        kept = self.model.get(name)
        if kept is None or (expected in (None, kept.revision) and self.missing(references, name)):
            with pytest.raises(NotFound):
                self.write(change)
        elif expected not in (None, kept.revision):
            with pytest.raises(Conflict):
                self.write(change)
        else:
            self.write(change)
            kept.doc, kept.references, kept.revision = doc, references, kept.revision + 1

    @rule(name=names)
    def remove(self, name: Reference) -> None:
        if users := self.users(name):
            with pytest.raises(InUse) as caught:
                self.write(lambda unit: unit.resources.remove(name.kind, name.id))
            assert caught.value.data["users"] == [{"kind": user.kind, "id": user.id} for user in users]
        elif name not in self.model:
            with pytest.raises(NotFound):
                self.write(lambda unit: unit.resources.remove(name.kind, name.id))
        else:
            self.write(lambda unit: unit.resources.remove(name.kind, name.id))
            del self.model[name]

    @precondition(lambda self: self.model)
    @rule(doc=docs)
    def change_everything_and_give_up(self, doc: JsonObject) -> None:
        async def change(unit: Unit) -> None:
            for name in self.model:
                await unit.resources.put(name.kind, name.id, doc)
            for name in self.model:
                await unit.resources.remove(name.kind, name.id)
            raise InterruptedError

        with pytest.raises(InterruptedError):
            self.write(change)

    @rule()
    def open_again(self) -> None:
        self.loop.run_until_complete(self.store.close())
        self.loop.run_until_complete(self.store.open())

    @invariant()
    def lists_say_the_same(self) -> None:
        for kind in KINDS:
            mine = {name.id: kept for name, kept in self.model.items() if name.kind == kind}
            page = self.read(lambda unit, kind=kind: unit.resources.page(kind))  # type: ignore[misc]
            assert [stored.id for stored in page] == sorted(mine, key=str.encode)
            assert {stored.id: (stored.doc, stored.revision) for stored in page} == {
                id: (kept.doc, kept.revision) for id, kept in mine.items()
            }
            first = min(mine, key=lambda id: (mine[id].built_in, id.encode()), default=None)
            assert self.read(lambda unit, kind=kind: unit.resources.first(kind)) == first  # type: ignore[misc]

    @invariant()
    def users_say_the_same(self) -> None:
        for name in self.model:
            found = self.read(lambda unit, name=name: unit.resources.users(name.kind, name.id))  # type: ignore[misc]
            assert found == self.users(name)


def test_any_sequence_of_changes_on_sqlite(mass: Mass) -> None:
    run_state_machine_as_test(
        ResourcesMachine,
        settings=settings(
            max_examples=mass(25), stateful_step_count=20, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )


def test_any_sequence_of_changes_on_postgres(mass: Mass, postgres_server: str, postgres_template: str) -> None:
    class OnPostgres(ResourcesMachine):
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
            max_examples=mass(6), stateful_step_count=12, deadline=None, suppress_health_check=list(HealthCheck)
        ),
    )
