"""A play session of an Ink story: lines are told, choices are numbered, and characters are talked to in plain words."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any

from fabula.actions.house import House
from fabula.actions.library.stories import NameStory, show_story
from fabula.actions.plays.branches import ListBranches, list_branches
from fabula.actions.plays.sessions import SessionView, ShowSession, get_session
from fabula.actions.turns.run_turn import Regenerate, regenerate, retry_turn, run_turn
from fabula.cli.player.commands import INK_COMMANDS, is_command, run_command
from fabula.cli.player.history import show_history
from fabula.cli.player.ink_lines import meant
from fabula.cli.player.ink_teller import Ink, InkTelling, awaited
from fabula.cli.player.lines import Lines, lines_until_left
from fabula.cli.player.player_session import again
from fabula.cli.player.sentences import for_terminal, plain
from fabula.cli.player.terminal_writer import TerminalWriter
from fabula.cli.player.turn_listener import hear_the_rest, hear_turn
from fabula.ports.actors import OPERATOR
from fabula.ports.errors import FabulaError
from fabula.ports.plays import Turn

REQUEST = "play"
FEW_VARIABLES = 12
PATIENCE = 2
"""A hint comes when so many replies in a row led nowhere, and not before as many more did."""


async def present_ink(house: House, session_id: str, *, seed: int | None, writer: TerminalWriter, lines: Lines) -> str:
    """Shows an Ink play and plays it until the player leaves; answers the session in which they left."""
    player_session = await ink_player_at(house, session_id, writer=writer, lines=lines)
    await player_session.play()
    return player_session.session_id


async def ink_player_at(house: House, session_id: str, *, writer: TerminalWriter, lines: Lines) -> InkSitting:
    """A player at an Ink play that exists."""
    session = await get_session(house, OPERATOR, session_id, ShowSession(history="none"))
    story = await show_story(house, OPERATOR, NameStory(story_id=session.story_id))
    return InkSitting(
        house=house, session_id=session_id, title=story.display_name, lines=lines, telling=InkTelling(writer)
    )


@dataclass(kw_only=True)
class InkSitting:
    """One player at one Ink play."""

    house: House
    session_id: str
    title: str
    lines: Lines
    telling: InkTelling

    @property
    def writer(self) -> TerminalWriter:
        return self.telling.writer

    async def session(self) -> SessionView:
        return await get_session(self.house, OPERATOR, self.session_id, ShowSession())

    async def play(self) -> None:
        """Shows what was played so far, and plays until the player leaves or the lines end."""
        await self._open()
        async for line in lines_until_left(self.lines, self.writer):
            if not await self._heard(line):
                return

    async def play_again(self) -> None:
        """Plays the last turn anew."""
        await self._turn(regenerate(self.house, OPERATOR, self.session_id, Regenerate(), request_id=REQUEST))

    async def say_again(self, *, with_understudy: bool = False) -> None:
        """Plays the words of a failed turn again, with the session's models or without."""
        command = again(with_understudy)
        await self._turn(retry_turn(self.house, OPERATOR, self.session_id, command, request_id=REQUEST))

    def show_status(self, session: SessionView) -> None:
        """How far the story is, what it waits for, and its variables if they are few."""
        self.writer.say(self.title, "bold")
        self.writer.say(f"Turn {session.turn_index}, {session.status}. {awaited(_ink(session))}")
        variables = session.snapshot.world_state.custom
        if len(variables) <= FEW_VARIABLES:
            for name, value in variables.items():
                self.writer.say(f"{name}: {plain(value) or '(empty)'}", indent=2)

    async def show_place(self, session: SessionView) -> None:
        """Where the story stands, after going somewhere else in it."""
        show_history(self.writer, session, most=session.turn_index)
        await self._show_waiting(session)

    async def _open(self) -> None:
        session = await self.session()
        self.writer.say(self.title.upper(), "bold magenta")
        if session.turn_index:
            self.writer.say(f"“{session.display_name}”, turn {session.turn_index}", "dim")
        show_history(self.writer, session, most=None)
        running = session.active_turn_id
        if running is not None and await hear_the_rest(self.house, self.session_id, running, self.telling):
            await self.show_place(await self.session())
        else:
            await self._show_waiting(session)

    async def _heard(self, line: str) -> bool:
        """Whether to go on after a line. What cannot be done is told in a sentence, and the play goes on."""
        try:
            if is_command(line):
                return await run_command(self, line, INK_COMMANDS) == "go_on"
            await self._say(line)
        except FabulaError as error:
            self.writer.say(await self._explained(error), "red")
        return True

    async def _say(self, line: str) -> None:
        ink = _ink(await self.session())
        if ink["ended"]:
            self.writer.say("The story has ended. /backtrack goes back a turn, /quit leaves.", "dim")
            return
        command = meant(line, ink["choices"])
        if isinstance(command, str):
            self.writer.say(command, "dim")
        else:
            await self._turn(run_turn(self.house, OPERATOR, self.session_id, command, request_id=REQUEST))

    async def _turn(self, beginning: Awaitable[Turn]) -> None:
        if await hear_turn(self.house, await beginning, self.telling):
            await self._show_waiting(await self.session())

    async def _show_waiting(self, session: SessionView) -> None:
        self.telling.waiting(_ink(session), await self._hint(session))

    async def _hint(self, session: SessionView) -> str:
        """What the last reply suggests to try, where the player seems to need it."""
        async with self.house.store.reading() as unit:
            result: Any = await unit.plays.result(session.head_turn_id)
        outcome = ((result or {}).get("ink") or {}).get("outcome") or {}
        return str(outcome.get("guidance", "")) if needs_hint(session, str(outcome.get("outcome", ""))) else ""

    async def _explained(self, error: FabulaError) -> str:
        """An error in the words of this terminal; of a place that was edited away, how to leave it."""
        if "resume_turn_id" not in error.data:
            return for_terminal(error)
        reason = str(error.data["reason"]).rstrip(".")
        branches = await list_branches(self.house, OPERATOR, self.session_id, ListBranches())
        places = {turn.turn_id: turn.turn_index for turn in branches.turns}
        sound = places.get(str(error.data["resume_turn_id"]))
        if sound is None:
            return f"{reason}. Nothing of the last turns is left in it: begin it anew."
        back = places[branches.head_turn_id] - sound
        return f"{reason}. /backtrack {back} goes back to the last turn that is still in the story."


def needs_hint(session: SessionView, outcome: str) -> bool:
    """Whether a hint helps: nobody stands there who would answer, the words were no use, or it is going on too long."""
    if outcome == "INVALID_INPUT":
        return True
    if outcome != "NEEDS_INPUT":
        return False
    return _ink(session)["input"]["kind"] == "continue" or replies_in_a_row(session) % PATIENCE == 0


def replies_in_a_row(session: SessionView) -> int:
    """How many turns, up to now, in which a character answered and the story did not go on."""
    told: dict[int, set[str]] = {}
    for message in session.history:
        told.setdefault(message.turn_index, set()).add(message.kind)
    count = 0
    while told.get(session.turn_index - count, set()) - {"player_input"} == {"dialogue"}:
        count += 1
    return count


def _ink(session: SessionView) -> Ink:
    return session.ink or {}
