"""What was said in a play, as the terminal shows it."""

from __future__ import annotations

from collections.abc import Sequence

from fabula.actions.plays.sessions import MessageLine, SessionView
from fabula.cli.player.terminal_writer import TerminalWriter


def show_history(writer: TerminalWriter, session: SessionView, *, most: int | None) -> None:
    """The transcript, or only what was said in turn `most`. What somebody does and says stands together."""
    show_lines(writer, [one for one in session.history if most is None or one.turn_index == most])


def show_lines(writer: TerminalWriter, lines: Sequence[MessageLine]) -> None:
    """Some lines of the transcript."""
    speaker = ""
    for message in lines:
        if message.kind in ("action", "dialogue") and message.speaker_id != speaker:
            writer.gap()
        speaker = message.speaker_id
        match message.kind:
            case "player_input":
                writer.gap()
                writer.say(f"> {message.text}", "bold")
            case "dialogue":
                writer.say(f"{message.speaker_name}: “{message.text}”")
            case "action":
                writer.say(message.text, "italic green")
            case _:
                writer.paragraphs(message.text)
