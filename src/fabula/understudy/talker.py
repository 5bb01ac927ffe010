"""The understudy as a character of an Ink story: it listens for words that matter, and decides by rule.

1. Silence, greetings, thanks, partings, questions about how it works and plain insults are answered as what they are.
2. Words of the goal bring the player closer; two of them, or one after some talk that was to the point, are enough.
   So is doing what the character asked for. A question opens nothing: who asks gets an answer.
3. Words of the character's own world get an answer out of that world, each line of it once, and again for who asks.
4. Anything else is turned back, kindly, with something that can be talked about.
"""

from __future__ import annotations

import re
from typing import Literal

from fabula.language.english import bare, closed, sentences
from fabula.language.words import stem, stems, word_set, words_of
from fabula.story.contexts import InkAgentContext, InkGenerateContext
from fabula.story.seeds import derived_seed
from fabula.story.values import JsonObject
from fabula.understudy import talk_lines as lines

Direction = Literal["DIRECT_CONTINUE", "BRIDGE_AND_CONTINUE", "NEEDS_INPUT", "INVALID_INPUT"]

_GREETINGS = word_set(
    "hello hi hey greetings good morning evening day hail welcome there sir madam friend well met old man"
)
_GREETS = word_set("hello hi hey greetings morning evening hail met welcome day")
_INSIDE = word_set("prompt instructions instruction chatbot ai gpt llm jailbreak assistant rules developer")
_HOSTILE = word_set("stupid idiot fool hate kill shut ugly moron damn bastard useless liar coward")
_BARE_QUESTIONS = word_set("why how what really so who when where and oh")
_THANKS = word_set("thanks thank grateful")
_SORRY = word_set("sorry apologise apologize apologies pardon forgive")
_PARTING = word_set("bye goodbye farewell")
_WHO = re.compile(r"\b(your name|who are you|what are you called|call you)\b")
_HEALTH = re.compile(r"\bhow (are|do) you( feel(ing)?| doing)?\b(?! (know|like|think|do|get|come|make))")
_WHAT_NOW = re.compile(r"\b(what (should|can|must|shall|do) (i|we)|how (can|do|could) (i|we)|help me|any advice)\b")
_HELPS = re.compile(r"\b(can|may|could|let|want to|will|i'll|would like to) (i |me |us |we )?help\b(?! me)")
_OFFERS = re.compile(r"^\W*(can|may|could|shall|should|let) (i|we|me|us)\b(?! (ask|know|talk))", re.IGNORECASE)
_ASKS = re.compile(
    r"\?|^\W*(please )?(what|who|whose|why|when|where|which|how|tell|explain|describe|do|does|did|is|are|was|were"
    r"|can you|could you|will you|would you)\b",
    re.IGNORECASE,
)
_WANTS_MORE = re.compile(
    r"^\W*(and |but |so )?((who|what) (is|are|was|were)|tell me (more )?(about|of))\b", re.IGNORECASE
)
_QUESTION = re.compile(r"^\W*(please |and |but |so )?(what|who|whose|why|when|where|which|how|tell)\b", re.IGNORECASE)
_ASKED_FOR = (
    r"^(please )?((write|describe|tell|give|make|generate|invent) )?((me|us) )?"
    r"(((a|an|the|one) )?((short|brief|long|single|vivid) )*(description|line|sentence|text|account) (of|about) )?"
)
_HOW_LONG = (
    r",? (in|with|using) (at most |about |only |no more than )?(an?|one|two|three|four|five|\d+|a few|a couple of|some)"
    r" (\w+ )?(words?|sentences?|lines?|paragraphs?)\b"
)
_FRAMES = (
    "You take it in slowly: {0}.",
    "What you will remember of this is {0}, and how quiet it was.",
    "For a while there is only {0}.",
    "Nobody says a word about {0}, and that says enough.",
    "Your thoughts go to {0}, and stay there a little.",
    "So this is how it comes to you: {0}.",
)
_ENOUGH = 2
_PATIENCE = 2


def talk(context: InkAgentContext, seed: int | None) -> JsonObject:
    """A decision with its words."""
    polite = _manners(context)
    if polite is not None:
        return polite
    said = context.player_input
    about, goal = stems(said), stems(" ".join(context.goal))
    world = stems(" ".join(lines.own(context)))
    near, asks = about & goal, _ASKS.search(said) is not None and not _OFFERS.match(said)
    hostile = frozenset(words_of(said)) & _HOSTILE
    if hostile and not near - stems(" ".join(hostile)):
        ways = lines.HOSTILE if context.character else lines.ANGER
        return _answer("INVALID_INPUT", lines.one_of(context, ways), "the player is hostile", lines.hint(context))
    if len(near) > _ENOUGH and not asks:
        return _answer("DIRECT_CONTINUE", "", f"the player speaks of {_list(said, near)}")
    if not asks and (_earned(context, near, about & world, goal | world) or _does_what_was_asked(context, about)):
        reason = f"the player speaks of {_list(said, near or about)}"
        return _answer("BRIDGE_AND_CONTINUE", "", reason, bridge=lines.nod(context))
    if context.character is not None and not asks and _opens_with_a_greeting(said) and not lines.has_met(context):
        return _answer("NEEDS_INPUT", _greeting(context), "a greeting", lines.hint(context))
    return _replied(context, about, near | about & (world | _told(context)), asks)


def _manners(context: InkAgentContext) -> JsonObject | None:
    """What is answered as what it is, whatever the talk is about; None when it is none of these."""
    said, speaks = context.player_input.casefold(), context.character is not None
    words = frozenset(words_of(said))
    if not words:
        reply = lines.one_of(context, lines.SILENT if speaks else lines.NOTHING_DONE)
        return _answer("NEEDS_INPUT", reply, "the player is silent", lines.hint(context))
    if words & _INSIDE or "ignore previous" in said:
        reply = lines.one_of(context, lines.ODD if speaks else lines.NO_MEANING)
        return _answer("INVALID_INPUT", reply, "the player asks about the machinery", lines.hint(context))
    return _courtesy(context, said, words) if speaks else None


def _courtesy(context: InkAgentContext, said: str, words: frozenset[str]) -> JsonObject | None:
    """Greetings, thanks and the like, which only somebody who speaks can answer."""
    reply, reason = "", ""
    if words <= _GREETINGS and words & _GREETS:
        reply, reason = _greeting(context), "a greeting"
    elif _WHO.search(said):
        reply, reason = lines.named(context), "who it is"
    elif _HEALTH.search(said):
        reply, reason = lines.one_of(context, lines.HEALTH), "how it is"
    elif words <= _BARE_QUESTIONS and "?" in said:
        reply, reason = lines.line_after_last(context) or lines.one_of(context, lines.SHRUGS), "a bare question"
    elif _WHAT_NOW.search(said) or _HELPS.search(said):
        reply, reason = lines.leading_line(context) or lines.steer(context), "what to do"
    elif len(words) <= 8 and words & _SORRY:
        reply, reason = lines.one_of(context, lines.SORRY), "an apology"
    elif len(words) <= 8 and words & _THANKS:
        reply, reason = lines.one_of(context, lines.THANKED), "thanks"
    elif len(words) <= 5 and words & _PARTING:
        reply, reason = lines.one_of(context, lines.FAREWELL), "a parting"
    return _answer("NEEDS_INPUT", reply.strip(), reason, lines.hint(context)) if reply.strip() else None


def _replied(context: InkAgentContext, about: frozenset[str], known: frozenset[str], asks: bool) -> JsonObject:
    """An answer to words that neither open the way on nor are mere manners."""
    margin = lines.hint(context)
    if context.character is None:
        if known:
            return _answer("NEEDS_INPUT", lines.one_of(context, lines.NEARLY), "close, but not yet there", margin)
        return _answer("INVALID_INPUT", lines.one_of(context, lines.NO_USE), "nothing here answers to this", margin)
    if known:
        reply = _told_again(context, about) if asks else ""
        reply = reply or lines.own_line(context, about) or lines.following_line(context, about)
        # Of what only the story told, it has told nothing yet: it goes on with its own.
        its_own = known & stems(" ".join(lines.own(context)))
        reply = reply or (lines.told_all(context, known) if its_own else _more(context))
        return _answer("NEEDS_INPUT", reply, "to the point, but not yet there", margin)
    if not about:
        reply = _more(context) if asks else f"{lines.one_of(context, lines.HEARD)} {_more(context)}"
        return _answer("NEEDS_INPUT", reply.strip(), "nothing in particular", margin)
    reply = f"{lines.one_of(context, lines.ELSEWHERE)} {lines.steer(context)}"
    return _answer("INVALID_INPUT", reply.strip(), "nothing in the story answers to this", margin)


def _told_again(context: InkAgentContext, about: frozenset[str]) -> str:
    """What was said already, for who asks in so many words."""
    said = context.player_input
    wants_more = _WANTS_MORE.match(said) is not None
    return lines.told_line(context, about, wants_more=wants_more) if _QUESTION.match(said) else ""


def write(context: InkGenerateContext, seed: int | None) -> str:
    """A sentence or two about what is asked for, made of the asking itself. Each asking is told in its own way."""
    topic = re.sub(_ASKED_FOR, "", bare(context.prompt), flags=re.IGNORECASE)
    topic = bare(re.sub(_HOW_LONG, "", topic, flags=re.IGNORECASE)).rstrip(",;: ")
    topic = next(iter(sentences(topic)), "") or "the moment"
    frame = _FRAMES[derived_seed(seed or 0, context.prompt) % len(_FRAMES)]
    return closed(frame.format(bare(topic[:1].lower() + topic[1:])))


def _earned(context: InkAgentContext, near: frozenset[str], known: frozenset[str], telling: frozenset[str]) -> bool:
    """Whether the way on is earned: by what is said now, or by talk that was to the point for a while."""
    if len(near) >= _ENOUGH:
        return True
    helpful = [one for one in context.talk.lines if one.outcome == "NEEDS_INPUT" and stems(one.said) & telling]
    return bool(near or known) and len(helpful) >= (1 if near else _PATIENCE)


def _does_what_was_asked(context: InkAgentContext, about: frozenset[str]) -> bool:
    """Whether the player does what a line of the character asks for."""
    return any(asked and len(about & asked) >= min(_ENOUGH, len(asked)) for asked in lines.bargains(context))


def _opens_with_a_greeting(said: str) -> bool:
    first = frozenset(words_of(next(iter(sentences(said)), "")))
    return first <= _GREETINGS and bool(first & _GREETS)


def _answer(direction: Direction, reply: str, reason: str, guidance: str = "", *, bridge: str = "") -> JsonObject:
    others = ("DIRECT_CONTINUE", "BRIDGE_AND_CONTINUE", "NEEDS_INPUT", "INVALID_INPUT")
    return {
        "weights": {name: 0.85 if name == direction else 0.05 for name in others},
        "reply": reply,
        "bridge_text": bridge,
        "guidance": guidance,
        "reason": reason,
    }


def _greeting(context: InkAgentContext) -> str:
    """The first greeting opens the talk; a later one is returned, no more."""
    if lines.has_met(context):
        return lines.one_of(context, lines.AGAIN_MET)
    return f"Well met. {lines.next_line(context) or 'What brings you here?'}"


def _more(context: InkAgentContext) -> str:
    """Something of its own that goes on with the talk."""
    return lines.next_line(context) or lines.steer(context) or lines.one_of(context, lines.TOLD_ALL)


def _told(context: InkAgentContext) -> frozenset[str]:
    return stems(" ".join(one.text for one in context.story_so_far if one.kind in ("text", "context")))


def _list(said: str, found: frozenset[str]) -> str:
    """The player's own words that were found, not their stems."""
    return ", ".join(sorted({word for word in words_of(said) if stem(word) in found})[:3])
