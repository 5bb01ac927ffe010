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
from fabula.language.name_index import NameIndex
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
    return extract_known(lines, known_names(names), player=player)


def known_names(names: Mapping[str, str]) -> NameIndex:
    """Those who are known, as they are found in lines: names of one or two letters are too easily something else."""
    return NameIndex({name: id for name, id in names.items() if len(name.strip()) > 2})


def extract_known(lines: Sequence[ToldLine], known: NameIndex, *, player: str) -> list[Found]:
    """The same for who asks again and again about those who are known."""
    speech = _Speech(known, player=player)
    found: list[Found] = []
    for line in lines:
        for sentence in sentences(line.text[:LONGEST_LINE]):
            found += speech.claims(line, sentence)
    return _once(found)[:MOST_FOUND]


def mentions(lines: Iterable[ToldLine], names: Mapping[str, str]) -> dict[str, int]:
    """In how many turns each of these is named."""
    turns: dict[str, set[str]] = {}
    known = NameIndex(names)
    for line in lines:
        for named in known.spans(line.text[:LONGEST_LINE]):
            turns.setdefault(named.id, set()).add(line.turn_id)
    return {id: len(turns.get(id, ())) for id in names.values()}


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
KINDS_OF_NOUNS: Final[Mapping[EntityKind, re.Pattern[str]]] = {
    "character": re.compile(
        "man|woman|girl|boy|child|person|captain|sailor|soldier|priest|keeper|merchant|clerk|king|queen|dog|horse|ghost"
        "|stranger|smith|scribe|ferryman|widow|giant|sister|brother"
    ),
    "place": re.compile(
        "village|town|city|inn|river|hill|valley|island|house|tower|mill|bridge|harbour|street|ford|lighthouse|castle"
        "|market|square|temple|chapel|church|abbey|forest|wood|mountain|mine|cave|lake|marsh|tavern|station|port|quay|farm"
    ),
    "faction": re.compile("guild|company|order|clan|crew|court|council|brotherhood|sisterhood|union"),
    "object": re.compile("ship|boat|book|blade|sword|song|ring|bell|letter|map|key|lamp"),
}
_OPEN, _CLOSE = "\ue000", "\ue001"
_MARK: Final = rf"{_OPEN}\d+{_CLOSE}"
"""What stands for a name while a sentence is looked through: its number among those of the sentence."""
_MARKED: Final = re.compile(rf"{_OPEN}(\d+){_CLOSE}")
_WHO: Final = rf"(?P<who>\byou|{_MARK})"
_WHOM: Final = rf"(?P<whom>you\b|{_MARK})"
_THING_WORD: Final = rf"(?:[a-z][\w’'-]*|{_MARK}(?:['’]s)?)"
_ARTICLE: Final = "(?:the|a|an|his|her|their|your|my)"
_OBJECT: Final = rf"(?P<thing>(?:{_ARTICLE} {_THING_WORD}|{_MARK})(?: {_THING_WORD}){{0,3}})"
_THING: Final = re.compile(rf"{_ARTICLE} (?P<called>\S.*)", re.IGNORECASE)
_DEAD: Final = re.compile(
    rf"{_WHO} (?:(?:is|are|lies|lie|falls|fell|was found) dead|dies|die|died|has died|(?:is|was|has been) killed)\b",
    re.IGNORECASE,
)
_DESTROYED: Final = re.compile(
    rf"{_WHO} (?:is|was|has been|lies) (?P<how>destroyed|burned down|flooded|in ruins)\b", re.IGNORECASE
)
_GIVEN: Final = re.compile(
    rf"{_WHO} (?:gives?|gave|hands?|handed|passes|passed) {_WHOM} {_OBJECT}(?=[.,;!]|$| and\b)", re.IGNORECASE
)
_RELATED: Final = re.compile(
    rf"{_WHO} (?:is|was) (?:the |a |an )?(?P<kin>{_KIN}) of {_WHOM}"
    rf"|(?P<who2>{_MARK}) (?:is|was) (?P<whom2>{_MARK})['’]s (?P<kin2>{_KIN})\b",
    re.IGNORECASE,
)
_TIE: Final = re.compile(rf"{_WHO} (?P<tie>{'|'.join(map(re.escape, _TIES))}) {_WHOM}", re.IGNORECASE)
_DEED: Final = re.compile(rf"{_WHO} (?P<deed>{'|'.join(_DEEDS)}) {_OBJECT}(?=[.,;!]|$| and\b)", re.IGNORECASE)
_PROMISE: Final = re.compile(
    rf"\bI (?:promise|swear|vow)(?: to)?(?: {_WHOM})?,? (?:that |to )?(?P<what>[^.!?]{{4,160}})", re.IGNORECASE
)


@dataclass(frozen=True, kw_only=True)
class _Marked:
    """A sentence in which each name is a mark."""

    text: str
    names: Sequence[str]
    ids: Sequence[str]

    @staticmethod
    def of(sentence: str, known: NameIndex) -> _Marked:
        plain = sentence.replace(_OPEN, " ").replace(_CLOSE, " ")
        parts: list[str] = []
        names: list[str] = []
        ids: list[str] = []
        end = 0
        for span in known.spans(plain):
            parts += (plain[end : span.start], f"{_OPEN}{len(ids)}{_CLOSE}")
            names.append(plain[span.start : span.end])
            ids.append(span.id)
            end = span.end
        return _Marked(text="".join([*parts, plain[end:]]), names=names, ids=ids)

    def id(self, mark: str) -> str:
        return self.ids[int(mark[1:-1])]

    def words(self, marked: str) -> str:
        """A part of the sentence as it was."""
        return _MARKED.sub(lambda mark: self.names[int(mark[1])], marked)


class _Speech:
    """What sentences say of those who are known. Names are marked first, so that no pattern has to list them."""

    def __init__(self, known: NameIndex, *, player: str) -> None:
        self._known, self._player = known, player

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
        said = _Marked.of(text, self._known)
        for found in _DEAD.finditer(said.text):
            if (who := self._id(found["who"], said, line)) is not None:
                yield FactContent(subject=who, predicate="dead", object="yes", since=at, known_to=known_to)
        for found in _DESTROYED.finditer(said.text):
            if (who := self._id(found["who"], said, line)) is not None:
                yield FactContent(subject=who, predicate="destroyed", object="yes", since=at, known_to=known_to)
        for found in _GIVEN.finditer(said.text):
            who, whom = self._id(found["who"], said, line), self._id(found["whom"], said, line)
            thing = _thing(said.words(found["thing"]))
            if who is not None and whom is not None and who != whom and thing is not None:
                yield FactContent(subject=whom, predicate="has", object=thing, since=at, known_to=known_to)
        for found in _RELATED.finditer(said.text):
            who = self._id(found["who"] or found["who2"], said, line)
            whom = self._id(found["whom"] or found["whom2"], said, line)
            kin = (found["kin"] or found["kin2"]).casefold()
            if who is not None and whom is not None and who != whom:
                yield RelationshipContent(
                    subject=who, predicate=f"{kin}_of", object=whom, reason=_quoted(text), known_to=known_to
                )
        for found in _TIE.finditer(said.text):
            who, whom = self._id(found["who"], said, line), self._id(found["whom"], said, line)
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
        for found in _DEED.finditer(said.text):
            who, thing = self._id(found["who"], said, line), _thing(said.words(found["thing"]))
            if who is not None and thing is not None:
                predicate = _DEEDS[found["deed"].casefold()]
                yield FactContent(subject=who, predicate=predicate, object=thing, since=at, known_to=known_to)
        for found in _NEW_NAME.finditer(text):
            if (entity := self._new(found["noun"], found["name"])) is not None:
                yield entity

    def _promises(self, line: ToldLine, text: str) -> Iterator[Found]:
        said = _Marked.of(text, self._known)
        for found in _PROMISE.finditer(said.text):
            whom = self._id(found["whom"], said, line) if found["whom"] else None
            who = [self._player, *([whom] if whom not in (None, self._player) else [])]
            what = f"A promise: {said.words(found['what']).strip()}"[:200]
            content = EventContent(
                what=what, who=[id for id in who if id], at=line.minute, known_to=sorted({*line.present, self._player})
            )
            yield Found(content=content, evidence=_evidence(line, text), confidence=TOLD, authority="player")

    def _id(self, mark: str, said: _Marked, line: ToldLine) -> str | None:
        if mark.casefold() == "you":
            # To whom a character speaks is not known: only the narrator's `you` is the player.
            return None if line.kind == "dialogue" else self._player
        return said.id(mark)

    def _new(self, noun: str, name: str) -> EntityContent | None:
        kind = next((kind for kind, nouns in KINDS_OF_NOUNS.items() if nouns.fullmatch(noun.casefold())), None)
        if kind is None or self._known.knows(name):
            return None
        entity_id = re.sub(r"[^a-z0-9]+", "-", name.casefold()).strip("-")
        if not entity_id:
            return None
        return EntityContent(entity_id=entity_id[:100], entity_kind=kind, name=name[:200])


def _thing(words: str) -> str | None:
    """A thing as it is called: `the brass key`, whosever it is. Somebody's name alone is none."""
    found = _THING.match(words)
    return None if found is None else f"the {found['called'].casefold()}"[:200]


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
