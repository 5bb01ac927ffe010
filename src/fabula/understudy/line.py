"""The player's line as those who answer it see it: what it does or asks, of whom, and about what."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fabula.language.english import bare, sentences
from fabula.language.words import STOP, names_said, stem, stems, word_set, words_of
from fabula.story.contexts import CastMember, SceneContext, SwiftContext
from fabula.story.readings import Intent, IntentKind, Mood, Unclear, Understood
from fabula.understudy.reading.lexicon import VERB_FORMS
from fabula.understudy.reading.words import verb_of
from fabula.understudy.scene_view import addressed, last_words
from fabula.understudy.utterance import Deed, Kind, Reading, read

_WH = word_set("who what where when why how which whose whom")
_ABOUT = re.compile(r"\b(?:about|regarding|concerning|of) (.+)", re.IGNORECASE)
_ASKS_ABOUT = re.compile(r"\b(?:ask|tell me|question)\b.*?\b(?:about|regarding|where|who|what|why|when|how|if)\b", re.I)
_TELL_ME = re.compile(r"\b(?:tell|show|explain|describe)(?: to)? (?:me|us)\b|\btalk about\b", re.IGNORECASE)
_CLIPPED = re.compile(r"(?:whos|whose|whats|wheres|whens|whys|hows)\b", re.IGNORECASE)
_LOOK_AT = re.compile(r"\b(?:look|glance|peek|peer|gaze|stare)(?:ing)?(?: \w+)? (?:at|into|over|through) (.+)", re.I)
_WHO_IS_HERE = re.compile(r"\?|^(?:who|is|are|anyone|anybody|everyone)\b", re.IGNORECASE)
_REQUESTED = ("take", "give", "eat", "use", "open", "put", "act", "touch")
_NO_THINGS = word_set("harder faster closer louder further farther away off out up down again back straight hard fast")
_NOT_PLAIN = re.compile(
    r"[\"“”'’]|\b(?:you|your|will|would|shall|should|could|had|have|must|may|might|can|am|was|not|never)\b", re.I
)
_LOOKS = word_set("look glance peek gaze stare")
_SEEING = ("examine", "look", "read", "act", "touch")
SAYS_LITTLE = stems("happen happened thing things something anything hanging going take took mean kind sort")
_SEES = re.compile(
    r"^(?:i )?\w+(?: closely| carefully| again| closer)?"
    r"(?: (?:at|into|over|for|through|under|to|towards|around|about|round))? ",
    re.IGNORECASE,
)
_ARTICLE = re.compile(r"^(?:the|a|an|my|this|that|these|those|some|his|her|their|its) ", re.IGNORECASE)
_AROUND = word_set("around about round everywhere here place surroundings room")
_NO_TOPIC = word_set(
    "everybody everyone somebody someone anybody anyone nobody nothing something everything "
    "i you me we us he she it they him her them this that these those who what where when why how my your if "
    "did do does was were is are have has had can could will would know knows saw see happened happen"
)
_POINTS = re.compile(r"\b(?:they|them|it|he|she|him|her|that|those)\b", re.IGNORECASE)
_TIME_OR_WHY = re.compile(r"\bwhy\b|\bwhen\b|\btime\b|\bhow long\b", re.IGNORECASE)
_KINDS: dict[Kind, IntentKind] = {
    "silence": "silence",
    "greeting": "greet",
    "farewell": "farewell",
    "thanks": "thank",
    "threat": "attack",
    "question": "ask",
    "request": "ask",
    "agreement": "agree",
    "refusal": "refuse",
    "ready": "hint",
    "deed": "act",
    "speech": "speech",
}
_DEEDS: dict[Deed, IntentKind] = {
    "look": "examine",
    "go": "go",
    "take": "take",
    "give": "give",
    "open": "open",
    "attack": "attack",
    "wait": "wait",
    "hide": "act",
    "listen": "listen",
    "touch": "touch",
    "other": "act",
}


@dataclass(frozen=True, kw_only=True)
class Line:
    """`said` is the part of the line that is answered, where it has several. `whom` is a character by id.

    `asks` is the word that a question asks with, `whether` for one without. `topic` are the stems of what the line is
    about, `about` are its words in full, by which names are known; `thing` is the same in words that can be said back,
    if there are any. `deed` is the line as `I ...`, when it is told as one.
    """

    text: str
    kind: IntentKind
    said: str = ""
    what: str = ""
    whom: str = ""
    where: str = ""
    mood: Mood = "act"
    negated: bool = False
    asks: str = ""
    topic: frozenset[str] = frozenset()
    about: frozenset[str] = frozenset()
    thing: str = ""
    deed: str = ""
    unclear: str = ""

    @property
    def is_question(self) -> bool:
        return self.kind == "ask" or bool(self.asks)

    def names(self, member: CastMember) -> frozenset[str]:
        """The words of somebody's name that the line is about."""
        return names_said(member.name, self.about)

    def is_about_nothing_but(self, member: CastMember) -> bool:
        """Whether somebody's name is all that the line is about."""
        return bool(self.topic) and self.topic <= frozenset(map(stem, self.names(member)))


def line_of(context: SceneContext) -> Line:
    """The line of this turn, as the rules understood it, or else by its form alone."""
    said = context.player_input if isinstance(context, SwiftContext) else last_words(context)
    known = context.understood
    if known is not None and known.line == said and known.first is not None:
        return _understood(context, known)
    return _by_form(context, read(said))


def _understood(context: SceneContext, known: Understood) -> Line:
    act = next((one for one in known.intents if one.kind == "ask" and not one.negated), known.first)
    assert act is not None, "only what has acts is understood"
    form = read(known.line)
    whom = act.whom or known.addressed
    what = _object(act, form)
    named = act.about or what or act.where
    about = named if stems(named) else " ".join(known.topic)
    topic = stems(about)
    topic |= stems(" ".join(VERB_FORMS[word] for word in words_of(named) if word in VERB_FORMS)) - SAYS_LITTLE
    if not topic and act.kind == "ask" and _POINTS.search(known.line) and not _TIME_OR_WHY.search(known.line):
        about, topic = _last_topic(context)
    unclear = known.decision.reason if isinstance(known.decision, Unclear) else ""
    asked = act.kind == "ask" or act.mood == "question" or bool(_TELL_ME.search(known.line))
    asked = asked or (act.kind == "speech" and bool(_CLIPPED.match(known.line)))
    asked = asked or (act.kind in _REQUESTED and known.line.rstrip().endswith("?"))
    if not topic and asked:
        about, topic = known.line, stems(known.line)
    kind = "speech" if act.kind == "who_is_here" and not _WHO_IS_HERE.search(known.line) else act.kind
    return Line(
        text=known.line,
        said=act.text,
        kind="ask" if asked and act.kind in ("tell", "talk", "speech", *_REQUESTED) else kind,
        what=what or act.about,
        whom=whom,
        where=act.where,
        mood=act.mood,
        negated=act.negated,
        asks=_asks(known.line) if asked else "",
        topic=_telling(topic),
        about=frozenset(words_of(about)),
        thing=_with_its_article(sayable(_as_written(named, known.line)), known.line),
        deed=form.done or _told_of_oneself(known.line) or _ordered(known),
        unclear=unclear,
    )


def _last_topic(context: SceneContext) -> tuple[str, frozenset[str]]:
    """What `they` and `it` may be, and its stems: what the player spoke of before, or else what the scene is about."""
    lines = [entry.text for entry in context.shared_history if entry.kind == "player_input"]
    before = stems(lines[-2]) - _NO_TOPIC if len(lines) > 1 else frozenset[str]()
    if before:
        return lines[-2], before
    scene = f"{context.current_node.title} {context.current_node.goal}"
    return scene, stems(scene)


def _ordered(known: Understood) -> str:
    """The first act that is done, said as a deed: `put out the light` is `I put out the light`."""
    for part in map(bare, sentences(known.line)):
        words = words_of(part)
        if "?" in part or not words or _NOT_PLAIN.search(part) or {"me", "us", "let"} & set(words):
            continue
        done = [act for act in known.intents if act.mood in ("act", "wish") and not act.negated and act.verb]
        if words[0] == "i" and any(act.verb == verb_of(word) for act in done for word in words[1:3]):
            return part if part.startswith("I ") else f"I {part[2:]}"
        if any(act.verb == words[0] for act in done):
            return f"I {part[0].lower()}{part[1:]}"
    return ""


def _told_of_oneself(text: str) -> str:
    """A line about oneself as a deed: `I think of home.`"""
    first = bare(sentences(text)[0]) if text.strip() else ""
    plain = first.startswith("I ") and "?" not in text and not _NOT_PLAIN.search(first)
    return first if plain and len(words_of(first)) <= 12 else ""


def _object(act: Intent, form: Reading) -> str:
    """What is acted on; `have a look at the locks` is a look at the locks, whatever the reading made of it."""
    looked = _LOOK_AT.search(form.text)
    if looked is not None and (not act.what or act.what in _LOOKS) and act.kind in _SEEING:
        return _ARTICLE.sub("", bare(looked[1]))
    return act.what


def _telling(topic: frozenset[str]) -> frozenset[str]:
    """The words of a topic that say something; all of them where none does."""
    return topic - SAYS_LITTLE or topic


def _as_written(words: str, text: str) -> str:
    """Words of a line in the letters in which they stand there: names keep their capitals."""
    found = re.search(rf"\b{re.escape(words)}\w*", text, re.IGNORECASE) if words else None
    return found[0] if found is not None else words


def _with_its_article(thing: str, text: str) -> str:
    """A name as the player has it: the Halcyon, but London."""
    named = thing[:1].isupper() and re.search(rf"\bthe {re.escape(thing)}\b", text, re.IGNORECASE)
    return f"the {thing}" if named else thing


def _by_form(context: SceneContext, reading: Reading) -> Line:
    kind = _DEEDS[reading.deed] if reading.kind == "deed" else _KINDS[reading.kind]
    if reading.kind == "deed" and _ASKS_ABOUT.search(reading.text):
        kind = "ask"
    what = _ARTICLE.sub("", _SEES.sub("", bare(reading.done))) if reading.kind == "deed" else ""
    if kind == "examine" and (not stems(what) or set(words_of(what)) <= _AROUND | STOP):
        kind, what = "look", ""
    found = _ABOUT.search(reading.text)
    named = bare(found[1]) if kind == "ask" and found else what
    whom = addressed(context, reading.text)
    about = named if kind == "ask" and found else what if kind != "ask" and what else reading.text
    return Line(
        text=reading.text,
        kind=kind,
        what=named,
        whom=whom.id if whom is not None else "",
        where=what if kind == "go" else "",
        mood="question" if kind == "ask" else "act",
        negated=reading.negated,
        asks=_asks(reading.text) if kind == "ask" else "",
        topic=stems(about),
        about=frozenset(words_of(about)),
        thing=sayable(named),
        deed=reading.done,
    )


def absent_person(context: SceneContext, line: Line) -> CastMember | None:
    """Who is spoken to and is not in the scene: by the reading, or by being called at either end of the line."""
    if context.transitioned_this_turn:
        return None
    for member in context.absent_cast:
        names = "|".join(
            re.escape(name) for name in dict.fromkeys((member.name, *member.name.split())) if len(name) > 2
        )
        called = re.search(rf"^(?:{names})[,:]|, (?:{names})[.!?]*$", line.text)
        if member.id == line.whom or called:
            return member
    return None


def _asks(text: str) -> str:
    return next((word for word in words_of(text) if word in _WH), "whether")


def sayable(words: str) -> str:
    """A thing as it can be named in a sentence: `the lamp`; empty where words of the line would sound wrong."""
    plain = re.sub(r"\s+(?:again|once more|closely|carefully|now|please)$", "", words.strip().strip("?!., "))
    plain = re.sub(r"^(?:more|any|another|other|every|all|no) ", "", _ARTICLE.sub("", plain), flags=re.I)
    every = words_of(plain)
    said = not _NO_TOPIC.union(_NO_THINGS).intersection(every) and not any(word.endswith("ing") for word in every[1:])
    if not 1 <= len(every) <= 4 or not stems(plain) or not said:
        return ""
    return plain if plain[0].isupper() else f"the {plain}"
