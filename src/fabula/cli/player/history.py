"""What was said in a play, as the terminal shows it."""

from __future__ import annotations

from fabula.actions.sessions import SessionView
from fabula.cli.player.paper import Paper


def show_history(paper: Paper, session: SessionView, *, most: int | None) -> None:
    """The transcript, or only what was said in turn `most`. What somebody does and says stands together."""
    speaker = ""
    for message in session.history:
        if most is not None and message.turn_index != most:
            continue
        if message.kind in ("action", "dialogue") and message.speaker_id != speaker:
            paper.gap()
        speaker = message.speaker_id
        match message.kind:
            case "player_input":
                paper.gap()
                paper.say(f"> {message.text}", "bold")
            case "dialogue":
                paper.say(f"{message.speaker_name}: “{message.text}”")
            case "action":
                paper.say(message.text, "italic green")
            case _:
                paper.paragraphs(message.text)
