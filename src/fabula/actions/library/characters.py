"""Keep characters and their covers."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.listing import Listing
from fabula.actions.repositories import CHARACTERS, checked_name, checked_new_name
from fabula.actions.views import Command, ListView, View, refuse
from fabula.language.terms import terms_problem
from fabula.ports.actors import Actor
from fabula.ports.errors import InvalidRequest
from fabula.ports.store import Unit
from fabula.story.knowledge import Fact, piece_problems
from fabula.story.minds import Mask, Trauma
from fabula.story.resources import Character, CharacterContent
from fabula.story.values import Value


class ContentDraft(Value):
    """A character's content as a client sends it, before its names are checked."""

    id: str
    name: str
    personality: str
    style: str
    schema_id: str
    system_prompt: str
    tags: list[str] = []
    folder: str = ""
    facts: list[Fact] = Field(default=[], max_length=100)
    mask: Mask | None = None
    traumas: list[Trauma] = Field(default=[], max_length=20)


class CreateCharacter(Command):
    content: ContentDraft


class UpdateCharacter(Command):
    character_id: str
    content: ContentDraft


class NameCharacter(Command):
    character_id: str


class CharacterSummary(View):
    type: Literal["character_summary"] = "character_summary"
    character_id: str
    name: str
    personality: str
    style: str
    tags: list[str]
    folder: str
    cover_file_name: str | None
    cover_mime_type: str | None


class CharacterCreated(View):
    type: Literal["character_created"] = "character_created"
    character_id: str
    character_summary: CharacterSummary


class CharacterView(View):
    type: Literal["character"] = "character"
    character_id: str
    content: CharacterContent
    cover_file_name: str | None
    cover_mime_type: str | None


class CharactersListed(ListView):
    type: Literal["characters_listed"] = "characters_listed"
    characters: list[CharacterSummary]


class CharacterDeleted(View):
    type: Literal["character_deleted"] = "character_deleted"
    character_id: str


@allowed("author")
async def create_character(house: House, actor: Actor, command: CreateCharacter) -> CharacterCreated:
    """Adds a character; its schema must exist."""
    character = Character(content=checked_content(command.content))
    async with house.store.writing() as unit:
        await CHARACTERS.add(unit, character.content.id, character)
    return CharacterCreated(character_id=character.content.id, character_summary=summary_of(character))


@allowed("author")
async def get_character(house: House, actor: Actor, command: NameCharacter) -> CharacterView:
    """Shows a character."""
    async with house.store.reading() as unit:
        return _view(await CHARACTERS.get(unit, command.character_id))


@allowed("author")
async def update_character(house: House, actor: Actor, command: UpdateCharacter) -> CharacterView:
    """Replaces a character's content; its cover stays."""
    checked_name(command.character_id, CHARACTERS.noun)
    if command.content.id != command.character_id:
        raise InvalidRequest(
            f"content.id is '{command.content.id}', but character_id is '{command.character_id}'. They must be equal."
        )
    async with house.store.writing() as unit:
        before = await CHARACTERS.get(unit, command.character_id)
        after = before.model_copy(update={"content": checked_content(command.content)})
        await CHARACTERS.put(unit, command.character_id, after)
    return _view(after)


@allowed("player")
async def list_characters(house: House, actor: Actor, command: Listing) -> CharactersListed:
    """Lists characters in short, by id or `order`. `query` finds words of names, tags, folders and personalities."""
    async with house.store.reading() as unit:
        characters, cursor = await CHARACTERS.page(unit, command)
    return CharactersListed(characters=[summary_of(one) for one in characters], next_cursor=cursor)


@allowed("author")
async def delete_character(house: House, actor: Actor, command: NameCharacter) -> CharacterDeleted:
    """Removes a character that no story resource uses, and its cover."""
    async with house.store.writing() as unit:
        character = await CHARACTERS.get(unit, command.character_id)
        await CHARACTERS.remove(unit, command.character_id)
        await drop_cover(unit, character)
    return CharacterDeleted(character_id=command.character_id)


async def drop_cover(unit: Unit, character: Character) -> None:
    """Gives the bytes of a cover back; they stay for as long as another character shows the same picture."""
    if character.cover is not None:
        await unit.blobs.remove(character.cover.blob)


def checked_content(draft: ContentDraft | CharacterContent) -> CharacterContent:
    """The content with tags trimmed and told once, and the folder without outer slashes."""
    checked_new_name(draft.id, CHARACTERS.noun)
    checked_name(draft.schema_id, "schema")
    checked_new_name(draft.schema_id, "schema")
    refuse(list(piece_problems(draft.facts, f"a fact of character '{draft.id}'")), "character")
    touching = [] if draft.mask is None else [*draft.mask.hidden, *draft.mask.touches]
    touching += [trigger for trauma in draft.traumas for trigger in trauma.triggers]
    if (problem := terms_problem("What touches a character", touching)) is not None:
        raise InvalidRequest(problem)
    tags = list(dict.fromkeys(tag.strip() for tag in draft.tags if tag.strip()))
    folder = "/".join(part.strip() for part in draft.folder.split("/") if part.strip())
    return CharacterContent(**{**dict(draft), "tags": tags, "folder": folder})


def summary_of(character: Character) -> CharacterSummary:
    content, cover = character.content, character.cover
    return CharacterSummary(
        character_id=content.id,
        name=content.name,
        personality=content.personality,
        style=content.style,
        tags=content.tags,
        folder=content.folder,
        cover_file_name=cover.file_name if cover else None,
        cover_mime_type=cover.mime_type if cover else None,
    )


def _view(character: Character) -> CharacterView:
    cover = character.cover
    return CharacterView(
        character_id=character.content.id,
        content=character.content,
        cover_file_name=cover.file_name if cover else None,
        cover_mime_type=cover.mime_type if cover else None,
    )
