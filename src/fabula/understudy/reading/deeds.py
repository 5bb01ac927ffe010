"""Deeds: what a clause does, as classes of acts with their polarity, and what it does it to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from fabula.language.words import word_set
from fabula.understudy.reading.clauses import Clause
from fabula.understudy.reading.lexicon import (
    ACT_PHRASES,
    ADJECTIVES,
    ADVERBS,
    CLASSES,
    CLASSES_OF,
    DISCOURSE,
    LIGHT_VERBS,
    MANNERS,
    NEUTRAL,
    PREPOSITIONS,
    PRONOUNS,
    Hit,
)
from fabula.understudy.reading.words import SMALL, is_past_form, noun_of, verb_of

SOURCES = word_set("from past without about like besides despite except off concerning regarding")
"""What stands behind these is where a thing comes from or what is spoken of, never where somebody goes."""
_FOR_ME = (("to", "me"), ("for", "me"), ("to", "us"), ("for", "us"))
_PEOPLE = word_set("him her them me us you")
_ALL_MANNERS = frozenset().union(*MANNERS.values())


@dataclass(frozen=True, kw_only=True)
class Deed:
    """A clause and what it does. `done` and `denied` are classes of acts; `by_phrase` those that whole phrases say.

    `spoken` are the words behind the verb by their prepositions. `things` is what is acted on, `places` what stands
    behind prepositions, each as dictionary forms; `pronoun` says that the act is on what was named before; `covered`
    are the places of words that stand in phrases.
    """

    clause: Clause
    done: frozenset[str]
    denied: frozenset[str]
    by_phrase: frozenset[str]
    things: tuple[str, ...]
    places: tuple[tuple[str, tuple[str, ...]], ...]
    pronoun: bool
    nouns: frozenset[str]
    manner: frozenset[str]
    said_in_phrase: frozenset[str]
    spoken: tuple[tuple[str, str], ...]
    subject_nouns: frozenset[str]
    covered: frozenset[int] = frozenset()

    @cached_property
    def classes(self) -> frozenset[str]:
        return self.done | self.denied

    @cached_property
    def harmless(self) -> bool:
        """Whether nothing is done that could matter: a look, a bow, a thought."""
        if "look" in CLASSES_OF.get(self.clause.verb, ()) and self.by_phrase <= {"look", "warn", "protect"}:
            return True
        return bool(self.classes) and all(CLASSES[name].harmless for name in self.classes)

    @property
    def to_me(self) -> bool:
        return bool({"me", "us"} & set(self.clause.words[:4])) or self.clause.words[-2:] in _FOR_ME


def deed_of(clause: Clause) -> Deed:
    """What a clause does."""
    hits = [] if clause.idiom else _longest(list(ACT_PHRASES.hits(clause.lemmas)))
    done, denied, by_phrase = _phrase_classes(clause, hits)
    covered = frozenset(place for hit in hits if hit.phrase.length > 1 for place in hit.places)
    kept = clause.verb_at is not None and not _is_said_by(hits, clause)
    if kept and not clause.idiom:
        own = CLASSES_OF.get(clause.verb, frozenset())
        if clause.negated or clause.rejected:
            denied |= own
        else:
            done |= own
    things, places, pronoun = _objects(clause, covered)
    return Deed(
        covered=covered,
        spoken=_spoken(clause),
        clause=clause,
        done=done,
        denied=denied,
        by_phrase=by_phrase,
        things=things,
        places=places,
        pronoun=pronoun,
        nouns=frozenset(nouns_in(_without_verb(clause))),
        manner=manners_in(clause.words),
        said_in_phrase=frozenset(noun_of(clause.words[place]) for place in covered),
        subject_nouns=frozenset(nouns_in(clause.words[: clause.verb_at])) if clause.verb_at else frozenset(),
    )


def _is_said_by(hits: list[Hit], clause: Clause) -> bool:
    """Whether a phrase says what the verb does: a light verb means nothing beside it, who closes their eyes closes
    nothing, and who hears nothing does not listen."""
    for hit in hits:
        if clause.verb_at in hit.places and hit.phrase.length > 1:
            denies = any(place in clause.negations for place in hit.places)
            if denies or clause.verb in LIGHT_VERBS or hit.phrase.meaning in ("gesture", "touch"):
                return True
    return False


def _without_verb(clause: Clause) -> tuple[str, ...]:
    if clause.verb_at is None:
        return clause.words
    return (*clause.words[: clause.verb_at], *clause.words[clause.verb_at + 1 :])


def manners_in(words: tuple[str, ...]) -> frozenset[str]:
    """The manners in which something is done."""
    if _ALL_MANNERS.isdisjoint(words):
        return frozenset()
    return frozenset(name for name, group in MANNERS.items() if not group.isdisjoint(words))


def _longest(hits: list[Hit]) -> list[Hit]:
    """Phrases that stand inside a longer one are not meant on their own."""
    kept = [hit for hit in hits if not any(set(hit.places) < set(other.places) for other in hits)]
    gestures = {hit.places[0] for hit in kept if hit.phrase.meaning == "gesture"}
    return [hit for hit in kept if hit.phrase.meaning == "gesture" or hit.places[0] not in gestures]


def _phrase_classes(clause: Clause, hits: list[Hit]) -> tuple[frozenset[str], frozenset[str], frozenset[str]]:
    done: set[str] = set()
    denied: set[str] = set()
    for hit in hits:
        outside = clause.negations - set(hit.places)
        denies = clause.rejected or any(place < hit.places[-1] for place in outside)
        denies = denies or (clause.negated and bool(outside) and clause.subject == "i")
        if not clause.negations and clause.negated:
            denies = True
        (denied if denies else done).add(hit.phrase.meaning)
    return frozenset(done), frozenset(denied), frozenset(done | denied)


def nouns_in(words: tuple[str, ...]) -> list[str]:
    """The words that name something, as a dictionary has them."""
    return [noun_of(word) for word in words if names_something(word)]


def names_something(word: str) -> bool:
    return not (
        word in SMALL
        or word == "'s"
        or (word in ADVERBS and word not in ADJECTIVES)
        or word in DISCOURSE
        or (is_past_form(word) and word not in ADJECTIVES and word not in ("read", "set", "cut"))
    )


def _objects(
    clause: Clause, covered: frozenset[int]
) -> tuple[tuple[str, ...], tuple[tuple[str, tuple[str, ...]], ...], bool]:
    """What the act is on, what stands behind prepositions, and whether it is on something named before."""
    start = 0 if clause.verb_at is None else clause.verb_at + 1
    segments: list[tuple[str, list[str]]] = [("", [])]
    for place in range(start, len(clause.words)):
        word = clause.words[place]
        if word in PREPOSITIONS and word != "of" and word not in ("like",):
            away = word == "out" and clause.words[place + 1 : place + 2] == ("of",)
            segments.append(("from" if away else word, []))
        else:
            segments[-1][1].append(word)
    named = [(prep, tuple(nouns_in(tuple(words)))) for prep, words in segments]
    pronoun = any(word in PRONOUNS or word in _PEOPLE for _, words in segments[:2] for word in words)
    filled = [(prep, nouns) for prep, nouns in named if nouns]
    if not filled:
        return (), (), pronoun
    direct = named[0][1]
    if direct:
        return direct, tuple(filled[1:]), _is_pronoun(segments[0][1])
    if any(word in PRONOUNS or word in _PEOPLE for word in segments[0][1]):
        return (), tuple(filled), True
    return filled[0][1], tuple(filled), _is_pronoun(segments[1][1]) if len(segments) > 1 else False


def _spoken(clause: Clause) -> tuple[tuple[str, str], ...]:
    """What stands behind the verb, part by part as it was written: the preposition, and the words without articles."""
    start = 0 if clause.verb_at is None else clause.verb_at + 1
    parts: list[tuple[str, list[str]]] = [("", [])]
    for word in clause.words[start:]:
        if word in PREPOSITIONS and word != "of":
            parts.append((word, []))
        elif word not in _UNSAID and not (word in ADVERBS and word.endswith("ly")):
            parts[-1][1].append(word)
    return tuple((prep, " ".join(words).removeprefix("of ")) for prep, words in parts if words or prep)


_UNSAID = word_set("the a an my your his her its our their some any please 's")


def _is_pronoun(words: list[str]) -> bool:
    return any(word in _PEOPLE or word in ("it", "that", "this", "them", "one") for word in words) and not [
        word for word in words if names_something(word) and noun_of(word) not in NEUTRAL
    ]


def content(nouns: tuple[str, ...]) -> frozenset[str]:
    """The nouns that name a thing of their own: no measure, part of the body or mere `thing`, and no adjective."""
    return frozenset(noun for noun in nouns if noun not in NEUTRAL and noun not in ADJECTIVES and verb_of(noun) != "be")
