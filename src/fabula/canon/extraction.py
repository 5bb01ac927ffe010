"""What a telling says to be true, found by rule: facts, relationships, events and new names, each with the words it
rests on.

Only plain claims count: a sentence that asks, doubts, denies or supposes says nothing. What a character says is worth
less than what the narrator tells, and of the player's own words only promises are kept: an outcome is not the player's
to tell.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from fabula.language.english import sentences
from fabula.story.canon import (
    Authority,
    Content,
    EntityContent,
    EntityKind,
    EventContent,
    Evidence,
    FactContent,
    RelationshipContent,
)

LineKind = Literal["narration", "dialogue", "action", "player_input"]

TOLD: Final = 0.9
SAID: Final = 0.6
"""How sure a claim is that the narrator tells, and one that a character makes."""
MOST_NAMES: Final = 400
MOST_FOUND: Final = 40
LONGEST_QUOTE: Final = 300
LONGEST_LINE: Final = 8000


@dataclass(frozen=True, kw_only=True)
class ToldLine:
    """A line of a transcript, and when in the story it was told. `present` are those who were there, by id."""

    ref: str
    turn_id: str
    kind: LineKind
    speaker_id: str
    text: str
    minute: int
    present: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class Found:
    """Something that a line says, as it is proposed."""

    content: Content
    evidence: Evidence
    confidence: float
    authority: Authority = "system"


def extract(lines: Sequence[ToldLine], names: Mapping[str, str], *, player: str) -> list[Found]:
    """What lines say about those who are known. `names` leads from what somebody is called to their id; `player` is
    the player's id, which `you` stands for in what is told."""
    known = {" ".join(name.split()).casefold(): id for name, id in names.items() if len(name.strip()) > 2}
    speech = _Speech(known, player=player)
    found: list[Found] = []
    for line in lines:
        for sentence in sentences(line.text[:LONGEST_LINE]):
            found += speech.claims(line, sentence)
    return _once(found)[:MOST_FOUND]


def mentions(lines: Iterable[ToldLine], names: Mapping[str, str]) -> dict[str, int]:
    """In how many turns each of these is named."""
    turns: dict[str, set[str]] = {}
    texts = [(line.turn_id, f" {line.text[:LONGEST_LINE].casefold()} ") for line in lines]
    for name, id in list(names.items())[:MOST_NAMES]:
        pattern = re.compile(rf"\b{re.escape(name.casefold())}\b")
        turns.setdefault(id, set()).update(turn for turn, text in texts if pattern.search(text))
    return {id: len(some) for id, some in turns.items()}


_DOUBT: Final = re.compile(
    r"\?|\b(?:not|never|nobody|no one|if|would|could|might|may|perhaps|maybe|as though|as if|pretend\w*|rumou?r|seems?"
    r"|say that|claims?|wish\w*|dream\w*|almost|nearly|n't)\b|n['’]t\b",
    re.IGNORECASE,
)
_KIN: Final = (
    "sister|brother|mother|father|daughter|son|wife|husband|friend|rival|enemy|ally|leader|captain|servant|apprentice"
    "|master|heir|keeper|cousin|aunt|uncle|widow|steward"
)
_TIES: Final[Mapping[str, tuple[str, float]]] = {
    "serves": ("serves", 0.5),
    "works for": ("works_for", 0.4),
    "leads": ("leads", 0.6),
    "trusts": ("trusts", 0.6),
    "loves": ("loves", 0.8),
    "fears": ("afraid_of", -0.4),
    "hates": ("hates", -0.8),
    "betrayed": ("betrayed", -0.7),
    "betrays": ("betrayed", -0.7),
    "owes": ("owes", -0.1),
    "obeys": ("obeys", 0.4),
    "saved": ("saved", 0.7),
    "saves": ("saved", 0.7),
}
_DEEDS: Final[Mapping[str, str]] = {
    "owns": "owns",
    "built": "built",
    "wrote": "wrote",
    "made": "made",
    "founded": "founded",
    "burned": "burned",
    "stole": "stole",
    "steals": "stole",
    "found": "discovered",
    "finds": "discovered",
}
_NEW_NAME: Final = re.compile(
    r"\b(?P<noun>[a-z]+) (?:called|named|by the name of) "
    r"(?P<name>(?:the )?[A-Z][\w’'-]+(?: (?:of |the )?[A-Z][\w’'-]+){0,3})"
)
_KINDS: Final[Mapping[EntityKind, re.Pattern[str]]] = {
    "character": re.compile(
        "man|woman|girl|boy|child|person|captain|sailor|soldier|priest|keeper|merchant|clerk|king|queen|dog|horse|ghost"
        "|stranger|smith|scribe|ferryman|widow|giant|sister|brother"
    ),
    "place": re.compile("village|town|city|inn|river|hill|valley|island|house|tower|mill|bridge|harbour|street|ford"),
    "faction": re.compile("guild|company|order|clan|crew|court|council|brotherhood|sisterhood|union"),
    "object": re.compile("ship|boat|book|blade|sword|song|ring|bell|letter|map|key|lamp"),
}
_OBJECT: Final = r"(?P<thing>(?:the|a|an|his|her|their|your|my) [a-z][\w’'-]*(?: [a-z][\w’'-]*){0,3})"


class _Speech:
    """The patterns for one set of names."""

    def __init__(self, known: Mapping[str, str], *, player: str) -> None:
        self._known, self._player = known, player
        longest = sorted(known, key=lambda name: (-len(name), name))[:MOST_NAMES]
        name = "|".join(map(re.escape, longest)) or r"(?!)"
        who = rf"(?P<who>you|{name})"
        whom = rf"(?P<whom>you|{name})"
        flags = re.IGNORECASE
        self._dead = re.compile(
            rf"\b{who} (?:(?:is|are|lies|lie|falls|fell|was found) dead|dies|die|died|has died"
            r"|(?:is|was|has been) killed)\b",
            flags,
        )
        self._destroyed = re.compile(
            rf"\b{who} (?:is|was|has been|lies) (?P<how>destroyed|burned down|flooded|in ruins)\b", flags
        )
        self._given = re.compile(
            rf"\b{who} (?:gives?|gave|hands?|handed|passes|passed) {whom} {_OBJECT}(?=[.,;!]|$| and\b)", flags
        )
        self._kin = re.compile(
            rf"\b{who} (?:is|was) (?:the |a |an )?(?P<kin>{_KIN}) of {whom}\b"
            rf"|\b(?P<who2>{name}) (?:is|was) (?P<whom2>{name})['’]s (?P<kin2>{_KIN})\b",
            flags,
        )
        self._tie = re.compile(rf"\b{who} (?P<tie>{'|'.join(map(re.escape, _TIES))}) {whom}\b", flags)
        self._deed = re.compile(rf"\b{who} (?P<deed>{'|'.join(_DEEDS)}) {_OBJECT}(?=[.,;!]|$| and\b)", flags)
        self._promise = re.compile(
            rf"\bI (?:promise|swear|vow)(?: to)?(?: {whom})?,? (?:that |to )?(?P<what>[^.!?]{{4,160}})", flags
        )

    def claims(self, line: ToldLine, sentence: str) -> Iterator[Found]:
        text = " ".join(sentence.split())
        if line.kind == "player_input":
            yield from self._promises(line, text)
            return
        if _DOUBT.search(text) or (line.kind == "dialogue" and not text.endswith((".", "!"))):
            return
        for content in self._contents(line, text):
            confidence = SAID if line.kind == "dialogue" else TOLD
            yield Found(content=content, evidence=_evidence(line, text), confidence=confidence)

    def _contents(self, line: ToldLine, text: str) -> Iterator[Content]:
        at, known_to = line.minute, sorted(set(line.present) | {self._player})
        for found in self._dead.finditer(text):
            if (who := self._id(found["who"], line)) is not None:
                yield FactContent(subject=who, predicate="dead", object="yes", since=at, known_to=known_to)
        for found in self._destroyed.finditer(text):
            if (who := self._id(found["who"], line)) is not None:
                yield FactContent(subject=who, predicate="destroyed", object="yes", since=at, known_to=known_to)
        for found in self._given.finditer(text):
            who, whom = self._id(found["who"], line), self._id(found["whom"], line)
            if who is not None and whom is not None and who != whom:
                thing = _thing(found["thing"])
                yield FactContent(subject=whom, predicate="has", object=thing, since=at, known_to=known_to)
        for found in self._kin.finditer(text):
            who = self._id(found["who"] or found["who2"], line)
            whom = self._id(found["whom"] or found["whom2"], line)
            kin = (found["kin"] or found["kin2"]).casefold()
            if who is not None and whom is not None and who != whom:
                yield RelationshipContent(
                    subject=who, predicate=f"{kin}_of", object=whom, reason=_quoted(text), known_to=known_to
                )
        for found in self._tie.finditer(text):
            who, whom = self._id(found["who"], line), self._id(found["whom"], line)
            if who is not None and whom is not None and who != whom:
                predicate, strength = _TIES[found["tie"].casefold()]
                yield RelationshipContent(
                    subject=who,
                    predicate=predicate,
                    object=whom,
                    strength=strength,
                    reason=_quoted(text),
                    since=at,
                    known_to=known_to,
                )
        for found in self._deed.finditer(text):
            if (who := self._id(found["who"], line)) is not None:
                predicate = _DEEDS[found["deed"].casefold()]
                thing = _thing(found["thing"])
                yield FactContent(subject=who, predicate=predicate, object=thing, since=at, known_to=known_to)
        for found in _NEW_NAME.finditer(text):
            if (entity := self._new(found["noun"], found["name"])) is not None:
                yield entity

    def _promises(self, line: ToldLine, text: str) -> Iterator[Found]:
        for found in self._promise.finditer(text):
            whom = self._id(found["whom"], line) if found["whom"] else None
            who = [self._player, *([whom] if whom not in (None, self._player) else [])]
            what = f"A promise: {found['what'].strip()}"[:200]
            content = EventContent(
                what=what, who=[id for id in who if id], at=line.minute, known_to=sorted({*line.present, self._player})
            )
            yield Found(content=content, evidence=_evidence(line, text), confidence=TOLD, authority="player")

    def _id(self, name: str | None, line: ToldLine) -> str | None:
        if name is None:
            return None
        called = " ".join(name.split()).casefold()
        if called == "you":
            # To whom a character speaks is not known: only the narrator's `you` is the player.
            return None if line.kind == "dialogue" else self._player
        return self._known.get(called)

    def _new(self, noun: str, name: str) -> EntityContent | None:
        kind = next((kind for kind, nouns in _KINDS.items() if nouns.fullmatch(noun.casefold())), None)
        if kind is None or name.casefold() in self._known:
            return None
        entity_id = re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-")
        if not entity_id:
            return None
        return EntityContent(entity_id=entity_id[:100], entity_kind=kind, name=name[:200])


def _thing(words: str) -> str:
    """A thing as it is called: `the brass key`, whosever it is."""
    _, _, thing = words.casefold().partition(" ")
    return f"the {thing}"[:200]


def _quoted(text: str) -> str:
    return text if len(text) <= LONGEST_QUOTE else f"{text[: LONGEST_QUOTE - 1].rstrip()}…"


def _evidence(line: ToldLine, text: str) -> Evidence:
    return Evidence(type="message", ref=line.ref, quote=_quoted(text))


def _once(found: Iterable[Found]) -> list[Found]:
    """Each claim once, as it was first made."""
    seen: dict[tuple[object, ...], Found] = {}
    for one in found:
        seen.setdefault(_key(one.content), one)
    return list(seen.values())


def _key(content: Content) -> tuple[object, ...]:
    match content:
        case FactContent() | RelationshipContent():
            return (content.kind, content.subject, content.predicate, content.object.casefold())
        case EntityContent():
            return (content.kind, content.entity_id)
        case EventContent():
            return (content.kind, content.what.casefold())
        case _:
            return (content.kind, str(content))
