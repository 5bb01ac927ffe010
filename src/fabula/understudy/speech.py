"""What a character says: an answer to the player's words, from lore, scene and who the characters are."""

from __future__ import annotations

import re

from fabula.language.english import bare, closed, sentences, to_listener
from fabula.language.words import stems, words_of
from fabula.story.contexts import ActorPurpose, CastMember, SceneContext
from fabula.understudy.scene_view import (
    answers_to,
    brief,
    details,
    goal_line,
    known_about,
    may_point_on,
    player_name,
    scene_sentences,
)
from fabula.understudy.tones import Tone, is_terse, sayings_of, tone_of
from fabula.understudy.utterance import Deed, Reading
from fabula.understudy.voice import Voice

POINT = (
    "There is one thing to be done here. {goal}",
    "If you ask me, it is plain what comes next. {goal}",
    "Never mind the rest. {goal}",
    "You know as well as I do what is needed. {goal}",
    "It comes down to this. {goal}",
    "Do you want my advice? {goal}",
)
BECAUSE = ("Why? It has its reason.", "There is a why to everything here.", "That is the heart of it.")
ECHO = (
    "So {echo}.",
    "You mean it: {echo}.",
    "{Echo}. I will remember that.",
    "{Echo}. Good to know.",
    "I hear you. {Echo}.",
)
ANY_DEED = (
    "I saw that.",
    "You don't ask first, do you?",
    "Go on. I am not stopping you.",
    "That is one way to begin.",
    "So that is how you do things.",
    "You are not one for talking, are you?",
)
DEED_SEEN: dict[Deed, tuple[str, ...]] = {
    "look": (
        "There is more to see than you would think.",
        "Look all you like. It has looked back at better people.",
        "You have sharp eyes. Use them.",
        "Seen enough?",
    ),
    "go": ("Slowly. I am coming.", "You are in a hurry.", "Mind where you step.", "Then I go with you."),
    "take": ("Keep it, if you can carry it.", "That was not yours a moment ago.", "Careful with that."),
    "give": ("I did not ask for that. But I will keep it.", "You give easily. I will remember it."),
    "attack": ("Are you out of your mind?", "Enough. That helps nobody.", "Do that again and we are done talking."),
    "wait": ("Take your time.", "We have a little time. Not much.", "Waiting changes nothing, you know."),
    "listen": ("You hear it too, then.", "Quiet. Yes. That."),
}
REQUESTED = (
    "You ask a good deal.",
    "Since you ask.",
    "And if I do, what then?",
    "You don't waste words. Good.",
    "I have been waiting for somebody to ask.",
)
OVER = (
    "So that is how it ends.",
    "It is done, then. I would not have believed it.",
    "Remember this. I will.",
    "There. Now it is over, and we are still here.",
    "Whatever they tell about it later, you were there.",
)
AGREED = ("Good. Then we understand each other.", "That is what I hoped to hear.", "Then it is settled.")
REFUSED = ("As you like. The matter will not go away.", "No? Then think about it.", "You may change your mind yet.")
READY = ("Then let us not wait.", "Good. I was tired of standing about.", "So be it. Come.")
AGAIN = ("It is as you have heard.", "You know it already.", "I can only say it again.", "That has not changed.")
YES_NO = ("I should think so.", "It looks that way to me.", "Not as far as I have seen.", "More than you would think.")
NOTICED = (
    "I keep looking at {detail}.",
    "You have noticed {detail}, I suppose.",
    "There is something about {detail} that I can't put into words.",
    "It is hard to think of anything but {detail}.",
)
REMARK = ("Look about you.", "You can see it from here.", "See for yourself.", "This is how things are.")
WELL = ("Well enough, for a day like this.", "I have had better days, and worse.", "I am still standing.")
WAITING = (
    "Ask, if there is something you want to know.",
    "What do you mean to do now?",
    "And you? What brings you to it?",
    "The rest is up to you.",
    "Say the word.",
    "What is it you are after?",
)


def answer_to(context: SceneContext, actor: CastMember, purpose: ActorPurpose, reading: Reading, voice: Voice) -> str:
    """One to three sentences: the answer, and as often as not what leads on."""
    tone = tone_of(actor)
    slots = {"player": player_name(context) or "friend", "name": actor.name}
    if context.transitioned_this_turn and not context.current_node.transitions:
        return voice.pick(OVER)
    lines = _remark(context, actor, voice) if purpose == "comment_on_scene" else []
    if purpose != "advance_goal" or reading.kind in ("silence", "ready", "agreement"):
        lines = lines or _answer(context, actor, tone, reading, voice, slots)
    goal = goal_line(context.current_node, "", actor.name)
    if (purpose == "advance_goal" or voice.chance(3)) and not voice.was_said(goal):
        lines += _point(context, actor, voice)
    elif not lines:
        lines = _remark(context, actor, voice) or [voice.pick(WAITING)]
    elif purpose == "react_to_player" and not is_terse(actor) and voice.chance(3):
        lines.append(voice.pick(WAITING))
    kept = [line for line in dict.fromkeys(lines) if line]
    return " ".join(kept[: 2 if is_terse(actor) else 4])


def _answer(
    context: SceneContext, actor: CastMember, tone: Tone, reading: Reading, voice: Voice, slots: dict[str, str]
) -> list[str]:
    match reading.kind:
        case "silence":
            return [voice.pick(tone.silent), *_remark(context, actor, voice)]
        case "greeting":
            return [voice.pick(tone.greet, slots)]
        case "farewell":
            return [voice.pick(tone.leaving, slots)]
        case "thanks":
            return [voice.pick(tone.thanked)]
        case "threat":
            return [voice.pick(tone.threatened)]
        case "agreement":
            return [voice.pick(AGREED)]
        case "refusal":
            return [voice.pick(REFUSED)]
        case "ready":
            return [voice.pick(READY)]
        case "question":
            return _to_question(context, actor, tone, reading, voice)
        case "request":
            known = _on_topic(context, actor, reading, voice)[:1]
            return [voice.pick(REQUESTED), *(known or _point(context, actor, voice))]
        case "deed":
            return [voice.pick(DEED_SEEN.get(reading.deed, ANY_DEED)), *_on_topic(context, actor, reading, voice)[:1]]
        case "speech":
            return _to_speech(context, actor, tone, reading, voice)


def _to_question(context: SceneContext, actor: CastMember, tone: Tone, reading: Reading, voice: Voice) -> list[str]:
    words = words_of(reading.said or reading.text)
    text = " ".join(words)
    if re.search(r"\bwho are you\b|\byour name\b|\babout yourself\b|\bwhat are you\b", text):
        return [introduction(actor)]
    if re.search(r"\b(are you|is your name)\b", text) and stems(actor.name) & reading.topic:
        return [f"That I am. {introduction(actor)}"]
    if re.search(r"\bhow are you\b|\bare you (all right|well|okay|ok)\b", text):
        return [voice.pick(WELL)]
    if re.search(r"\bwhere (am|are) (i|we)\b|\bwhat (is|are) this place\b|\bwhere is this\b", text):
        return [voice.pick(tone.open), *_place(context)]
    if re.search(r"\bwhat (should|do|can|must|shall) (i|we)\b|\bwhat now\b|\bhelp me\b|\bwhat next\b", text):
        return _point(context, actor, voice) or [voice.pick(tone.unsure)]
    other = _someone_else(context, actor, reading)
    if other is not None:
        return [voice.pick(tone.open), about(other)]
    known = _on_topic(context, actor, reading, voice) or voice.fresh(answers_to(reading.asks, context.lore))
    if known:
        return [voice.pick(BECAUSE if reading.asks == "why" else tone.open), *brief(known)]
    told = known_about(reading.topic - stems(actor.name), context.lore, ())
    if told:
        return [voice.pick(AGAIN), told[0]]
    if reading.asks == "whether" and voice.chance(2):
        return [voice.pick(YES_NO)]
    return [voice.pick(tone.unsure), *(_point(context, actor, voice) or _remark(context, actor, voice))]


def _to_speech(context: SceneContext, actor: CastMember, tone: Tone, reading: Reading, voice: Voice) -> list[str]:
    known = _on_topic(context, actor, reading, voice)[:1]
    echo = _echo(reading)
    if echo and (not known or voice.chance(2)):
        line = voice.pick([phrase.format(echo=echo, Echo=echo[0].upper() + echo[1:]) for phrase in ECHO])
        return [line, *known]
    return [voice.pick(tone.open), *(known or _point(context, actor, voice) or _remark(context, actor, voice))]


def _echo(reading: Reading) -> str:
    """The player's own words turned round, when they are short and about the player."""
    first = bare(sentences(reading.said or reading.text)[0])
    words = words_of(first)
    if not 3 <= len(words) <= 14 or words[0] not in ("i", "i'm", "i've", "my", "we", "you", "you're"):
        return ""
    plain = first.replace("’", "'").replace("I'm ", "I am ").replace("I've ", "I have ").replace("You're", "You are")
    turned = to_listener(plain)
    turned = re.sub(r"^me (are|were|will|would|can|have|do|must|should)\b", r"I \1", turned)
    turned = re.sub(r"^I are\b", "I am", turned)
    return turned if turned.startswith("I ") else turned[0].lower() + turned[1:]


def _on_topic(context: SceneContext, actor: CastMember, reading: Reading, voice: Voice) -> list[str]:
    """What this character can say on the player's topic and has not said yet."""
    topic = reading.topic - stems(actor.name)
    return voice.fresh(known_about(topic, context.lore, scene_sentences(context.current_node, player_name(context))))


def _place(context: SceneContext) -> list[str]:
    node = context.current_node
    return [f"{closed(node.title)}", *scene_sentences(node, player_name(context))[:1]]


def _remark(context: SceneContext, actor: CastMember, voice: Voice) -> list[str]:
    """One of the sayings that the author gave the character, or a word on what can be seen."""
    sayings = voice.fresh(sayings_of(actor))
    if sayings:
        return [voice.pick(sayings)]
    fresh = voice.fresh(scene_sentences(context.current_node, player_name(context)))
    if fresh:
        return [voice.pick(REMARK), fresh[0]]
    things = details(context.current_node)
    return [voice.pick([line.format(detail=thing) for thing in things for line in NOTICED])] if things else []


def _point(context: SceneContext, actor: CastMember, voice: Voice) -> list[str]:
    goal = goal_line(context.current_node, player_name(context), actor.name)
    if not goal or not context.current_node.transitions or not may_point_on(context):
        return []
    return [voice.pick([phrase.format(goal=goal) for phrase in POINT])]


def _someone_else(context: SceneContext, actor: CastMember, reading: Reading) -> CastMember | None:
    for member in context.current_cast:
        if member.id != actor.id and stems(member.name) & reading.topic:
            return member
    return None


def introduction(actor: CastMember) -> str:
    """How a character says who it is, from the first thing its author says of it."""
    trait = _trait(actor)
    if not trait:
        return f"{actor.name} is my name."
    if re.match(r"(an?|the)\b", trait, re.I):
        return f"I am {actor.name}, {trait[0].lower()}{trait[1:]}."
    return f"{actor.name} is my name. {trait[0].upper()}{trait[1:]}, people say."


def about(member: CastMember) -> str:
    """How a character speaks of another."""
    trait = _trait(member)
    if not trait:
        return f"{member.name}? Ask {member.name}."
    if re.match(r"(an?|the)\b", trait, re.I):
        return f"{member.name} is {trait[0].lower()}{trait[1:]}."
    return f"{member.name}? {trait[0].upper()}{trait[1:]}."


def _trait(member: CastMember) -> str:
    """The first clause of a personality: what anybody may know of the character."""
    first = sentences(member.personality)[0] if member.personality.strip() else ""
    first = re.sub(rf"^{re.escape(member.name)}('s)?\s+(is|was)\s+", "", bare(first))
    first = re.sub(r"^(he|she|they|it)\s+(is|are)\s+", "", first, flags=re.I)
    clause = re.split(r"[;:.(]| who | that | which | but secretly | secretly ", first)[0]
    clause = ",".join(clause.split(",")[:2]).strip(" ,")
    looks_odd = len(words_of(clause)) > 14 or re.match(r"(he|she|they|hides|keeps|wants|loves|hates)\b", clause, re.I)
    return "" if looks_odd else clause
