"""Install the sample worlds: each whole or not at all, and only what is not there yet.

A world is a folder of plain files in the shapes in which resources are stored, see `stories/README.md`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import orjson

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
    Repository,
)
from fabula.formats.portraits import Portrait, draw_portrait
from fabula.ports.store import Unit
from fabula.ports.threads import run_in_thread
from fabula.story.ink_stories import InkStory
from fabula.story.resources import Character, CharacterContent, Lorebook, PlayerProfile, StoryResources
from fabula.story.schemas import Schema
from fabula.story.stories import Story
from fabula.story.values import JsonObject, Value

V = TypeVar("V", bound=Value)


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


@dataclass(frozen=True, kw_only=True)
class Installed:
    """What an installation did for one world; `added` counts what was missing."""

    story_id: str
    display_name: str
    added: int


async def install_samples(house: House) -> list[Installed]:
    """Installs every sample world; doing it again changes nothing."""
    worlds = await run_in_thread(lambda: read_worlds(sample_folder()))
    ink = await run_in_thread(lambda: read_ink_samples(sample_folder() / "ink"))
    return [*[await _install(house, world) for world in worlds], *[await _install_ink(house, story) for story in ink]]


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
    source = file.read_text("utf-8")
    told = [line for line in source.splitlines() if line and not line.startswith(("#", "//", "VAR", "->", "=="))]
    name = file.stem.replace("-", " ").title()
    return InkStory(story_id=file.stem, display_name=name, source=source, introduction=told[0].split(" #")[0])


def read_world(folder: Path) -> SampleWorld:
    """A sample world; its long texts stand in files of their own."""
    resources = _read_json(folder / "resources.json")
    story = _read_json(folder / "story.json")
    portraits = _read_json(folder / "portraits.json")
    plan = (folder / "plan.txt").read_text("utf-8").strip()
    introduction = (folder / "introduction.txt").read_text("utf-8").strip()
    return SampleWorld(
        schemas=_read_all(folder / "schemas", Schema),
        characters=_read_all(folder / "characters", CharacterContent),
        portraits={id: Portrait(**features) for id, features in portraits.items()},  # type: ignore[arg-type]
        lorebooks=_read_all(folder / "lorebooks", Lorebook),
        profiles=_read_all(folder / "player_profiles", PlayerProfile),
        resources=StoryResources.model_validate({**resources, "planned_story": plan}),
        story=Story.model_validate({**story, "introduction": introduction}),
    )


def _read_all(folder: Path, model: type[V]) -> list[V]:
    return [model.model_validate(_read_json(file)) for file in sorted(folder.glob("*.json"))]


def _read_json(file: Path) -> JsonObject:
    found = orjson.loads(file.read_bytes())
    assert isinstance(found, dict)
    return found


async def _install(house: House, world: SampleWorld) -> Installed:
    covers = await run_in_thread(_draw_covers, world)
    async with house.store.writing() as unit:
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
        added += await _add(unit, STORIES, world.story.story_id, world.story)
    return Installed(story_id=world.story.story_id, display_name=world.story.display_name, added=added)


async def _install_ink(house: House, story: InkStory) -> Installed:
    async with house.store.writing() as unit:
        added = await _add(unit, INK_STORIES, story.story_id, story)
    return Installed(story_id=story.story_id, display_name=story.display_name, added=int(added))


def _draw_covers(world: SampleWorld) -> dict[str, bytes]:
    return {content.id: draw_portrait(world.portraits[content.id]) for content in world.characters}


async def _add(unit: Unit, shelf: Repository[V], id: str, value: V) -> bool:
    if await shelf.find(unit, id) is not None:
        return False
    await shelf.add(unit, id, value)
    return True


async def _add_character(unit: Unit, content: CharacterContent, cover: bytes) -> bool:
    if await CHARACTERS.find(unit, content.id) is not None:
        return False
    kept = await keep_cover(unit, cover, "image/png")
    await CHARACTERS.add(unit, content.id, Character(content=content, cover=kept))
    return True
