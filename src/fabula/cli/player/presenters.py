"""Who shows a play in the terminal: one presenter for each kind of play."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from fabula.actions.house import House
from fabula.actions.plays.kinds.rows import kind_of_session
from fabula.cli.player.ink_session import present_ink
from fabula.cli.player.input_loop import present_scenes
from fabula.cli.player.lines import Lines
from fabula.cli.player.terminal_writer import TerminalWriter
from fabula.ports.actors import OPERATOR


class Presenter(Protocol):
    """Shows a play and plays it until the player leaves; answers the session in which they left, maybe a fork."""

    async def __call__(
        self, house: House, session_id: str, *, seed: int | None, writer: TerminalWriter, lines: Lines
    ) -> str: ...


PRESENTERS: Mapping[str, Presenter] = {"graph": present_scenes, "free": present_scenes, "ink": present_ink}


async def present(house: House, session_id: str, *, seed: int | None, writer: TerminalWriter, lines: Lines) -> str:
    """Shows and plays a session with the presenter of its kind."""
    kind = await kind_of_session(house, OPERATOR, session_id)
    return await PRESENTERS[kind.name](house, session_id, seed=seed, writer=writer, lines=lines)
