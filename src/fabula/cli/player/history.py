"""What was said in a play, as the terminal shows it."""

from __future__ import annotations

from fabula.actions.plays.sessions import SessionView
from fabula.cli.player.terminal_writer import TerminalWriter


def show_history(writer: TerminalWriter, session: SessionView, *, most: int | None) -> None:
    """The transcript, or only what was said in turn `most`. What somebody does and says stands together."""
    speaker = ""
    for message in session.history:
        if most is not None and message.turn_index != most:
            continue
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
