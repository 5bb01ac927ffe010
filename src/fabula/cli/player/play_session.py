"""One evening with a story: the house is opened, a play is taken up or begun, and played until the player leaves."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from fabula.actions.house import House
from fabula.actions.library.samples import install_samples_at_first
from fabula.actions.library.stories import NameStory, StoryView, show_story
from fabula.actions.plays.sessions import get_session
from fabula.actions.views import Nothing
from fabula.cli.player.commands import COMMANDS
from fabula.cli.player.ink_files import publish_file
from fabula.cli.player.ink_session import ink_player_at, new_ink_play
from fabula.cli.player.input_loop import open_play, play_on
from fabula.cli.player.lines import Lines, open_lines
from fabula.cli.player.player_session import PlayerSession, new_sitting, player_at
from fabula.cli.player.story_picker import pick_story
from fabula.cli.player.terminal_writer import TerminalWriter
from fabula.ports.errors import InvalidRequest
from fabula.settings import Settings
from fabula.wiring import open_house


async def evening(
    settings: Settings,
    console: Console,
    *,
    story: str | None,
    session: str | None,
    profile: str | None,
    seed: int | None,
    ink: Path | None = None,
) -> None:
    """Opens the house and plays."""
    if ink is not None and (session is not None or story is not None):
        raise InvalidRequest("Give --ink alone: the file is the story.")
    if session is not None and (story is not None or profile is not None):
        raise InvalidRequest("A play knows its story and its player: give --session alone.")
    writer = TerminalWriter(console)
    async with open_house(settings, tends_turns=True) as house:
        await install_samples_at_first(house)
        lines = open_lines(writer, settings.data_folder / "play-history", [f"/{name}" for name in COMMANDS])
        if session is None and ink is None:
            story = story or await pick_story(house, writer, lines)
        ink_session = await _ink_session(house, story=story, session=session, profile=profile, seed=seed, ink=ink)
        if ink_session is not None:
            ink_sitting = await ink_player_at(house, ink_session, writer=writer, lines=lines)
            await ink_sitting.play()
            _say_goodbye(writer, ink_sitting.session_id)
            return
        player_session = await _sit_down(house, writer, lines, story=story, session=session, profile=profile, seed=seed)
        await open_play(player_session)
        await play_on(player_session)
        _say_goodbye(writer, player_session.session_id)


def _say_goodbye(writer: TerminalWriter, session_id: str) -> None:
    if writer.colourful:
        writer.row(f"Saved. Come back with: fabula play --session {session_id}", "dim")


async def _ink_session(
    house: House, *, story: str | None, session: str | None, profile: str | None, seed: int | None, ink: Path | None
) -> str | None:
    """The session of an Ink play, begun or taken up; None when something else is to be played."""
    if session is not None:
        return session if (await get_session(house, session, Nothing())).ink is not None else None
    if ink is not None:
        story = await publish_file(house, ink)
    if story is None or isinstance(await show_story(house, NameStory(story_id=story)), StoryView):
        return None
    return await new_ink_play(house, story, profile=profile, seed=seed)


async def _sit_down(
    house: House,
    writer: TerminalWriter,
    lines: Lines,
    *,
    story: str | None,
    session: str | None,
    profile: str | None,
    seed: int | None,
) -> PlayerSession:
    if session is not None:
        return await player_at(house, session, seed=seed, writer=writer, lines=lines)
    story_id = story or await pick_story(house, writer, lines)
    return await new_sitting(house, story_id, profile_id=profile, seed=seed, writer=writer, lines=lines)
