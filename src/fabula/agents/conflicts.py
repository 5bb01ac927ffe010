"""Conflicts, as roles are told of them: where each stands and what is due; to who has a part in one, what they want."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from fabula.story.conflicts import ConflictPhase
from fabula.story.contexts import ConflictNote, SceneContext

_TEXT: Final = (files("fabula.agents") / "texts" / "conflicts.txt").read_text("utf-8").strip()
_PHASES: Final[dict[ConflictPhase, str]] = {
    "seed": "hardly begun",
    "emerging": "beginning to show",
    "rising": "growing worse",
    "confrontation": "out in the open",
    "climax": "about to break",
    "falling": "decided, and settling",
    "resolution": "over",
    "aftermath": "past",
}


def conflicts_text(context: SceneContext) -> str:
    """What a role is told of the conflicts around it."""
    return _TEXT.replace("{conflicts}", "\n".join(map(_line, context.conflicts)))


def _line(note: ConflictNote) -> str:
    stakes = f" At stake: {_closed(note.stakes)}" if note.stakes else ""
    people = f" Here: {', '.join(note.people)}." if note.people else ""
    own = f" You want: {_closed(note.own)}" if note.own else ""
    due = f" {note.due}" if note.due else ""
    return f"- {note.title} ({_PHASES[note.phase]}).{stakes}{people}{own}{due}"


def _closed(text: str) -> str:
    return f"{text.strip().rstrip('.')}."
