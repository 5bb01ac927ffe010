"""Take in and give out files: characters' covers and `.chr` archives, and the archives of data packages."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.library.boundary_warnings import BoundaryWarning, boundary_warnings
from fabula.actions.library.characters import checked_content, drop_cover
from fabula.actions.library.packages import keep_import_archive, limits_of, read_export_archive
from fabula.actions.outside_values import outside_value
from fabula.actions.repositories import CHARACTERS, SCHEMAS
from fabula.actions.setups.sized_covers import SIDES
from fabula.actions.views import View, refuse
from fabula.formats.character_cards import CHR_MEDIA_TYPE, CharacterCard, read_chr, write_chr
from fabula.formats.images import cover_name, read_image
from fabula.ports.actors import Actor
from fabula.ports.errors import Conflict, InvalidRequest
from fabula.ports.store import Unit
from fabula.ports.threads import run_in_thread
from fabula.story.resources import Character, CharacterContent, Cover
from fabula.story.schemas import Schema, schema_problems


class ResourceFile(View):
    """What is known of a file that was taken in. `warnings` are what of a character would cross a line of a world; it
    was taken in all the same."""

    optional = frozenset({"warnings"})
    resource_id: str
    file_id: str
    file_name: str | None
    content_type: str
    size_bytes: int
    warnings: list[BoundaryWarning] = []


@dataclass(frozen=True, kw_only=True)
class FileToSend:
    """A file that is given out. Where it has a `tag`, that changes whenever its content does."""

    data: bytes
    content_type: str
    file_name: str
    tag: str | None = None


@allowed("author")
async def take_file(
    house: House, actor: Actor, resource_id: str, file_id: str, data: bytes, *, file_name: str | None, content_type: str
) -> ResourceFile:
    """Takes a file in; only pairs that exist are known: covers, `.chr` archives, packages to import."""
    kind, _, name = resource_id.partition(":")
    warnings: list[BoundaryWarning] = []
    match (kind, file_id):
        case ("character", "cover"):
            file_name, content_type = await _take_cover(house, name, data)
        case ("character", "archive"):
            _, warnings = await _take_archive(house, data, character_id=name)
            content_type = CHR_MEDIA_TYPE
        case ("characters", "archive"):
            name, warnings = await _take_archive(house, data, character_id=None)
            resource_id = f"character:{name}"
            content_type = CHR_MEDIA_TYPE
        case ("package_import", "archive"):
            await keep_import_archive(house, name, data)
        case _:
            raise _no_such_pair(resource_id, file_id, "uploaded to")
    return ResourceFile(
        resource_id=resource_id,
        file_id=file_id,
        file_name=file_name,
        content_type=content_type,
        size_bytes=len(data),
        warnings=warnings,
    )


@allowed("player")
async def give_sized_cover(house: House, actor: Actor, resource_id: str, side: int) -> FileToSend:
    """Gives a character's cover out as a small picture, at most so many pixels wide and high."""
    kind, _, character_id = resource_id.partition(":")
    if kind != "character":
        raise _no_such_pair(resource_id, "cover", "downloaded from")
    if side not in SIDES:
        raise InvalidRequest(f"`side` is one of {', '.join(map(str, SIDES))}; leave it out for the cover as it is.")
    async with house.store.reading() as unit:
        character = await CHARACTERS.get(unit, character_id)
        blob = "" if character.cover is None else character.cover.blob
        small = house.sized_covers.kept(blob, side)
        data = b"" if small is not None else (await _cover_bytes(unit, character))[1]
    small = small or await house.sized_covers.make(blob, data, side)
    if small is None:
        raise InvalidRequest("The cover cannot be shown smaller. Upload it again.")
    return FileToSend(data=small, content_type="image/webp", file_name="cover.webp", tag=f"{blob}-{side}")


@allowed("player")
async def give_file(house: House, actor: Actor, resource_id: str, file_id: str) -> FileToSend:
    """Gives a file out: covers to everybody, `.chr` archives and packages that were exported to authors."""
    kind, _, name = resource_id.partition(":")
    if file_id != "cover":
        actor.must_be("author", "An archive")
    match (kind, file_id):
        case ("character", "cover"):
            return await _give_cover(house, name)
        case ("character", "archive"):
            return await _give_archive(house, name)
        case ("package_export", "archive"):
            data, file_name, content_type = await read_export_archive(house, name)
            return FileToSend(data=data, content_type=content_type, file_name=file_name)
        case _:
            raise _no_such_pair(resource_id, file_id, "downloaded from")


async def keep_cover(unit: Unit, data: bytes, mime_type: str) -> Cover:
    """Keeps the bytes of a picture that was checked."""
    match mime_type:
        case "image/png" | "image/jpeg" | "image/webp":
            return Cover(blob=await unit.blobs.put(data), file_name=cover_name(mime_type), mime_type=mime_type)
        case _:
            raise InvalidRequest("A cover is a png, jpeg or webp picture.")


async def _take_cover(house: House, character_id: str, data: bytes) -> tuple[str, str]:
    async with house.sized_covers.one_at_a_time:
        kind, problems = await run_in_thread(read_image, data)
    refuse(problems, "cover")
    assert kind is not None

    async def write(unit: Unit) -> None:
        before = await CHARACTERS.get(unit, character_id)
        after = before.model_copy(update={"cover": await keep_cover(unit, data, kind)})
        await CHARACTERS.put(unit, character_id, after)
        await drop_cover(unit, before)

    await house.store.write(write)
    return cover_name(kind), kind


async def _take_archive(house: House, data: bytes, *, character_id: str | None) -> tuple[str, list[BoundaryWarning]]:
    """Adds the character of an archive under the id that it has there; answers that id, and what to look at.

    With a `character_id`, an archive of another character is refused.
    """
    async with house.sized_covers.one_at_a_time:
        card, problems = await run_in_thread(read_chr, data, limits_of(house))
    refuse(problems, "archive")
    assert card is not None
    if character_id is not None and card.character_id != character_id:
        raise InvalidRequest(f"The archive holds the character '{card.character_id}', not '{character_id}'.")
    character_id = card.character_id
    fields = {"tags": [], "folder": "", **card.content}
    content = checked_content(
        await run_in_thread(outside_value, CharacterContent, fields, "The character in the archive")
    )

    async def write(unit: Unit) -> None:
        if await CHARACTERS.find(unit, character_id) is not None:
            raise Conflict(f"There is already a character named '{character_id}'. Delete it, or rename the new one.")
        await _bring_schema(unit, content.schema_id, card)
        cover = await keep_cover(unit, card.cover, card.cover_mime_type)
        await CHARACTERS.add(unit, character_id, Character(content=content, cover=cover))

    await house.store.write(write)
    return character_id, await boundary_warnings(house, {f"characters/{character_id}": content.as_json()})


async def _bring_schema(unit: Unit, schema_id: str, card: CharacterCard) -> None:
    """A schema that travels with the archive is used only where it is missing."""
    if await SCHEMAS.find(unit, schema_id) is not None:
        return
    if card.schema is None:
        raise SCHEMAS.missing(schema_id)
    schema = await run_in_thread(outside_value, Schema, card.schema, "The schema in the archive")
    refuse(schema_problems(schema.fields), "schema of the archive")
    await SCHEMAS.add(unit, schema_id, schema)


async def _give_cover(house: House, character_id: str) -> FileToSend:
    async with house.store.reading() as unit:
        character = await CHARACTERS.get(unit, character_id)
        cover, data = await _cover_bytes(unit, character)
    return FileToSend(data=data, content_type=cover.mime_type, file_name=cover.file_name)


async def _give_archive(house: House, character_id: str) -> FileToSend:
    async with house.store.reading() as unit:
        character = await CHARACTERS.get(unit, character_id)
        cover, data = await _cover_bytes(unit, character)
        schema = await SCHEMAS.get(unit, character.content.schema_id)
    card = CharacterCard(
        content={**character.content.as_json()},
        cover=data,
        cover_mime_type=cover.mime_type,
        schema={**schema.as_json()},
    )
    archive, problems = await run_in_thread(write_chr, card)
    refuse(problems, "character")
    assert archive is not None
    return FileToSend(data=archive, content_type=CHR_MEDIA_TYPE, file_name=f"{character_id}.chr")


async def _cover_bytes(unit: Unit, character: Character) -> tuple[Cover, bytes]:
    data = None if character.cover is None else await unit.blobs.get(character.cover.blob)
    if character.cover is None or data is None:
        raise Conflict(f"The character '{character.content.id}' has no cover. Upload one first.")
    return character.cover, data


def _no_such_pair(resource_id: str, file_id: str, verb: str) -> InvalidRequest:
    return InvalidRequest(
        f"'{resource_id[:140]}' and '{file_id[:60]}' are no pair that can be {verb}. "
        "Known are character:ID with cover or archive, package_import:ID or package_export:ID with archive, "
        "and session_export:ID with file."
    )
