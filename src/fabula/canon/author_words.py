"""What an author says about their own world, taken at its word: entities, laws, ties, facts and lore, found by rule.

Every plain sentence becomes something. What names somebody or something new makes an entity; what nobody can do is a
law; what was once is an event; what only somebody knows is kept from the others; what fits no pattern is lore of whom
it is about, or of the world itself. Questions, and what the author only wonders about, are nothing yet.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from fabula.canon.extraction import KINDS_OF_NOUNS, ToldLine, extract_known, known_names
from fabula.language.english import sentences
from fabula.language.words import word_set
from fabula.story.canon import AxiomContent, Content, EntityContent, EntityKind, EventContent, FactContent

LONGEST_TEXT: Final = 8_000
MOST_ITEMS: Final = 40
LORE: Final = "lore"
LONGEST_OBJECT: Final = 200

_NAME: Final = r"(?:[Tt]he )?[A-Z][\w’'-]{0,40}(?: (?:of |the |and )?[A-Z][\w’'-]{0,40}){0,3}"
_IS_A: Final = re.compile(
    rf"^(?P<name>{_NAME}) (?:is|was|are|were) (?:an? |the |one of the )?(?P<what>[a-z][^.!?]{{2,300}})"
)
_THERE_IS: Final = re.compile(
    rf"\b(?:there (?:is|was|are|lives?)|we have|it has) (?:an? |the )?(?P<what>[a-z][\w’' -]{{2,60}}?),? "
    rf"(?:called|named|by the name of) (?P<name>{_NAME})",
    re.IGNORECASE,
)
_CALLED: Final = re.compile(
    rf"^(?:[Tt]he|[Aa]n?|[Ii]ts|[Tt]heir) (?P<what>[a-z][\w’' -]{{2,60}}?) (?:is|are) called (?P<name>{_NAME})"
)
_ACTS: Final = re.compile(
    rf"^(?P<name>{_NAME}) (?P<what>leads|rules|serves|owns|runs|commands|fears|hates|loves|hunts|guards"
    r"|keeps|trusts|lives|works for|betrayed|saved|built|founded|wants)\b"
)
_PAST: Final = re.compile(
    r"\b(?:once|long ago|years ago|in the old days|the (?:night|day|year|winter|summer) (?:when|that|of)"
    r"|generations ago|ever since)\b",
    re.IGNORECASE,
)
_LAW: Final = re.compile(
    r"^(?:nobody|no one|nothing|no (?P<noun>[a-z]+)) (?:here |in this world )?"
    r"(?:can(?:not)?|may|is able to|ever|is allowed to|is permitted to) (?:ever )?(?P<verb>[a-z]+)",
    re.IGNORECASE,
)
_NEVER: Final = re.compile(
    r"^(?:the )?(?P<noun>[a-z]+) (?:can ?not|can never|never|cannot ever|must never|may not) (?P<verb>[a-z]+)",
    re.IGNORECASE,
)
_WHERE: Final = re.compile(
    rf"^(?P<name>{_NAME}) (?:lives?|is|lies?|stands?|dwells?) (?:in|on|at|near) (?P<where>{_NAME})"
)
_SECRET: Final = re.compile(
    rf"^(?:only (?P<one>{_NAME}) knows|(?P<two>{_NAME}) alone knows"
    rf"|(?P<three>{_NAME}) keeps to (?:himself|herself|themselves|itself)) that (?P<what>.{{3,}})$",
    re.IGNORECASE,
)
_WONDERS: Final = re.compile(
    r"\?|\b(?:maybe|perhaps|i wonder|not sure|i don['’]?t know|no idea|might be)\b", re.IGNORECASE
)
_ASIDE: Final = re.compile(
    r"^(?:yes|no|ok|okay|sure|hello|hi|thanks|thank you|good|great|hm+|well|stop|done|skip|next|i think)\b[.,! ]*$",
    re.IGNORECASE,
)
_PRONOUN: Final = re.compile(r"^(?:he|she|it|they|his|her|its|their|this|that|there|here|we|i|you)\b", re.IGNORECASE)
_LEADING: Final = re.compile(r"^(?:and|but|so|also|then|well|yes|no)[, ]+", re.IGNORECASE)
_PEOPLE: Final = word_set(
    "people folk guild order clan company house family crew council church cult army league faction tribe"
)


@dataclass(frozen=True, kw_only=True)
class Taken:
    """Something that an author said, as it is proposed, and the sentence that says it."""

    content: Content
    sentence: str


class _Names:
    """Those who are known: ids by what somebody is called, and the same to be found in sentences."""

    def __init__(self, ids: Mapping[str, str]) -> None:
        self.ids = dict(ids)
        self.index = known_names({**ids, **{f"the {name}": id for name, id in ids.items()}})

    def add(self, key: str, id: str) -> None:
        """One more, unless somebody else is called so."""
        if key not in self.ids:
            self.ids[key] = id
            for name in (key, f"the {key}"):
                self.index.add(name, id)


def take_at_word(text: str, names: Mapping[str, str], *, world_id: str) -> list[Taken]:
    """What an author's words say. `names` leads from what somebody is called to their id."""
    known = _Names({short: id for name, id in names.items() for short in (*_short_names(name), _key(name))})
    found: dict[str, Taken] = {}
    about = world_id
    # A sentence that is said twice says nothing new, and what would not be taken down is not looked at.
    for sentence in dict.fromkeys(_told(text)):
        if len(found) >= MOST_ITEMS:
            break
        for content in _contents(sentence, known, about=about, world_id=world_id):
            if isinstance(content, EntityContent):
                for short in (_key(content.name), *map(_key, content.aliases)):
                    known.add(short, content.entity_id)
                about = content.entity_id
            elif isinstance(content, FactContent):
                about = content.subject
            key = content.model_dump_json(exclude={"description", "reason"})
            found.setdefault(key, Taken(content=content, sentence=sentence))
    return list(found.values())[:MOST_ITEMS]


def _told(text: str) -> Iterator[str]:
    for line in text[:LONGEST_TEXT].splitlines():
        for sentence in sentences(" ".join(line.split())):
            plain = _LEADING.sub("", sentence.strip(' -*•"“”'))
            plain = plain[:1].upper() + plain[1:]
            if len(plain) > 3 and not _WONDERS.search(plain) and not _ASIDE.match(plain):
                yield plain


def _contents(sentence: str, known: _Names, *, about: str, world_id: str) -> list[Content]:
    secret = _SECRET.match(sentence)
    if secret is not None:
        return [*_secret(secret, known.ids, world_id=world_id)]
    law = _law(sentence)
    if law is not None:
        return [law]
    entity = _entity(sentence, known.ids)
    if entity is not None:
        known.add(_key(entity.name), entity.entity_id)
    found: list[Content] = [] if entity is None else [entity]
    tied = _ties(sentence, known)
    found += tied
    where = _WHERE.match(sentence)
    if where is not None and (who := known.ids.get(_key(where["name"]))) is not None and not tied:
        place = known.ids.get(_key(where["where"]))
        return [
            *found,
            FactContent(subject=who, predicate="located_in", object=(place or where["where"])[:LONGEST_OBJECT]),
        ]
    if entity is None and not tied and _PAST.search(sentence):
        who = _subject(sentence, known.ids)
        found.append(EventContent(what=_short(sentence), who=[] if who is None else [who]))
    elif entity is None and not tied:
        subject = _subject(sentence, known.ids) or (about if _PRONOUN.match(sentence) else world_id)
        found.append(FactContent(subject=subject, predicate=LORE, object=_short(sentence)))
    return found


def _secret(found: re.Match[str], known: Mapping[str, str], *, world_id: str) -> Iterator[Content]:
    """What only somebody knows; if nobody is called so, it is lore as it was said."""
    knower = known.get(_key(found["one"] or found["two"] or found["three"]))
    kept = found["what"][:1].upper() + found["what"][1:]
    if knower is None:
        yield FactContent(subject=world_id, predicate=LORE, object=_short(found[0]))
        return
    yield FactContent(subject=_subject(kept, known) or world_id, predicate=LORE, object=_short(kept), known_to=[knower])


def _law(sentence: str) -> AxiomContent | None:
    found = _LAW.match(sentence) or _NEVER.match(sentence)
    if found is None or found["verb"].lower() in ("be", "been", "was", "is", "have", "had"):
        return None
    kind = kind_of(found["noun"]) if found["noun"] else None
    if found["noun"] and kind is None and found.re is _NEVER:
        return None
    kinds = [] if kind is None else [kind]
    return AxiomContent(text=_short(sentence), predicate=_predicate(found["verb"]), entity_kinds=kinds)


def _entity(sentence: str, known: Mapping[str, str]) -> EntityContent | None:
    """Somebody or something that a sentence brings in."""
    found = _THERE_IS.search(sentence) or _CALLED.match(sentence) or _IS_A.match(sentence) or _ACTS.match(sentence)
    if found is None or _key(found["name"]) in known or _PRONOUN.match(found["name"]):
        return None
    name = re.sub(r"^[Tt]he ", "the ", found["name"]).strip("'’")
    kind = kind_of(found["what"])
    if kind is None:
        is_somebody = found.re in (_IS_A, _ACTS) and not name.startswith("the ")
        kind = "character" if is_somebody else "faction" if found.re is _ACTS else "concept"
    entity_id = slug(name)
    if not entity_id or entity_id in known.values():
        return None
    aliases = [one for one in _short_names(name) if one not in known] if kind == "character" else []
    return EntityContent(
        entity_id=entity_id,
        entity_kind=kind,
        name=name,
        aliases=[one.title() for one in aliases],
        description=sentence[:4000],
        anchor=True,
    )


def kind_of(words: str) -> EntityKind | None:
    """What kind of thing some words speak of, by their first noun that is known."""
    for word in re.findall(r"[a-z]+", words.lower())[:12]:
        if word in _PEOPLE:
            return "faction"
        for kind, nouns in KINDS_OF_NOUNS.items():
            if nouns.fullmatch(word) or (word.endswith("s") and nouns.fullmatch(word[:-1])):
                return kind
    return None


def _short_names(name: str) -> list[str]:
    """What somebody is called for short: the last word of a name that has several."""
    words = _key(name).split()
    return [words[-1]] if len(words) > 1 and len(words[-1]) > 2 and " of " not in name else []


def _ties(sentence: str, known: _Names) -> list[Content]:
    """What the plain patterns of tellings find: kin, ties, deeds, deaths."""
    line = ToldLine(ref="author", turn_id="", kind="narration", speaker_id="author", text=sentence, minute=0)
    found = extract_known([line], known.index, player="player")
    return [_always(one.content) for one in found if not isinstance(one.content, EntityContent)]


def _always(content: Content) -> Content:
    """What an author says is true without a beginning, and known to everybody."""
    update: dict[str, object] = {"since": None, "known_to": []}
    return content.model_copy(update={name: value for name, value in update.items() if hasattr(content, name)})


def _subject(sentence: str, names: Mapping[str, str]) -> str | None:
    """Who is named first in a sentence."""
    said = f" {_key(sentence)} "
    places = {said.find(f" {name}"): id for name, id in names.items() if len(name) > 2 and f" {name}" in said}
    return places[min(places)] if places else None


def _key(name: str) -> str:
    return re.sub(r"^the ", "", " ".join(name.split()).casefold())


def slug(name: str) -> str:
    """The id of something by its name."""
    return re.sub(r"[^a-z0-9]+", "-", _key(name)).strip("-")[:100]


def _predicate(verb: str) -> str:
    return re.sub(r"[^a-z0-9_]", "", verb.lower())[:60] or "do"


def _short(sentence: str) -> str:
    return sentence if len(sentence) <= LONGEST_OBJECT else f"{sentence[: LONGEST_OBJECT - 1].rstrip()}…"
