"""What a turn that nobody played was: the label that the tree shows, and the kind of change that it stands for.

The label is kept with the turn, in English. Who shows it in another language reads the kind out of it again.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

ChangeKind = Literal[
    "world_moved",
    "scene_began",
    "scene_ended",
    "past_began",
    "present_again",
    "story_ended",
    "talk_began",
    "talk_left",
    "time_passed",
    "dice_rolled",
]

BY_HAND: Final = "changed by hand"
_LABELS: Final[Mapping[ChangeKind, str]] = {
    "world_moved": "the world moves on",
    "scene_began": "the next scene",
    "scene_ended": "the scene was ended",
    "past_began": "a scene of the past",
    "present_again": "the present again",
    "story_ended": "the end",
    "talk_began": "a talk begins",
    "talk_left": "a talk was left",
    "time_passed": "time passes",
    "dice_rolled": "a roll",
}
_KINDS: Final[Mapping[str, ChangeKind]] = {label: kind for kind, label in _LABELS.items()}


def change_label(kind: ChangeKind, about: str = "") -> str:
    """What the tree calls a change, and what it was about: the place of a scene, those in a talk."""
    return f"{_LABELS[kind]}: {about}" if about else _LABELS[kind]


def read_change_label(label: str) -> tuple[ChangeKind | None, str]:
    """The kind of change that a label stands for, none where it was changed by hand, and what it was about."""
    name, _, about = label.partition(": ")
    return _KINDS.get(name), about if name in _KINDS else ""
