"""Shelves: each kind of resource by its typed value, with what it refers to."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any, Generic, TypeVar

import orjson
from pydantic import ValidationError

from fabula.actions.listing import Listing, listed_ids
from fabula.actions.views import Paging, cursor_after, place_of
from fabula.ports.errors import InvalidRequest, NotFound, StoreError, error_from
from fabula.ports.store import Kind, Reference, Stored, Unit
from fabula.ports.threads import run_in_thread
from fabula.ports.throttle import Throttle
from fabula.rules.systems import builtin_systems
from fabula.story.game_systems import NO_RULES, GameSystem
from fabula.story.ink_stories import InkStory
from fabula.story.misfits import misfits
from fabula.story.plays import SessionSettings
from fabula.story.resources import Api, ApiGroup, Character, Lorebook, PlayerProfile, Preset, StoryResources
from fabula.story.schemas import Schema
from fabula.story.stories import Story, StoryDraft
from fabula.story.values import JsonObject, Value
from fabula.story.worlds import World

log = logging.getLogger("fabula.stored")
_lines = Throttle(time.monotonic, 1)
# A list may be read many times a second: what it passes over is told once a minute.
log.addFilter(lambda record: _lines.allows(record.getMessage()))

T = TypeVar("T")
V = TypeVar("V", bound=Value)
P = TypeVar("P", bound=Paging)
AnyStory = Story | InkStory
LARGEST_LOREBOOK = 16_000_000
LARGEST_WORLD = 2_000_000
LARGEST_PRESET = 2_000_000
MOST_TEXTS = 250_000
"""Each of them takes fifty bytes and more, a few times over: three million made a server grow by a gigabyte."""
MOST_LISTED = 8_000_000
"""So many letters of what may be very large are listed at once: in memory they take twenty times as much."""
_ID = re.compile(r"[A-Za-z0-9\-_.:]{1,128}")


@dataclass(frozen=True, kw_only=True)
class Repository(Generic[V]):
    """All resources of one kind.

    Where a kind has several shapes, `shapes` names those of this repository by the document's own `kind`. Of what
    `may_be_large` the values are made in a thread. One that grows piece by piece has at most `largest` bytes and
    `most_texts` texts; what was stored before there was a limit is read, and may become smaller.
    """

    kind: Kind
    noun: str
    model: type[V]
    references: Callable[[V], Iterable[Reference]]
    shapes: Mapping[str, type[V]] | None = None
    may_be_large: bool = False
    largest: int | None = None
    most_texts: int = MOST_TEXTS

    async def find(self, unit: Unit, id: str) -> V | None:
        stored = await unit.resources.get(self.kind, checked_name(id, self.noun))
        return None if stored is None else (await self.read_all([stored]))[0]

    async def get(self, unit: Unit, id: str) -> V:
        found = await self.find(unit, id)
        if found is None:
            raise self.missing(id)
        return found

    async def get_all(self, unit: Unit, ids: Sequence[str]) -> dict[str, V]:
        """Several at once; the first missing one is named."""
        stored = await unit.resources.get_many(self.kind, list(ids))
        for id in ids:
            if id not in stored:
                raise self.missing(id)
        return dict(zip(stored, await self.read_all(stored.values()), strict=True))

    async def find_all(self, unit: Unit, ids: Sequence[str]) -> dict[str, V]:
        """Those of them that are there and can be read."""
        stored = await unit.resources.get_many(self.kind, list(ids))
        return {row.id: value for row, value in await self.read_whole(stored.values())}

    async def first(self, unit: Unit) -> str | None:
        """The first one that can be read, the user's own before what is built in; if there is none, the first."""
        first = await unit.resources.first(self.kind)
        if first is None or await self.find_all(unit, [first]):
            return first
        rows = await unit.resources.page(self.kind)
        whole = [row for row, _ in await self.read_whole(sorted(rows, key=lambda row: row.built_in))]
        return whole[0].id if whole else first

    async def add(self, unit: Unit, id: str, value: V, *, built_in: bool = False) -> Stored:
        checked_new_name(id, self.noun)
        document = await self._document(value)
        await self._check_size(document)
        return await unit.resources.add(self.kind, id, document, references=self.refers_to(value), built_in=built_in)

    async def put(self, unit: Unit, id: str, value: V) -> Stored:
        document = await self._document(value)
        await self._check_size(document, unit, id)
        return await unit.resources.put(self.kind, id, document, references=self.refers_to(value))

    async def remove(self, unit: Unit, id: str) -> None:
        await unit.resources.remove(self.kind, checked_name(id, self.noun))

    async def page(self, unit: Unit, paging: Paging) -> tuple[list[V], str | None]:
        """The values of one page, and the cursor of the next page if a limit cut it.

        They are in the order of their ids, or as a Listing asks for. What cannot be read is passed over."""
        rows, cursor = await self.page_of_rows(unit, paging)
        return [value for _, value in await self.read_whole(rows)], cursor

    async def page_of_rows(self, unit: Unit, paging: Paging) -> tuple[list[Stored], str | None]:
        """The same as it is stored. Where one may have megabytes, a page ends when they come to many together."""
        if self.largest is not None:
            paging = await self._bounded(unit, paging)
        if isinstance(paging, Listing) and not paging.is_plain:
            ids, cursor = await listed_ids(unit, self.kind, paging)
            found = await unit.resources.get_many(self.kind, ids)
            return [found[id] for id in ids if id in found], cursor
        limit = None if paging.limit is None else paging.limit + 1
        rows = await unit.resources.page(self.kind, after=place_of(self.kind, paging.cursor), limit=limit)
        if paging.limit is None or len(rows) <= paging.limit:
            return rows, None
        rows = rows[: paging.limit]
        return rows, cursor_after(self.kind, rows[-1].id)

    async def _bounded(self, unit: Unit, paging: P) -> P:
        """What is asked for, or as much of it as may be listed at once."""
        if isinstance(paging, Listing) and not paging.is_plain:
            ids, _ = await listed_ids(unit, self.kind, paging)
            known = await unit.resources.sizes(self.kind, ids)
            sizes = [known.get(id, 0) for id in ids]
        else:
            after = place_of(self.kind, paging.cursor)
            sizes = await unit.resources.page_sizes(self.kind, after=after, limit=paging.limit)
        if sum(sizes) <= MOST_LISTED:
            return paging
        if paging.limit is None:
            raise InvalidRequest(
                f"These {self.noun}s have {sum(sizes)} letters together, and {MOST_LISTED} may be listed at once. "
                "Read the list in parts, with `limit`."
            )
        fit = sum(so_far <= MOST_LISTED for so_far in accumulate(sizes))
        return paging.model_copy(update={"limit": max(1, fit)})

    def refers_to(self, value: V) -> list[Reference]:
        return sorted(set(self.references(value)))

    async def read_all(self, stored: Iterable[Stored]) -> list[V]:
        """The values of several documents; the first one that cannot be read is refused."""

        def read() -> list[V]:
            return [self.read(one) for one in stored]

        return await run_in_thread(read) if self.may_be_large else read()

    async def read_whole(self, stored: Iterable[Stored]) -> list[tuple[Stored, V]]:
        """Those of several documents that can be read, with their values."""
        if self.may_be_large:
            return await run_in_thread(self.those_read, stored, self.read)
        return self.those_read(stored, self.read)

    def those_read(self, stored: Iterable[Stored], read: Callable[[Stored], T]) -> list[tuple[Stored, T]]:
        """What is read of those that can be read. The others are named in the log: nobody else is refused for them."""
        found: list[tuple[Stored, T]] = []
        for one in stored:
            try:
                found.append((one, self._checked(one, read)))
            except StoreError as error:
                log.warning("A list passes it over: %s", error.message)
        return found

    async def _document(self, value: V) -> JsonObject:
        return await run_in_thread(value.as_json) if self.may_be_large else value.as_json()

    def fits(self, text: str) -> bool:
        """Whether a document that was written down is as large as one may be."""
        return self._problem(text.encode()) is None

    async def _check_size(self, document: JsonObject, unit: Unit | None = None, id: str = "") -> None:
        if self.largest is None or (problem := await run_in_thread(self._problem_of, document)) is None:
            return
        before = None if unit is None else await unit.resources.get(self.kind, id)
        if before is None or not await run_in_thread(_is_smaller, document, before.doc):
            raise InvalidRequest(problem)

    def _problem_of(self, document: JsonObject) -> str | None:
        return self._problem(orjson.dumps(document))

    def _problem(self, data: bytes) -> str | None:
        size, texts = _measure(data)
        for most, has, what in ((self.largest, size, "bytes"), (self.most_texts, texts, "texts")):
            if most is not None and has > most:
                return f"A {self.noun} may have {most} {what}, and this one would have {has}. Leave something out."
        return None

    def read(self, stored: Stored) -> V:
        return self._checked(stored, lambda whole: self.model_of(whole.doc).model_validate(whole.doc))

    def _checked(self, stored: Stored, read: Callable[[Stored], T]) -> T:
        """What is read of a document; raises StoreError that names it for one that is damaged."""
        self.refuse_damaged(stored)
        try:
            return read(stored)
        except ValidationError as error:
            raise StoreError(f"The stored {self.noun} '{stored.id}' is damaged: {misfits(error)[0]['msg']}.") from None

    def problem(self, stored: Stored) -> str | None:
        """Why a document cannot be read, if so."""
        try:
            self.read(stored)
        except StoreError as error:
            return error.message
        return None

    def refuse_damaged(self, stored: Stored) -> None:
        if stored.damage is not None:
            raise error_from(stored.damage)

    def model_of(self, doc: JsonObject) -> type[V]:
        """The shape of a document; one that is not of this repository is refused."""
        if self.shapes is None:
            return self.model
        shape = self.shapes.get(str(doc.get("kind", "graph")))
        if shape is None:
            raise InvalidRequest(
                f"This cannot be done with the {self.noun} '{doc.get('story_id')}': it is of kind "
                f"'{doc.get('kind', 'graph')}'."
            )
        return shape

    def missing(self, id: str) -> NotFound:
        return NotFound(f"There is no {self.noun} named '{id}'.", kind=self.kind, id=id)


def _measure(data: bytes) -> tuple[int, int]:
    """How many bytes a document has, and how many texts that follow another one: such a mark stands in no text."""
    return len(data), data.count(b'","')


def _is_smaller(document: JsonObject, before: JsonObject) -> bool:
    (size, texts), (old_size, old_texts) = _measure(orjson.dumps(document)), _measure(orjson.dumps(before))
    return size < old_size and texts <= old_texts


def checked_name(id: str, noun: str) -> str:
    """The id of something that should exist; an empty one is refused."""
    if not id.strip():
        raise InvalidRequest(f"The id of the {noun} is empty. Name it.")
    return id


def checked_new_name(id: str, noun: str) -> str:
    """The id for something new: 1 to 128 letters, digits, `-_.:`."""
    checked_name(id, noun)
    if not _ID.fullmatch(id):
        raise InvalidRequest(f"The {noun} id '{id[:140]}' cannot be used: take 1 to 128 letters, digits or any of -_.:")
    return id


def _nothing(_: Value) -> Iterable[Reference]:
    return ()


def _of(kind: Kind, *ids: str | None) -> list[Reference]:
    return [Reference(kind=kind, id=id) for id in ids if id is not None]


def _group_references(group: ApiGroup) -> list[Reference]:
    return _of("api", *group.bindings.model_dump().values())


def _resource_references(resource: StoryResources) -> list[Reference]:
    return [
        *_of("character", *resource.character_ids),
        *_of("lorebook", *resource.lorebook_ids),
        *_of("schema", resource.player_schema_id_seed, resource.world_schema_id_seed),
    ]


def _story_references(story: AnyStory) -> list[Reference]:
    return [
        *_of("story_resources", story.resource_id or None),
        *_of("schema", story.world_schema_id or None, story.player_schema_id or None),
        *_of("game_system", _stored_system(story.rules)),
        *_of("world", story.world_id),
    ]


def _world_references(world: World) -> list[Reference]:
    start = world.free
    if start is None:
        return []
    return [*_of("lorebook", *start.lorebook_ids), *_of("schema", start.player_schema_id)]


def _draft_references(draft: StoryDraft) -> list[Reference]:
    """A finalised draft is history: it holds nothing back."""
    if draft.status == "finalized":
        return []
    return [
        *_of("story_resources", draft.resource_id),
        *_of("api_group", draft.api_group_id),
        *_of("preset", draft.preset_id),
        *_of("schema", draft.world_schema_id, draft.player_schema_id),
    ]


def _session_references(session: SessionSettings) -> list[Reference]:
    return [
        *_of("story", session.story_id),
        *_of("player_profile", session.player_profile_id),
        *_of("schema", session.player_schema_id or None),
        *_of("api_group", session.api_group_id),
        *_of("preset", session.preset_id),
        *_of("game_system", _stored_system(session.rules)),
    ]


def _stored_system(system_id: str | None) -> str | None:
    """A system that is built in is in no store, and neither is `none`."""
    return None if system_id in builtin_systems() or system_id == NO_RULES else system_id


APIS = Repository(kind="api", noun="api", model=Api, references=_nothing)
API_GROUPS = Repository(kind="api_group", noun="api group", model=ApiGroup, references=_group_references)
PRESETS = Repository(
    kind="preset", noun="preset", model=Preset, references=_nothing, may_be_large=True, largest=LARGEST_PRESET
)
SCHEMAS = Repository(kind="schema", noun="schema", model=Schema, references=_nothing)
WORLDS = Repository(
    kind="world", noun="world", model=World, references=_world_references, may_be_large=True, largest=LARGEST_WORLD
)
GAME_SYSTEMS = Repository(kind="game_system", noun="game system", model=GameSystem, references=_nothing)
LOREBOOKS = Repository(
    kind="lorebook",
    noun="lorebook",
    model=Lorebook,
    references=_nothing,
    may_be_large=True,
    largest=LARGEST_LOREBOOK,
)
PLAYER_PROFILES = Repository(kind="player_profile", noun="player profile", model=PlayerProfile, references=_nothing)
CHARACTERS = Repository(
    kind="character",
    noun="character",
    model=Character,
    references=lambda character: _of("schema", character.content.schema_id),
)
STORY_RESOURCES = Repository(
    kind="story_resources", noun="story resource", model=StoryResources, references=_resource_references
)
STORIES = Repository(
    kind="story",
    noun="story",
    model=Story,
    references=_story_references,
    shapes={"graph": Story},
    may_be_large=True,
)
INK_STORIES = Repository(
    kind="story", noun="story", model=InkStory, references=_story_references, shapes={"ink": InkStory}
)
ALL_STORIES: Repository[AnyStory] = Repository(
    kind="story",
    noun="story",
    model=Story,
    references=_story_references,
    shapes={"graph": Story, "ink": InkStory},
    may_be_large=True,
)
SESSIONS = Repository(kind="session", noun="session", model=SessionSettings, references=_session_references)
DRAFTS = Repository(
    kind="story_draft", noun="story draft", model=StoryDraft, references=_draft_references, may_be_large=True
)
EVERY_KIND: Sequence[Repository[Any]] = (
    APIS,
    API_GROUPS,
    PRESETS,
    SCHEMAS,
    WORLDS,
    GAME_SYSTEMS,
    LOREBOOKS,
    PLAYER_PROFILES,
    CHARACTERS,
    STORY_RESOURCES,
    ALL_STORIES,
    SESSIONS,
    DRAFTS,
)
