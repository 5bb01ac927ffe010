"""Ink files: read with what they include, and published, so that they can be played."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from fabula.actions.house import House
from fabula.actions.repositories import INK_STORIES
from fabula.ink import compile_ink
from fabula.knots.published import source_digest
from fabula.knots.talk_context import introduction_of
from fabula.ports.errors import InvalidRequest
from fabula.ports.threads import run_in_thread
from fabula.story.ink_stories import InkStory


async def publish_file(house: House, file: Path) -> str:
    """The story of a file, published under the hash of its source, so that playing it again makes no second one."""
    source, files = await run_in_thread(read_ink, file)
    work = await house.compiled_stories.of(source, files)
    if work.published.errors:
        errors = [f"  {error.removeprefix('ERROR: ')}" for error in work.published.errors_in(file.name)]
        raise InvalidRequest("\n".join(["The story has errors:", *errors]))
    story_id = f"ink-{source_digest(source, files)[:16]}"
    by_file = file.stem.replace("-", " ").title()
    title = title_in(work.published.fresh(seed=0).global_tags)
    story = InkStory(
        story_id=story_id,
        display_name=title or by_file,
        source=source,
        files=files,
        introduction=await run_in_thread(introduction_of, work.published),
    )
    async with house.store.writing() as unit:
        known = await INK_STORIES.find(unit, story_id)
        if known is None:
            await INK_STORIES.add(unit, story_id, story)
        elif known.display_name == by_file != story.display_name:
            # It was published when titles were not read.
            await INK_STORIES.put(unit, story_id, known.model_copy(update={"display_name": story.display_name}))
    return story_id


def title_in(tags: Sequence[str]) -> str:
    """What the tag `# title: ...` at the top of a story calls it; empty without one."""
    for tag in tags:
        name, _, title = tag.partition(":")
        if name.strip().casefold() == "title" and title.strip():
            return title.strip()
    return ""


def read_ink(file: Path) -> tuple[str, dict[str, str]]:
    """A story's source and the files that it includes, from beside it."""
    files: dict[str, str] = {}

    def include(name: str) -> str | None:
        found = file.parent / name
        if found.is_file():
            files[name] = _text_of(found)
        return files.get(name)

    source = _text_of(file)
    compile_ink(source, include=include)
    return source, files


def _text_of(file: Path) -> str:
    try:
        return file.read_text("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise InvalidRequest(f"{file.name} is not UTF-8: look at line {line}. Save it as UTF-8 to play it.") from None
