"""The narrator: tells the scene, the way on, and what becomes of what the player does."""

from __future__ import annotations

import re

from fabula.language.english import closed, inner, joined, to_second_person
from fabula.language.words import stems
from fabula.story.contexts import NarratorContext, NarratorPurpose, SceneContext
from fabula.understudy import phrases
from fabula.understudy.asking import doubt, hint
from fabula.understudy.scene_view import (
    addressed,
    brief,
    details,
    goal_line,
    heard,
    known_about,
    last_words,
    player_name,
    reading_of,
    scene_sentences,
)
from fabula.understudy.utterance import Reading
from fabula.understudy.voice import Voice

MOST_SENTENCES = 6
LOOKING = stems("look examine inspect search study watch check listen around closer careful")


def narrate(context: NarratorContext, seed: int | None) -> str:
    """The narrator's text for its purpose."""
    voice = Voice(seed, "narrator", context.purpose, context.current_node.id, last_words(context), said=heard(context))
    return tell(context, context.purpose, reading_of(context), voice)


def tell(context: SceneContext, purpose: NarratorPurpose, reading: Reading, voice: Voice) -> str:
    """A paragraph for a purpose; also used where one call writes the whole turn."""
    read = context.understood
    told = doubt(context, read, voice) if read is not None else ""
    if told:
        return told
    match purpose:
        case "describe_transition":
            lines = [voice.pick(phrases.ONWARD), *_scene(context, voice)]
        case "describe_scene":
            lines = _scene(context, voice)
        case "describe_result":
            lines = _result(context, reading, voice)
    if read is not None and purpose == "describe_result":
        lines.append(hint(context, read, voice))
    if not context.current_node.transitions and purpose != "describe_result":
        lines.append(voice.pick(phrases.ENDING))
    return " ".join(line for line in lines if line)


def _scene(context: SceneContext, voice: Voice) -> list[str]:
    """The whole scene when it is new; afterwards a detail of it."""
    every = scene_sentences(context.current_node, player_name(context))
    fresh = voice.fresh(every)
    if every and len(fresh) == len(every):
        told = " ".join(every[:MOST_SENTENCES])
        seen = all(member.name.split()[0] in told for member in context.current_cast)
        return [told, "" if seen else _presence(context, voice)]
    lines = [_still(context, voice)]
    if fresh:
        lines.append(fresh[0])
    return [*lines, _presence(context, voice) if voice.chance(2) else _pull(context, voice)]


def _result(context: SceneContext, reading: Reading, voice: Voice) -> list[str]:
    match reading.kind:
        case "silence":
            return [_still(context, voice), _watched(context, voice) or _pull(context, voice)]
        case "threat":
            return [voice.pick(phrases.THREATENED), _watched(context, voice)]
        case "deed":
            return _deed(context, reading, voice)
        case "question" if not context.current_cast:
            return [*_found(context, reading, voice)] or [voice.pick(phrases.ALONE_ANSWER), _pull(context, voice)]
        case _:
            done = _told_deed(context, reading)
            return [done or voice.pick(phrases.SPOKEN), _watched(context, voice) or _pull(context, voice)]


def _deed(context: SceneContext, reading: Reading, voice: Voice) -> list[str]:
    act = _told_deed(context, reading)
    line = voice.pick(phrases.RESULTS[reading.deed], {"act": act})
    if reading.deed in ("look", "listen"):
        found = _found(context, reading, voice)
        return [line, *(found or [_still(context, voice), _pull(context, voice)])]
    if reading.deed in ("open", "take", "touch"):
        found = voice.fresh(known_about(reading.topic, context.lore, ()))
        if found:
            return [line, found[0]]
    last = _watched(context, voice) if context.current_cast and voice.chance(2) else _pull(context, voice)
    return [line, last or _still(context, voice)]


def _told_deed(context: SceneContext, reading: Reading) -> str:
    """The deed told back: `I open the door` is `You open the door.`"""
    if not reading.done or len(reading.done) > 160:
        return ""
    whom = addressed(context, reading.text)
    told = to_second_person(reading.done, whom.name if whom else "them")
    return closed(re.sub(r"^[Yy]ou you\b", "You", told))


def _found(context: SceneContext, reading: Reading, voice: Voice) -> list[str]:
    """Something that answers a look: lore or a sentence of the scene that fits, or one not told before."""
    every = scene_sentences(context.current_node, player_name(context))
    fitting = voice.fresh(known_about(reading.topic - LOOKING, context.lore, every))
    return brief(fitting) or voice.fresh(every)[:1]


def _still(context: SceneContext, voice: Voice) -> str:
    things = details(context.current_node)
    if not things:
        return voice.pick(phrases.STILL_BARE)
    return closed(voice.pick([line.format(detail=thing) for thing in things for line in phrases.STILL]))


def _presence(context: SceneContext, voice: Voice) -> str:
    names = [member.name for member in context.current_cast]
    if not names:
        return ""
    return voice.pick(phrases.HERE_ONE if len(names) == 1 else phrases.HERE_MANY, {"who": joined(names)})


def _watched(context: SceneContext, voice: Voice) -> str:
    if not context.current_cast:
        return ""
    whom = addressed(context, last_words(context)) or context.current_cast[0]
    return voice.pick(phrases.WATCHED, {"who": whom.name})


def _pull(context: SceneContext, voice: Voice) -> str:
    goal = goal_line(context.current_node, player_name(context))
    if not goal or not context.current_node.transitions or context.understood is not None:
        return ""
    return voice.pick([line.format(goal=inner(goal[0].lower() + goal[1:])) for line in phrases.PULL])
