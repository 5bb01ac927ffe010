"""Move resources between servers in data packages: prepare an export, prepare and commit an import."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, cast

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.library.boundary_warnings import BoundaryWarning, boundary_warnings
from fabula.actions.library.packaged_worlds import (
    CANON,
    JudgedCanon,
    check_packaged_system,
    check_packaged_world,
    judged_canon,
    own_system,
    packaged_canon,
    packaged_system_problems,
    truths_problems,
)
from fabula.actions.library.player_profiles import profile_of
from fabula.actions.library.stories import story_problems
from fabula.actions.outside_values import outside_value
from fabula.actions.repositories import (
    ALL_STORIES,
    CHARACTERS,
    GAME_SYSTEMS,
    LOREBOOKS,
    PLAYER_PROFILES,
    PRESETS,
    SCHEMAS,
    STORY_RESOURCES,
    WORLDS,
    AnyStory,
    Repository,
    checked_name,
)
from fabula.actions.views import Command, Nothing, View, refuse
from fabula.actions.work.work_kind import HeldWork, WorkKind, taken_over
from fabula.actions.work.work_runner import tell_progress
from fabula.agents.presets.forms import normalise
from fabula.formats.archives import Limits
from fabula.formats.packages import (
    PACKAGE_MEDIA_TYPE,
    PACKAGE_PARTS,
    DataPackage,
    PackagedCover,
    PackagePart,
    package_file_name,
    read_package,
    write_package,
)
from fabula.ports.actors import Actor
from fabula.ports.errors import Conflict, InvalidRequest, NotFound
from fabula.ports.progress import TellProgress, quiet
from fabula.ports.store import Unit, Upload
from fabula.ports.threads import run_in_thread
from fabula.ports.work import NewWork, Work
from fabula.story.events import Progress
from fabula.story.game_systems import GameSystem
from fabula.story.resources import Character, CharacterContent, Cover, Preset
from fabula.story.schemas import Schema, schema_problems
from fabula.story.values import JsonObject, Value
from fabula.story.worlds import World

UPLOAD_LIFETIME_MS = 30 * 60 * 1000
COMMITTED_LIFETIME_MS = 24 * 60 * 60 * 1000
"""An archive whose import was asked for waits longer, so that the import outlives a crash and a long night."""
IMPORT_DEADLINE_S = 600.0
MOST_LOOKS = 3

_REPOSITORIES: dict[PackagePart, Repository[Any]] = {
    "presets": PRESETS,
    "schemas": SCHEMAS,
    "lorebooks": LOREBOOKS,
    "player_profiles": PLAYER_PROFILES,
    "characters": CHARACTERS,
    "story_resources": STORY_RESOURCES,
    "stories": ALL_STORIES,
    "game_systems": GAME_SYSTEMS,
    "worlds": WORLDS,
}
# What others refer to comes first, so that every reference finds its target.
_IMPORT_ORDER: tuple[PackagePart, ...] = (
    "presets",
    "schemas",
    "lorebooks",
    "player_profiles",
    "characters",
    "story_resources",
    "game_systems",
    "worlds",
    "stories",
)
_PART_OF_KIND: dict[str, PackagePart] = {repository.kind: name for name, repository in _REPOSITORIES.items()}


class PrepareExport(Command):
    preset_ids: list[str] = []
    schema_ids: list[str] = []
    lorebook_ids: list[str] = []
    player_profile_ids: list[str] = []
    character_ids: list[str] = []
    story_resource_ids: list[str] = []
    story_ids: list[str] = []
    game_system_ids: list[str] = []
    world_ids: list[str] = []
    include_dependencies: bool = True


class CommitImport(Command):
    """`stream` true answers with events of progress before the result."""

    import_id: str
    on_conflict: Literal["fail", "skip", "rename"] = "fail"
    stream: bool = False


class ArchivePlace(Value):
    """Where an archive is uploaded to or downloaded from."""

    resource_id: str
    file_id: Literal["archive"] = "archive"


class PartContents(Value):
    ids: list[str]
    count: int


class PackageContents(Value):
    """What is in a package. Worlds come with all that is true in them."""

    presets: PartContents
    schemas: PartContents
    lorebooks: PartContents
    player_profiles: PartContents
    characters: PartContents
    story_resources: PartContents
    stories: PartContents
    game_systems: PartContents = PartContents(ids=[], count=0)
    worlds: PartContents = PartContents(ids=[], count=0)


class ExportPrepared(View):
    type: Literal["data_package_export_prepared"] = "data_package_export_prepared"
    export_id: str
    archive: ArchivePlace
    contents: PackageContents


class ImportPrepared(View):
    type: Literal["data_package_import_prepared"] = "data_package_import_prepared"
    import_id: str
    archive: ArchivePlace


class ImportCommitted(View):
    """`warnings` are what of it would cross a line of a world; it was taken in all the same."""

    optional = frozenset({"warnings"})
    type: Literal["data_package_import_committed"] = "data_package_import_committed"
    import_id: str
    contents: PackageContents
    warnings: list[BoundaryWarning] = []


@allowed("author")
async def prepare_export(house: House, actor: Actor, command: PrepareExport) -> ExportPrepared:
    """Writes the named resources, and what they depend on, into an archive that waits to be downloaded."""
    async with house.store.reading() as unit:
        package = await collect(house, unit, actor, command)
    archive, problems = await run_in_thread(write_package, package, limits_of(house))
    refuse(problems, "package")
    assert archive is not None
    export_id = house.ids.new("export")

    async def write(unit: Unit) -> None:
        await unit.uploads.sweep()
        blob = await unit.blobs.put(archive)
        await unit.uploads.put(_upload(house, export_id, "package_export", blob))

    await house.store.write(write)
    return ExportPrepared(
        export_id=export_id,
        archive=ArchivePlace(resource_id=f"package_export:{export_id}"),
        contents=_contents(package),
    )


@allowed("author")
async def prepare_import(house: House, actor: Actor, command: Nothing) -> ImportPrepared:
    """Opens a place to which an archive can be uploaded; it stays open for 30 minutes."""
    import_id = house.ids.new("import")

    async def write(unit: Unit) -> None:
        await unit.uploads.sweep()
        await unit.uploads.put(_upload(house, import_id, "package_import", None))

    await house.store.write(write)
    return ImportPrepared(import_id=import_id, archive=ArchivePlace(resource_id=f"package_import:{import_id}"))


@allowed("author")
async def commit_import(
    house: House, actor: Actor, command: CommitImport, progress: TellProgress = quiet
) -> ImportCommitted:
    """Takes all resources of an uploaded archive in, or none of them."""
    gone = await house.work.gone()
    async with house.store.writing() as unit:
        work, is_mine = await _begin_import(house, unit, command, gone)
    if is_mine:
        await house.work.start(work)
    result = await house.work.result_of(work.work_id, tell_progress(progress))
    return ImportCommitted.model_validate(result)


async def _begin_import(house: House, unit: Unit, command: CommitImport, gone: Sequence[str]) -> tuple[Work, bool]:
    """The work that takes an upload in, and whether this process is the one to run it."""
    import_id = checked_name(command.import_id, "import")
    earlier = await unit.work.by_key("package_import", import_id)
    if earlier is not None and earlier.status == "done" and earlier.attempt > 1:
        return earlier, False  # It was finished for a caller who was cut off, and who now asks again.
    upload = await _open_upload(unit, import_id, "package_import")
    if upload.blob is None:
        raise Conflict(f"Upload the archive to package_import:{import_id} first.")
    await unit.uploads.put(_upload(house, import_id, "package_import", upload.blob, lives_ms=COMMITTED_LIFETIME_MS))
    new = NewWork(
        work_id=house.ids.new("work"),
        kind="package_import",
        key=import_id,
        subject=import_id,
        input={"import_id": import_id, "on_conflict": command.on_conflict},
        held=house.work.lease(),
    )
    work = await unit.work.begin(new)
    if work.work_id == new.work_id:
        return work, True
    held = await unit.work.hold(work.work_id, house.work.lease(), gone=gone)
    return (work, False) if held is None else (held, True)


def import_kinds(house: House) -> dict[str, WorkKind]:
    """Imports, which any process goes on with."""

    async def run(held: HeldWork) -> JsonObject:
        return await _import(house, held)

    does = "takes in what an uploaded package holds, all of it or nothing"
    return {"package_import": WorkKind(run=run, does=does, deadline_s=IMPORT_DEADLINE_S, most_attempts=3)}


async def _import(house: House, held: HeldWork) -> JsonObject:
    """Everything is taken in, the upload removed and the work done in one transaction."""
    import_id, on_conflict = str(held.work.input["import_id"]), str(held.work.input["on_conflict"])
    async with house.store.reading() as unit:
        data = await _uploaded(unit, import_id)
    package = await read_archive(house, data)
    for _ in range(MOST_LOOKS):
        async with house.store.reading() as unit:
            named = await _named_freely(unit, package, on_conflict)
        checked = await _checked(house, named, held.tell_progress)
        warnings = await boundary_warnings(house, _by_place(named), also=checked.worlds)
        result = ImportCommitted(import_id=import_id, contents=_contents(named), warnings=warnings).as_json()
        with suppress(_NameTaken):
            await house.store.write(partial(_take_in, held=held, checked=checked, result=result))
            return result
    raise Conflict("Names of this package were taken while it was looked through. Send it again.")


async def _take_in(unit: Unit, *, held: HeldWork, checked: _Checked, result: JsonObject) -> None:
    """Adds what was looked through before. Everybody who writes waits meanwhile, so nothing else is done here."""
    import_id = str(held.work.input["import_id"])
    await _uploaded(unit, import_id)
    await _add_all(unit, checked, held.tell_progress)
    await unit.uploads.remove(import_id)
    if not await unit.work.finish(held.work, result):
        raise taken_over(held.work)


def _by_place(package: DataPackage) -> JsonObject:
    return {f"{part}/{id}": one for part, docs in package.documents.items() for id, one in docs.items()}


async def keep_import_archive(house: House, import_id: str, data: bytes) -> None:
    """Keeps an uploaded archive until its import is committed."""
    await read_archive(house, data)

    async def write(unit: Unit) -> None:
        upload = await _open_upload(unit, import_id, "package_import")
        blob = await unit.blobs.put(data)
        await unit.uploads.put(_upload(house, upload.upload_id, "package_import", blob))

    await house.store.write(write)


async def read_export_archive(house: House, export_id: str) -> tuple[bytes, str, str]:
    """The bytes, file name and media type of an exported package."""
    async with house.store.reading() as unit:
        upload = await _open_upload(unit, export_id, "package_export")
        data = None if upload.blob is None else await unit.blobs.get(upload.blob)
    if data is None:
        raise NotFound(f"There is no export named '{export_id}'. Prepare it again.")
    return data, package_file_name(export_id), PACKAGE_MEDIA_TYPE


async def read_archive(house: House, data: bytes) -> DataPackage:
    """The package in an archive; raises InvalidRequest that names what is wrong."""
    # Its covers are decoded, which takes far more memory than their bytes.
    async with house.sized_covers.one_at_a_time:
        package, problems = await run_in_thread(read_package, data, limits_of(house))
    refuse(problems, "package")
    assert package is not None
    if not any(package.documents.values()):
        raise InvalidRequest("The package is empty.")
    return package


async def collect(house: House, unit: Unit, actor: Actor, command: PrepareExport) -> DataPackage:
    """The named resources and, if asked for, everything that they refer to."""
    waiting: list[tuple[PackagePart, str]] = [(name, id) for name in PACKAGE_PARTS for id in _named(command, name)]
    if not waiting:
        raise InvalidRequest("Name at least one resource to export.")
    documents: dict[PackagePart, dict[str, JsonObject]] = {name: {} for name in PACKAGE_PARTS}
    covers: dict[str, PackagedCover] = {}
    while waiting:
        name, id = waiting.pop()
        if id in documents[name]:
            continue
        value = (
            await profile_of(unit, actor, id) if name == "player_profiles" else await _REPOSITORIES[name].get(unit, id)
        )
        documents[name][id] = await run_in_thread(_document, value)
        if isinstance(value, World):
            documents[name][id] |= await packaged_canon(unit, value)
            refuse(truths_problems(documents[name]), "package")
        if isinstance(value, Character) and value.cover is not None:
            covers[id] = await _packaged(unit, value.cover)
        if command.include_dependencies:
            waiting += [(_PART_OF_KIND[one.kind], one.id) for one in _REPOSITORIES[name].refers_to(value)]
            if isinstance(value, World) and (system := own_system(value)) is not None:
                waiting.append(("game_systems", system))
    return DataPackage(created_at_ms=house.clock.now_ms(), documents=documents, covers=covers)


def _named(command: PrepareExport, part: PackagePart) -> list[str]:
    fields: dict[PackagePart, list[str]] = {
        "presets": command.preset_ids,
        "schemas": command.schema_ids,
        "lorebooks": command.lorebook_ids,
        "player_profiles": command.player_profile_ids,
        "characters": command.character_ids,
        "story_resources": command.story_resource_ids,
        "stories": command.story_ids,
        "game_systems": command.game_system_ids,
        "worlds": command.world_ids,
    }
    return fields[part]


def _document(value: Value) -> JsonObject:
    """A resource as it travels: to whom it belongs here means nothing elsewhere."""
    document = value.content.as_json() if isinstance(value, Character) else value.as_json()
    return {name: field for name, field in document.items() if name != "owner_token_id"}


async def _packaged(unit: Unit, cover: Cover) -> PackagedCover:
    data = await unit.blobs.get(cover.blob)
    if data is None:
        raise Conflict("A cover is missing from the store. Upload it again.")
    return PackagedCover(data=data, file_name=cover.file_name, content_type=cover.mime_type)


@dataclass(frozen=True, kw_only=True)
class _Checked:
    """A package as it is taken in: its typed values, and what is true in its worlds, judged."""

    package: DataPackage
    values: list[tuple[PackagePart, str, Value]]
    canon: dict[str, JudgedCanon]

    @property
    def worlds(self) -> list[World]:
        return [value for _, _, value in self.values if isinstance(value, World)]


class _NameTaken(Exception):
    """Somebody took a name of the package while it was looked through."""


async def _named_freely(unit: Unit, package: DataPackage, on_conflict: str) -> DataPackage:
    """The part of a package that is to be taken in, under names that are free."""
    clashes = await _clashes(unit, package)
    if clashes and on_conflict == "fail":
        part, id = clashes[0]
        raise Conflict(
            f"There is already a {_REPOSITORIES[part].noun} named '{id}'. Skip or rename what is there already, "
            'with on_conflict "skip" or "rename".',
            clashes=[f"{name}/{clash}" for name, clash in clashes[:50]],
        )
    if on_conflict == "skip":
        return _without(package, clashes)
    return await _renamed(unit, package, clashes) if clashes else package


async def _checked(house: House, package: DataPackage, progress: TellProgress = quiet) -> _Checked:
    """Looks a package through. That may take minutes, so it is done before anything is written."""
    refuse(truths_problems(package.documents.get("worlds", {})), "package")
    values: list[tuple[PackagePart, str, Value]] = []
    canon: dict[str, JudgedCanon] = {}
    waiting = [(part, id) for part in _IMPORT_ORDER for id in package.documents.get(part, {})]
    for done, (part, id) in enumerate(waiting):
        label = f"Looking through {part.replace('_', ' ')}: {id}"
        progress(Progress(done=done, total=2 * len(waiting), label=label))
        document = package.documents[part][id]
        value = await _value(house, part, id, document)
        values.append((part, id, value))
        if isinstance(value, World):
            canon[id] = await judged_canon(house, value, document)
    return _Checked(package=package, values=values, canon=canon)


async def _add_all(unit: Unit, checked: _Checked, progress: TellProgress) -> None:
    """Adds all resources of a package inside one unit of work."""
    if await _clashes(unit, checked.package):
        raise _NameTaken
    for done, (part, id, value) in enumerate(checked.values, len(checked.values)):
        progress(Progress(done=done, total=2 * len(checked.values), label=f"Taking in {part.replace('_', ' ')}: {id}"))
        if isinstance(value, World):
            await check_packaged_system(unit, value)
        if isinstance(value, Character):
            value = value.model_copy(update={"cover": await _cover(unit, checked.package.covers.get(id))})
        await _REPOSITORIES[part].add(unit, id, value)
        if id in checked.canon and part == "worlds":
            await checked.canon[id].take_in(unit)


async def _clashes(unit: Unit, package: DataPackage) -> list[tuple[PackagePart, str]]:
    found: list[tuple[PackagePart, str]] = []
    for part in _IMPORT_ORDER:
        ids = sorted(package.documents.get(part, {}))
        there = await unit.resources.get_many(_REPOSITORIES[part].kind, ids)
        found += [(part, id) for id in ids if id in there]
    return found


def _without(package: DataPackage, clashes: Sequence[tuple[PackagePart, str]]) -> DataPackage:
    gone = set(clashes)
    documents: dict[PackagePart, dict[str, JsonObject]] = {
        part: {id: doc for id, doc in docs.items() if (part, id) not in gone}
        for part, docs in package.documents.items()
    }
    return DataPackage(created_at_ms=package.created_at_ms, documents=documents, covers=package.covers)


async def _renamed(unit: Unit, package: DataPackage, clashes: Sequence[tuple[PackagePart, str]]) -> DataPackage:
    """The package with new names for what clashes, and with every reference following its target."""
    names: dict[tuple[PackagePart, str], str] = {}
    for part, id in clashes:
        names[(part, id)] = await _free_name(unit, package, part, id)
    documents: dict[PackagePart, dict[str, JsonObject]] = {}
    for part, docs in package.documents.items():
        followed = await run_in_thread(_follow_all, part, docs, names)
        documents[part] = {names.get((part, id), id): doc for id, doc in followed.items()}
    covers = {names.get(("characters", id), id): cover for id, cover in package.covers.items()}
    return DataPackage(created_at_ms=package.created_at_ms, documents=documents, covers=covers)


async def _free_name(unit: Unit, package: DataPackage, part: PackagePart, id: str) -> str:
    base = re.sub(r"-\d+$", "", id)[:120]
    for number in range(2, 10_000):
        name = f"{base}-{number}"
        if name not in package.documents.get(part, {}) and await _REPOSITORIES[part].find(unit, name) is None:
            return name
    raise Conflict(f"No free name was found for '{id}'. Rename it before the import.")


_SINGLE: Mapping[str, PackagePart] = {
    "preset_id": "presets",
    "schema_id": "schemas",
    "lorebook_id": "lorebooks",
    "player_profile_id": "player_profiles",
    "resource_id": "story_resources",
    "story_id": "stories",
    "player_schema_id_seed": "schemas",
    "world_schema_id_seed": "schemas",
    "world_schema_id": "schemas",
    "player_schema_id": "schemas",
    "character_id": "characters",
    "character": "characters",
    "world_id": "worlds",
    "system_id": "game_systems",
    "game_system_id": "game_systems",
}
_NAMED: Mapping[PackagePart, frozenset[str]] = {
    "worlds": frozenset(
        ["subject", "object", "where", "entity_id", "who", "towards", "by", "owner", "people", "known_to", "about"]
    ),
    "stories": frozenset(["who", "towards"]),
    "schemas": frozenset(["subject", "object"]),
}
"""Where the words of a document name somebody, who may be a character of the package."""
_OF_CHARACTERS = frozenset(["schedules", "people", "bonds"])
"""What a story has by the ids of its characters."""
_MANY: Mapping[str, PackagePart] = {
    "character_ids": "characters",
    "lorebook_ids": "lorebooks",
    "characters": "characters",
    "known_by": "characters",
    "then": "characters",
}


def _follow_all(
    part: PackagePart, documents: Mapping[str, JsonObject], names: Mapping[tuple[PackagePart, str], str]
) -> dict[str, JsonObject]:
    return {id: _follow(part, document, names) for id, document in documents.items()}


def _follow(part: PackagePart, value: Any, names: Mapping[tuple[PackagePart, str], str]) -> Any:
    """A document with every id that was renamed in its place."""
    if isinstance(value, list):
        return [_follow(part, item, names) for item in value]
    if not isinstance(value, dict):
        return value
    followed: dict[str, Any] = {}
    for key, item in value.items():
        if part == "characters" and key == "id" and isinstance(item, str):
            followed[key] = names.get(("characters", item), item)
        elif key in _NAMED.get(part, ()) and not isinstance(item, dict):
            followed[key] = _follow_people(item, names)
        elif part == "stories" and key in _OF_CHARACTERS and isinstance(item, dict):
            followed[key] = {names.get(("characters", id), id): _follow(part, one, names) for id, one in item.items()}
        elif part == "stories" and key == "rules" and isinstance(item, str):
            followed[key] = names.get(("game_systems", item), item)
        elif key in _SINGLE and isinstance(item, str):
            followed[key] = names.get((_SINGLE[key], item), item)
        elif key in _MANY and isinstance(item, list):
            followed[key] = [names.get((_MANY[key], one), one) if isinstance(one, str) else one for one in item]
        else:
            followed[key] = _follow(part, item, names)
    return followed


def _follow_people(value: Any, names: Mapping[tuple[PackagePart, str], str]) -> Any:
    if isinstance(value, list):
        return [_follow_people(one, names) for one in value]
    return names.get(("characters", value), value) if isinstance(value, str) else value


async def _value(house: House, part: PackagePart, id: str, document: JsonObject) -> Value:
    """The typed value of a document; raises InvalidRequest that names the document and its fault."""
    owned = {**document, "owner_token_id": None} if part == "player_profiles" else document
    if part == "worlds":
        owned = {name: field for name, field in document.items() if name != CANON}
    value = await run_in_thread(outside_value, _model(part, document), owned, f"{part}/{id} in the package")
    match value:
        case CharacterContent():
            return Character(content=value, cover=None)
        case Preset():
            compact, problems = normalise(value.agents)
            refuse(problems, f"preset '{id}'")
            return value.model_copy(update={"agents": compact})
        case Schema():
            refuse(schema_problems(value.fields), f"schema '{id}'")
        case GameSystem():
            refuse(packaged_system_problems(value), f"game system '{id}'")
        case World():
            await run_in_thread(check_packaged_world, value)
    if part == "stories":
        refuse(await story_problems(house, cast(AnyStory, value)), f"story '{id}'")
    return value


def _model(part: PackagePart, document: JsonObject) -> type[Value]:
    return CharacterContent if part == "characters" else _REPOSITORIES[part].model_of(document)


async def _cover(unit: Unit, packaged: PackagedCover | None) -> Cover | None:
    if packaged is None:
        return None
    blob = await unit.blobs.put(packaged.data)
    return Cover(blob=blob, file_name=packaged.file_name, mime_type=packaged.content_type)


async def _open_upload(unit: Unit, upload_id: str, purpose: str) -> Upload:
    upload = await unit.uploads.get(checked_name(upload_id, "package"))
    if upload is None or upload.purpose != purpose:
        raise NotFound(
            f"There is no {purpose.replace('_', ' ')} named '{upload_id}', or it has expired. Prepare it again."
        )
    return upload


async def _uploaded(unit: Unit, import_id: str) -> bytes:
    upload = await _open_upload(unit, import_id, "package_import")
    data = None if upload.blob is None else await unit.blobs.get(upload.blob)
    if data is None:
        raise Conflict(f"Upload the archive to package_import:{import_id} first.")
    return data


def _upload(
    house: House,
    upload_id: str,
    purpose: Literal["package_import", "package_export"],
    blob: str | None,
    *,
    lives_ms: int = UPLOAD_LIFETIME_MS,
) -> Upload:
    return Upload(upload_id=upload_id, purpose=purpose, blob=blob, expires_at_ms=house.clock.now_ms() + lives_ms)


def _contents(package: DataPackage) -> PackageContents:
    return PackageContents.model_validate(package.contents())


def limits_of(house: House) -> Limits:
    """How large archives may be on this server."""
    return Limits(unpacked_bytes=house.settings.max_archive_mib * 1024 * 1024)
