"""The feasibility gate: whether what a player wants to do can be done in this world, here and now; decided by rule.

1. Axioms of the world: what can never be is denied.
2. Caps: what technology does not know has a substitute or is denied; magic is denied, or asked for its means.
3. Who is spoken to or acted upon and is not here, what was seen elsewhere, where there is no way, and what belongs to
   another time of the day wait until they are there.

Only deeds are judged, not words, questions, wishes or what is not done. Whoever asks denies where a rule fails
(`FAILED_GATE`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final

from fabula.language.terms import Terms
from fabula.language.words import STOP, stem, stems, words_of
from fabula.story.canon import AxiomContent
from fabula.story.caps import CapWords
from fabula.story.intent_verdicts import IntentResult, IntentRule, IntentVerdict
from fabula.story.readings import Intent, IntentKind, TakeWay, Understood

_WORDS_ONLY: Final[frozenset[IntentKind]] = frozenset(
    (
        *("ask", "tell", "speech", "greet", "farewell", "thank", "apologise", "agree", "refuse", "promise", "hint"),
        *("where", "who_is_here", "silence"),
    )
)
_HANDLED: Final[frozenset[IntentKind]] = frozenset({"take", "use", "open", "close", "read", "eat", "put", "give"})
_ACTED_ON: Final[frozenset[IntentKind]] = frozenset({"talk", "attack", "give", "greet", "touch", "farewell", "thank"})
_SAID_TO: Final = re.compile(r"\b(?:ask|tell|beg|order|show|warn|answer|call|thank|greet|hug|kiss)\s+(?:the\s+)?$")
_KIN: Final = STOP | {"brother", "sister", "father", "mother", "old", "young"}
_PLAIN: Final[frozenset[IntentKind]] = frozenset({"look", "examine", "listen", "wait", "go", "talk", "read"})
"""Deeds that no rule of a world stands against by themselves."""
_BECOMES: Final[Mapping[IntentResult, str]] = {
    "deny": "What the player wants does not happen. Show how the attempt comes to nothing.",
    "ask": "Nothing happens yet. Have somebody or something ask by what means the player would do that.",
    "defer": "It does not happen here and now. Say so in passing.",
    "analog": "Tell it with what this world has in its place.",
}
_AT_A_TIME: Final = re.compile(r"\b(?:at|in the|by|during the|this) (\w+)\b")


@dataclass(frozen=True, kw_only=True)
class Elsewhere:
    """A scene that the player knows, and is not in."""

    title: str
    words: frozenset[str]


@dataclass(frozen=True, kw_only=True)
class WorldSeen:
    """What the gate goes by. `absent` are the names of those of the cast who are not here, `here` of those who are;
    `at_hand` are the stems of all that was told of this scene, and of what the player has. `phases` are the times of
    the day, `phase` is now; both are empty where there is no calendar."""

    caps: CapWords | None = None
    here: Sequence[str] = ()
    absent: Sequence[str] = ()
    ways: Sequence[str] = ()
    elsewhere: Sequence[Elsewhere] = ()
    at_hand: Callable[[], frozenset[str]] = frozenset
    phases: Sequence[str] = ()
    phase: str = ""
    axiom_terms: Terms | None = None

    @cached_property
    def near(self) -> frozenset[str]:
        """Computed only for a line that handles something known from elsewhere."""
        return self.at_hand()

    @cached_property
    def callable_names(self) -> list[str]:
        """The parts of the names of those who are absent by which nobody here is called. Every deed asks for them."""
        taken = {part.casefold() for one in self.here for part in one.split()} | _KIN
        parts = (part.casefold() for name in self.absent for part in name.split() if len(part) > 2)
        return [part for part in parts if part not in taken]

    @cached_property
    def _found(self) -> dict[tuple[int, str], str | None]:
        return {}

    def find(self, terms: Terms, text: str) -> str | None:
        """The term that stands in a text. Every deed asks for the whole line, which is looked through once."""
        key = (id(terms), text)
        if key not in self._found:
            self._found[key] = terms.find(text)
        return self._found[key]


def axiom_terms(axioms: Sequence[AxiomContent]) -> Terms | None:
    """The words of axioms, made ready; each is found by what it says can never be."""
    pairs = tuple((one.text, f"{one.predicate.replace('_', ' ')} {one.object or ''}") for one in axioms)
    return _terms_of(pairs) if pairs else None


@lru_cache(maxsize=128)
def _terms_of(pairs: tuple[tuple[str, str], ...]) -> Terms:
    return Terms(pairs, keep_small=True)


Rule = Callable[[Intent, Understood, WorldSeen], IntentVerdict | None]


def judge_intents(read: Understood, seen: WorldSeen) -> list[IntentVerdict]:
    """The verdicts on a line: at most one for each deed, the first rule that objects; the same one is said once."""
    found: dict[tuple[str, str], IntentVerdict] = {}
    for intent in read.intents:
        if intent.negated or intent.mood not in ("act", "order", "question"):
            continue
        verdict = next((one for rule in RULES.values() if (one := rule(intent, read, seen))), None)
        if verdict is not None:
            found.setdefault((verdict.rule, verdict.about), verdict)
    return list(found.values())


FAILED_GATE: Final = IntentVerdict(
    rule="check_failed",
    result="deny",
    about="gate",
    sentence="It could not be judged whether that can be done here, so it is not done.",
    guidance="What the player wants does not happen. Say so in passing, and go on.",
    lead="That could not be judged. Try something else.",
)
"""The verdict on a line that the gate failed to judge."""


def is_left_open(read: Understood, verdicts: Sequence[IntentVerdict]) -> bool:
    """Whether the rules say nothing to a deed that may need a word: nobody objects, and no way is plainly taken."""
    if verdicts or isinstance(read.decision, TakeWay):
        return False
    return any(
        _is_deed(one) and one.kind not in _PLAIN and one.mood != "question" and not one.negated for one in read.intents
    )


def model_verdict(result: IntentResult, *, rule_text: str, deed: str, lead: str) -> IntentVerdict:
    """What a model says to a deed that the rules left open, by a rule of the world."""
    sentence = f"In this world it is so: {rule_text}"
    return IntentVerdict(
        rule="model",
        result=result,
        about=" ".join(deed.split())[:120],
        sentence=sentence,
        guidance=f"{_BECOMES[result]} {sentence}{f' What would help: {lead}' if lead else ''}",
        lead=lead or f"{rule_text} What else do you try?",
    )


def _is_deed(intent: Intent) -> bool:
    return intent.kind not in _WORDS_ONLY and intent.mood != "question"


def _words_of_deed(intent: Intent, read: Understood) -> str:
    """The deed as the player wrote it, if the whole line is deeds; what was read of it may be set right in spelling."""
    plain = all(_is_deed(one) and one.mood in ("act", "order") and not one.negated for one in read.intents)
    return read.line if plain else intent.text


@dataclass(frozen=True, kw_only=True)
class _Saying:
    """A verdict in words: `sentence`, `guidance` and `lead` have places for who or what it is about."""

    rule: IntentRule
    result: IntentResult
    sentence: str
    guidance: str
    lead: str

    def about(self, about: str, **places: str) -> IntentVerdict:
        """The verdict about somebody or something, as the player called it."""
        filled = {"about": about, **places}
        filled["sentence"] = self.sentence.format_map(filled)
        return IntentVerdict(
            rule=self.rule,
            result=self.result,
            about=about,
            sentence=filled["sentence"],
            guidance=self.guidance.format_map(filled),
            lead=self.lead.format_map(filled),
        )


_AXIOM: Final = _Saying(
    rule="axiom",
    result="deny",
    sentence="{text}",
    guidance="It does not happen, because in this world it cannot: {text} Show how the attempt comes to nothing.",
    lead="{text} What else do you try?",
)
_UNKNOWN_THING: Final = _Saying(
    rule="technology",
    result="deny",
    sentence="There is no such thing as '{about}' in this world.",
    guidance="{sentence} It does not happen. Nobody here knows the word; show what the player's hands find instead.",
    lead="{sentence} Try it with what this place has.",
)
_OTHER_THING: Final = _Saying(
    rule="technology",
    result="analog",
    sentence="There is no such thing as '{about}' in this world. What comes nearest is {instead}.",
    guidance="There is no such thing as '{about}' in this world. "
    "Tell it as if the player had said {instead}, if that can be had here.",
    lead="Instead of '{about}', think of {instead}.",
)
_OTHER_MAGIC: Final = _Saying(
    rule="magic",
    result="analog",
    sentence="No magic of this world does '{about}'. What comes nearest is {instead}.",
    guidance="No magic here does that. Tell it as if the player had said {instead}.",
    lead="Instead of '{about}', think of {instead}.",
)
_RARE_MAGIC: Final = _Saying(
    rule="magic",
    result="ask",
    sentence="Magic is rare here, and nobody works '{about}' by wishing.",
    guidance="Nothing happens yet. Have somebody or something ask by what means the player would do that.",
    lead="By what means? Say what you have or know that could do this.",
)
_NO_MAGIC: Final = _Saying(
    rule="magic",
    result="deny",
    sentence="No magic of this world does '{about}'.",
    guidance="It does not happen: no magic here does that. Show the attempt come to nothing, and go on.",
    lead="No magic here does that. Try it with your hands, your wits or your tongue.",
)
_ABSENT_PERSON: Final = _Saying(
    rule="absent_person",
    result="defer",
    sentence="{about} is not here.",
    guidance="{about} is not in this scene, and neither hears nor answers. Nobody else speaks for {about}.",
    lead="{about} is not here. {others}",
)
_ABSENT_THING: Final = _Saying(
    rule="absent_thing",
    result="defer",
    sentence="The {about} is not here; it was at {place}.",
    guidance="The {about} is not in this scene, so it cannot be used here. It is at {place}.",
    lead="You saw the {about} at {place}. It is not here.",
)
_NO_WAY: Final = _Saying(
    rule="place",
    result="defer",
    sentence="There is no way from here to {about}.",
    guidance="{about} cannot be reached from here in one step. The player stays where they are.",
    lead="From here there is no way to {about}. Look around for the next step.",
)
_OTHER_TIME: Final = _Saying(
    rule="time",
    result="defer",
    sentence="It is {now} now, and not {about}.",
    guidance="It is {now}. What the player means to do at {about} is a plan, and does not happen yet.",
    lead="It is {now} now. To be there at {about}, wait: 'I wait until {about}.'",
)


def _axiom(intent: Intent, read: Understood, seen: WorldSeen) -> IntentVerdict | None:
    text = None if seen.axiom_terms is None or intent.mood == "question" else seen.axiom_terms.find_in(intent.text)
    return None if text is None else _AXIOM.about(intent.what or intent.text, text=text)


def _technology(intent: Intent, read: Understood, seen: WorldSeen) -> IntentVerdict | None:
    if seen.caps is None or not _is_deed(intent):
        return None
    word = seen.find(seen.caps.technology, _words_of_deed(intent, read))
    if word is None:
        return None
    plain, instead = word.strip('"'), seen.caps.instead.get(word, "")
    return _OTHER_THING.about(plain, instead=instead) if instead else _UNKNOWN_THING.about(plain)


def _magic(intent: Intent, read: Understood, seen: WorldSeen) -> IntentVerdict | None:
    if seen.caps is None or not _is_deed(intent):
        return None
    beyond = seen.find(seen.caps.beyond_magic, _words_of_deed(intent, read))
    word = beyond or seen.find(seen.caps.magic, _words_of_deed(intent, read))
    if word is None:
        return None
    plain, instead = word.strip('"'), seen.caps.instead.get(word, "")
    if beyond and instead:
        return _OTHER_MAGIC.about(plain, instead=instead)
    return (_RARE_MAGIC if not beyond and seen.caps.magic_level == "rare" else _NO_MAGIC).about(plain)


def _absent_person(intent: Intent, read: Understood, seen: WorldSeen) -> IntentVerdict | None:
    if isinstance(read.decision, TakeWay):
        return None
    # Only what the player said is said back: a full name may be news.
    name = _called(intent, read.line.strip(), seen.callable_names).title()
    if not name:
        return None
    here = _listed(seen.here)
    others = f"Here you can turn to {here}." if here else "Nobody is here but you."
    return _ABSENT_PERSON.about(name, others=others)


def _called(intent: Intent, line: str, parts: Sequence[str]) -> str:
    """The first part of a name by which somebody is spoken to or acted upon; empty if nobody is."""
    text = f"{intent.text} "
    longest = max(map(len, parts), default=0)
    begins, ends = line[: longest + 1].casefold(), line[-2 * longest - 20 :].casefold().rstrip('.!?"”')
    for part in parts:
        # `Mara, come here.`, `Come here, Mara!`
        if begins.startswith((f"{part},", f"{part}:")) or ends.endswith(f", {part}"):
            return part
        # A line may have many deeds and a cast many names: few of them are worth a pattern.
        is_named = part in text and intent.mood != "question"
        found = re.search(rf"\b{re.escape(part)}\b", text) if is_named else None
        if found is None:
            continue
        before = text[: found.start()]
        if _SAID_TO.search(before) or (intent.kind in _ACTED_ON and "about" not in before.split()):
            return part
    return ""


def _absent_thing(intent: Intent, read: Understood, seen: WorldSeen) -> IntentVerdict | None:
    if intent.kind not in _HANDLED or not intent.what or isinstance(read.decision, TakeWay) or not seen.elsewhere:
        return None
    if re.search(rf"\b(?:an?|some|my|another) {re.escape(intent.what)}", intent.text):
        return None
    named = stems(intent.what)
    place = next((one for one in seen.elsewhere if named and named <= one.words), None)
    if place is None or named & seen.near:
        return None
    return _ABSENT_THING.about(intent.what, place=place.title)


def _place(intent: Intent, read: Understood, seen: WorldSeen) -> IntentVerdict | None:
    if intent.kind != "go" or not intent.where or isinstance(read.decision, TakeWay):
        return None
    named = stems(intent.where)
    titles = {one.title for one in seen.elsewhere if named and named <= stems(one.title)} - set(seen.ways)
    return _NO_WAY.about(min(titles)) if titles else None


def _time(intent: Intent, read: Understood, seen: WorldSeen) -> IntentVerdict | None:
    if not seen.phases or intent.kind == "wait" or not _is_deed(intent):
        return None
    named = {"midnight": "night", "tonight": "night"}
    wanted = {named.get(word, word) for word in _AT_A_TIME.findall(intent.text)}
    wanted |= {"night"} & {named.get(word, "") for word in words_of(intent.text)}
    phase = next((one for one in seen.phases if one.casefold() in wanted), None)
    return None if phase is None or phase == seen.phase else _OTHER_TIME.about(phase, now=seen.phase)


RULES: Final[Mapping[IntentRule, Rule]] = {
    "axiom": _axiom,
    "technology": _technology,
    "magic": _magic,
    "time": _time,
    "absent_person": _absent_person,
    "absent_thing": _absent_thing,
    "place": _place,
}


def scene_words(*texts: str) -> frozenset[str]:
    """The stems of what texts tell of."""
    return frozenset(stem(word) for text in texts for word in words_of(text) if word not in STOP)


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}" if names else ""
