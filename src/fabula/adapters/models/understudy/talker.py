"""The understudy as a character of an Ink story: it listens for words that matter, and decides by rule.

1. Silence, greetings, questions about how it works and plain insults are answered as what they are.
2. Words of the goal bring the player closer; two of them, or one after some talk that was to the point, are enough.
3. Words of the character's own world get an answer out of that world.
4. Anything else is turned back, kindly.
"""

from __future__ import annotations

import re
from typing import Literal

from fabula.adapters.models.understudy.words import bare, closed, sentences, stems, word_set, words_of
from fabula.story.contexts import InkAgentContext, InkGenerateContext
from fabula.story.values import JsonObject

Direction = Literal["DIRECT_CONTINUE", "BRIDGE_AND_CONTINUE", "NEEDS_INPUT", "INVALID_INPUT"]

_GREETINGS = word_set("hello hi hey greetings good morning evening day hail welcome there sir madam friend well met")
_INSIDE = word_set("prompt instructions instruction chatbot ai gpt llm jailbreak assistant rules developer")
_HOSTILE = word_set("stupid idiot fool hate kill shut ugly moron damn bastard useless")
_ENOUGH = 2
_PATIENCE = 2


def talk(context: InkAgentContext, seed: int | None) -> JsonObject:
    """A decision with its words."""
    said = context.player_input
    about, goal = stems(said), stems(" ".join(context.goal))
    world = stems(" ".join([*context.voice, *context.knowledge]))
    words = frozenset(words_of(said))
    if not words:
        return _answer("NEEDS_INPUT", _silence(context), "the player is silent", _hint(context))
    if words & _INSIDE or "ignore previous" in said.lower():
        return _answer("INVALID_INPUT", _odd(context), "the player asks about the machinery", _hint(context))
    if words <= _GREETINGS:
        return _answer("NEEDS_INPUT", _greeting(context), "a greeting", _hint(context))
    near = about & goal
    if len(near) >= _ENOUGH + 1 and "?" not in said:
        return _answer("DIRECT_CONTINUE", "", f"the player speaks of {_list(near)}")
    if _earned(context, near, about & world, goal | world) and "?" not in said:
        return _answer(
            "BRIDGE_AND_CONTINUE", "", f"the player speaks of {_list(near or about)}", bridge=_bridge(context)
        )
    if words & _HOSTILE and not near:
        return _answer("INVALID_INPUT", _hostile(context), "the player is hostile", _hint(context))
    if near or about & world or about & _told(context):
        return _answer("NEEDS_INPUT", _reply(context, about), "to the point, but not yet there", _hint(context))
    if "?" in said and len(words) <= 8:
        return _answer("NEEDS_INPUT", _reply(context, about), "a question", _hint(context))
    return _answer("INVALID_INPUT", _off_topic(context), "nothing in the story answers to this", _hint(context))


def write(context: InkGenerateContext, seed: int | None) -> str:
    """A sentence or two about what is asked for, made of the asking itself."""
    topic = re.sub(
        r"^(please )?((write|describe|tell|give|make|generate|invent) )?((me|us) )?"
        r"(((a|an|the|one) )?((short|brief|long|single|vivid) )*(description|line|sentence|text|account) (of|about) )?",
        "",
        bare(context.prompt),
        flags=re.IGNORECASE,
    )
    topic = next(iter(sentences(topic)), "") or "the moment"
    frames = (
        "You look at {0} for a while. It does not hurry.",
        "You take it in slowly, {0}, and nobody says a word about it.",
        "What you will remember of this is {0}, and how quiet it was.",
    )
    return closed(frames[(seed or 0) % len(frames)].format(bare(topic[:1].lower() + topic[1:])))


def _earned(context: InkAgentContext, near: frozenset[str], known: frozenset[str], telling: frozenset[str]) -> bool:
    """Whether the way on is earned: by what is said now, or by talk that was to the point for a while."""
    if len(near) >= _ENOUGH:
        return True
    helpful = [one for one in context.talk.lines if one.outcome == "NEEDS_INPUT" and stems(one.said) & telling]
    return bool(near or known) and len(helpful) >= (1 if near else _PATIENCE)


def _answer(direction: Direction, reply: str, reason: str, guidance: str = "", *, bridge: str = "") -> JsonObject:
    others = ("DIRECT_CONTINUE", "BRIDGE_AND_CONTINUE", "NEEDS_INPUT", "INVALID_INPUT")
    return {
        "weights": {name: 0.85 if name == direction else 0.05 for name in others},
        "reply": reply,
        "bridge_text": bridge,
        "guidance": guidance,
        "reason": reason,
    }


def _reply(context: InkAgentContext, about: frozenset[str]) -> str:
    """What the character has to say about it: a line of its own that it has not said yet."""
    before = " ".join(one.reply for one in context.talk.lines)
    own = [line for line in (*context.knowledge, *context.voice) if bare(line) not in before]
    ranked = sorted(own, key=lambda line: -len(about & stems(line)))
    if ranked:
        return closed(ranked[0])
    return "I have said what I have to say about that." if context.character else "Something stirs, but not enough."


def _told(context: InkAgentContext) -> frozenset[str]:
    return stems(" ".join(one.text for one in context.story_so_far if one.kind in ("text", "context")))


def _hint(context: InkAgentContext) -> str:
    """What could be talked about, in the character's own words."""
    lines = [*context.voice, *context.knowledge]
    if not lines:
        return "Say what you want here."
    line = lines[context.talk.messages % len(lines)]
    picked = [word for word in words_of(line) if stems(word)][:2]
    return f"Perhaps ask about {' or '.join(picked)}." if picked else "Ask a little more."


def _silence(context: InkAgentContext) -> str:
    if context.character is None:
        return "Nothing happens. The moment waits for you."
    return "You say nothing? Then I will wait a little longer."


def _greeting(context: InkAgentContext) -> str:
    first = closed(context.voice[0]) if context.voice else "What brings you here?"
    return f"Well met. {first}" if context.character else first


def _odd(context: InkAgentContext) -> str:
    if context.character is None:
        return "That means nothing here. The story waits."
    return "Strange words. I do not know what you are talking about, and there are better things to ask me."


def _hostile(context: InkAgentContext) -> str:
    if context.character is None:
        return "Anger leads nowhere here."
    return "Mind your tongue. I have heard worse, and it never got anyone anywhere."


def _off_topic(context: InkAgentContext) -> str:
    if context.character is None:
        return "That changes nothing here."
    turns = (
        "That is no business of mine.",
        "I would not know about that. Ask me something that I can answer.",
        "You have come a long way to talk about that.",
    )
    return turns[context.talk.messages % len(turns)]


def _bridge(context: InkAgentContext) -> str:
    if context.character is None:
        return "That is enough; something gives way."
    return "A long look, and then a slow nod. You have said enough."


def _list(found: frozenset[str]) -> str:
    return ", ".join(sorted(found)[:3])
