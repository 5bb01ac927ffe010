"""What was said in a play, as the terminal shows it."""

from __future__ import annotations

from fabula.actions.sessions import SessionView
from fabula.cli.player.paper import Paper


def show_history(paper: Paper, session: SessionView, *, most: int | None) -> None:
    """The transcript, or only what was said in turn `most`."""
    for message in session.history:
        if most is not None and message.turn_index != most:
            continue
        match message.kind:
            case "player_input":
                paper.gap()
                paper.say(f"> {message.text}", "bold")
            case "dialogue":
                paper.say(f"{message.speaker_name}: “{message.text}”")
            case "action":
                paper.gap()
                paper.say(message.text, "italic green")
            case _:
                paper.gap()
                paper.say(message.text)
