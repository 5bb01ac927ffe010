"""Conversations: what whoever is talked with is told beside the scene, and how what it says of its feelings is read."""

from __future__ import annotations

from importlib.resources import files
from typing import Annotated, Final

from pydantic import BeforeValidator, Field, TypeAdapter

from fabula.agents.replies.json_answers import fitted, json_in
from fabula.story.contexts import ActorContext, ConversationNote
from fabula.story.conversations import FeltBeat, StrongAct
from fabula.story.minds import Emotion
from fabula.story.relations import Deltas
from fabula.story.values import Value

_TEXTS: Final = files("fabula.agents") / "texts"
_TALK: Final = (_TEXTS / "conversation.txt").read_text("utf-8").strip()
_INTERVIEW: Final = (_TEXTS / "interview.txt").read_text("utf-8").strip()
LONGEST_FEELS: Final = 2_000
MODEL_SURE: Final = 0.7


def conversation_text(context: ActorContext, note: ConversationNote) -> str:
    """What somebody in a conversation is told of it."""
    player = context.player.name
    if note.mode == "interview":
        return _INTERVIEW.replace("{player}", player)
    names = [one.name for one in context.current_cast if one.id != context.actor.id]
    others = f", and with {' and '.join(names)}" if names else ""
    text = _TALK.replace("{others}", others).replace("{stands}", note.stands)
    return text.replace("{player}", player).replace("\n\n\n", "\n\n")


def _number(value: object) -> object:
    """A number as models write it: `+0.1` in quotes is one."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return value
    return max(-1.0, min(1.0, float(value))) if isinstance(value, (int, float)) else value


def _word(value: object) -> object:
    """A name in small letters; the words that models use for none are none."""
    if not isinstance(value, str):
        return value
    word = value.strip().lower()
    return None if word in ("", "none", "null", "neutral", "calm") else word


_Degree = Annotated[float, Field(ge=-1, le=1), BeforeValidator(_number)]
_Feeling = Annotated[Emotion | None, BeforeValidator(_word)]


class _Feels(Value):
    """What a model says it feels."""

    surface: _Feeling = None
    inner: _Feeling = None
    trust: _Degree = 0.0
    respect: _Degree = 0.0
    affinity: _Degree = 0.0
    fear: _Degree = 0.0
    act: Annotated[StrongAct | None, BeforeValidator(_word)] = None
    quote: str = ""
    reason: str = ""


_FEELS: Final = TypeAdapter(_Feels)


def read_feels(text: str, *, character_id: str, towards: str, said: str) -> FeltBeat | None:
    """The beat that a model proposes, not yet within its limits; None where it says nothing of use.

    A strong act must be quoted from what was `said`, letter by letter, or it counts as none.
    """
    feels, _ = fitted(json_in(text[:LONGEST_FEELS])[0], _FEELS)
    if feels is None:
        return None
    quoted = " ".join(feels.quote.split())
    is_quoted = len(quoted) >= 3 and quoted.lower() in " ".join(said.split()).lower()
    return FeltBeat(
        character_id=character_id,
        towards=towards,
        surface=feels.surface,
        inner=feels.inner,
        deltas=Deltas(trust=feels.trust, respect=feels.respect, affinity=feels.affinity, fear=feels.fear),
        reason=" ".join(feels.reason.split())[:200],
        confidence=MODEL_SURE,
        act=feels.act if is_quoted else None,
    )
