"""Casting: the author picks characters that exist, or makes new ones in three answers."""

from __future__ import annotations

from fabula.actions.house import House
from fabula.actions.library.characters import (
    CharacterSummary,
    ContentDraft,
    CreateCharacter,
    create_character,
    list_characters,
)
from fabula.actions.library.files import take_file
from fabula.actions.library.schemas import CreateSchema, NameSchema, create_schema, get_schema
from fabula.actions.listing import Listing
from fabula.cli.author.questions import Author
from fabula.cli.player.lines import typed_number
from fabula.formats.portraits import draw_portrait, portrait_for
from fabula.ports.actors import OPERATOR
from fabula.ports.errors import NotFound
from fabula.ports.threads import run_in_thread
from fabula.story.schemas import SchemaField

SCHEMA_ID = "plain-character"
NEW, DONE = "new", "done"


async def cast_story(house: House, author: Author) -> list[str]:
    """The ids of the cast; at least one."""
    known = (await list_characters(house, OPERATOR, Listing())).characters
    if known:
        author.writer.say("Who is in it? These are there already:", "bold")
        for number, character in enumerate(known, 1):
            author.writer.row(f"{number}. {character.name} ({character.folder or character.character_id})", indent=2)
    cast: list[str] = []
    while True:
        default = DONE if cast else NEW
        said = await author.answer("Numbers, `new` for a new character, or `done`", default=default)
        if said == DONE and cast:
            return cast
        found = [await _make(house, author)] if said == NEW else _picked(said, known, author)
        cast = list(dict.fromkeys([*cast, *found]))


def _picked(said: str, known: list[CharacterSummary], author: Author) -> list[str]:
    numbers = [number for part in said.replace(",", " ").split() if (number := typed_number(part)) is not None]
    found = [known[number - 1] for number in numbers if 1 <= number <= len(known)]
    if not found:
        author.writer.say("That is none of them. Answer with numbers (1, 3), `new` or `done`.", "yellow")
    for character in found:
        author.writer.say(f"{character.name} is in.")
    return [character.character_id for character in found]


async def _make(house: House, author: Author) -> str:
    name = await author.answer("Name")
    personality = await author.answer("Who are they, in a sentence or two")
    style = await author.answer("How do they speak", default="Plainly, in short sentences.")
    await _set_out_schema(house)
    content = ContentDraft(
        id=house.ids.new("character"),
        name=name,
        personality=personality,
        style=style,
        schema_id=SCHEMA_ID,
        system_prompt="You are {{char}}. {{user}} stands before you.",
    )
    made = await create_character(house, OPERATOR, CreateCharacter(content=content))
    cover = await run_in_thread(lambda: draw_portrait(portrait_for(name)))
    await take_file(
        house,
        OPERATOR,
        f"character:{made.character_id}",
        "cover",
        cover,
        file_name="cover.png",
        content_type="image/png",
    )
    author.writer.say(f"{name} is in.")
    return made.character_id


async def _set_out_schema(house: House) -> None:
    """Characters need a schema; those made here share a plain one."""
    try:
        await get_schema(house, OPERATOR, NameSchema(schema_id=SCHEMA_ID))
    except NotFound:
        mood = SchemaField(value_type="string", default="even", description="How the character feels, in a word.")
        await create_schema(
            house, OPERATOR, CreateSchema(schema_id=SCHEMA_ID, display_name="Plain character", fields={"mood": mood})
        )
