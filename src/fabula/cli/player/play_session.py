"""A play session at the terminal: a play is taken up or begun, and played until the player leaves."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from fabula.actions.house import House
from fabula.actions.library.model_choice import group_of_model
from fabula.actions.library.samples import install_samples_at_first
from fabula.actions.plays.sessions import UpdateConfig, update_config
from fabula.actions.plays.start_session import StartSession, start_session
from fabula.cli.player.commands import COMMANDS
from fabula.cli.player.ink_files import publish_file
from fabula.cli.player.lines import Lines, open_lines
from fabula.cli.player.play_picker import pick_play
from fabula.cli.player.presenters import present
from fabula.cli.player.story_picker import pick_story
from fabula.cli.player.terminal_writer import TerminalWriter
from fabula.ports.actors import OPERATOR
from fabula.ports.errors import InvalidRequest
from fabula.settings import Settings
from fabula.wiring import open_house


async def play_session(
    settings: Settings,
    console: Console,
    *,
    story: str | None,
    session: str | None,
    profile: str | None,
    seed: int | None,
    ink: Path | None = None,
    model: str | None = None,
    rules: str | None = None,
    world: str | None = None,
) -> int:
    """Opens the house and plays; answers how many turns failed."""
    if ink is not None and (session is not None or story is not None):
        raise InvalidRequest("Give --ink alone: the file is the story.")
    if world is not None and (session is not None or story is not None or ink is not None):
        raise InvalidRequest("Give --world alone: free play in a world has no story.")
    if session is not None and (story is not None or profile is not None):
        raise InvalidRequest("A play knows its story and its player: give --session alone.")
    writer = TerminalWriter(console)
    async with open_house(settings, tends_turns=True) as house:
        await install_samples_at_first(house)
        lines = open_lines(writer, settings.data_folder / "play-history", [f"/{name}" for name in COMMANDS])
        if session is None and story is None and ink is None and world is None:
            session = await pick_play(house, writer, lines)
        group = None if model is None else await group_of_model(house, OPERATOR, model)
        if session is None:
            session = await _start(
                house,
                writer,
                lines,
                story=story,
                profile=profile,
                seed=seed,
                ink=ink,
                group=group,
                rules=rules,
                world=world,
            )
        elif group is not None:
            await update_config(house, OPERATOR, session, UpdateConfig(api_group_id=group))
        _say_goodbye(writer, await present(house, session, seed=seed, writer=writer, lines=lines))
    return writer.failed_turns


def _say_goodbye(writer: TerminalWriter, session_id: str) -> None:
    if writer.colourful:
        writer.row(f"Saved. Come back with: fabula play --session {session_id}", "dim")


async def _start(
    house: House,
    writer: TerminalWriter,
    lines: Lines,
    *,
    story: str | None,
    profile: str | None,
    seed: int | None,
    ink: Path | None,
    group: str | None,
    rules: str | None = None,
    world: str | None = None,
) -> str:
    """Starts a new play of the story that is named, written in a file, or picked; answers its session."""
    if ink is not None:
        story = await publish_file(house, ink)
    if world is None:
        story = story or await pick_story(house, writer, lines)
    command = StartSession(
        story_id=story, world_id=world, player_profile_id=profile, api_group_id=group, seed=seed, rules=rules
    )
    return (await start_session(house, OPERATOR, command)).session_id
