"""The command of the terminal player that asks the three questions of session zero."""

from __future__ import annotations

from fabula.actions.plays.session_zero import (
    AnswerSessionZero,
    AskSessionZero,
    SessionZeroView,
    get_session_zero,
    update_session_zero,
)
from fabula.cli.player.player_session import PlayerSession
from fabula.cli.player.terminal_writer import TerminalWriter
from fabula.ports.actors import OPERATOR

KEEPS = "An empty line keeps what is there; a single - takes it away."


async def zero(player_session: PlayerSession, _: str) -> None:
    """Asks what this play is about, and what it must not do."""
    house, session_id, writer = player_session.house, player_session.session_id, player_session.writer
    view = await get_session_zero(house, OPERATOR, session_id, AskSessionZero())
    _show(view, writer)
    writer.say(KEEPS, "dim")
    answers: dict[str, str] = {}
    for name, question in view.questions.items():
        writer.say(question)
        line = await player_session.lines.next()
        if line is None:
            break
        if line.strip():
            answers[name] = "" if line.strip() == "-" else line.strip()
    command = AnswerSessionZero.model_validate(answers)
    _show(await update_session_zero(house, OPERATOR, session_id, command), writer)


def _show(view: SessionZeroView, writer: TerminalWriter) -> None:
    rows = {
        "About": view.premise,
        "Themes": ", ".join(view.themes),
        "Must not happen": ", ".join(view.lines),
        "Is not shown": ", ".join(view.veils),
    }
    for title, text in rows.items():
        if text:
            writer.say(f"{title}: {text}", indent=2)
