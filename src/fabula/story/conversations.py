"""Conversations with the cast: who talks, and what a reply does to how its speaker stands to whom it talks with.

A conversation is part of the state of a play, as relations are, so that going back restores both.
"""

from __future__ import annotations

from typing import Final, Literal

from pydantic import Field

from fabula.story.minds import Emotion
from fabula.story.relations import Deltas
from fabula.story.values import Id, Value

StrongAct = Literal["confession", "betrayal", "threat", "rescue", "favour"]
"""What moves a relation further than words do; a `favour` is one that costs something."""
ConversationMode = Literal["talk", "interview"]

MOST_CHARACTERS: Final = 4
MOST_TURNS: Final = 100


class FeltBeat(Value):
    """What a reply does to how its speaker stands to somebody.

    `surface` is the feeling that shows, `inner` the one that is felt; either may be none. `act` is the strong act that
    caused it, if one did.
    """

    character_id: Id
    towards: Id
    surface: Emotion | None = None
    inner: Emotion | None = None
    deltas: Deltas = Deltas()
    reason: str = Field(default="", max_length=200)
    confidence: float = Field(default=0.5, ge=0, le=1)
    act: StrongAct | None = None


class Conversation(Value):
    """A conversation that is under way: with whom, since which turn, and how many turns it has had.

    An `interview` asks a character about itself; nobody in the story notices it.
    """

    conversation_id: Id
    character_ids: list[Id] = Field(min_length=1, max_length=MOST_CHARACTERS)
    mode: ConversationMode = "talk"
    began: int = 0
    turns: int = Field(default=0, ge=0, le=MOST_TURNS)
