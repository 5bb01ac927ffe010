"""Reminders: what a scene has told of a thing, told once more in other words, for who looks or asks again."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fabula.language.english import inner
from fabula.language.words import stems, words_of
from fabula.story.contexts import SceneContext
from fabula.understudy.reading.words import verb_of
from fabula.understudy.scene_view import player_name, scene_sentences
from fabula.understudy.voice import FreshVoice

AGAIN = (
    "You look again: {told}.",
    "You look more closely: {told}.",
    "What you see is what you saw: {told}.",
    "It is as it was: {told}.",
)
"""What the narrator says before it."""
SEEN = (
    "You can see it for yourself: {told}.",
    "You have eyes as good as mine: {told}.",
    "It is there for anybody to see: {told}.",
    "Look around you: {told}.",
)
"""What a character says before it."""
_TIME = re.compile(
    r"\b(?:minutes?|hours?|days?|nights?|noon|midnight|morning|evening|o'clock|weeks?|dawn|dusk)\b", re.I
)
_ASKS_TIME = re.compile(
    r"\bhow (?:long|much time|many (?:minutes|hours|days))\b|\bwhen\b|\bwhat time\b|\bthe time\b", re.IGNORECASE
)


def asks_time(text: str) -> bool:
    """Whether a line asks when something is, or how long it takes."""
    return _ASKS_TIME.search(text) is not None


_ASKS_CLOCK = re.compile(
    r"\bwhat(?:'s| is)? ?(?:the )?(?:time|hour|date)\b(?! of)"
    r"|\bwhat (?:time|day|weekday|month|year|date) (?:is it|it is|have we)\b"
    r"|\bhow late (?:is it|it is)\b|\bwhat day (?:is )?(?:it |is )?today\b",
    re.IGNORECASE,
)


def time_now(context: SceneContext, text: str) -> str:
    """What the clock of the play says to a line that asks for it; nothing where it has none."""
    if context.time is None or _ASKS_CLOCK.search(text.replace("’", "'")) is None:
        return ""
    now = context.time
    day = f"{now.weekday}, " if now.weekday else ""
    return f"It is {now.hour}:{now.minute:02d}, {now.phase}. {day}{now.day} {now.month}."


def remind(
    context: SceneContext, topic: frozenset[str], leads: Sequence[str], voice: FreshVoice, *, line: str = ""
) -> str:
    """The sentence of the scene that has most of a topic's words, after one of these beginnings; at most once.

    Where several have as many, the one that has most of the whole line.
    """
    said = _forms(line)
    found = [(len(topic & stems(told)), len(said & _forms(told)), told) for told in _sentences(context)]
    best, _, told = max(found, key=lambda one: one[:2], default=(0, 0, ""))
    return _told(told, leads, voice) if best else ""


def _forms(text: str) -> frozenset[str]:
    return frozenset(map(verb_of, words_of(text)))


def remind_of_time(context: SceneContext, topic: frozenset[str], leads: Sequence[str], voice: FreshVoice) -> str:
    """The sentence of the scene that says when something is, if it speaks of the topic or time itself is the topic."""
    timed = [told for told in _sentences(context) if _TIME.search(told)]
    bare_time = topic <= stems("time long much many hours minutes got left have")
    found = [told for told in timed if bare_time or topic & stems(told)]
    found.sort(key=lambda told: "clock" not in told)
    return _told(found[0], leads, voice) if found else ""


def _sentences(context: SceneContext) -> list[str]:
    return scene_sentences(context.current_node, player_name(context))


def _told(sentence: str, leads: Sequence[str], voice: FreshVoice) -> str:
    every = [lead.format(told=inner(sentence)) for lead in leads]
    return "" if any(voice.was_said(one) for one in every) else voice.pick(every)
