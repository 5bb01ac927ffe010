"""What the understudy says as a character of an Ink story: its own written lines first, and no line twice in a row.

Every line that is not the author's own stands here. Of several ways to say a thing the first is taken that was not
said lately; a talk that outlasts them all says which word it has nothing more to tell of.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise

from fabula.adapters.models.understudy.words import STOP, bare, closed, stems, word_set
from fabula.story.contexts import InkAgentContext

Ways = Sequence[str]

SILENT: Ways = (
    "You say nothing? Then I will wait a little longer.",
    "Still nothing. I am in no hurry.",
    "Silence suits some people. What did you come for?",
    "I can be quiet, too.",
)
ODD: Ways = (
    "Strange words. I do not know what you are talking about, and there are better things to ask me.",
    "I do not follow you at all. Speak of something that is here.",
    "You talk like somebody from very far away.",
)
AGAIN_MET: Ways = ("And to you, again.", "We have said our good days already.", "Yes, yes. Well met.")
FAREWELL: Ways = ("Go safely. You know where to find me.", "Leave, then, if you must. I stay.", "Another time.")
THANKED: Ways = ("It cost me nothing.", "No need for thanks.", "You are welcome to it.")
SORRY: Ways = ("It is forgotten.", "Let us say no more about it.", "Well. I have a thick skin.")
HEALTH: Ways = ("I have had better days, and worse.", "Much as you see me.", "No worse than yesterday.")
HOSTILE: Ways = (
    "Mind your tongue. I have heard worse, and it never got anyone anywhere.",
    "Shout if you like. I am not moved by it.",
    "When you have cooled down, we can talk.",
)
ELSEWHERE: Ways = (
    "That is no business of mine.",
    "I would not know about that.",
    "You have come a long way to talk about that.",
    "That has nothing to do with me.",
    "Somebody else may know. I do not.",
)
HEARD: Ways = ("Is that so.", "I hear you.", "If you say so.", "Hm.", "So.")
TOLD_ALL: Ways = (
    "I have said what I have to say about that.",
    "There is no more to it than I told you.",
    "You have had all of it from me.",
    "My answer stays what it was.",
)
NODS: Ways = (
    "A long look, and then a slow nod. You have said enough.",
    "For a moment nothing is said. Then something in that face gives way.",
    "Your words are weighed, and found good enough.",
)

NOTHING_DONE: Ways = (
    "Nothing happens. The moment waits for you.",
    "Still nothing happens.",
    "Time passes, and takes nothing with it.",
)
NO_MEANING: Ways = ("That means nothing here. The story waits.", "Nothing here answers to that.")
ANGER: Ways = ("Anger leads nowhere here.", "Nothing here can be shouted at.")
NO_USE: Ways = (
    "That changes nothing here.",
    "It leads nowhere.",
    "Nothing comes of it.",
    "The place stays as it was.",
    "It is not the time for that.",
)
NEARLY: Ways = (
    "Something stirs, but not enough.",
    "That is close to what is wanted here.",
    "It is the right direction. Be plainer.",
    "Almost. The moment still waits for the rest.",
)
GIVES_WAY: Ways = ("That is enough; something gives way.", "And with that, things begin to move.")

_NOUN = re.compile(
    r"\b([Mm]y|[Tt]he|[Tt]his|[Hh]is|[Hh]er|[Tt]heir|[Aa]|[Aa]n) ([a-z]{3,})\b|(?<=[a-z,] )([A-Z][a-z]{2,})"
)
_NO_THINGS = word_set(
    "nobody somebody anybody whole same next last first second small great long short old new young spare far dark "
    "cold waste wisdom while little big good bad best worst deep low high heart hands hand eyes face head moment "
    "night day time"
)


def said_before(context: InkAgentContext) -> str:
    """Everything that was told so far, as far as it is remembered: by this one, by others, and by the story."""
    told = [one.text for one in context.story_so_far if one.kind in ("reply", "text")]
    return "\n".join([*context.talk.earlier, *told, *(one.reply for one in context.talk.lines)])


def has_met(context: InkAgentContext) -> bool:
    """Whether this one has greeted the player already."""
    return any(one.reply.startswith("Well met.") for one in context.talk.lines) or bool(context.talk.earlier)


def one_of(context: InkAgentContext, ways: Ways) -> str:
    """The first way to say it that was not taken yet; when all were, the one that was taken longest ago."""
    before = said_before(context)
    return min(ways, key=lambda way: (before.rfind(way), ways.index(way)))


def own_line(context: InkAgentContext, about: frozenset[str]) -> str:
    """A written line of the character about something that it has not said yet; empty when there is none."""
    fresh = _unsaid(context)
    ranked = sorted(fresh, key=lambda line: -len(about & stems(line)))
    return closed(ranked[0]) if ranked and about & stems(ranked[0]) else ""


def following_line(context: InkAgentContext, about: frozenset[str]) -> str:
    """What its author lets it say after a line about the same that it has said already; empty when that was said."""
    fresh, own = _unsaid(context), [*context.voice, *context.knowledge]
    for line, after in pairwise(own):
        if about & stems(line) and line not in fresh and after in fresh:
            return closed(after)
    return ""


def next_line(context: InkAgentContext) -> str:
    """The next written line that was not said yet, in the author's order."""
    fresh = _unsaid(context)
    return closed(fresh[0]) if fresh else ""


def leading_line(context: InkAgentContext) -> str:
    """The written line that comes nearest to the goal, for who asks what to do; authors put it last."""
    goal = stems(" ".join(context.goal))
    return closed(max(reversed(_unsaid(context)), key=lambda line: len(goal & stems(line)), default=""))


def told_all(context: InkAgentContext, about: frozenset[str]) -> str:
    """What is said when nothing new is left to say about the player's words."""
    lately = said_before(context)
    for topic in _nouns([*context.voice, *context.knowledge]):
        line = f"Of {topic} I have told you all I know."
        if stems(topic) & about and line not in lately:
            return line
    return one_of(context, TOLD_ALL)


def named(context: InkAgentContext) -> str:
    """Who it is, and the line with which its author lets it begin."""
    name = context.character or ""
    ways = (f"{name}, that is what they call me.", f"Still {name}, as I told you.", f"{name}, and nobody else.")
    first = [closed(line) for line in context.voice[:1] if line in _unsaid(context)]
    return " ".join([one_of(context, ways), *first])


def steer(context: InkAgentContext) -> str:
    """A sentence that says what can be talked about: something of the character's own that was not mentioned yet."""
    topics = _topics(context)
    if not topics:
        return ""
    return f"Ask me about {topics[context.talk.messages % len(topics)]}."


def hint(context: InkAgentContext) -> str:
    """The same for the margin, in the teller's words."""
    topics = _topics(context)
    if not topics:
        return "Say what you want here."
    named = [re.sub(r"^my ", "the ", topic) for topic in topics[:2]]
    return f"Perhaps {'ask about' if context.character else 'think of'} {' or '.join(dict.fromkeys(named))}."


def _unsaid(context: InkAgentContext) -> list[str]:
    before = said_before(context)
    return [line for line in (*context.voice, *context.knowledge) if bare(line) not in before]


def _topics(context: InkAgentContext) -> list[str]:
    """What can be talked about: first what leads on, then what is spoken of most."""
    own, story = [*context.voice, *context.knowledge], [one.text for one in context.story_so_far if one.kind == "text"]
    lines = story[-3:] if context.character is None else _unsaid(context) or own
    goal, told = stems(" ".join(context.goal)), [stems(line) for line in (*own, *story)]

    def weight(topic: str) -> tuple[bool, int]:
        about = stems(topic)
        return not goal & about, -sum(1 for line in told if line & about)

    return sorted(dict.fromkeys(_nouns(lines)), key=weight)[:3]


def _nouns(lines: Iterable[str]) -> Iterator[str]:
    """Words that follow an article or a possessive, and names; a rough ear, but most of them are things."""
    for line in lines:
        for owner, thing, name in _NOUN.findall(line):
            if name and name.casefold() not in STOP:
                yield name
            elif stems(thing) and thing not in _NO_THINGS:
                yield f"{'my' if owner.casefold() == 'my' else 'the'} {thing}"
