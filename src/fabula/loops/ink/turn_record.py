"""What is kept of a turn of an Ink play, before anything is written."""

from __future__ import annotations

from typing import Literal

from fabula.story.plays import PlayState
from fabula.story.values import JsonObject, Value

NARRATOR = "narrator"


class Spoken(Value):
    """One line of the transcript to be."""

    kind: Literal["player_input", "narration", "dialogue"]
    speaker_id: str = NARRATOR
    speaker_name: str = "Narrator"
    text: str


class Kept(Value):
    """The state after the turn, what was said in it, and its result as clients see it."""

    play: PlayState
    spoken: list[Spoken]
    ink: JsonObject
