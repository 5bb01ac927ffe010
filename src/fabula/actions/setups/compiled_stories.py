"""Ink stories ready to be played: compiled once, and kept while they are in use, with the models that play them.

What was gathered for a session is kept with the revisions of everything in it, its own settings among them. The next
turn asks the store for those revisions alone, in one read, and gathers anew only when one of them has changed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar
from weakref import WeakValueDictionary

from cachetools import LRUCache

from fabula.actions.repositories import API_GROUPS, APIS, INK_STORIES, PRESETS, SESSIONS
from fabula.knots.names import default_ai_seed
from fabula.knots.published import MOST_MARKS, marks_in, publish, source_digest
from fabula.loops.ink.ink_run import CHARACTERS_PREPARED, CompiledStory, PlacesRead
from fabula.ports.errors import InvalidRequest
from fabula.ports.store import Reference, Store, Unit
from fabula.ports.threads import run_in_thread
from fabula.story.field_bounds import LONGEST_SOURCE
from fabula.story.ink_stories import InkStory
from fabula.story.plays import SessionSettings
from fabula.story.resources import Api, ApiGroup, Bindings, Preset

T = TypeVar("T")
WORKS_KEPT = 32
MARKS_KEPT = MOST_MARKS
"""All stories that are kept have so many marks together, as one story may have: each mark is a kilobyte."""
MATERIALS_KEPT = 64
SESSIONS_KEPT = 256
STEPS_PREPARED = 600_000
SHORT_SOURCE = 100_000


@dataclass(frozen=True, kw_only=True)
class InkPlaySetup:
    """What a session plays: the story, and whom it asks."""

    work: CompiledStory
    preset: Preset
    group: ApiGroup
    apis: dict[str, Api]
    api_revisions: dict[str, int]

    def played_by(self, api: Api) -> InkPlaySetup:
        """The same with one api for all roles."""
        group = self.group.model_copy(update={"bindings": Bindings.all_to(api.api_id)})
        return replace(self, group=group, apis={api.api_id: api}, api_revisions={})


@dataclass(frozen=True, kw_only=True)
class Played:
    """A session and what it plays, as they were at these revisions."""

    session: SessionSettings
    material: InkPlaySetup
    revisions: dict[Reference, int]


@dataclass(frozen=True, kw_only=True)
class _Kept:
    work: CompiledStory
    weight: int


class _NotCompiled(Exception):
    """A story is not at hand, and whoever asked for it holds a connection to the store."""

    def __init__(self, story: InkStory) -> None:
        self.story = story


class CompiledStories:
    """Published stories by the hash of their source. An edit is another source, so nothing is ever stale.

    Those asked for last are kept, so many and so large together; what plays one that makes way goes with it.
    """

    def __init__(self) -> None:
        self._compiling = asyncio.Semaphore(1)
        self._places = PlacesRead()
        self._works: LRUCache[str, _Kept] = LRUCache(MARKS_KEPT, getsizeof=lambda kept: kept.weight)
        # What made way is found as long as somebody still has it.
        self._at_hand: WeakValueDictionary[str, _Kept] = WeakValueDictionary()
        self._materials: LRUCache[tuple[str, str, str], tuple[InkPlaySetup, dict[Reference, int]]] = LRUCache(
            MATERIALS_KEPT
        )
        self._played: LRUCache[str, Played] = LRUCache(SESSIONS_KEPT)

    async def reading(self, store: Store, read: Callable[[Unit], Awaitable[T]]) -> T:
        """What is read in one unit of work, with stories that are played.

        A story that has to be compiled first is compiled while no connection is held: compilers wait for each other,
        and with a few of those who wait for one the store would have none left for anybody else.
        """
        held: list[_Kept] = []
        while True:
            try:
                async with store.reading() as unit:
                    return await read(unit)
            except _NotCompiled as missing:
                held.append(await self._stored(missing.story))

    def names_for(self, session_id: str) -> Sequence[Reference] | None:
        """What the setup that is kept for a session was gathered from, if one is kept."""
        kept = self._played.get(session_id)
        return None if kept is None else list(kept.revisions)

    def if_current(self, session_id: str, revisions: Mapping[Reference, int]) -> Played | None:
        """What a session plays, if it was played lately and these revisions say that nothing of it has changed."""
        kept = self._played.get(session_id)
        return kept if kept is not None and kept.revisions == revisions else None

    async def played_by(self, unit: Unit, session_id: str) -> Played:
        """What a session plays, as it is now."""
        known = self._played.get(session_id)
        if known is not None and await _are_current(unit, known.revisions):
            return known
        session = await SESSIONS.get(unit, session_id)
        itself = await unit.resources.revisions([Reference(kind="session", id=session_id)])
        material, revisions = await self._shared_by(unit, session)
        played = Played(session=session, material=material, revisions={**revisions, **itself})
        self._played[session_id] = played
        return played

    async def material(self, unit: Unit, session: SessionSettings) -> InkPlaySetup:
        """What a session plays that is about to start."""
        return (await self._shared_by(unit, session))[0]

    async def _shared_by(self, unit: Unit, session: SessionSettings) -> tuple[InkPlaySetup, dict[Reference, int]]:
        key = (session.story_id, session.api_group_id, session.preset_id)
        kept = self._materials.get(key)
        if kept is None or not await _are_current(unit, kept[1]):
            kept = self._materials[key] = await self._gathered(unit, session)
        return kept

    async def _gathered(self, unit: Unit, session: SessionSettings) -> tuple[InkPlaySetup, dict[Reference, int]]:
        story = await INK_STORIES.get(unit, session.story_id)
        group = await API_GROUPS.get(unit, session.api_group_id)
        apis = await APIS.get_all(unit, sorted(set(group.bindings.model_dump().values())))
        names = [
            Reference(kind="story", id=session.story_id),
            Reference(kind="preset", id=session.preset_id),
            Reference(kind="api_group", id=session.api_group_id),
            *(Reference(kind="api", id=id) for id in apis),
        ]
        revisions = await unit.resources.revisions(names)
        material = InkPlaySetup(
            work=await self._found(story),
            preset=await PRESETS.get(unit, session.preset_id),
            group=group,
            apis=apis,
            api_revisions={name.id: revision for name, revision in revisions.items() if name.kind == "api"},
        )
        return material, revisions

    async def of(self, source: str, files: Mapping[str, str]) -> CompiledStory:
        """The story, compiled now unless it was lately."""
        return (await self._of(source, files)).work

    async def _of(self, source: str, files: Mapping[str, str]) -> _Kept:
        size = len(source) + sum(len(text) for text in files.values())
        if size > LONGEST_SOURCE:
            raise InvalidRequest(f"The story has {size} characters; {LONGEST_SOURCE} is the most that can be taken.")
        digest = await _digest(source, files)
        if (kept := self._find(digest)) is not None:
            return kept
        # One at a time: compilers in every thread would leave none for the turns of plays.
        async with self._compiling:
            if (kept := self._find(digest)) is not None:
                return kept
            return self._keep(digest, await run_in_thread(_compiled, source, files, self._places))

    async def errors_of(self, source: str, files: Mapping[str, str]) -> list[str]:
        """What is wrong with a story that is not to be played yet; stories that are played stay where they are."""
        async with self._compiling:
            return (await run_in_thread(publish, source, files)).errors

    def _find(self, name: str) -> _Kept | None:
        if (kept := self._works.get(name)) is not None:
            return kept
        kept = self._at_hand.get(name)
        return None if kept is None else self._keep(name, kept)

    def _keep(self, name: str, kept: _Kept) -> _Kept:
        self._works[name] = self._at_hand[name] = kept
        known = {id(one.work) for one in self._works.values()}
        for key in [key for key, (material, _) in self._materials.items() if id(material.work) not in known]:
            del self._materials[key]
        for session_id in [id_ for id_, played in self._played.items() if id(played.material.work) not in known]:
            del self._played[session_id]
        # A place that is kept has its whole story with it.
        self._places.keep_only({one.work.owner for one in self._works.values()})
        return kept

    async def _found(self, story: InkStory) -> CompiledStory:
        """A story that was published, if it is at hand."""
        digest = await _digest(story.source, story.files)
        for name in (digest, _as_published(digest)):
            if (kept := self._find(name)) is not None and kept.work.published.prototype is not None:
                return kept.work
        raise _NotCompiled(story)

    async def _stored(self, story: InkStory) -> _Kept:
        """A story that was published: what an earlier version of the compiler took is still played."""
        kept = await self._of(story.source, story.files)
        if kept.work.published.prototype is not None:
            return kept
        name = _as_published(kept.work.published.digest)
        async with self._compiling:
            if (known := self._find(name)) is not None:
                return known
            compiled = await run_in_thread(_compiled, story.source, story.files, self._places, forgiving=True)
            if (errors := compiled.work.published.errors) or compiled.work.published.prototype is None:
                # Whoever reads again until it is at hand would do so for ever.
                raise InvalidRequest(_unplayable(story, errors))
            return self._keep(name, compiled)

    async def prepare(self, work: CompiledStory) -> int:
        """Learns the characters that the story names, so that no player waits for it; answers the steps that it took.

        Characters beyond its bounds are learned at the first question, and to the same.
        """
        taken = 0
        for character in sorted({character for character, _ in work.published.talks})[:CHARACTERS_PREPARED]:
            if taken < STEPS_PREPARED:
                taken += await run_in_thread(work.learn, character, default_ai_seed())
        return taken


async def _digest(source: str, files: Mapping[str, str]) -> str:
    if len(source) + sum(len(text) for text in files.values()) > SHORT_SOURCE:
        return await run_in_thread(source_digest, source, files)
    return source_digest(source, files)


def _unplayable(story: InkStory, errors: Sequence[str]) -> str:
    first = errors[0].removeprefix("ERROR: ").rstrip(".") if errors else "it has no beginning"
    return f"The story '{story.story_id}' cannot be played any more: {first}. Edit it, then play on."


def _as_published(digest: str) -> str:
    return f"{digest} as it was published"


def _compiled(source: str, files: Mapping[str, str], places: PlacesRead, *, forgiving: bool = False) -> _Kept:
    weight = max(marks_in(source, files), MARKS_KEPT // WORKS_KEPT)
    work = CompiledStory(published=publish(source, files, forgiving=forgiving), places=places)
    return _Kept(work=work, weight=min(weight, MARKS_KEPT))


async def _are_current(unit: Unit, revisions: dict[Reference, int]) -> bool:
    return await unit.resources.revisions(list(revisions)) == revisions
