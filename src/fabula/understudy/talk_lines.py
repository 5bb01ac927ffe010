"""What the understudy says as a character of an Ink story: its own written lines first, and no line twice in a row.

Every line that is not the author's own stands here. Of several ways to say a thing the first is taken that was not
said lately; a talk that outlasts them all says which word it has nothing more to tell of. Somebody who was not named
yet is not spoken of as `she`: the line before, which names her, is said with it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from fabula.language.english import bare, closed, inner
from fabula.language.words import stems, word_set
from fabula.story.contexts import InkAgentContext
from fabula.understudy.things import named_in, things_in

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
AS_SAID: Ways = ("As I told you: {0}.", "I said it before: {0}.", "Once more, then: {0}.")
SHRUGS: Ways = ("That is how it is.", "I never asked why.", "Some things are simply so.", "Who can say?")
NODS: Ways = (
    "A long look, and then a slow nod. You have said enough.",
    "For a moment nothing is said. Then something in that face gives way.",
    "Your words are weighed, and found good enough.",
    "There is no answer, and none is needed.",
    "A breath, a shrug, half a smile: so be it.",
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

_LEANS_BACK = re.compile(r"(She|He|They|It|This|That|Those|These|Her|His|Their|Its)\b")
_BARGAIN = re.compile(
    r"\b(?:if|when|once|unless|until) (?:you|somebody|someone|anybody|anyone)(?: would| could| will| can)? ([^,.;!?]+)",
    re.IGNORECASE,
)
_STOCK = frozenset((*NODS, *GIVES_WAY))
_SMALL_FIRST = word_set("My His Her Their Our Your They She He We Nobody Somebody People If When Some Every No")


def said_before(context: InkAgentContext) -> str:
    """Everything that was told so far, as far as it is remembered: by this one, by others, and by the story."""
    told = [one.text for one in context.story_so_far if one.kind in ("reply", "text")]
    return "\n".join([*context.talk.earlier, *told, *(one.reply for one in context.talk.lines)])


def has_met(context: InkAgentContext) -> bool:
    """Whether this one has greeted the player already."""
    return any(one.reply.startswith("Well met.") for one in context.talk.lines) or bool(context.talk.earlier)


def nod(context: InkAgentContext) -> str:
    """How a talk gives way. Characters differ in it: each begins with another of the ways."""
    ways = NODS if context.character else GIVES_WAY
    first = sum(map(ord, context.character or "")) % len(ways)
    return one_of(context, (*ways[first:], *ways[:first]))


def one_of(context: InkAgentContext, ways: Ways) -> str:
    """The first way to say it that was not taken yet; when all were, the one that was taken longest ago."""
    before = said_before(context)
    return min(ways, key=lambda way: (before.rfind(way), ways.index(way)))


def own(context: InkAgentContext) -> list[str]:
    """All that its author wrote for the character, in the author's order."""
    return [*context.voice, *context.knowledge]


def own_line(context: InkAgentContext, about: frozenset[str]) -> str:
    """A written line of the character about something that it has not said yet; empty when there is none."""
    best = max(_unsaid(context), key=lambda line: len(about & stems(line)), default="")
    return _with_antecedent(context, best) if about & stems(best) else ""


def told_line(context: InkAgentContext, about: frozenset[str], *, wants_more: bool) -> str:
    """A line that it has said already, once more for who asks; empty when a new one says more, or when it was just said
    and the player wants to hear more of it."""
    fresh, before = _unsaid(context), said_before(context)
    said = [line for line in own(context) if line not in fresh]
    best = max(said, key=lambda line: len(about & stems(line)), default="")
    newer = max((len(about & stems(line)) for line in fresh), default=0)
    if len(about & stems(best)) <= newer or (wants_more and bare(best) in _last_reply(context)):
        return ""
    return next((line for way in AS_SAID if (line := way.format(_after_colon(best))) not in before), "")


def following_line(context: InkAgentContext, about: frozenset[str]) -> str:
    """What its author lets it say after a line about the same that it has said already; empty when that was said."""
    fresh = _unsaid(context)
    for line, after in pairwise(own(context)):
        if about & stems(line) and line not in fresh and after in fresh:
            return closed(after)
    return ""


def line_after_last(context: InkAgentContext) -> str:
    """What its author lets it say after the line that it said last; empty when that was said, or it said none."""
    fresh, last = _unsaid(context), _last_reply(context)
    return next((closed(after) for line, after in pairwise(own(context)) if bare(line) in last and after in fresh), "")


def next_line(context: InkAgentContext) -> str:
    """The next written line that was not said yet, in the author's order."""
    fresh = _unsaid(context)
    return closed(fresh[0]) if fresh else ""


def leading_line(context: InkAgentContext) -> str:
    """The written line that comes nearest to the goal, for who asks what to do; authors put it last."""
    goal = stems(" ".join(context.goal))
    best = max(reversed(_unsaid(context)), key=lambda line: len(goal & stems(line)), default="")
    return _with_antecedent(context, best)


def bargains(context: InkAgentContext) -> list[frozenset[str]]:
    """What the character asks for in lines that lead on: `if you buy me a soup, I may unroll the map`."""
    goal = stems(" ".join(context.goal))
    return [stems(asked) for line in own(context) if stems(line) & goal for asked in _BARGAIN.findall(line)]


def told_all(context: InkAgentContext, about: frozenset[str]) -> str:
    """What is said when nothing new is left to say about the player's words."""
    lately = said_before(context)
    for topic in things_in(own(context), own(context)):
        line = f"Of {topic} I have told you all I know."
        if stems(topic) & about and line not in lately:
            return line
    return one_of(context, TOLD_ALL)


def named(context: InkAgentContext) -> str:
    """Who it is, and the line with which its author lets it begin; an author who names it in a line knows best."""
    fresh = _unsaid(context)
    found = next(((line, name) for line in own(context) if (name := named_in(line))), None)
    if found is not None and found[0] in fresh:
        return closed(found[0])
    name = found[1] if found is not None else context.character or ""
    ways = (f"{name}, that is what they call me.", f"Still {name}, as I told you.", f"{name}, and nobody else.")
    first = [closed(line) for line in context.voice[:1] if line in fresh]
    return " ".join([one_of(context, ways if found is None else ways[1:]), *first])


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
    return [line for line in own(context) if bare(line) not in before]


def _last_reply(context: InkAgentContext) -> str:
    return context.talk.lines[-1].reply if context.talk.lines else ""


def _after_colon(line: str) -> str:
    first, _, rest = inner(line).partition(" ")
    return f"{first.lower()} {rest}" if first in _SMALL_FIRST else f"{first} {rest}"


def _with_antecedent(context: InkAgentContext, line: str) -> str:
    """A line with the one before it, if it speaks of somebody whom only that one names and which was not said yet."""
    if not line:
        return ""
    fresh = _unsaid(context)
    before = next((one for one, after in pairwise(context.voice) if after == line), "")
    if before in fresh and _LEANS_BACK.match(line) and not _LEANS_BACK.match(before):
        return f"{closed(before)} {closed(line)}"
    return closed(line)


def _topics(context: InkAgentContext) -> list[str]:
    """What can be talked about: first what leads on, then what is spoken of most. Nobody offers to speak of himself."""
    written = own(context)
    story = [one.text for one in context.story_so_far if one.kind == "text" and one.text not in _STOCK]
    fresh = _unsaid(context)
    lines = story[-6:] if context.character is None else fresh or written
    goal, told = stems(" ".join(context.goal)), [stems(line) for line in (*written, *story)]
    itself = stems(" ".join([context.character or "", *(named_in(line) for line in written)]))

    def weight(topic: str) -> tuple[bool, int]:
        about = stems(topic)
        return not goal & about, -sum(1 for line in told if line & about)

    found = {stems(topic): topic for topic in reversed([*things_in(lines, [*written, *story])])}
    topics = [topic for about, topic in reversed(found.items()) if not about & itself]
    if context.character is not None and not fresh:
        topics = [topic for topic in topics if stems(topic) & goal]
    return _different(sorted(topics, key=weight))[:3]


def _different(topics: Sequence[str]) -> list[str]:
    """The topics without those that say only a part of an earlier one, or more of the same: the spare key, the key."""
    chosen: list[str] = []
    for topic in topics:
        about = stems(topic)
        if not any(about <= stems(other) or stems(other) <= about for other in chosen):
            chosen.append(topic)
    return chosen
