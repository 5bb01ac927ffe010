"""Intents: the deeds of a line in the words of those who answer it: what kind of act, on whom and what."""

from __future__ import annotations

import re
from collections.abc import Sequence

from fabula.language.words import word_set
from fabula.story.readings import Intent, IntentKind, Mood
from fabula.understudy.reading.clauses import Clause, Line
from fabula.understudy.reading.deeds import Deed, content, names_something
from fabula.understudy.reading.lexicon import (
    ADJECTIVES,
    CLASSES,
    CLASSES_OF,
    DETERMINERS,
    FAREWELLS,
    GREETINGS,
    SYNONYMS,
    pattern,
)
from fabula.understudy.reading.ways import Person, SceneWays
from fabula.understudy.reading.words import is_verb, noun_of

_HINT = pattern("hint")
_WHERE = pattern("where")
_WHO = pattern("who_is_here")
_SORRY = pattern("sorry")
_THANKS = pattern("thanks")
_THANKED = re.compile(r"(?:many |oh |well |and )?thank(?:s| you)\b")
_GREETED = pattern("greeting")
_BYE = pattern("farewell")
_FIRST: tuple[IntentKind, ...] = (
    "attack", "go", "give", "take", "open", "close", "read", "put", "eat", "use", "examine", "look", "listen", "ask",
    "promise", "agree", "refuse", "tell", "talk", "greet", "wait", "touch", "gesture", "act",
)  # fmt: skip
_OF_VERB: dict[str, IntentKind] = {
    "go": "go", "walk": "go", "climb": "go", "enter": "go", "leave": "go", "follow": "go", "run": "go", "return": "go",
    "look": "look", "see": "look", "watch": "look", "stare": "look", "glance": "look", "gaze": "look", "peer": "look",
    "admire": "look", "examine": "examine", "inspect": "examine", "study": "examine", "check": "examine",
    "count": "examine", "search": "examine", "investigate": "examine", "find": "examine", "read": "read",
    "open": "open", "unlock": "open",
    "close": "close", "shut": "close", "take": "take", "grab": "take", "pick": "take", "steal": "take",
    "pocket": "take", "give": "give", "hand": "give", "offer": "give", "show": "give", "put": "put",
    "place": "put", "drop": "put",
    "ask": "ask", "tell": "tell", "explain": "tell", "say": "tell", "talk": "talk", "speak": "talk", "listen": "listen",
    "hear": "listen", "wait": "wait", "stay": "wait", "rest": "wait", "sleep": "wait", "sit": "gesture",
    "eat": "eat", "drink": "eat", "attack": "attack", "hit": "attack", "kill": "attack", "fight": "attack",
    "touch": "touch", "feel": "touch", "promise": "promise", "swear": "promise", "accept": "agree", "agree": "agree",
    "refuse": "refuse", "thank": "thank", "greet": "greet", "push": "use", "pull": "use", "turn": "use", "use": "use",
}  # fmt: skip
_MOODS: dict[str, Mood] = {"act": "act", "question": "question", "maybe": "maybe", "past": "past", "aside": "statement"}
_HARD_TALK = word_set("think know believe hope feel wonder suppose guess mean doubt understand remember am be need")


def intents_of(line: Line, deeds: Sequence[Deed], scene: SceneWays) -> list[Intent]:
    """The acts of a line, one after the other."""
    if not line.words:
        return [Intent(kind="silence", text="")]
    plain = line.text.strip(" .!?")
    found = _about_the_play(plain)
    if found is not None:
        return [found]
    intents = [_intent(deed, line, scene) for deed in deeds]
    if not intents:
        kind: IntentKind = "agree" if line.yes else "refuse" if line.no else "speech"
        return [Intent(kind=kind, text=plain, whom=_called(line, scene), mood="statement")]
    if _THANKED.match(plain) and intents[0].kind == "speech":
        intents[0] = intents[0].model_copy(update={"kind": "thank"})
    if line.yes and not any(intent.kind == "agree" for intent in intents):
        intents.insert(0, Intent(kind="agree", text="yes", whom=_called(line, scene), mood="statement"))
    return intents


def _about_the_play(plain: str) -> Intent | None:
    for form, kind in ((_HINT, "hint"), (_WHERE, "where"), (_WHO, "who_is_here")):
        if form.search(plain):
            return Intent.model_validate({"kind": kind, "text": plain, "mood": "question"})
    return None


def _intent(deed: Deed, line: Line, scene: SceneWays) -> Intent:
    clause = deed.clause
    kind = _kind(deed, line)
    whom = _whom(deed, line, scene)
    spoken = dict(reversed(deed.spoken))
    what = spoken.get("", "") or (
        deed.spoken[0][1] if deed.spoken and kind not in ("go", "ask", "talk", "tell") else ""
    )
    about = spoken.get("about", "") or (_asked_about(clause) if kind == "ask" else "")
    where = next((words for prep, words in deed.spoken if kind == "go" and prep and words), "") or (
        what if kind == "go" else ""
    )
    if kind == "look" and content(deed.things):
        kind = "examine"
    return Intent(
        kind=kind,
        text=clause.text,
        verb=clause.verb,
        what=what if kind != "go" else "",
        whom=whom,
        about=about,
        where=where,
        mood=_mood(clause, kind),
        negated=clause.negated or clause.rejected,
    )


_SUBJECTS = word_set("they it he she you we i")
_BE = word_set("is are was were am be")


def _asked_about(clause: Clause) -> str:
    """What a question is about, as it was written: the nouns in their order, without what is only asked of them."""
    found: list[str] = []
    for place, word in enumerate(clause.words):
        noun = noun_of(word)
        if not names_something(word) or not content((noun,)):
            continue
        before = clause.words[place - 1] if place else ""
        named = before in DETERMINERS or before in ADJECTIVES or before == "'s"
        if before in _SUBJECTS and clause.words[0] in _BE:
            continue
        if place == clause.verb_at or (found and not named and is_verb(word) and word not in SYNONYMS):
            continue
        found.append(word)
    return " ".join(found)


def _mood(clause: Clause, kind: IntentKind) -> Mood:
    if clause.mood == "act":
        if clause.subject == "order" and clause.told:
            return "order"
        if clause.subject in ("you", "third") or kind == "speech":
            return "statement"
        return "wish" if clause.wished else "act"
    return _MOODS[clause.mood]


def _kind(deed: Deed, line: Line) -> IntentKind:
    clause = deed.clause
    text = clause.text
    if clause.mood == "question":
        return "ask"
    if (clause.words[:1] and clause.words[0] in GREETINGS) or _GREETED.match(text):
        return "greet"
    if (clause.words[:1] and clause.words[0] in FAREWELLS) or _BYE.search(text):
        return "farewell"
    if (clause.verb in ("", "thank", "be") or clause.words[:1] in (("thanks",), ("thank",))) and _THANKS.search(text):
        return "thank"
    if clause.verb in ("", "be", "forgive", "excuse", "apologise", "apologize", "pardon") and _SORRY.search(text):
        return "apologise"
    if clause.subject in ("you", "third"):
        return _said(deed)
    if clause.verb_at is None:
        return _said(deed) if deed.classes or deed.nouns else "unknown"
    if clause.subject == "i" and clause.verb in _HARD_TALK and not deed.by_phrase:
        return "speech"
    return _acted(deed)


def _said(deed: Deed) -> IntentKind:
    kinds = {CLASSES[name].intent for name in deed.done & deed.by_phrase if CLASSES[name].said}
    return next((kind for kind in ("promise", "agree", "refuse", "greet") if kind in kinds), "speech")


def _acted(deed: Deed) -> IntentKind:
    verb = deed.clause.verb
    by_phrase = {CLASSES[name].intent for name in deed.by_phrase}
    own = _OF_VERB.get(verb)
    if own is not None and (
        not by_phrase or own in by_phrase or verb not in ("look", "go", "take", "give", "put", "turn", "hold")
    ):
        return own
    kinds = by_phrase or {CLASSES[name].intent for name in deed.classes or CLASSES_OF.get(verb, frozenset())}
    return next((kind for kind in _FIRST if kind in kinds), "act")


def _called(line: Line, scene: SceneWays) -> str:
    return _named(line.spoken_to, scene.people)


def _whom(deed: Deed, line: Line, scene: SceneWays) -> str:
    """Who is spoken to or acted on: by name, by being called, or as the only one there."""
    named = _named(frozenset(deed.nouns), [person for person in scene.people if person.here])
    called = _called(line, scene)
    if deed.clause.mood == "question" and called:
        return called
    if named:
        return named
    if called:
        return called
    here = [person for person in scene.people if person.here]
    pointed = {"you", "him", "her", "them", "me", "us"} & set(deed.clause.words)
    return here[0].id if len(here) == 1 and (pointed or deed.clause.mood == "question") else ""


def _named(words: frozenset[str], people: Sequence[Person]) -> str:
    return next((person.id for person in people if words & person.words), "")
