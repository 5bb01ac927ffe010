"""What a character says: an answer to the player's line, from what the character may know, in its own manner."""

from __future__ import annotations

import re

from fabula.language.english import closed
from fabula.language.words import names_said, stems, words_of
from fabula.story.contexts import ActorPurpose, CastMember, SceneContext
from fabula.understudy.line import Line
from fabula.understudy.reminders import SEEN, asks_time, remind, remind_of_time, time_now
from fabula.understudy.scene_lore import tell_gossip
from fabula.understudy.scene_view import first_trait, goal_line, in_own_mouth, place_name, player_name
from fabula.understudy.tones import Tone, is_terse, sayings_of, tone_of
from fabula.understudy.topics import Subject, find_subjects, near_best
from fabula.understudy.voice import FreshVoice

LONGEST_ANSWER = 420
STRONG = 2.5

POINT = (
    "There is one thing to be done here. {goal}",
    "If you ask me, it is plain what comes next. {goal}",
    "Never mind the rest. {goal}",
    "You know as well as I do what is needed. {goal}",
    "It comes down to this. {goal}",
    "Do you want my advice? {goal}",
)
UNKNOWN = (
    "I could not tell you anything about {thing}.",
    "Of {thing} I know nothing.",
    "You ask the wrong person about {thing}.",
    "I have nothing to say about {thing}, because I know nothing.",
)
POINT_TO = (
    "{who} would know.",
    "Ask {who} about that.",
    "That is a question for {who}.",
    "If anyone knows, it is {who}.",
    "{who} could tell you more than I can.",
    "You should hear what {who} says to that.",
)
KEPT = (
    "That is nothing I talk about.",
    "Ask me something else.",
    "There are things one does not tell a stranger.",
    "I have no answer to that. Not today.",
    "You would have to earn that answer.",
    "Let us speak of something else.",
    "I heard the question. I am not going to answer it.",
    "Some doors stay shut, and that is one of them.",
)
ALL_TOLD = (
    "Of {thing} you know what I know.",
    "There is no more to say about {thing}.",
    "You have heard all I know about {thing}.",
    "I can add nothing to what you have heard about {thing}.",
    "I know no more of {thing} than you do now.",
)
ALL_TOLD_BARE = (
    "You know what I know of that.",
    "There is no more to say about it.",
    "You have heard all I know.",
    "I can add nothing to what you have heard.",
)
OF_MYSELF = (
    "That is a direct question.",
    "I would have to know you better to answer that.",
    "You ask that as if it had a short answer.",
    "I will let you be the judge of that.",
    "You must find that out for yourself.",
    "People have asked me that before, and gone away no wiser.",
    "What would you do with the answer?",
    "It would take longer to answer than you have time to listen.",
)
HEARD = (
    "I hear you.",
    "So that is how you see it.",
    "I will remember that you said so.",
    "You may be right.",
    "That is worth thinking about.",
    "I have heard people say less with more words.",
    "I can't say anything against that.",
    "If you say so.",
    "You say that as if it were simple.",
    "I would not have put it like that, but I understand you.",
    "That is something, at any rate.",
    "Other people keep such things to themselves.",
)
DEED_SEEN = (
    "I saw that.",
    "You don't ask first, do you?",
    "Go on. I am not stopping you.",
    "So that is how you do things.",
    "You are not one for talking, are you?",
    "Is that a habit of yours?",
    "I have seen people do stranger things here.",
    "Whatever helps you think.",
)
GIVEN = (
    "I did not ask for that. But I thank you.",
    "You give easily. I will remember it.",
    "That is kind of you.",
    "I am not sure that I can take it.",
)
OVER = (
    "So that is how it ends.",
    "It is done, then. I would not have believed it.",
    "Remember this. I will.",
    "There. Now it is over, and we are still here.",
    "Whatever they tell about it later, you were there.",
)
AGREED = (
    "Good. Then we understand each other.",
    "That is what I hoped to hear.",
    "Then it is settled.",
    "I am glad to hear you say so.",
)
REFUSED = (
    "As you like. The matter will not go away.",
    "No? Then think about it.",
    "You may change your mind yet.",
    "Nobody can make you.",
)
SORRY = ("There is nothing to forgive.", "Never mind. It is forgotten.", "It is all right.", "Worse things happen.")
WELL = ("Well enough, for a day like this.", "I have had better days, and worse.", "I am still standing.")
HERE = ("{who} is right here. You can ask {who} yourself.", "You need not look far. {who} is here.")
AWAY = ("{who} is not here.", "I have not seen {who} in this place today.", "Not here. {who} goes about alone.")
_WHO_ARE_YOU = re.compile(
    r"\byour (?:job|work|trade|profession|duty|duties|business|task)\b|"
    r"\bdo you do (?:here|up here|down here|for a living)\b|"
    r"\bwho are you\b|\byour name\b|\babout yourself\b|\bwhat are you\b(?! \w+ing\b)|\bwho you are\b|"
    r"\bwho might you be\b|\bask\b.*\b(?:his|her|their) name\b"
)
_HOW_ARE_YOU = re.compile(r"\bhow are you\b|\bare you (all right|well|okay|ok)\b|\bhow do you feel\b")
_OF_YOU = re.compile(
    r"^(\w+ )?(did|do|are|were|have|had|will|would) you (?!know|remember|tell|mind|have|think|mean|say|ever hear of)"
)
_ASKS_OF_THINGS = ("what", "which", "how", "when", "whether")
_WAS_IT_YOU = re.compile(r"\b(?:was|is) it you\b|\bit was you\b")
_WHERE = re.compile(r"\bwhere (am|are) (i|we)\b|\bwhat (is|are) this place\b|\bwhere is this\b")
_NEWS = re.compile(
    r"\b(?:any|what|the|latest|other) (?:news|gossip|rumours?|rumors?)\b|\bwhat is new\b|\bwhat's new\b|"
    r"\bwhat (?:do|does|are|is) (?:people|they|everybody|everyone|folk)(?: here)? (?:say|saying|talk|talking)\b|"
    r"\bwhat (?:people|they|everybody|everyone|folk) (?:say|are saying|talk about|tell)\b|"
    r"\bheard anything\b|\bwhat have you heard\b"
)
_WHAT_NOW = re.compile(r"\bwhat (should|do|can|must|shall) (i|we)( \w+)?$|\bwhat now\b|\bhelp me\b|\bwhat next\b")


def answer_to(context: SceneContext, actor: CastMember, purpose: ActorPurpose, line: Line, voice: FreshVoice) -> str:
    """One to three sentences, or nothing where everything was said."""
    if context.transitioned_this_turn:
        ended = not context.current_node.transitions
        return voice.pick(OVER) if ended else _saying(actor, voice)
    if purpose == "comment_on_scene":
        return _saying(actor, voice)
    lines = _answer(context, actor, tone_of(actor), line, voice)
    kept = [one for one in dict.fromkeys(lines) if one]
    return " ".join(kept[: 2 if is_terse(actor) else 4])


def _answer(context: SceneContext, actor: CastMember, tone: Tone, line: Line, voice: FreshVoice) -> list[str]:
    slots = {"player": player_name(context) or "friend", "name": actor.name, "thing": line.thing}
    if line.is_question:
        return _to_question(context, actor, tone, line, voice)
    match line.kind:
        case "greet":
            return [voice.greet(tone.greet, slots)]
        case "farewell":
            return [voice.pick(tone.leaving, slots)]
        case "thank":
            return [voice.pick(tone.thanked)]
        case "apologise":
            return [voice.pick(SORRY)]
        case "attack":
            return [voice.pick(tone.threatened)]
        case "agree" | "promise":
            return [voice.pick(AGREED)]
        case "refuse":
            return [voice.pick(REFUSED)]
        case "silence" | "wait":
            return [voice.pick(tone.silent), _saying(actor, voice)]
        case "hint":
            return [_point(context, actor, voice)]
        case "give":
            return [voice.pick(GIVEN)]
        case "talk" | "tell" | "speech":
            return _to_speech(context, actor, line, voice)
        case _:
            return [_saying(actor, voice) or voice.pick(DEED_SEEN)]


def _to_question(context: SceneContext, actor: CastMember, tone: Tone, line: Line, voice: FreshVoice) -> list[str]:
    text = " ".join(words_of(line.said or line.text))
    if _WHO_ARE_YOU.search(text) or (line.asks == "who" and line.is_about_nothing_but(actor)):
        return [_fresh(voice, introduction(actor)) or _own_fact(actor, voice) or _saying(actor, voice)]
    if _HOW_ARE_YOU.search(text):
        return [voice.pick(WELL), _saying(actor, voice)]
    if _WHERE.search(text):
        return [_fresh(voice, _place(context)), _saying(actor, voice)]
    if _NEWS.search(text):
        told = tell_gossip(context.scene_lore, voice)
        if told:
            return [voice.pick(tone.open) if voice.chance(2) else "", told]
    if _WHAT_NOW.search(text):
        return [_point(context, actor, voice) or _saying(actor, voice)]
    clock = time_now(context, line.said or line.text)
    if clock:
        return [clock]
    if asks_time(text):
        timed = remind_of_time(context, line.topic, SEEN, voice)
        if timed:
            return [timed]
    if line.asks == "whether" and (_OF_YOU.search(text) or _WAS_IT_YOU.search(text)):
        return _of_itself(context, actor, line, voice)
    if line.asks == "where":
        found = _whereabouts(context, actor, line, voice)
        if found:
            return [found]
    return _on_topic(context, actor, tone, line, voice)


def _of_itself(context: SceneContext, actor: CastMember, line: Line, voice: FreshVoice) -> list[str]:
    """An answer to `did you`: a fact of the character's own, or none at all."""
    # Who is spoken to is `you`: a name that only stands behind `her` is somebody else's question.
    if line.names(actor) & names_said(actor.name, words_of(line.text)):
        told = _fresh(voice, introduction(actor))
        if told:
            return [told]
    own = [one for one in find_subjects(context, line, speaker=actor) if one.owner == actor.id]
    for subject in own:
        if subject.secret:
            return [voice.pick(KEPT), _saying(actor, voice) if voice.chance(2) else ""]
        told = tell_of(subject, line, voice)
        if told:
            return [told]
    return [voice.pick(OF_MYSELF) or voice.pick(KEPT), _saying(actor, voice) if voice.chance(2) else ""]


def _on_topic(context: SceneContext, actor: CastMember, tone: Tone, line: Line, voice: FreshVoice) -> list[str]:
    """What the character may tell on the topic; else that it may not, has told it all, or does not know."""
    near = near_best(find_subjects(context, line, speaker=actor))
    for subject in near:
        if subject.secret:
            return [voice.pick(KEPT), _saying(actor, voice) if voice.chance(2) else ""]
        told = tell_of(subject, line, voice)
        if told:
            return [voice.pick(tone.open) if voice.chance(2) else "", told]
    if near:
        pool = ALL_TOLD if line.thing else ALL_TOLD_BARE
        return [voice.pick(pool, {"thing": line.thing})]
    return _does_not_know(context, actor, tone, line, voice)


def _does_not_know(context: SceneContext, actor: CastMember, tone: Tone, line: Line, voice: FreshVoice) -> list[str]:
    seen = (
        remind(context, line.topic, SEEN, voice, line=line.text) if line.asks in _ASKS_OF_THINGS and line.thing else ""
    )
    if seen:
        return [seen]
    if line.asks == "why":
        reason = _reason(context, actor, line, voice)
        if reason:
            return [reason]
    who = _who_knows(context, actor, line)
    if who:
        return [voice.pick(tone.unsure), voice.pick(POINT_TO, {"who": who})]
    if {"you", "your", "yourself"} & set(words_of(line.text)) and not line.thing:
        return [voice.pick(OF_MYSELF), _saying(actor, voice) if voice.chance(2) else ""]
    told = voice.pick(UNKNOWN, {"thing": line.thing}) if line.thing and voice.chance(2) else ""
    return [told or voice.pick(tone.unsure) or voice.pick(OF_MYSELF)]


def _reason(context: SceneContext, actor: CastMember, line: Line, voice: FreshVoice) -> str:
    """What came to light and answers a bare `why`: a fact of the speaker's own, or lore about reasons."""
    facts = [in_own_mouth(fact.text, actor.name) for fact in actor.facts if fact.revealed]
    lore = [note.content for note in context.lore.matched if note.revealed and {"why", "reason"} & set(note.keywords)]
    return voice.pick([*facts]) or voice.pick(lore)


def _who_knows(context: SceneContext, actor: CastMember, line: Line) -> str:
    """Who can say more: somebody that lore names for the topic."""
    for pointer in context.pointers:
        if line.topic & stems(" ".join(pointer.keywords)):
            here = [member.name for member in context.current_cast]
            named = [name for name in pointer.known_to if name != actor.name]
            return next((name for name in named if name in here), named[0] if named else "")
    return ""


def tell_of(subject: Subject, line: Line, voice: FreshVoice) -> str:
    """What was not told yet of a subject: all of it if that is not too long, else the thought that fits best."""
    fresh = [passage for passage in subject.passages if passage and not voice.was_said(passage)]
    if not fresh:
        return ""
    fits = max(range(len(fresh)), key=lambda place: (len(line.topic & stems(fresh[place])), -place))
    told = fresh if sum(map(len, fresh)) <= LONGEST_ANSWER else fresh[fits : fits + 1]
    return voice.say(" ".join(told))


def _whereabouts(context: SceneContext, actor: CastMember, line: Line, voice: FreshVoice) -> str:
    """Where somebody is, as far as the one asked can see."""
    for pool, people in ((HERE, context.current_cast), (AWAY, context.absent_cast)):
        for member in people:
            if member.id != actor.id and line.names(member):
                return voice.pick(pool, {"who": member.name})
    return ""


def _to_speech(context: SceneContext, actor: CastMember, line: Line, voice: FreshVoice) -> list[str]:
    """A remark is acknowledged; what it is plainly about may call up more."""
    subjects = [] if line.negated else find_subjects(context, line, speaker=actor)
    best = subjects[0] if subjects and subjects[0].score >= STRONG and not subjects[0].secret else None
    more = tell_of(best, line, voice) if best is not None and voice.chance(2) else ""
    return [voice.pick(HEARD), more or _saying(actor, voice)]


def _saying(actor: CastMember, voice: FreshVoice) -> str:
    """One of the sayings that the author gave the character."""
    return voice.pick(sayings_of(actor))


def _own_fact(actor: CastMember, voice: FreshVoice) -> str:
    return voice.pick([in_own_mouth(fact.text, actor.name) for fact in actor.facts if not fact.secret])


def _point(context: SceneContext, actor: CastMember, voice: FreshVoice) -> str:
    goal = goal_line(context.current_node, player_name(context), actor.name)
    if not goal or not context.current_node.transitions:
        return ""
    return voice.pick([phrase.format(goal=goal) for phrase in POINT])


def _place(context: SceneContext) -> str:
    place = place_name(context.current_node)
    return f"This is {place}." if place else f"I call it “{context.current_node.title}”."


def _fresh(voice: FreshVoice, text: str) -> str:
    return voice.pick([text])


def introduction(actor: CastMember) -> str:
    """How a character says who it is, from the first thing its author says of it."""
    trait = first_trait(actor)
    if not trait:
        return f"{actor.name} is my name."
    if re.match(r"(an?|the)\b", trait, re.I):
        return closed(f"I am {actor.name}, {trait[0].lower()}{trait[1:]}")
    return f"{actor.name} is my name. {closed(f'{trait}, people say')}"
