"""The wizard's road: concept, cast, plan, draft, story, and perhaps a first session of it."""

from __future__ import annotations

from rich.console import Console

from fabula.actions.house import House
from fabula.actions.library.samples import install_samples_at_first
from fabula.actions.library.story_resources import CreateStoryResources, create_story_resources
from fabula.actions.plays.start_session import StartSession, start_session
from fabula.cli.author.cast import cast_story
from fabula.cli.author.draft_builder import agree_on_plan, build_draft, finish, show_draft
from fabula.cli.author.questions import Author
from fabula.cli.player.commands import COMMANDS
from fabula.cli.player.lines import open_lines
from fabula.cli.player.presenters import present
from fabula.cli.player.terminal_writer import TerminalWriter
from fabula.language.titles import title_of
from fabula.ports.actors import OPERATOR
from fabula.settings import Settings
from fabula.wiring import open_house


async def write_story(settings: Settings, console: Console) -> None:
    """Opens the house and leads the author through."""
    writer = TerminalWriter(console)
    lines = open_lines(writer, settings.data_folder / "author-history", [])
    async with open_house(settings) as house:
        await install_samples_at_first(house)
        author = Author(writer=writer, lines=lines)
        story_id = await _make(house, author, console)
        if story_id is not None and await author.agrees("Play it now?", default=writer.colourful):
            await _play(house, settings, writer, story_id)


async def _make(house: House, author: Author, console: Console) -> str | None:
    concept = await author.answer("What is the story about")
    name = await author.answer("What is it called", default=title_of(concept) or "A story")
    cast = await cast_story(house, author)
    resources = await create_story_resources(
        house, OPERATOR, CreateStoryResources(display_name=name, story_concept=concept, character_ids=cast)
    )
    await agree_on_plan(house, author, resources.resource_id)
    draft = await build_draft(house, author, resources.resource_id, console)
    show_draft(author, draft)
    if not await author.agrees("Make a story of it?"):
        author.writer.say(
            f"The draft {draft.draft_id} is kept. The how-to `build a story` says how to make a story of it later."
        )
        return None
    story = await finish(house, draft)
    author.writer.say(f"Done. Play it with: fabula play --story {story.story_id}")
    return story.story_id


async def _play(house: House, settings: Settings, writer: TerminalWriter, story_id: str) -> None:
    lines = open_lines(writer, settings.data_folder / "play-history", [f"/{name}" for name in COMMANDS])
    session_id = (await start_session(house, OPERATOR, StartSession(story_id=story_id))).session_id
    writer.gap()
    await present(house, session_id, seed=None, writer=writer, lines=lines)
