"""Contradictions: found by typed rules on subject, predicate, object and time, never by a model.

A predicate may have one object at a time (`located_in`), exclude another (`alive`, `dead`), or end what somebody can
do (`dead`). Whatever is not listed contradicts nothing.
"""

from __future__ import annotations

import unicodedata
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from fabula.language.normal_forms import normal_form
from fabula.story.canon import (
    AxiomContent,
    Change,
    Content,
    EntityContent,
    EventContent,
    FactContent,
    Moment,
    RelationshipContent,
    StateContent,
)

Why = Literal["one_at_a_time", "exclusive", "same_entity", "the_dead_act", "two_places", "axiom"]
CRITICAL: Final[frozenset[Why]] = frozenset({"the_dead_act", "two_places", "axiom"})

ONE_AT_A_TIME: Final = frozenset(
    ["located_in", "born_in", "ruler_of", "owner", "age", "mother", "father", "spouse", "true_name", "profession"]
)
"""Predicates that have one object at a time."""
PLACES: Final = frozenset(["located_in"])
DEAD: Final = frozenset(["dead", "killed", "died"])
EXCLUSIVE: Final[Mapping[str, frozenset[str]]] = {
    "alive": DEAD,
    "dead": frozenset(["alive"]),
    "killed": frozenset(["alive"]),
    "died": frozenset(["alive"]),
    "ally_of": frozenset(["enemy_of"]),
    "enemy_of": frozenset(["ally_of"]),
    "destroyed": frozenset(["intact"]),
    "intact": frozenset(["destroyed"]),
}
ACTS: Final = frozenset(["says", "does", "travels_to", "attacks", "rules", "located_in", "owns", "made"])
"""What only the living do."""


@dataclass(frozen=True, kw_only=True)
class Contradiction:
    """A change of canon that cannot be true beside another one, and which rule says so."""

    change_id: str
    why: Why
    sentence: str

    @property
    def is_critical(self) -> bool:
        return self.why in CRITICAL


class Standing:
    """Canon as changes are held against it: found by what could contradict, because looking at all of it for each of
    many changes takes seconds in a large world."""

    def __init__(self, canon: Iterable[Change] = ()) -> None:
        self.looked_at = 0
        """How many truths changes were held against so far."""
        self._said: dict[str, set[str]] = {}
        self._ruled: set[str] = set()
        self._places: dict[str, int] = {}
        self._by_key: dict[_Key, list[Change]] = {}
        self._gone: set[str] = set()
        self._kinds: dict[str, str] = {}
        for change in canon:
            self.add(change)

    def add(self, change: Change) -> None:
        """Takes in what became true."""
        self._places[change.change_id] = len(self._places)
        if isinstance(change.content, EntityContent):
            self._kinds[change.content.entity_id] = change.content.entity_kind
        elif isinstance(change.content, (FactContent, RelationshipContent)):
            self._said.setdefault(change.content.subject, set()).add(change.content.predicate)
        elif isinstance(change.content, AxiomContent):
            self._ruled.add(change.content.predicate)
        for key in dict.fromkeys(_keys_of(change.content)):
            self._by_key.setdefault(key, []).append(change)

    def replace(self, change_ids: Iterable[str]) -> None:
        """Leaves out what something else took the place of."""
        self._gone.update(change_ids)

    def is_about(self, entity_id: str) -> bool:
        """Whether any fact, relationship or event is about somebody."""
        return any(one.change_id not in self._gone for one in self._by_key.get(("about", entity_id), ()))

    def contradictions(self, change: Change) -> Iterator[Contradiction]:
        """What a change contradicts, each once, in the order of canon."""
        kinds: Mapping[str, str] = self._kinds
        if isinstance(change.content, EntityContent):
            kinds = ChainMap({change.content.entity_id: change.content.entity_kind}, self._kinds)
        for old in self._at([*_keys_against(change.content, kinds), *self._ruled_of(change.content)]):
            why = _why(change.content, old.content, kinds) or self._makes_impossible(change.content, old, kinds)
            if why is not None and old.change_id != change.change_id:
                yield Contradiction(change_id=old.change_id, why=why, sentence=_sentence(why, change, old))

    def _ruled_of(self, content: Content) -> Iterator[_Key]:
        """What is said of an entity that some axiom speaks of: only that may turn out impossible with its kind."""
        if isinstance(content, EntityContent):
            about = self._said.get(content.entity_id, set()) & self._ruled
            yield from (("says", content.entity_id, predicate) for predicate in about)

    def _at(self, keys: Iterable[_Key]) -> list[Change]:
        found = {one.change_id: one for key in keys for one in self._by_key.get(key, ())}
        self.looked_at += len(found)
        return sorted(
            (one for id, one in found.items() if id not in self._gone), key=lambda one: self._places[one.change_id]
        )

    def _makes_impossible(self, new: Content, old: Change, kinds: Mapping[str, str]) -> Literal["axiom"] | None:
        """Whether a fact about an entity could be true until its kind was said."""
        if not isinstance(new, EntityContent) or not isinstance(old.content, (FactContent, RelationshipContent)):
            return None
        if old.content.subject != new.entity_id:
            return None
        axioms = (one.content for one in self._at(_axiom_keys(old.content, kinds)))
        broken = (_breaks(old.content, axiom, kinds) for axiom in axioms if isinstance(axiom, AxiomContent))
        return "axiom" if any(broken) else None


_Key = tuple[str, ...] | tuple[str, str, int] | tuple[str, str, str, int]
"""By what a change is found: first the sort of key, then what it is about."""


def _keys_of(content: Content) -> Iterator[_Key]:
    """By what something that is true is found."""
    match content:
        case FactContent() | RelationshipContent():
            yield ("says", content.subject, content.predicate)
            if content.since is not None:
                yield ("says", content.subject, content.predicate, content.since)
            if content.since is None or content.until is not None:
                yield ("spans", content.subject, content.predicate)
            yield ("anybody", content.predicate)
            yield ("anybody", content.predicate, _same(content.object))
            yield ("about", content.subject)
            yield ("about", content.object)
        case EntityContent():
            yield ("entity", content.entity_id)
        case EventContent():
            # What has no moment contradicts nothing, and without a place it is nowhere else.
            if content.at is not None:
                yield from (("did", who) for who in content.who)
            if content.at is not None and content.where is not None:
                yield from (("was", who, content.at) for who in content.who)
            for about in (*content.who, *(() if content.where is None else (content.where,))):
                yield ("about", about)
        case AxiomContent():
            object = "" if content.object is None else _same(content.object)
            yield ("never", content.predicate, object)
            yield from (
                ("never", content.predicate, object, kind) for kind in [*map(str, content.entity_kinds)] or [""]
            )
        case StateContent():
            pass


def _keys_against(content: Content, kinds: Mapping[str, str]) -> Iterator[_Key]:
    """By what those are found that could contradict: a rule of `_why` that looks at others needs a key here."""
    match content:
        case FactContent() | RelationshipContent():
            said, subject = content.predicate, content.subject
            for predicate in {*([said] if said in ONE_AT_A_TIME else []), *EXCLUSIVE.get(said, ())}:
                yield from _keys_at_its_time(content, predicate)
            others = (ACTS if said in DEAD else frozenset()) | (DEAD if said in ACTS else frozenset())
            yield from (("says", subject, predicate) for predicate in others)
            yield from _axiom_keys(content, kinds)
            if said in DEAD:
                yield ("did", subject)
            if said in PLACES and content.since is not None:
                yield ("was", subject, content.since)
        case EntityContent():
            yield ("entity", content.entity_id)
        case EventContent():
            if content.at is not None:
                yield from (("says", who, predicate) for who in content.who for predicate in DEAD)
            if content.at is not None and content.where is not None:
                yield from (("was", who, content.at) for who in content.who)
                yield from (("says", who, predicate, content.at) for who in content.who for predicate in PLACES)
        case AxiomContent():
            yield ("anybody", content.predicate, *([] if content.object is None else [_same(content.object)]))
        case StateContent():
            pass


def _keys_at_its_time(content: FactContent | RelationshipContent, predicate: str) -> Iterator[_Key]:
    """By what those of a predicate are found that may be true at the same time, see `_overlap`: of two that begin at
    different moments and have no end, the one follows the other. Whoever travels has very many of them."""
    if content.since is None or content.until is not None:
        yield ("says", content.subject, predicate)
    else:
        yield ("says", content.subject, predicate, content.since)
        yield ("spans", content.subject, predicate)


def _axiom_keys(content: FactContent | RelationshipContent, kinds: Mapping[str, str]) -> Iterator[_Key]:
    """By what axioms are found that may rule something out: as long as a kind is not known, those about any kind."""
    kind = kinds.get(content.subject)
    for object in ("", _same(content.object)):
        if kind is None:
            yield ("never", content.predicate, object)
        else:
            yield ("never", content.predicate, object, "")
            yield ("never", content.predicate, object, kind)


def contradictions(change: Change, canon: Sequence[Change]) -> list[Contradiction]:
    """What of canon a change contradicts, each once, in the order of canon."""
    return list(Standing(canon).contradictions(change))


def undo_problem(undone: str, restored: Sequence[Change], canon: Sequence[Change]) -> str | None:
    """Why a change cannot be undone: what it had replaced would be true again beside what became true meanwhile."""
    back = {change.change_id for change in restored}
    standing = Standing(change for change in canon if change.change_id != undone and change.change_id not in back)
    found = next((one for change in restored for one in standing.contradictions(change)), None)
    return None if found is None else f"{found.sentence} Undo {found.change_id} first."


def _why(new: Content, old: Content, kinds: Mapping[str, str]) -> Why | None:
    """The rule by which two contents exclude each other; the same whichever came first."""
    if isinstance(new, StateContent) or isinstance(old, StateContent):
        return None
    if isinstance(old, AxiomContent):
        return "axiom" if _breaks(new, old, kinds) else None
    if isinstance(new, AxiomContent):
        return "axiom" if _breaks(old, new, kinds) else None
    if isinstance(new, EntityContent) and isinstance(old, EntityContent):
        same = new.entity_id == old.entity_id
        return "same_entity" if same and (new.entity_kind, new.name) != (old.entity_kind, old.name) else None
    if isinstance(new, (FactContent, RelationshipContent)) and isinstance(old, (FactContent, RelationshipContent)):
        return _between_facts(new, old) or _dead_act(new, old) or _dead_act(old, new)
    if isinstance(new, EventContent) and isinstance(old, (FactContent, RelationshipContent)):
        return _event_and_fact(new, old)
    if isinstance(old, EventContent) and isinstance(new, (FactContent, RelationshipContent)):
        return _event_and_fact(old, new)
    if isinstance(new, EventContent) and isinstance(old, EventContent):
        return _two_events(new, old)
    return None


def _between_facts(
    new: FactContent | RelationshipContent, old: FactContent | RelationshipContent
) -> Literal["one_at_a_time", "exclusive", "two_places"] | None:
    if new.subject != old.subject or not _overlap(new.since, new.until, old.since, old.until):
        return None
    if new.predicate == old.predicate and new.predicate in ONE_AT_A_TIME and _same(new.object) != _same(old.object):
        return "two_places" if new.predicate in PLACES and _at_one_moment(new, old) else "one_at_a_time"
    if old.predicate in EXCLUSIVE.get(new.predicate, ()):
        whole = isinstance(new, FactContent) and isinstance(old, FactContent)
        return "exclusive" if whole or _same(new.object) == _same(old.object) else None
    return None


def _dead_act(
    one: FactContent | RelationshipContent, other: FactContent | RelationshipContent
) -> Literal["the_dead_act"] | None:
    """Whether the first says that somebody died, and the second that they did something after."""
    if one.predicate not in DEAD or other.predicate not in ACTS or one.subject != other.subject:
        return None
    return "the_dead_act" if other.since is not None and _is_dead_at(one, other.since) else None


def _is_dead_at(death: FactContent | RelationshipContent, at: Moment) -> bool:
    """Whether somebody is dead at a moment; the moment of the death itself is still theirs, and who comes back acts."""
    # One who was always dead never did anything that has a time.
    return (death.since is None or at > death.since) and (death.until is None or at < death.until)


def _event_and_fact(event: EventContent, fact: FactContent | RelationshipContent) -> Why | None:
    if fact.subject not in event.who or event.at is None:
        return None
    if fact.predicate in DEAD:
        return "the_dead_act" if _is_dead_at(fact, event.at) else None
    if fact.since is None:
        return None
    here = fact.since <= event.at and (fact.until is None or event.at < fact.until)
    if fact.predicate in PLACES and event.where is not None and here and event.at == fact.since:
        return "two_places" if _same(event.where) != _same(fact.object) else None
    return None


def _two_events(new: EventContent, old: EventContent) -> Literal["two_places"] | None:
    both = set(new.who) & set(old.who)
    if not both or new.at is None or new.at != old.at or new.where is None or old.where is None:
        return None
    return "two_places" if new.where != old.where else None


def _breaks(content: Content, axiom: AxiomContent, kinds: Mapping[str, str]) -> bool:
    if not isinstance(content, (FactContent, RelationshipContent)) or content.predicate != axiom.predicate:
        return False
    if axiom.object is not None and _same(axiom.object) != _same(content.object):
        return False
    # Of what kind somebody is may come to be known later: until then the axiom holds for them.
    kind = kinds.get(content.subject)
    return not axiom.entity_kinds or kind is None or kind in axiom.entity_kinds


def _overlap(since: Moment | None, until: Moment | None, other: Moment | None, other_until: Moment | None) -> bool:
    """Whether two spans share a moment. A fact with a beginning and no end holds until another takes its place, so two
    that begin at different times follow each other."""
    if since is not None and other is not None and since != other:
        first_until = until if since < other else other_until
        return first_until is not None and max(since, other) < first_until
    begins = since if since is not None else other
    ends = [end for end in (until, other_until) if end is not None]
    return begins is None or not ends or begins < min(ends)


def _at_one_moment(new: FactContent | RelationshipContent, old: FactContent | RelationshipContent) -> bool:
    return new.since is not None and new.since == old.since


def _same(name: str) -> str:
    """A name as it is compared: whoever writes it in other letters, or with some that nobody sees, means the same."""
    plain = normal_form("NFKC", name)
    if not plain.isascii():
        plain = "".join(letter for letter in plain if unicodedata.category(letter) != "Cf")
    return " ".join(plain.split()).casefold()


_SENTENCES: Final[Mapping[Why, str]] = {
    "one_at_a_time": "of that there can be one at a time, and canon has another",
    "exclusive": "the one rules the other out",
    "same_entity": "canon knows somebody else by this id",
    "the_dead_act": "the dead do nothing any more",
    "two_places": "nobody is in two places at one time",
    "axiom": "an axiom of the world rules it out",
}


def _sentence(why: Why, change: Change, old: Change) -> str:
    return f"'{said(change.content)}' contradicts '{said(old.content)}': {_SENTENCES[why]}."


def said(content: Content) -> str:
    """A content in words."""
    match content:
        case FactContent() | RelationshipContent():
            return f"{content.subject} {content.predicate} {content.object}"
        case EntityContent():
            return f"{content.name} ({content.entity_kind})"
        case EventContent():
            return content.what
        case StateContent():
            return f"{content.subject}.{content.key}"
        case AxiomContent():
            return content.text
