"""Keep lorebooks and their entries."""

from __future__ import annotations

from collections import Counter
from typing import Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.listing import Listing
from fabula.actions.repositories import LOREBOOKS, checked_name, checked_new_name
from fabula.actions.views import Command, ListView, Paging, View, changed, part_of, refuse
from fabula.ports.actors import Actor
from fabula.ports.errors import Conflict, NotFound
from fabula.ports.store import PartName
from fabula.story.knowledge import EVERYONE, KnownBy, piece_problems
from fabula.story.resources import Lorebook, LorebookEntry

MatchRule = Literal["word", "substring"]


class CreateLorebook(Command):
    lorebook_id: str
    display_name: str
    entries: list[LorebookEntry] = []


class UpdateLorebook(Command):
    lorebook_id: str
    display_name: str | None = None


class NameLorebook(Command):
    lorebook_id: str


class CreateLorebookEntry(Command):
    type: Literal["lorebook_entry"] = "lorebook_entry"
    lorebook_id: str
    entry_id: str
    title: str
    content: str
    keywords: list[str] = []
    enabled: bool = True
    always_include: bool = False
    match: MatchRule = "word"
    order: int = 0
    budget: int | None = Field(default=None, ge=1)
    recursive: bool = False
    known_by: KnownBy | None = None
    secret: bool = False


class UpdateLorebookEntry(Command):
    type: Literal["lorebook_entry"] = "lorebook_entry"
    lorebook_id: str
    entry_id: str
    title: str | None = None
    content: str | None = None
    keywords: list[str] | None = None
    enabled: bool | None = None
    always_include: bool | None = None
    match: MatchRule | None = None
    order: int | None = None
    budget: int | None = Field(default=None, ge=1)
    recursive: bool | None = None
    known_by: KnownBy | None = None
    secret: bool | None = None


class ListLorebookEntries(Paging):
    lorebook_id: str


class NameLorebookEntry(Command):
    lorebook_id: str
    entry_id: str


class LorebookView(View):
    may_be_large = True
    type: Literal["lorebook"] = "lorebook"
    lorebook_id: str
    display_name: str
    entries: list[LorebookEntry]


class LorebooksListed(ListView):
    type: Literal["lorebooks_listed"] = "lorebooks_listed"
    lorebooks: list[LorebookView]


class LorebookDeleted(View):
    type: Literal["lorebook_deleted"] = "lorebook_deleted"
    lorebook_id: str


class LorebookEntryView(View):
    optional = frozenset({"budget", "known_by", "secret"})
    type: Literal["lorebook_entry"] = "lorebook_entry"
    lorebook_id: str
    entry_id: str
    title: str
    content: str
    keywords: list[str]
    enabled: bool
    always_include: bool
    match: MatchRule
    order: int
    budget: int | None = None
    recursive: bool
    known_by: KnownBy | None = None
    secret: bool = False


class LorebookEntriesListed(ListView):
    type: Literal["lorebook_entries_listed"] = "lorebook_entries_listed"
    lorebook_id: str
    entries: list[LorebookEntryView]


class LorebookEntryDeleted(View):
    type: Literal["lorebook_entry_deleted"] = "lorebook_entry_deleted"
    lorebook_id: str
    entry_id: str


@allowed("author")
async def create_lorebook(house: House, actor: Actor, command: CreateLorebook) -> LorebookView:
    """Adds a lorebook, perhaps with its first entries."""
    checked_new_name(command.lorebook_id, LOREBOOKS.noun)
    book = Lorebook(**dict(command))
    _refuse_twins(book)
    async with house.store.writing() as unit:
        await LOREBOOKS.add(unit, book.lorebook_id, book)
    return _view(book)


@allowed("author")
async def get_lorebook(house: House, actor: Actor, command: NameLorebook) -> LorebookView:
    """Shows a lorebook with all entries."""
    async with house.store.reading() as unit:
        return _view(await LOREBOOKS.get(unit, command.lorebook_id))


@allowed("author")
async def list_lorebooks(house: House, actor: Actor, command: Listing) -> LorebooksListed:
    """Lists lorebooks, by id or `order`. `query` finds words of names and ids, and of titles and keywords."""
    async with house.store.reading() as unit:
        books, cursor = await LOREBOOKS.page(unit, command)
    return LorebooksListed(lorebooks=[_view(book) for book in books], next_cursor=cursor)


@allowed("author")
async def update_lorebook(house: House, actor: Actor, command: UpdateLorebook) -> LorebookView:
    """Renames a lorebook."""
    async with house.store.writing() as unit:
        before = await LOREBOOKS.get(unit, command.lorebook_id)
        after = Lorebook(**changed(before, command, "display_name"))
        await LOREBOOKS.put(unit, after.lorebook_id, after)
    return _view(after)


@allowed("author")
async def delete_lorebook(house: House, actor: Actor, command: NameLorebook) -> LorebookDeleted:
    """Removes a lorebook that no story resource uses."""
    async with house.store.writing() as unit:
        await LOREBOOKS.remove(unit, command.lorebook_id)
    return LorebookDeleted(lorebook_id=command.lorebook_id)


@allowed("author")
async def create_lorebook_entry(house: House, actor: Actor, command: CreateLorebookEntry) -> LorebookEntryView:
    """Adds an entry at the end of a lorebook."""
    checked_new_name(command.entry_id, "lorebook entry")
    entry = _checked(LorebookEntry(**dict(command)))
    async with house.store.writing() as unit:
        book = await LOREBOOKS.get(unit, command.lorebook_id)
        after = book.model_copy(update={"entries": [*book.entries, entry]})
        _refuse_twins(after)
        await LOREBOOKS.put(unit, book.lorebook_id, after)
    return _entry_view(book.lorebook_id, entry)


@allowed("author")
async def get_lorebook_entry(house: House, actor: Actor, command: NameLorebookEntry) -> LorebookEntryView:
    """Shows one entry."""
    async with house.store.reading() as unit:
        book = await LOREBOOKS.get(unit, command.lorebook_id)
    return _entry_view(book.lorebook_id, _entry(book, command.entry_id))


@allowed("author")
async def list_lorebook_entries(house: House, actor: Actor, command: ListLorebookEntries) -> LorebookEntriesListed:
    """Lists a lorebook's entries in the author's order."""
    async with house.store.reading() as unit:
        book = await LOREBOOKS.get(unit, command.lorebook_id)
    entries, cursor = part_of(book.entries, command, lambda entry: entry.entry_id)
    views = [_entry_view(book.lorebook_id, entry) for entry in entries]
    return LorebookEntriesListed(lorebook_id=book.lorebook_id, entries=views, next_cursor=cursor)


@allowed("author")
async def update_lorebook_entry(house: House, actor: Actor, command: UpdateLorebookEntry) -> LorebookEntryView:
    """Changes an entry; fields that are not given stay as they are."""
    names = [name for name in LorebookEntry.model_fields if name != "entry_id"]

    def changed_entry(old: LorebookEntry) -> LorebookEntry:
        return _checked(LorebookEntry(**changed(old, command, *names)))

    async with house.store.writing() as unit:
        # Most books are written by this version, and then nothing but the entry is read.
        part = await unit.resources.change_part(
            LOREBOOKS.kind,
            checked_name(command.lorebook_id, LOREBOOKS.noun),
            PartName(list="entries", key="entry_id", name=checked_name(command.entry_id, "lorebook entry")),
            lambda stored: changed_entry(LorebookEntry.model_validate(stored)).as_json(),
            fits=LOREBOOKS.fits,
        )
        if part is not None:
            return _entry_view(command.lorebook_id, LorebookEntry.model_validate(part))
        book = await LOREBOOKS.get(unit, command.lorebook_id)
        entry = changed_entry(_entry(book, command.entry_id))
        entries = [entry if old.entry_id == entry.entry_id else old for old in book.entries]
        await LOREBOOKS.put(unit, book.lorebook_id, book.model_copy(update={"entries": entries}))
    return _entry_view(book.lorebook_id, entry)


@allowed("author")
async def delete_lorebook_entry(house: House, actor: Actor, command: NameLorebookEntry) -> LorebookEntryDeleted:
    """Removes an entry."""
    async with house.store.writing() as unit:
        book = await LOREBOOKS.get(unit, command.lorebook_id)
        gone = _entry(book, command.entry_id)
        entries = [entry for entry in book.entries if entry.entry_id != gone.entry_id]
        await LOREBOOKS.put(unit, book.lorebook_id, book.model_copy(update={"entries": entries}))
    return LorebookEntryDeleted(lorebook_id=book.lorebook_id, entry_id=gone.entry_id)


def _entry(book: Lorebook, entry_id: str) -> LorebookEntry:
    checked_name(entry_id, "lorebook entry")
    for entry in book.entries:
        if entry.entry_id == entry_id:
            return entry
    raise NotFound(f"Lorebook '{book.lorebook_id}' has no entry named '{entry_id}'.")


def _checked(entry: LorebookEntry) -> LorebookEntry:
    """The entry; who is meant by everyone need not be said."""
    refuse(list(piece_problems([entry], f"entry '{entry.entry_id}'")), "lorebook entry")
    return entry.model_copy(update={"known_by": None}) if entry.known_by == EVERYONE else entry


def _refuse_twins(book: Lorebook) -> None:
    twins = [id for id, count in Counter(entry.entry_id for entry in book.entries).items() if count > 1]
    if twins:
        raise Conflict(f"Lorebook '{book.lorebook_id}' has an entry named '{twins[0]}' already.")


def _view(book: Lorebook) -> LorebookView:
    return LorebookView(**dict(book))


def _entry_view(lorebook_id: str, entry: LorebookEntry) -> LorebookEntryView:
    return LorebookEntryView(lorebook_id=lorebook_id, **dict(entry))
