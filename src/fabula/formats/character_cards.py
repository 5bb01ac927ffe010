"""`.chr` archives: a character with its cover, and perhaps its schema, in one file (version 1)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from fabula.formats.archives import JsonObject, Limits, pack, path_problem, read_object, unpack, write_object
from fabula.formats.images import ImageType, cover_name, read_image

CHR_FORMAT: Final = "sillystage_character_card"
CHR_VERSION: Final = 1
CHR_MEDIA_TYPE: Final = "application/x-sillystage-character-card"

ID_PATTERN: Final = re.compile(r"[A-Za-z0-9\-_.:]{1,128}")
_TEXTS: Final = ("id", "name", "personality", "style", "schema_id", "system_prompt")


@dataclass(frozen=True, kw_only=True)
class CharacterCard:
    """What a `.chr` archive holds. `content` has the fields of a character's content, `schema` those of a schema."""

    content: JsonObject
    cover: bytes
    cover_mime_type: ImageType
    schema: JsonObject | None = None

    @property
    def character_id(self) -> str:
        return str(self.content["id"])


def read_chr(data: bytes, limits: Limits | None = None) -> tuple[CharacterCard | None, list[str]]:
    """The character in an archive, and why it is refused; exactly one of both."""
    files, problems = unpack(data, limits)
    if problems:
        return None, problems
    manifest, problems = read_object(files, "manifest.json")
    problems = problems or manifest_problems(manifest)
    if problems:
        return None, problems
    return _read_parts(files, manifest)


def manifest_problems(manifest: JsonObject) -> list[str]:
    """What is wrong with the manifest of a `.chr` archive."""
    problems = []
    if manifest.get("format") != CHR_FORMAT:
        problems.append(f"the manifest's format is not '{CHR_FORMAT}'")
    if not _is_version(manifest.get("version"), CHR_VERSION):
        problems.append(f"the manifest's version is not {CHR_VERSION}")
    if manifest.get("content_path") != "content.json":
        problems.append("the manifest's content_path is not 'content.json'")
    cover_path = manifest.get("cover_path")
    if not isinstance(cover_path, str) or not cover_path.startswith("cover.") or path_problem(cover_path):
        problems.append("the manifest's cover_path does not begin with 'cover.'")
    return problems


def _is_version(found: object, wanted: int) -> bool:
    return type(found) is int and found == wanted


def _read_parts(files: dict[str, bytes], manifest: JsonObject) -> tuple[CharacterCard | None, list[str]]:
    content, problems = read_object(files, "content.json")
    problems = problems or content_problems(content)
    if not problems and manifest.get("character_id") != content["id"]:
        problems = ["the character ids of manifest.json and content.json differ"]
    schema, schema_problems = _read_schema(files, content)
    kind, cover_problems = _read_cover(files, manifest)
    problems = [*problems, *schema_problems, *cover_problems]
    if problems or kind is None:
        return None, problems
    cover = files[str(manifest["cover_path"])]
    return CharacterCard(content=content, cover=cover, cover_mime_type=kind, schema=schema), []


def content_problems(content: Mapping[str, object]) -> list[str]:
    """What is wrong with a character's content; `tags` and `folder` may be missing."""
    problems = [f"the character's '{key}' is missing or not a text" for key in _TEXTS if _no_text(content.get(key))]
    problems += [
        f"the character's '{key}' is not an id of letters, digits, '-', '_', '.' and ':'"
        for key in ("id", "schema_id")
        if not _no_text(content.get(key)) and not ID_PATTERN.fullmatch(str(content[key]))
    ]
    tags = content.get("tags", [])
    if not isinstance(tags, list) or any(_no_text(tag) for tag in tags):
        problems.append("the character's 'tags' are not a list of texts")
    if _no_text(content.get("folder", "")):
        problems.append("the character's 'folder' is not a text")
    problems += _fact_problems(content.get("facts", []))
    # What a mask and traumas consist of is checked by who reads the card, as with facts.
    unknown = sorted(set(content) - {*_TEXTS, "tags", "folder", "facts", "mask", "traumas"})
    return problems + [f"the character has an unknown field '{key}'" for key in unknown]


def _fact_problems(facts: object) -> list[str]:
    """A card may bring facts along; who reads the card checks who knows them."""
    if isinstance(facts, list) and all(isinstance(fact, dict) and not _no_text(fact.get("text")) for fact in facts):
        return []
    return ["the character's 'facts' are not a list of objects with a 'text'"]


def _no_text(value: object) -> bool:
    return not isinstance(value, str)


def _read_schema(files: dict[str, bytes], content: JsonObject) -> tuple[JsonObject | None, list[str]]:
    if "schema.json" not in files:
        return None, []
    schema, problems = read_object(files, "schema.json")
    if not problems and schema.get("schema_id") != content.get("schema_id"):
        problems = ["schema.json is not the schema that the character names"]
    if not problems and not isinstance(schema.get("fields"), dict):
        problems = ["schema.json has no fields"]
    return schema, problems


def _read_cover(files: dict[str, bytes], manifest: JsonObject) -> tuple[ImageType | None, list[str]]:
    cover = files.get(str(manifest["cover_path"]))
    if cover is None:
        return None, ["the archive lacks the cover that its manifest names"]
    kind, problems = read_image(cover)
    if not problems and manifest.get("cover_mime_type") != kind:
        return None, ["the manifest's cover_mime_type does not fit the cover"]
    return kind, problems


def write_chr(card: CharacterCard) -> tuple[bytes | None, list[str]]:
    """The archive of a character, and why it cannot be written; exactly one of both."""
    problems = content_problems(card.content)
    kind, cover_problems = read_image(card.cover)
    problems += cover_problems
    if not cover_problems and kind != card.cover_mime_type:
        problems.append("the cover's type does not fit the cover")
    if problems:
        return None, problems
    cover_path = cover_name(card.cover_mime_type)
    manifest: JsonObject = {
        "format": CHR_FORMAT,
        "version": CHR_VERSION,
        "character_id": card.character_id,
        "content_path": "content.json",
        "cover_path": cover_path,
        "cover_mime_type": card.cover_mime_type,
    }
    entries = [("manifest.json", write_object(manifest)), ("content.json", write_object(card.content))]
    entries.append((cover_path, card.cover))
    if card.schema is not None:
        entries.append(("schema.json", write_object(card.schema)))
    return pack(entries), []
