"""An NPC of a game: reacts to an event from what its spec says, and stays silent when there is nothing to say."""

from __future__ import annotations

import re

from fabula.language.english import bare, closed, inner, joined, sentences
from fabula.language.words import name_forms, name_words, names_said, stem, stems, words_of
from fabula.story.contexts import CastMember, NpcContext
from fabula.story.npc import Lived, NpcSpec
from fabula.story.values import Json
from fabula.understudy.tones import is_terse, tone_of
from fabula.understudy.utterance import Reading, read
from fabula.understudy.voice import Voice

MOST_READ = 4_000
"""So many letters of an event are read."""
LONGEST_NAME = 200
SPEECH = ("player_speech", "npc_speech", "speech", "say", "dialogue")
_TRADE = re.compile(
    r"\b(buy|sell|trade|barter|price|prices|cost|costs|wares|goods|how much|for sale|purchase|coins?)\b"
)
_TRADER = re.compile(
    r"\b(merchant|trader|shopkeep\w*|seller|vendor|smith|innkeep\w*|baker|peddler|dealer|fence)\b", re.I
)
_WHO = re.compile(r"\bwho are you\b|\byour name\b|\babout yourself\b|\bwhat do you do\b|\bwhat are you\b")
_WHERE = re.compile(r"\bwhere (am|are) (i|we)\b|\bwhat (is|are) this place\b|\bwhere is this\b")
_REMEMBER = re.compile(r"\b(remember|last time|did i (say|tell)|what did i|have we met|do you know me)\b")
_MY_NAME = re.compile(r"\b(what is|what's|whats|do you know|remember) my name\b|\bwho am i\b|\bwho i am\b")
_HOSTILE = re.compile(
    r"\b(attack|hit|strike|stab|shoot|punch|kick|slap|hurt|threaten|rob|lunge|swing|charge)(e?s|ed|ing)?( at)? you\b|"
    r"\b(draw|raise|pull|unsheathe|aim|brandish)(e?s|ed|ing)?( out)? (a|an|the|his|her|their|my|its) "
    r"(\w+ )?(sword|knife|dagger|gun|pistol|blade|axe|bow|spear|weapon)\b"
)
_HOW = re.compile(r"\bhow are you\b|\bare you (all right|well|okay|ok)\b")

OFFER = (
    "I have {goods}. What do you need?",
    "For sale? {Goods}.",
    "Have a look: {goods}.",
    "{Goods}. Make me an offer.",
)
WANTED = (
    "{Goods}? Make me an offer.",
    "{Goods}? Yours, if the price is right.",
    "{Goods}? Show me your coin first.",
)
NO_GOODS = ("I have nothing to sell.", "You want a merchant, not me.", "I don't trade.")
BARE_SHELF = ("My shelves are bare today.", "I would sell, if I had anything left.")
ANSWER = ("{fact}", "That I can tell you. {fact}", "I know this much. {fact}", "Listen. {fact}")
RECALL = ("I remember. You said: {words}", "You told me once: {words}", "How could I forget? {words}")
STRANGER = ("We have not met before, as far as I know.", "I don't think we have spoken before.")
NOTED = ("I see.", "So I hear.", "Is that so?", "I will keep it in mind.", "If you say so.")
WATCHED = ("I see.", "As you like.", "I am watching.", "Mind what you do there.")
TOLD = ("Good.", "So that is done.", "All right, then.")
GOT_NOTHING = ("That did not work.", "No luck with that.", "It cannot be done, it seems.")
FLINCH = ("takes a step back", "reaches for something heavy", "looks for the way out")
NOD = ("nods", "tilts the head", "looks up", "smiles a little")


def react(context: NpcContext, seed: int | None) -> str:
    """The NPC's reaction in the tags that its game knows."""
    said = [lived.said() for lived in context.history if lived.said()]
    event = context.event
    voice = Voice(seed, "npc", context.state.spec.name, len(context.history), event.text, context.repeats, said=said)
    lines, emote = _reaction(context, voice)
    if not lines:
        return _tag(context, "silence", "") if _has(context, "silence") else ""
    shown = _tag(context, "emote", emote) if emote and _has(context, "emote") else ""
    return f"{shown}<say>{_plain(' '.join(lines))}</say>"


def _reaction(context: NpcContext, voice: Voice) -> tuple[list[str], str]:
    """What the NPC says, and what can be seen of it. No lines is silence."""
    event = context.event
    text = event.text[:MOST_READ].strip()
    if event.event_type == "tool_results":
        failed = " failed: " in text
        return [voice.pick(GOT_NOTHING if failed else TOLD)], ""
    if not text or event.event_type == "timer":
        return [], ""
    reading = read(text if event.event_type in SPEECH else f"*{text}*")
    if event.event_type not in SPEECH and not _concerns(context, reading):
        return [], ""
    return _answer(context, reading, voice)


def _concerns(context: NpcContext, reading: Reading) -> bool:
    """Whether something that was done or seen is worth a word: a threat, or what the NPC knows about."""
    return (
        _hostile(context, reading)
        or context.event.event_type == "player_action"
        or bool(_facts(context.state.spec, reading))
    )


def _hostile(context: NpcContext, reading: Reading) -> bool:
    """A threat in words, or a deed that is one: `Ann attacks you`, `*draws a sword*`."""
    if reading.kind == "threat" or reading.deed == "attack":
        return True
    deed = "" if reading.said else reading.text
    # The pattern is kept by `re`, as large as the name is long.
    name = context.state.spec.name[:LONGEST_NAME]
    return bool(_HOSTILE.search(re.sub(rf"\b{re.escape(name)}\b", "you", deed).lower() if name else deed.lower()))


def _answer(context: NpcContext, reading: Reading, voice: Voice) -> tuple[list[str], str]:
    spec = context.state.spec
    member, tone = _member(spec), tone_of(_member(spec))
    slots = {"player": _player(context), "name": spec.name}
    words = " ".join(words_of(reading.said or reading.text))
    if _hostile(context, reading):
        return [voice.pick(tone.threatened)], voice.pick(FLINCH)
    if _TRADE.search(words):
        return _trade(context, reading, voice), ""
    if context.event.event_type not in SPEECH:
        return _to_deed(context, reading, voice)
    match reading.kind:
        case "greeting":
            opening = [voice.pick(tone.greet, slots)]
            return [*opening, *_errand(spec, voice)] if not is_terse(member) else opening, voice.pick(NOD)
        case "farewell":
            return [voice.pick(tone.leaving, slots)], ""
        case "thanks":
            return [voice.pick(tone.thanked)], ""
        case "question" | "request":
            return _to_question(context, reading, words, voice), ""
        case "silence":
            return [], ""
        case _:
            known = voice.fresh(_facts(spec, reading))[:1]
            return [voice.pick(NOTED), *known], ""


def _to_deed(context: NpcContext, reading: Reading, voice: Voice) -> tuple[list[str], str]:
    """Something was done or seen: what the NPC knows of it, or a look and a word."""
    known = _facts(context.state.spec, reading)
    fresh = voice.fresh(known)[:1]
    return (fresh, voice.pick(NOD)) if fresh or known else ([voice.pick(WATCHED)], voice.pick(NOD))


def _to_question(context: NpcContext, reading: Reading, words: str, voice: Voice) -> list[str]:
    spec, world = context.state.spec, context.state.world
    if _WHO.search(words):
        trade = f", {spec.role[0].lower()}{spec.role[1:]}" if spec.role else ""
        own = [line for line in sentences(spec.backstory)[:1] if re.match(r"(I|My)\b", line)]
        return [f"I am {spec.name}{bare(trade)}.", *own]
    if _MY_NAME.search(words) and (player := _player(context)) != "friend":
        return [closed(f"You are {player}")]
    if _HOW.search(words):
        return [closed(f"I am {bare(inner(spec.mood))}") if spec.mood else "Well enough."]
    if _WHERE.search(words) and world.location:
        return [closed(f"This is {inner(world.location)}")]
    if _REMEMBER.search(words):
        return _remembered(context, voice)
    known = _facts(spec, reading) + _about_people(spec, reading)
    told = voice.fresh(known) or known
    if told:
        return [voice.pick([phrase.format(fact=told[0]) for phrase in ANSWER])]
    return [voice.pick(tone_of(_member(spec)).unsure)]


def _facts(spec: NpcSpec, reading: Reading) -> list[str]:
    """What the NPC knows about the topic, best first."""
    topic = reading.topic - frozenset(map(stem, names_said(spec.name, words_of(reading.text))))
    known = [closed(fact) for fact in [*spec.knowledge, *sentences(spec.backstory)] if fact.strip()]
    scored = [(len(topic & stems(fact)), -place, fact) for place, fact in enumerate(known)]
    return [fact for score, _, fact in sorted(scored, reverse=True) if score > 0]


def _about_people(spec: NpcSpec, reading: Reading) -> list[str]:
    said = name_forms(words_of(reading.text))
    return [
        closed(f"{person.name}? {person.description[0].upper()}{person.description[1:]}")
        for person in spec.relationships
        if person.name and person.description and not said.isdisjoint(name_words(person.name))
    ]


def _trade(context: NpcContext, reading: Reading, voice: Voice) -> list[str]:
    spec = context.state.spec
    names = [name for item in context.state.world.inventory if (name := _name(item))]
    wanted = [name for name in names if stems(name) & reading.topic]
    if goods := joined(wanted or names):
        phrases = WANTED if wanted else OFFER
        return [voice.pick([phrase.format(goods=goods, Goods=goods[0].upper() + goods[1:]) for phrase in phrases])]
    return [voice.pick(BARE_SHELF if _TRADER.search(spec.role) else NO_GOODS)]


def _remembered(context: NpcContext, voice: Voice) -> list[str]:
    """The player's own words, when there are any to remember."""
    lived: list[Lived] = [*context.recalled, *context.history]
    spoken = [
        one.event.text[:MOST_READ].strip() for one in lived if one.kind == "turn" and one.event.event_type in SPEECH
    ]
    telling = [words for words in spoken if words and not words.rstrip().endswith("?") and read(words).kind == "speech"]
    if not telling:
        return [voice.pick(STRANGER if not spoken else NOTED)]
    return [voice.pick([phrase.format(words=closed(telling[-1])) for phrase in RECALL])]


def _errand(spec: NpcSpec, voice: Voice) -> list[str]:
    """A first word on what the NPC is after."""
    fresh = voice.fresh([closed(goal) for goal in spec.goals if goal.strip()])
    goal = bare(fresh[0]) if fresh else ""
    return [f"I have my hands full: {goal[0].lower()}{goal[1:]}."] if goal else []


def _name(item: Json) -> str:
    if isinstance(item, str):
        return item.strip()
    name = item.get("name") if isinstance(item, dict) else None
    return name.strip() if isinstance(name, str) else ""


def _player(context: NpcContext) -> str:
    source = context.event.source.name if context.event.event_type in SPEECH else ""
    return source or context.state.player.name or "friend"


def _member(spec: NpcSpec) -> CastMember:
    manner = " ".join(part for part in (spec.personality, spec.mood, spec.role) if part)
    return CastMember(id="npc", name=spec.name, personality=manner, style=spec.style)


def _has(context: NpcContext, tag: str) -> bool:
    return any(one.name.lower() == tag for one in context.state.known_tags())


def _tag(context: NpcContext, tag: str, text: str) -> str:
    return f"<{tag}>{_plain(text)}</{tag}>" if text else f"<{tag}/>"


def _plain(text: str) -> str:
    """Text that cannot be taken for a tag."""
    return text.replace("<", "‹").replace(">", "›")
