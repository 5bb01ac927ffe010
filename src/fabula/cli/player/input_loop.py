"""The player's loop: a line is read, a command is done or the words are played, until there are no more lines."""

from __future__ import annotations

from fabula.actions.house import House
from fabula.actions.plays.sessions import SessionView
from fabula.cli.player.commands import COMMANDS, is_command, run_command
from fabula.cli.player.history import show_history
from fabula.cli.player.lines import Lines, lines_until_left, typed_number
from fabula.cli.player.player_session import PlayerSession, player_at
from fabula.cli.player.sentences import for_terminal
from fabula.cli.player.terminal_writer import TerminalWriter
from fabula.cli.player.turn_listener import hear_the_rest
from fabula.ports.errors import FabulaError

ENDED = "This play has ended. /backtrack goes back a turn, /branches shows what you tried, /quit leaves."


async def present_scenes(
    house: House, session_id: str, *, seed: int | None, writer: TerminalWriter, lines: Lines
) -> str:
    """Shows a play of a graph and plays it until the player leaves; answers the session in which they left."""
    player_session = await player_at(house, session_id, seed=seed, writer=writer, lines=lines)
    await open_play(player_session)
    await play_on(player_session)
    return player_session.session_id


async def open_play(player_session: PlayerSession) -> None:
    """What is shown first: the introduction of a new play, or where an old one stands."""
    session = await player_session.session()
    writer = player_session.writer
    writer.say(player_session.story.display_name.upper(), "bold magenta")
    if session.turn_index == 0:
        for paragraph in player_session.story.introduction.split("\n\n"):
            writer.gap()
            writer.say(" ".join(paragraph.split()))
        player_session.telling.heading(session.snapshot.world_state.current_node)
        if session.history:
            show_history(writer, session, most=0)
        _hint(player_session)
    else:
        _resume(player_session, session)
    running = session.active_turn_id
    if running is not None and await hear_the_rest(
        player_session.house, player_session.session_id, running, player_session.telling
    ):
        await player_session.show_place(await player_session.session())
    if player_session.telling.ended:
        writer.gap()
        writer.say(ENDED, "dim")


def _hint(player_session: PlayerSession) -> None:
    player_session.writer.gap()
    player_session.writer.say("Say or do anything, in your own words. /help lists the commands.", "dim")


def _resume(player_session: PlayerSession, session: SessionView) -> None:
    player_session.writer.say(f"“{session.display_name}”, turn {session.turn_index}", "dim")
    show_history(player_session.writer, session, most=session.turn_index)


async def play_on(player_session: PlayerSession) -> None:
    """Plays until the player leaves or the lines end."""
    async for line in lines_until_left(player_session.lines, player_session.writer):
        if line and not await _heard(player_session, line):
            return


async def _heard(player_session: PlayerSession, line: str) -> bool:
    """Whether to go on after a line. What cannot be done is told in a sentence, and the play goes on."""
    try:
        if is_command(line):
            return await run_command(player_session, line, COMMANDS) == "go_on"
        if player_session.telling.ended:
            player_session.writer.say(ENDED, "yellow")
        else:
            await player_session.say(_chosen(player_session, line))
    except FabulaError as error:
        player_session.writer.say(for_terminal(error), "red")
    return True


def _chosen(player_session: PlayerSession, line: str) -> str:
    """The line itself, or the suggestion that its number chooses."""
    number = typed_number(line)
    if number is not None and 1 <= number <= len(player_session.suggested):
        return player_session.suggested[number - 1]
    return line
