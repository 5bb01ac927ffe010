"""Install the sample worlds: each whole or not at all, and only what is not there yet.

A world is a folder of plain files in the shapes in which resources are stored, see `stories/README.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import orjson
from pydantic import Field, ValidationError

import fabula
from fabula.actions.house import House
from fabula.actions.library.files import keep_cover
from fabula.actions.repositories import (
    CHARACTERS,
    INK_STORIES,
    LOREBOOKS,
    PLAYER_PROFILES,
    SCHEMAS,
    STORIES,
    STORY_RESOURCES,
    WORLDS,
    Repository,
)
from fabula.actions.views import refuse
from fabula.canon.policy import Known, review
from fabula.formats.portraits import Portrait, draw_portrait, portrait_for
from fabula.ports.errors import InvalidRequest, NotFound
from fabula.ports.store import Unit
from fabula.ports.threads import run_in_thread
from fabula.story.agendas import agenda_problems
from fabula.story.canon import Change, Content, Decision, Evidence, Verdict
from fabula.story.conflicts import conflict_problems
from fabula.story.graph import graph_problems
from fabula.story.ink_stories import InkStory
from fabula.story.plot_threads import thread_problems
from fabula.story.resources import Character, CharacterContent, Lorebook, PlayerProfile, StoryResources
from fabula.story.schemas import Schema
from fabula.story.stories import Story
from fabula.story.story_worlds import world_problems
from fabula.story.values import JsonObject, Value
from fabula.story.worlds import World

V = TypeVar("V", bound=Value)


class SampleCanon(Value):
    """The world to which a story belongs, and what is canon in it from the beginning."""

    world: World
    contents: list[Content] = Field(default=[], max_length=2000)


@dataclass(frozen=True, kw_only=True)
class SampleWorld:
    """One folder of samples, read."""

    schemas: list[Schema]
    characters: list[CharacterContent]
    portraits: dict[str, Portrait]
    lorebooks: list[Lorebook]
    profiles: list[PlayerProfile]
    resources: StoryResources
    story: Story
    canon: SampleCanon | None = None


@dataclass(frozen=True, kw_only=True)
class Installed:
    """What an installation did for one world; `added` counts what was missing."""

    story_id: str
    display_name: str
    added: int


async def install_samples(house: House, folder: Path | None = None) -> list[Installed]:
    """Installs every world and Ink story of a folder, ours unless one is named; doing it again changes nothing.

    A folder of one's own may be a world itself, hold several, or hold Ink files; what is wrong in it is refused before
    anything is installed.
    """
    worlds, ink = await run_in_thread(lambda: read_folder(folder or sample_folder()))
    for story in ink:
        refuse((await house.compiled_stories.of(story.source, story.files)).published.errors, f"story {story.story_id}")
    return [*[await _install(house, world) for world in worlds], *[await _install_ink(house, story) for story in ink]]


def read_folder(folder: Path) -> tuple[list[SampleWorld], list[InkStory]]:
    """The worlds and Ink stories of a folder, read and checked."""
    if not folder.is_dir():
        raise NotFound(f"There is no folder {folder}.")
    worlds = [read_world(folder)] if (folder / "story.json").is_file() else read_worlds(folder)
    ink = [*read_ink_samples(folder), *read_ink_samples(folder / "ink")]
    if not worlds and not ink:
        raise NotFound(f"In {folder} there is neither a world (a folder with a story.json) nor an .ink file.")
    for world in worlds:
        refuse(graph_problems(world.story.graph), f"graph of {world.story.story_id}")
        if world.story.world is not None:
            cast = frozenset(world.resources.character_ids)
            refuse(world_problems(world.story.world, world.story.graph, cast), f"world of {world.story.story_id}")
        if world.canon is not None:
            refuse(canon_problems(world.canon), f"canon of {world.canon.world.world_id}")
    return worlds, ink


async def install_samples_at_first(house: House) -> list[Installed]:
    """Installs the samples where there is no story yet, if the settings want them."""
    if not house.settings.samples:
        return []
    async with house.store.reading() as unit:
        if await unit.resources.page("story", after=None, limit=1):
            return []
    return await install_samples(house)


def sample_folder() -> Path:
    """Where the samples lie: in an installed package beside the code, in a checkout in `stories`."""
    package = Path(fabula.__file__).parent
    packed = package / "samples"
    return packed if packed.is_dir() else package.parents[1] / "stories"


def read_worlds(folder: Path) -> list[SampleWorld]:
    """The sample worlds of a folder, by name."""
    return [read_world(file.parent) for file in sorted(folder.glob("*/story.json"))]


def read_ink_samples(folder: Path) -> list[InkStory]:
    """The Ink stories of a folder: each is one file, named by its title and introduced by its first line."""
    return [read_ink_sample(file) for file in sorted(folder.glob("*.ink"))]


def read_ink_sample(file: Path) -> InkStory:
    source = _read(file).decode("utf-8", "replace")
    told = [line for line in source.splitlines() if line and not line.startswith(("#", "//", "VAR", "->", "=="))]
    name = file.stem.replace("-", " ").title()
    introduction = told[0].split(" #")[0] if told else ""
    try:
        return InkStory(story_id=file.stem, display_name=name, source=source, introduction=introduction)
    except ValidationError:
        raise InvalidRequest(f"{file}: name the file with letters, digits, `-`, `_` or `.`: it is its id.") from None


def read_world(folder: Path) -> SampleWorld:
    """A world; its long texts and its time stand in files of their own, which may be missing."""
    resources = {**_read_json(folder / "resources.json"), **_read_text(folder / "plan.txt", "planned_story")}
    story = {**_read_json(folder / "story.json"), **_read_text(folder / "introduction.txt", "introduction")}
    if (folder / "world.json").is_file():
        story["world"] = _read_json(folder / "world.json")
    portraits = folder / "portraits.json"
    canon = folder / "canon.json"
    return SampleWorld(
        schemas=_read_all(folder / "schemas", Schema),
        characters=_read_all(folder / "characters", CharacterContent),
        portraits=_read_portraits(portraits) if portraits.is_file() else {},
        lorebooks=_read_all(folder / "lorebooks", Lorebook),
        profiles=_read_all(folder / "player_profiles", PlayerProfile),
        resources=_checked(folder / "resources.json", StoryResources, resources),
        story=_checked(folder / "story.json", Story, {"introduction": "", **story}),
        canon=_checked(canon, SampleCanon, _read_json(canon)) if canon.is_file() else None,
    )


def _read_all(folder: Path, model: type[V]) -> list[V]:
    return [_checked(file, model, _read_json(file)) for file in sorted(folder.glob("*.json"))]


def _checked(file: Path, model: type[V], found: JsonObject) -> V:
    try:
        return model.model_validate(found)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(step) for step in first["loc"])
        raise InvalidRequest(f"{file} cannot be used: {place}: {first['msg']}.") from None


def _read_portraits(file: Path) -> dict[str, Portrait]:
    try:
        return {id: Portrait(**features) for id, features in _read_json(file).items()}  # type: ignore[arg-type]
    except TypeError as error:
        raise InvalidRequest(f"{file} cannot be used: {error}.") from None


def _read_text(file: Path, field: str) -> JsonObject:
    return {field: _read(file).decode("utf-8", "replace").strip()} if file.is_file() else {}


def _read_json(file: Path) -> JsonObject:
    try:
        found = orjson.loads(_read(file))
    except orjson.JSONDecodeError as error:
        raise InvalidRequest(f"{file} is not JSON: {error}.") from None
    if not isinstance(found, dict):
        raise InvalidRequest(f"{file} must hold one JSON object.")
    return found


def _read(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise NotFound(f"{file} cannot be read: {error.strerror}.") from None


async def _install(house: House, world: SampleWorld) -> Installed:
    covers = await run_in_thread(_draw_covers, world)

    async def write(unit: Unit) -> int:
        added = 0
        for schema in world.schemas:
            added += await _add(unit, SCHEMAS, schema.schema_id, schema)
        for content in world.characters:
            added += await _add_character(unit, content, covers[content.id])
        for book in world.lorebooks:
            added += await _add(unit, LOREBOOKS, book.lorebook_id, book)
        for profile in world.profiles:
            added += await _add(unit, PLAYER_PROFILES, profile.player_profile_id, profile)
        added += await _add(unit, STORY_RESOURCES, world.resources.resource_id, world.resources)
        added += 0 if world.canon is None else await _add_canon(house, unit, world.canon)
        return added + await _add(unit, STORIES, world.story.story_id, world.story)

    added = await house.store.write(write)
    return Installed(story_id=world.story.story_id, display_name=world.story.display_name, added=added)


def canon_changes(canon: SampleCanon) -> list[tuple[Change, Verdict]]:
    """What a sample says about its world, each judged as the word of the written world."""
    world = canon.world
    changes = [
        Change(
            change_id=f"{world.world_id}.{number:04d}",
            world_id=world.world_id,
            content=content,
            evidence=[Evidence(type="source", ref="canon.json")],
            authority="source",
            proposer="author",
        )
        for number, content in enumerate(canon.contents)
    ]
    return review(changes, world.policy, Known())


def canon_problems(canon: SampleCanon) -> list[str]:
    """What of a sample's canon its own policy does not accept, or cannot be, in sentences."""
    refused = [verdict.sentence for _, verdict in canon_changes(canon) if verdict.result != "accept"]
    clocks, threads = canon.world.clocks, canon.world.threads
    known = frozenset(clock.clock_id for clock in clocks)
    conflicts = conflict_problems(canon.world.conflicts)
    return [*refused, *agenda_problems(clocks), *thread_problems(threads, known), *conflicts]


async def _add_canon(house: House, unit: Unit, canon: SampleCanon) -> int:
    """Adds a world with its canon. A world that is there already is its owner's: nothing is added to it."""
    if not await _add(unit, WORLDS, canon.world.world_id, canon.world):
        return 0
    decision = Decision(by="author", at_ms=house.clock.now_ms(), reason="written")
    await unit.canon.commit_new(canon_changes(canon), decision)
    return 1


async def _install_ink(house: House, story: InkStory) -> Installed:
    async with house.store.writing() as unit:
        added = await _add(unit, INK_STORIES, story.story_id, story)
    return Installed(story_id=story.story_id, display_name=story.display_name, added=int(added))


def _draw_covers(world: SampleWorld) -> dict[str, bytes]:
    return {
        content.id: draw_portrait(world.portraits.get(content.id) or portrait_for(content.name))
        for content in world.characters
    }


async def _add(unit: Unit, repository: Repository[V], id: str, value: V) -> bool:
    if await repository.find(unit, id) is not None:
        return False
    await repository.add(unit, id, value)
    return True


async def _add_character(unit: Unit, content: CharacterContent, cover: bytes) -> bool:
    if await CHARACTERS.find(unit, content.id) is not None:
        return False
    kept = await keep_cover(unit, cover, "image/png")
    await CHARACTERS.add(unit, content.id, Character(content=content, cover=kept))
    return True
