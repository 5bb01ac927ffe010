"""Beats of a story template that are due, as the roles are told of them that plan."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files
from typing import Final

from fabula.story.contexts import DueBeat

_TEXT: Final = (files("fabula.agents") / "texts" / "due_beats.txt").read_text("utf-8").strip()


def due_text(beats: Sequence[DueBeat]) -> str:
    """What has to happen, in words for a prompt."""
    return _TEXT.replace("{beats}", "\n".join(f"- {_line(beat)}" for beat in beats))


def _line(beat: DueBeat) -> str:
    named = (("With", beat.people), ("At", beat.places), ("It may end so", beat.outcomes))
    parts = [_closed(beat.title), _closed(beat.text)]
    parts += [
        _closed(f"{title}: {'; '.join(_plain(one).rstrip('.') for one in what)}") for title, what in named if what
    ]
    return " ".join(part for part in parts if part)


def _closed(text: str) -> str:
    plain = _plain(text)
    return plain if not plain or plain[-1] in ".!?" else f"{plain}."


def _plain(text: str) -> str:
    return " ".join(text.split())
