"""The player's loop: a line is read, a command is done or the words are played, until there are no more lines."""

from __future__ import annotations

from fabula.actions.sessions import SessionView
from fabula.cli.player.commands import COMMANDS, is_command, run_command
from fabula.cli.player.hearing import hear_the_rest
from fabula.cli.player.history import show_history
from fabula.cli.player.lines import lines_until_left, typed_number
from fabula.cli.player.sentences import for_terminal
from fabula.cli.player.sitting import Sitting
from fabula.ports.errors import FabulaError

ENDED = "This play has ended. /backtrack goes back a turn, /branches shows what you tried, /quit leaves."


async def open_play(sitting: Sitting) -> None:
    """What is shown first: the introduction of a new play, or where an old one stands."""
    session = await sitting.session()
    paper = sitting.paper
    paper.say(sitting.story.display_name.upper(), "bold magenta")
    if session.turn_index == 0:
        for paragraph in sitting.story.introduction.split("\n\n"):
            paper.gap()
            paper.say(" ".join(paragraph.split()))
        sitting.telling.heading(session.snapshot.world_state.current_node)
        _hint(sitting)
    else:
        _resume(sitting, session)
    running = session.active_turn_id
    if running is not None and await hear_the_rest(sitting.house, sitting.session_id, running, sitting.telling):
        await sitting.show_place(await sitting.session())
    if sitting.telling.ended:
        paper.gap()
        paper.say(ENDED, "dim")


def _hint(sitting: Sitting) -> None:
    sitting.paper.gap()
    sitting.paper.say("Say or do anything, in your own words. /help lists the commands.", "dim")


def _resume(sitting: Sitting, session: SessionView) -> None:
    sitting.paper.say(f"“{session.display_name}”, turn {session.turn_index}", "dim")
    show_history(sitting.paper, session, most=session.turn_index)


async def play_on(sitting: Sitting) -> None:
    """Plays until the player leaves or the lines end."""
    async for line in lines_until_left(sitting.lines, sitting.paper):
        if line and not await _heard(sitting, line):
            return


async def _heard(sitting: Sitting, line: str) -> bool:
    """Whether to go on after a line. What cannot be done is told in a sentence, and the play goes on."""
    try:
        if is_command(line):
            return await run_command(sitting, line, COMMANDS) == "go_on"
        if sitting.telling.ended:
            sitting.paper.say(ENDED, "yellow")
        else:
            await sitting.say(_chosen(sitting, line))
    except FabulaError as error:
        sitting.paper.say(for_terminal(error.message), "red")
    return True


def _chosen(sitting: Sitting, line: str) -> str:
    """The line itself, or the suggestion that its number chooses."""
    number = typed_number(line)
    if number is not None and 1 <= number <= len(sitting.suggested):
        return sitting.suggested[number - 1]
    return line
