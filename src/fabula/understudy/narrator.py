"""The narrator: tells the scene, the way on, and what becomes of what the player does."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fabula.language.english import bare, closed, joined, to_second_person
from fabula.language.words import as_name, name_words, names_said, stems, words_of
from fabula.story.contexts import CastMember, NarratorContext, NarratorPurpose, SceneContext, SwiftContext
from fabula.story.readings import IntentKind, TakeWay
from fabula.understudy import phrases
from fabula.understudy.director import is_spoken
from fabula.understudy.doubts import NOT_UNDERSTOOD, doubt, hint, ways_on
from fabula.understudy.line import Line, absent_person, line_of
from fabula.understudy.outcomes import outcome, said_by_the_world
from fabula.understudy.reminders import AGAIN, remind, time_now
from fabula.understudy.scene_lore import tell_scene_lore
from fabula.understudy.scene_view import (
    details,
    first_trait,
    heard,
    in_own_mouth,
    last_words,
    place_name,
    place_stems,
    player_name,
    scene_sentences,
)
from fabula.understudy.speech import tell_of
from fabula.understudy.topics import Subject, find_subjects, near_best
from fabula.understudy.transitions import tell_news
from fabula.understudy.voice import FreshVoice
from fabula.understudy.wishes import as_wished, wants_long

MOST_SENTENCES = 6
LONGEST_DEED = 160
ARRIVED = 8
HANDLED: frozenset[IntentKind] = frozenset({"take", "put", "use", "open", "close", "touch", "eat", "give"})


def narrate(context: NarratorContext, seed: int | None) -> str:
    """The narrator's text for its purpose."""
    moment = (seed, "narrator", context.purpose, context.current_node.id, last_words(context))
    return tell_as_wished(context, context.purpose, line_of(context), FreshVoice(*moment, said=heard(context)))


def tell_as_wished(context: SceneContext, purpose: NarratorPurpose, line: Line, voice: FreshVoice) -> str:
    """A paragraph for a purpose, as long as the player wishes; also used where one call writes the whole turn."""
    told = tell(context, purpose, line, voice)
    # What is refused or asked back stays as it is: more words about the place would bury it.
    if not wants_long(context.wish) or said_by_the_world(context) or not context.current_node.transitions:
        return as_wished(told, context.wish)
    return " ".join(one for one in (told, *_more_of_the_place(context, voice)) if one)


def _more_of_the_place(context: SceneContext, voice: FreshVoice) -> list[str]:
    """What was not told of the place yet, or else what is felt there, and a thing that is seen."""
    every = scene_sentences(context.current_node, player_name(context))
    fresh = [voice.say(line) for line in every if not voice.was_said(line)][:MOST_SENTENCES]
    return fresh or [_in_the_air(context, voice), _things(context, voice) or _still(context, voice)]


def tell(context: SceneContext, purpose: NarratorPurpose, line: Line, voice: FreshVoice) -> str:
    """A paragraph for a purpose."""
    refused = said_by_the_world(context)
    if refused and purpose == "describe_result":
        return voice.say(refused)
    read = context.understood
    told = doubt(context, read, voice) if read is not None else ""
    if told and not context.resolutions and not refused:
        return told
    rolled = outcome(context.resolutions, voice)
    match purpose:
        case "describe_transition":
            lines = [rolled, *_transition(context, line, voice), *_news(context, voice)]
        case "describe_scene":
            answered = is_spoken(context, line) or line.kind in ("look", "where", "silence", "unknown")
            result = [refused] if refused else [] if answered and not line.unclear else _result(context, line, voice)
            where = _placed(context, voice) if line.kind == "where" else ""
            lines = [where, *_scene(context, voice), *([rolled] if rolled else result), *_news(context, voice)]
        case "describe_result" if rolled:
            lines = [rolled]
        case "describe_result":
            lines = [] if is_spoken(context, line) else _result(context, line, voice)
    if read is not None and purpose == "describe_result" and line.kind != "look":
        lines.append(voice.say(hint(context, read, voice)))
    if not context.current_node.transitions and purpose != "describe_result":
        lines.append(voice.pick(phrases.ENDING))
    told = " ".join(one for one in lines if one)
    return told or _still(context, voice) or "A moment passes."


def _transition(context: SceneContext, line: Line, voice: FreshVoice) -> list[str]:
    """What was done, what came of it, and where it leads."""
    deed = "" if line.is_question else _told_deed(context, line)
    first = next(iter(scene_sentences(context.current_node, player_name(context))), "")
    done = voice.pick([deed]) if deed and not first.startswith(bare(deed)) else ""
    gained = _gained(context, line, voice)
    onward = "" if done or gained else voice.pick(phrases.ONWARD)
    before = context.previous_node if isinstance(context, NarratorContext | SwiftContext) else None
    if before is not None and before.id == context.current_node.id:
        # The way led back to where it began: nobody has moved.
        return [done, *gained, onward]
    return [done, *gained, onward, *_scene(context, voice)]


def _gained(context: SceneContext, line: Line, voice: FreshVoice) -> list[str]:
    """What the player learns by the deed that led on: what it brought to light, and what was looked for."""
    before = context.previous_cast if isinstance(context, NarratorContext) else []
    found = [one for one in find_subjects(context, line) if one.kind in ("lore", "fact") and not one.secret]
    told = _told_by(before, found, voice)
    if not told and context.current_node.transitions:
        told = _gossip(context, line, before, voice)
    if told:
        return [told]
    lore = [one for one in found if one.kind == "lore"]
    looked = line.kind in ("read", "examine", "look", "ask") and bool(context.current_node.transitions)
    wanted = [one for one in lore if one.revealed] or (lore if looked else [])
    for subject in near_best(wanted)[:2]:
        news = tell_of(subject, line, voice)
        if news:
            return [news]
    return []


def _told_by(before: Sequence[CastMember], found: Sequence[Subject], voice: FreshVoice) -> str:
    """What somebody of the scene that was left may tell only now, in their own words."""
    wanted = [subject.passages[0] for subject in found if subject.kind == "fact" and subject.revealed]
    for member in before:
        facts = [fact.text for fact in member.facts if fact.revealed]
        for text in sorted(facts, key=lambda text: text not in wanted):
            said = f"{member.name} tells you: “{in_own_mouth(text, member.name)}”"
            if not voice.was_said(text) and not voice.was_said(said):
                voice.say(text)
                return voice.say(said)
    return ""


def _gossip(context: SceneContext, line: Line, before: Sequence[CastMember], voice: FreshVoice) -> str:
    """What somebody of the scene that was left knows of others, for who listened or asked."""
    if line.kind not in ("listen", "ask", "talk", "tell"):
        return ""
    for member in before:
        others = [one for one in (*context.current_cast, *context.absent_cast) if one.id != member.id]
        known = [fact.text for one in others for fact in one.facts if member.id in fact.known_to and not fact.secret]
        fresh = [text for text in known if not voice.was_said(text)][:2]
        if fresh:
            return voice.say(f"{member.name} tells you: “{' '.join(fresh)}”")
    return ""


def _scene(context: SceneContext, voice: FreshVoice) -> list[str]:
    """The whole scene when it is new; afterwards what was not told of it yet."""
    every = scene_sentences(context.current_node, player_name(context))
    fresh = [line for line in every if not voice.was_said(line)]
    if not fresh:
        place = place_name(context.current_node)
        back = voice.pick(phrases.BACK, {"place": place}) if place else ""
        return [back, _presence(context, voice), "" if context.news else _in_the_air(context, voice)]
    told = " ".join(voice.say(line) for line in fresh[:MOST_SENTENCES])
    seen = all(member.name.split()[0] in told for member in context.current_cast)
    return [told, "" if seen else _presence(context, voice)]


def _in_the_air(context: SceneContext, voice: FreshVoice) -> str:
    """What is felt or said at a place that was seen before; an ending stands by itself."""
    if not context.current_node.transitions:
        return ""
    return tell_scene_lore(context.scene_lore, _called(context), voice, "tension", "gossip", "custom")


def _called(context: SceneContext) -> dict[str, str]:
    return {member.id: member.name for member in context.current_cast}


def _news(context: SceneContext, voice: FreshVoice) -> list[str]:
    """What came to pass out of sight: everybody notices it, or somebody here tells it. An ending stands by itself."""
    if not context.current_node.transitions:
        return []
    told = []
    for note in context.news:
        teller = next((one.name for one in context.current_cast if one.id in note.known_to), "")
        told.append(voice.say(tell_news(note.text, teller)))
    return told


def _result(context: SceneContext, line: Line, voice: FreshVoice) -> list[str]:
    missing = absent_person(context, line)
    if missing is not None:
        return [voice.pick(phrases.ABSENT, {"who": missing.name})]
    if context.understood is not None and isinstance(context.understood.decision, TakeWay):
        step = _about(context, line, voice) or [voice.pick(phrases.STEP)]
        return ["" if line.is_question else _act(context, line, voice), *step]
    match line.kind:
        case "unknown":
            return [voice.pick(NOT_UNDERSTOOD)]
        case "where":
            return _where(context, voice)
        case "who_is_here":
            return [_people(context, voice)]
        case "hint":
            return [ways_on(context, voice) or _still(context, voice)]
        case "look":
            return _look_around(context, voice)
        case _ if line.is_question:
            clock = time_now(context, line.text)
            return [clock] if clock else _answered_by_the_place(context, line, voice)
        case _ if line.negated or line.mood in ("maybe", "wish", "past", "statement"):
            return [voice.pick(phrases.LEFT), _watched(context, line, voice)]
        case _:
            return _deed(context, line, voice)


def _deed(context: SceneContext, line: Line, voice: FreshVoice) -> list[str]:
    match line.kind:
        case "silence" | "wait" | "listen":
            first = voice.pick(phrases.RESULTS["listen" if line.kind == "listen" else "wait"], {"act": ""})
            talk = tell_scene_lore(context.scene_lore, _called(context), voice, "gossip", overheard=True)
            return [first.strip(), talk or _still(context, voice)]
        case "attack":
            return [voice.pick(phrases.RESULTS["attack"]), _watched(context, line, voice)]
        case "examine" | "read":
            return _examined(context, line, voice)
        case "go":
            return _not_gone(context, line, voice)
        case "take" if not _is_own(line):
            return _taken(context, line, voice)
        case kind if kind in HANDLED and line.what and not _is_own(line) and not _is_here(context, line):
            return [_not_here(line, voice)]
        case "give" if line.whom:
            return [_act(context, line, voice)]
        case kind if kind in HANDLED:
            return [_act(context, line, voice), *(_about(context, line, voice) or [voice.pick(phrases.NO_EFFECT)])]
        case _:
            tail = _watched(context, line, voice) if voice.chance(2) else ""
            return [_act(context, line, voice), tail or voice.pick(phrases.UNMOVED) or _still(context, voice)]


def _act(context: SceneContext, line: Line, voice: FreshVoice) -> str:
    return voice.pick([_told_deed(context, line)]) or voice.pick(phrases.DONE)


def _told_deed(context: SceneContext, line: Line) -> str:
    """The deed told back: `I open the door` is `You open the door.`"""
    if not line.deed or len(line.deed) > LONGEST_DEED:
        return ""
    cast = [*context.current_cast, *(context.previous_cast if isinstance(context, NarratorContext) else [])]
    whom = next((member.name for member in cast if member.id == line.whom), "them")
    before = context.previous_node if isinstance(context, NarratorContext) else None
    shown = f"{context.current_node.scene} {before.scene if before is not None else ''}"
    told = to_second_person(_with_article(line.deed, shown), whom)
    return closed(re.sub(r"^[Yy]ou you\b", "You", told))


def _with_article(deed: str, scene: str) -> str:
    """Players write `examine chain`; it is told as `you examine the chain`."""
    found = re.fullmatch(r"(I \w+(?: at| in| on)?) (\w+)", deed)
    return f"{found[1]} the {found[2]}" if found and re.search(rf"\b{re.escape(found[2])}\b", scene) else deed


def _examined(context: SceneContext, line: Line, voice: FreshVoice) -> list[str]:
    """What scene and lore know of a thing, or that there is nothing more to it."""
    person = _person(context, line)
    if person is not None:
        return [_described(person, voice), _watched(context, line, voice)]
    if not line.what:
        return _look_around(context, voice)
    if stems(line.what) <= place_stems(context.current_node):
        return _about(context, line, voice) or _look_around(context, voice)
    if not _is_here(context, line):
        return [_not_here(line, voice)]
    told = _about(context, line, voice)
    again = remind(context, stems(line.what), AGAIN, voice, line=line.text)
    if told:
        return [voice.pick(phrases.CLOSER, {"thing": line.thing or "it"}) if voice.chance(2) else "", again, *told]
    if again:
        return [again]
    return [voice.pick(phrases.NOTHING_MORE, {"thing": line.thing or "it"}) or voice.pick(phrases.NOTHING_MORE_BARE)]


def _about(context: SceneContext, line: Line, voice: FreshVoice) -> list[str]:
    found = [one for one in find_subjects(context, line) if one.kind in ("lore", "note", "thing") and not one.secret]
    for subject in near_best(found)[:3]:
        told = tell_of(subject, line, voice)
        if told:
            return [told]
    return []


def _taken(context: SceneContext, line: Line, voice: FreshVoice) -> list[str]:
    if _person(context, line) is not None:
        return [_act(context, line, voice), _watched(context, line, voice)]
    if not _is_here(context, line):
        return [_not_here(line, voice)]
    return [voice.pick(phrases.HELD, {"thing": line.thing or "it"}) or voice.pick(phrases.NO_EFFECT)]


def _not_gone(context: SceneContext, line: Line, voice: FreshVoice) -> list[str]:
    here = stems(context.current_node.title)
    if line.where and here and here <= stems(line.text):
        return [voice.pick(phrases.THERE_ALREADY), _presence(context, voice)]
    where = line.thing if line.where and not _LEAVES.search(line.text) else ""
    told = voice.pick(phrases.NO_WAY, {"where": where}) if where else ""
    return [told or voice.pick(phrases.NO_WAY_BARE), _watched(context, line, voice) if voice.chance(2) else ""]


_LEAVES = re.compile(r"\b(?:leave|exit|quit|depart)\b|\bout of\b", re.IGNORECASE)


def _not_here(line: Line, voice: FreshVoice) -> str:
    noun = bare(line.what)
    told = voice.pick(phrases.NOT_HERE, {"thing": line.thing}) if line.thing and len(words_of(noun)) <= 4 else ""
    return told or voice.pick(phrases.NOT_HERE_BARE)


def _is_own(line: Line) -> bool:
    """Whether the thing is the player's own: their hands are always there."""
    return bool(re.search(r"\b(my|myself|our)\b", line.text, re.IGNORECASE))


def _is_here(context: SceneContext, line: Line) -> bool:
    """Whether a thing stands in the scene, or, at the beginning, in the words that led into the story."""
    node = context.current_node
    arrival = context.told[:1] if len(context.told) <= ARRIVED else []
    shown = [node.title, node.scene, node.goal, *(note.text for note in node.notes), *arrival]
    people = [member.name for member in context.current_cast]
    named, seen = stems(line.what or line.thing), stems(" ".join(shown))
    is_somebody = any(names_said(name, words_of(line.what or line.thing)) for name in people)
    return is_somebody or bool(named & seen) or _is_called_so(context, named, stems(node.scene))


def _is_called_so(context: SceneContext, named: frozenset[str], seen: frozenset[str]) -> bool:
    """Whether lore has another name for something that stands in the scene: the Halcyon is the wreck."""
    for note in (*context.lore.matched, *context.lore.base):
        known = stems(" ".join(note.keywords))
        if named & known and seen & known - named:
            return True
    return False


def _person(context: SceneContext, line: Line) -> CastMember | None:
    named = name_words(line.what)
    return next((one for one in context.current_cast if named and len(named) == _said_of(one, named)), None)


def _said_of(member: CastMember, named: frozenset[str]) -> int:
    """How many of some words are of a character's name."""
    return sum(as_name(word, name_words(member.name)) is not None for word in named)


def _described(member: CastMember, voice: FreshVoice) -> str:
    trait = first_trait(member)
    told = closed(f"{member.name}: {trait[0].lower()}{trait[1:]}") if trait else ""
    return voice.pick([told]) or voice.pick(phrases.SEEN_BEFORE, {"who": member.name})


def _where(context: SceneContext, voice: FreshVoice) -> list[str]:
    told = [line for line in scene_sentences(context.current_node, player_name(context)) if not voice.was_said(line)]
    return [
        _placed(context, voice),
        *(voice.say(line) for line in told[:1]),
        _presence(context, voice),
    ]


def _look_around(context: SceneContext, voice: FreshVoice) -> list[str]:
    """The place, the people, the things, and what can be done."""
    every = scene_sentences(context.current_node, player_name(context))
    fresh = [voice.say(line) for line in every if not voice.was_said(line)]
    place = _placed(context, voice)
    things = "" if fresh else _things(context, voice)
    return [place, *fresh[:MOST_SENTENCES], things, _people(context, voice), ways_on(context, voice)]


def _things(context: SceneContext, voice: FreshVoice) -> str:
    found = details(context.current_node)
    if not found:
        return ""
    turned = [found[place:] + found[:place] for place in range(len(found))]
    return voice.pick([line.format(things=joined(order[:4])) for order in turned for line in phrases.THINGS])


def _people(context: SceneContext, voice: FreshVoice) -> str:
    names = [member.name for member in context.current_cast]
    if not names:
        return voice.pick(phrases.ALONE)
    return _presence(context, voice)


def _placed(context: SceneContext, voice: FreshVoice) -> str:
    place = place_name(context.current_node)
    if place:
        return voice.pick(phrases.PLACE, {"place": place})
    return voice.pick(phrases.TITLED, {"title": context.current_node.title})


def _answered_by_the_place(context: SceneContext, line: Line, voice: FreshVoice) -> list[str]:
    """A question that nobody is there to answer."""
    return [voice.pick(phrases.ALONE_ANSWER), *_about(context, line, voice)]


def _still(context: SceneContext, voice: FreshVoice) -> str:
    things = details(context.current_node)
    told = voice.pick([closed(line.format(detail=thing)) for thing in things for line in phrases.STILL])
    return told or voice.pick(phrases.STILL_BARE)


def _presence(context: SceneContext, voice: FreshVoice) -> str:
    names = [member.name for member in context.current_cast]
    if not names:
        return ""
    return voice.pick(phrases.HERE_ONE if len(names) == 1 else phrases.HERE_MANY, {"who": joined(names)})


def _watched(context: SceneContext, line: Line, voice: FreshVoice) -> str:
    if not context.current_cast:
        return ""
    whom = next((one for one in context.current_cast if one.id == line.whom), context.current_cast[0])
    return voice.pick(phrases.WATCHED, {"who": whom.name})
