"""Data packages: resources of many kinds in one archive, to move them between servers (version 1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal

from fabula.formats.archives import JsonObject, Limits, pack, path_problem, read_object, shown, unpack, write_object
from fabula.formats.character_cards import ID_PATTERN, content_problems
from fabula.formats.images import ImageType, decoding_work, read_image

PACKAGE_FORMAT: Final = "sillystage_data_package"
PACKAGE_VERSION: Final = 1
PACKAGE_MEDIA_TYPE: Final = "application/x-sillystage-data-package+zip"

PackagePart = Literal[
    "presets",
    "schemas",
    "lorebooks",
    "player_profiles",
    "characters",
    "story_resources",
    "stories",
    "game_systems",
    "worlds",
]
PACKAGE_PARTS: Final[tuple[PackagePart, ...]] = (
    "presets",
    "schemas",
    "lorebooks",
    "player_profiles",
    "characters",
    "story_resources",
    "stories",
    "game_systems",
    "worlds",
)
MOST_COVER_WORK: Final = 256_000_000
"""So many pixels of covers are decoded for one package, which takes a few seconds: all other covers wait meanwhile."""
LATER_PARTS: Final[frozenset[PackagePart]] = frozenset(["game_systems", "worlds"])
"""Parts that programs of the first version do not know: a manifest names them only where there is something in them."""
_ID_KEYS: Final[dict[PackagePart, str]] = {
    "presets": "preset_id",
    "schemas": "schema_id",
    "lorebooks": "lorebook_id",
    "player_profiles": "player_profile_id",
    "characters": "id",
    "story_resources": "resource_id",
    "stories": "story_id",
    "game_systems": "system_id",
    "worlds": "world_id",
}


@dataclass(frozen=True, kw_only=True)
class PackagedCover:
    """A character's picture as it travels."""

    data: bytes
    file_name: str
    content_type: ImageType


@dataclass(frozen=True, kw_only=True)
class DataPackage:
    """What a package holds: documents by part and id, and the covers of its characters by id."""

    created_at_ms: int
    documents: dict[PackagePart, dict[str, JsonObject]]
    covers: dict[str, PackagedCover] = field(default_factory=dict)

    def contents(self) -> JsonObject:
        """What is inside, as manifests tell it: ids and count of every part."""
        ids = {part: sorted(self.documents.get(part, {})) for part in PACKAGE_PARTS}
        told = {part: found for part, found in ids.items() if found or part not in LATER_PARTS}
        return {part: {"ids": list(found), "count": len(found)} for part, found in told.items()}


def package_file_name(export_id: str) -> str:
    """The name under which a package is downloaded."""
    return f"sillystage-data-package-{export_id}.zip"


def write_package(package: DataPackage, limits: Limits | None = None) -> tuple[bytes | None, list[str]]:
    """The archive of a package, and why it cannot be written; exactly one of both."""
    limits = limits or Limits()
    problems = _package_problems(package) or _work_problems([one.data for one in package.covers.values()])
    for owner, cover in package.covers.items():
        problems += [] if problems else _cover_problems(owner, cover.data, cover.content_type)
    if problems:
        return None, problems
    entries = _entries(package)
    if len(entries) > limits.entries:
        reason = f"the package would have {len(entries)} files, and {limits.entries} are the most; export it in parts"
        return None, [reason]
    if sum(len(content) for _, content in entries) > limits.unpacked_bytes:
        reason = f"the package would be larger than {limits.unpacked_bytes // (1024 * 1024)} MiB; export it in parts"
        return None, [reason]
    return pack(entries), []


def _package_problems(package: DataPackage) -> list[str]:
    if not any(package.documents.values()):
        return ["the package is empty"]
    problems = [
        problem
        for part, documents in package.documents.items()
        for resource_id, document in documents.items()
        for problem in _document_problems(part, resource_id, document)
    ]
    strangers = sorted(set(package.covers) - set(package.documents.get("characters", {})))
    problems += [f"there is a cover for '{shown(stranger)}', which is not in the package" for stranger in strangers]
    return problems


def _work_problems(covers: list[bytes]) -> list[str]:
    """Why the covers of a package are not decoded: together they are far too large."""
    if sum(map(decoding_work, covers)) <= MOST_COVER_WORK:
        return []
    return [f"its covers have more than {MOST_COVER_WORK} pixels together; make them smaller, or export it in parts"]


def _document_problems(part: PackagePart, resource_id: str, document: JsonObject) -> list[str]:
    if not ID_PATTERN.fullmatch(resource_id) or path_problem(f"characters/{resource_id}/content.json"):
        return [f"an id in {part} cannot be the name of a file"]
    if document.get(_ID_KEYS[part]) != resource_id:
        return [f"the {_ID_KEYS[part]} inside the document '{shown(resource_id)}' of {part} differs"]
    return content_problems(document) if part == "characters" else []


def _cover_problems(owner: str, data: bytes, content_type: object) -> list[str]:
    kind, problems = read_image(data)
    if not problems and kind != content_type:
        problems = ["its type does not fit the picture"]
    return [f"the cover of '{owner}': {problem}" for problem in problems]


def _entries(package: DataPackage) -> list[tuple[str, bytes]]:
    entries = [("manifest.json", write_object(_manifest(package)))]
    for part in PACKAGE_PARTS:
        for resource_id, document in sorted(package.documents.get(part, {}).items()):
            entries.append((_path(part, resource_id), write_object(document)))
    entries += [(_cover_path(owner), cover.data) for owner, cover in sorted(package.covers.items())]
    return entries


def _path(part: PackagePart, resource_id: str) -> str:
    return f"characters/{resource_id}/content.json" if part == "characters" else f"{part}/{resource_id}.json"


def _cover_path(character_id: str) -> str:
    return f"characters/{character_id}/cover.bin"


def _manifest(package: DataPackage) -> JsonObject:
    return {
        "format": PACKAGE_FORMAT,
        "version": PACKAGE_VERSION,
        "created_at_ms": package.created_at_ms,
        "contents": package.contents(),
        "characters": [_character(package, one) for one in sorted(package.documents.get("characters", {}))],
    }


def _character(package: DataPackage, character_id: str) -> JsonObject:
    entry: JsonObject = {"character_id": character_id, "content_path": _path("characters", character_id)}
    cover = package.covers.get(character_id)
    if cover is not None:
        entry["cover_path"] = _cover_path(character_id)
        entry["cover_file_name"] = cover.file_name
        entry["cover_content_type"] = cover.content_type
    return entry


def read_package(data: bytes, limits: Limits | None = None) -> tuple[DataPackage | None, list[str]]:
    """The package in an archive, and why it is refused; exactly one of both."""
    files, problems = unpack(data, limits)
    if problems:
        return None, problems
    manifest, problems = read_object(files, "manifest.json")
    problems = problems or _head_problems(manifest)
    if problems:
        return None, problems
    documents, problems = _read_documents(files, manifest)
    covers, cover_problems = _read_covers(files, manifest)
    problems += cover_problems
    if problems:
        return None, problems
    created = manifest["created_at_ms"]
    assert isinstance(created, int)
    package = DataPackage(created_at_ms=created, documents=documents, covers=covers)
    problems = _package_problems(package) or _contents_problems(manifest, package)
    return (None, problems) if problems else (package, [])


def _head_problems(manifest: JsonObject) -> list[str]:
    problems = []
    if manifest.get("format") != PACKAGE_FORMAT:
        problems.append(f"the manifest's format is not '{PACKAGE_FORMAT}'")
    version = manifest.get("version")
    if type(version) is not int or version != PACKAGE_VERSION:
        problems.append(f"the manifest's version is not {PACKAGE_VERSION}")
    if type(manifest.get("created_at_ms")) is not int:
        problems.append("the manifest's created_at_ms is not a whole number")
    if not isinstance(manifest.get("contents"), dict):
        problems.append("the manifest lists no contents")
    return problems


def _read_documents(
    files: dict[str, bytes], manifest: JsonObject
) -> tuple[dict[PackagePart, dict[str, JsonObject]], list[str]]:
    documents: dict[PackagePart, dict[str, JsonObject]] = {}
    problems: list[str] = []
    for part in PACKAGE_PARTS:
        ids, listing_problems = _listed_ids(manifest, part)
        problems += listing_problems
        for resource_id in ids:
            document, broken = read_object(files, _path(part, resource_id))
            problems += broken
            documents.setdefault(part, {})[resource_id] = document
    expected = {_path(part, one) for part, found in documents.items() for one in found}
    strays = sorted(name for name in files if _is_document(name) and name not in expected)
    return documents, problems + [f"'{shown(stray)}' is not listed in the manifest" for stray in strays]


def _is_document(name: str) -> bool:
    return name.endswith(".json") and name.split("/", 1)[0] in PACKAGE_PARTS


def _listed_ids(manifest: JsonObject, part: PackagePart) -> tuple[list[str], list[str]]:
    contents = manifest["contents"]
    assert isinstance(contents, dict)
    listed = contents.get(part, {"ids": [], "count": 0})
    ids = listed.get("ids") if isinstance(listed, dict) else None
    if not isinstance(ids, list):
        return [], [f"the manifest does not list the ids of {part}"]
    texts = [one for one in ids if isinstance(one, str)]
    if len(texts) != len(ids) or len(set(texts)) != len(ids):
        return [], [f"the manifest's ids of {part} are not different texts"]
    return texts, []


def _read_covers(files: dict[str, bytes], manifest: JsonObject) -> tuple[dict[str, PackagedCover], list[str]]:
    listed = manifest.get("characters", [])
    if not isinstance(listed, list):
        return {}, ["the manifest's characters are not a list"]
    names = [str(entry.get("character_id")) for entry in listed if isinstance(entry, dict)]
    if len(set(names)) != len(names):
        # Its cover would be decoded as often as it is listed, and a manifest has room for twenty thousand.
        return {}, ["the manifest lists a character twice"]
    problems = _work_problems([data for name, data in files.items() if name.endswith("/cover.bin")])
    if problems:
        return {}, problems
    covers: dict[str, PackagedCover] = {}
    for entry in listed:
        problems += _character_problems(files, entry)
        if problems or not isinstance(entry, dict) or entry.get("cover_path") is None:
            continue
        data = files[str(entry["cover_path"])]
        kind, broken = read_image(data)
        problems += broken
        if kind is None or entry.get("cover_content_type") != kind:
            problems.append(f"the cover type of '{shown(str(entry['character_id']))}' does not fit its picture")
            continue
        name = str(entry.get("cover_file_name") or "cover")
        covers[str(entry["character_id"])] = PackagedCover(data=data, file_name=name, content_type=kind)
    return covers, problems


def _character_problems(files: dict[str, bytes], entry: object) -> list[str]:
    if not isinstance(entry, dict) or not isinstance(entry.get("character_id"), str):
        return ["a character of the manifest has no character_id"]
    character_id = entry["character_id"]
    if entry.get("content_path") != _path("characters", character_id):
        return [f"the content_path of '{shown(character_id)}' is not its place in a package"]
    cover_path = entry.get("cover_path")
    if cover_path is not None and (cover_path != _cover_path(character_id) or cover_path not in files):
        return [f"the cover of '{shown(character_id)}' is not at its place in the package"]
    return []


def _contents_problems(manifest: JsonObject, package: DataPackage) -> list[str]:
    contents, listed = manifest["contents"], manifest.get("characters", [])
    assert isinstance(contents, dict) and isinstance(listed, list)
    problems = []
    for part in PACKAGE_PARTS:
        part_contents = contents.get(part, {"count": 0})
        count = part_contents.get("count") if isinstance(part_contents, dict) else None
        if count != len(package.documents.get(part, {})) or isinstance(count, bool):
            problems.append(f"the manifest's count of {part} is wrong")
    named = [str(entry.get("character_id")) for entry in listed if isinstance(entry, dict)]
    if sorted(named) != sorted(package.documents.get("characters", {})):
        problems.append("the manifest's characters and its contents differ")
    return problems
