"""What each way on means: the acts that open it, and the things, people and manners that it is about.

Read from the scene's goal, from what the way's condition waits for, from where it leads, from the words of the lore,
and from what its author says that it means. Made once for a scene and kept.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Final

from fabula.language.words import word_set
from fabula.story.graph import Comparison
from fabula.story.values import Json
from fabula.understudy.reading.clauses import read_clauses
from fabula.understudy.reading.deeds import content, deed_of, manners_in, nouns_in
from fabula.understudy.reading.lexicon import (
    ADJECTIVES,
    CLASSES,
    CLASSES_OF,
    MANNER_ACTS,
    NEUTRAL,
    PERSONS,
    PREPOSITIONS,
    STATES,
    SYNONYMS,
    Phrase,
    PhraseBook,
    phrase,
)
from fabula.understudy.reading.rewrites import plain_line, plain_wish
from fabula.understudy.reading.words import SMALL, is_past_form, is_verb, noun_of, verb_of

MOST_PARTS: Final = 100
"""So many parts of a goal are shared out among the ways."""
MOST_NEAR: Final = 200
MOST_FROM_LORE: Final = 500
"""So many words are near to a way, and from the lore: each way has its own, so that all have as often as many."""
MOST_KEPT: Final = 50_000
_OF_A_WAY: Final = 1_000

_NEXT_ACT = re.compile(rf",\s*(?:and\s+)?|(?<!\s)\s+and\s+(?=(?:{'|'.join(sorted(CLASSES_OF))})\b)")
BETWEEN = word_set(
    "the a an this that these those just very really so my your his her their its our please only quite all"
)
"""Small words that may stand between those of a phrase that an author gave a way."""
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)?|'s")
_GOING = word_set("go enter leave climb descend cross approach follow visit sail ride fly board flee steer")
_ASKED = word_set("ask")
_HELPING = word_set("help assist aid")
_KNOWING = word_set("heard known learned learnt asked told understood discovered")
_ACCUSING = word_set("thief culprit murderer killer traitor guilty accused suspect criminal liar spy poisoner")
_BARE_VERBS = word_set("go come be keep let make do have get become mean need")
DIRECTIONS = word_set(
    "up down left right north south east west inside outside back over across upstairs downstairs aboard home ashore "
    "below underground ahead forward onward"
)
_TALKING = word_set("ask tell talk listen say gossip persuade")
_ANY_PLACE = word_set("door room house hall place street road gate wagon court box")
_COLOURS = word_set("black white red green blue yellow grey gray brown golden silver pink purple orange crimson")
_PLAIN_KEYS = word_set(
    "part settled begun started finished choice plan decision visit answer state status next action done first"
)


@dataclass(frozen=True, kw_only=True)
class Person:
    """Somebody of the story, and the words that name them."""

    id: str
    words: frozenset[str]
    here: bool = True


@dataclass(frozen=True, kw_only=True)
class WayText:
    """A way on as the story has it: where it leads, what its condition compares, and what its author says it means."""

    to: str
    title: str
    tests: tuple[tuple[str, str, str], ...]
    people: tuple[str, ...] = ()
    means: tuple[str, ...] = ()
    ending: bool = False


@dataclass(frozen=True, kw_only=True)
class SceneText:
    """All words of a scene that a line is read against; a value that can be kept by."""

    node_id: str
    title: str
    scene: str
    goal: str
    ways: tuple[WayText, ...]
    people: tuple[Person, ...] = ()
    lore: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def weight(self) -> int:
        """About what it takes to read this scene, and to read a line in it: each way is held against all of it."""
        return len(self.ways) * (_OF_A_WAY + len(self.scene) + len(self.goal))

    @property
    def is_light(self) -> bool:
        return self.weight <= MOST_KEPT

    @cached_property
    def read_ways(self) -> SceneWays:
        """What its ways mean. What is dear to read is kept with the scene alone, as it is large, too."""
        return _read_and_kept(self) if self.is_light else _read(self)


@dataclass(frozen=True, kw_only=True)
class Way:
    """What a way on means. `own` are things that no other way of the scene is about, `shared` those of several.

    `elsewhere` are the words for people whom it leads to, `asked` those of what it asks after; `on_person` says that it
    is done to `him` or `her`. `accepts` are the classes of acts that take it, `distinct` those that take no other way.
    """

    classes: frozenset[str] = frozenset()
    verbs: frozenset[str] = frozenset()
    things: frozenset[str] = frozenset()
    wider: frozenset[str] = frozenset()
    near: frozenset[str] = frozenset()
    people: frozenset[str] = frozenset()
    manner: frozenset[str] = frozenset()
    means: PhraseBook | None = None
    going: bool = False
    knowing: bool = False
    ending: bool = False
    accuses: str = ""
    accepts: frozenset[str] = frozenset()
    distinct: frozenset[str] = frozenset()
    shared_near: frozenset[str] = frozenset()
    own: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()
    own_manner: frozenset[str] = frozenset()
    directions: frozenset[str] = frozenset()
    elsewhere: frozenset[str] = frozenset()
    on_person: bool = False
    asked: frozenset[str] = frozenset()
    label: str = ""
    named: frozenset[str] = frozenset()


@dataclass(frozen=True, kw_only=True)
class SceneWays:
    """The ways of a scene, and the words that a line in it may use."""

    ways: tuple[Way, ...]
    names: frozenset[str]
    story: frozenset[str]
    things: frozenset[str]
    seen: frozenset[str]
    people: tuple[Person, ...]

    # A scene is read once, and every line that is said in it asks for these.

    @cached_property
    def own(self) -> frozenset[str]:
        """What any of the ways is about."""
        return frozenset(word for way in self.ways for word in way.own)

    @cached_property
    def own_and_shared(self) -> frozenset[str]:
        return self.own.union(*(way.shared for way in self.ways))

    @cached_property
    def own_manners(self) -> frozenset[str]:
        return frozenset(name for way in self.ways for name in way.own_manner)

    @cached_property
    def told_apart_by_manner(self) -> bool:
        return all(way.own_manner for way in self.ways)

    @cached_property
    def distinct(self) -> frozenset[str]:
        """The classes of acts that take one way and no other."""
        return frozenset(name for way in self.ways for name in way.distinct)

    @cached_property
    def verbs_of_one(self) -> frozenset[str]:
        """Verbs that just one of the ways has."""
        return _in_one(way.verbs for way in self.ways)

    @cached_property
    def words_here(self) -> frozenset[str]:
        """The words for those who are in the scene."""
        return frozenset(word for one in self.people if one.here for word in one.words)

    @cached_property
    def people_by_id(self) -> Mapping[str, Person]:
        return {one.id: one for one in reversed(self.people)}

    @cached_property
    def words_of_one(self) -> frozenset[str]:
        """Words that name just one person."""
        return _in_one(one.words for one in self.people)

    @cached_property
    def names_of_nouns(self) -> Mapping[str, str]:
        """Names by how a noun of them is written in a dictionary."""
        return {noun_of(name): name for name in self.names}


def ways_of(scene: SceneText) -> SceneWays:
    """What the ways of a scene mean."""
    return scene.read_ways


def _read(scene: SceneText) -> SceneWays:
    index = _SceneIndex(scene)
    keys = [_of_tests(way) for way in scene.ways]
    told = _alternatives(scene, keys, index.names)
    ways = _set_apart([_way(scene, way, keys[place], told[place], index) for place, way in enumerate(scene.ways)])
    story = frozenset(_words(f"{scene.title} {scene.scene} {scene.goal}")) - SMALL
    story |= frozenset(word for way in ways for word in way.things | way.wider)
    seen = frozenset(noun for noun in map(noun_of, _words(scene.scene)) if noun not in SMALL and noun not in NEUTRAL)
    story |= frozenset(word for title, keywords in scene.lore for text in (title, *keywords) for word in _words(text))
    things = frozenset(word for way in ways for word in way.things)
    return SceneWays(ways=tuple(ways), names=index.names, story=story, things=things, seen=seen, people=scene.people)


_read_and_kept = lru_cache(maxsize=256)(_read)


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text.lower().replace("’", "'").replace("'s", " 's")) if word != "'s"]


# -- the goal, shared out among the ways ------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Told:
    """A part of a goal: its text, and the acts and things in it."""

    text: str
    classes: frozenset[str] = frozenset()
    verbs: frozenset[str] = frozenset()
    things: frozenset[str] = frozenset()


def _alternatives(scene: SceneText, keys: Sequence[_Key], names: frozenset[str]) -> list[list[_Told]]:
    """For each way the parts of the goal that are about it."""
    goal = re.sub(r"^(?:choose|decide)\b(?::\s*|[^,:]*,\s*)", "", scene.goal.strip().rstrip(".!").lower())
    parts = [part for part in re.split(r",?\s+or\s+(?:else\s+)?|;\s*", goal) if part.strip()]
    if len(parts) < len(scene.ways):
        parts = [piece for part in parts for piece in re.split(r",\s*", part) if piece.strip()]
    told = _with_borrowed_verbs([_told(part, names) for part in parts[:MOST_PARTS]])
    if len(scene.ways) == 1:
        return [_of_one_way(keys[0], told, names)]
    if len(told) < 2:
        return [list(told) for _ in scene.ways]
    return _shared_out(scene, keys, told)


_SUBORDINATE = re.compile(r"(?<=\b)(?<!ask )(?:what|where|how|why) (?:you|they|we)\b.*")
"""In a goal, `what you heard` says what is told, not that somebody listens."""


def _told(text: str, names: frozenset[str]) -> _Told:
    line = read_clauses(_SUBORDINATE.sub("", text), frozenset(), names, frozenset())
    deeds = [deed_of(clause) for clause in line.clauses if clause.mood != "aside"]
    verbs = frozenset(deed.clause.verb for deed in deeds if deed.clause.verb)
    nouns = frozenset(noun for deed in deeds for noun in content(_named(deed.clause.words))) - verbs
    classes = frozenset().union(*(deed.done for deed in deeds)) if deeds else frozenset()
    if not verbs and re.match(
        r"(?:up|down|over|back|out|off|at|to|into|in|on|inside|outside|towards?)\b", text.strip()
    ):
        classes |= {"go"}
    return _Told(text=text, classes=classes, verbs=verbs, things=nouns)


def _named(words: tuple[str, ...]) -> tuple[str, ...]:
    """The nouns of a goal: what follows `to` and can be a verb is one."""
    kept = tuple(word for place, word in enumerate(words) if not (place and words[place - 1] == "to" and is_verb(word)))
    return tuple(noun for noun in nouns_in(kept) if noun not in _BARE_VERBS)


def _with_borrowed_verbs(told: list[_Told]) -> list[_Told]:
    """`set a course for Earth or for Titan`: the second part has the verb of the first."""
    found: list[_Told] = []
    for one in told:
        if not one.verbs and found and found[-1].verbs and not {"go"} & one.classes - found[-1].classes:
            one = replace(one, verbs=found[-1].verbs, classes=one.classes | found[-1].classes)
        elif not one.verbs and found and found[-1].verbs:
            one = replace(one, verbs=found[-1].verbs, classes=found[-1].classes)
        found.append(one)
    return found


def _of_one_way(key: _Key, told: list[_Told], names: frozenset[str]) -> list[_Told]:
    """The clauses of the goal that are about the one way: others say what else may be done meanwhile."""
    parts = [part for one in told for part in _NEXT_ACT.split(one.text) if part.strip()]
    clauses = [_told(part, names) for part in parts[:MOST_PARTS]]
    close = [one for one in clauses if one.things & key.things or one.verbs & key.verbs or one.classes & key.classes]
    if key.knowing:
        close += [one for one in clauses if one.classes & {"ask", "listen", "talk"} and one not in close]
    close = close or clauses[:1]
    wider = frozenset().union(*(CLASSES[name].accepts for one in close for name in one.classes))
    return close + [one for one in clauses if one not in close and one.classes & wider - _TALKING]


def _shared_out(scene: SceneText, keys: Sequence[_Key], told: list[_Told]) -> list[list[_Told]]:
    """Each way takes the part that fits it best; the last way left takes the last part left."""
    titles = [frozenset(map(noun_of, _words(way.title))) - NEUTRAL for way in scene.ways]
    values = [_wide(key.value_things) for key in keys]
    scores = sorted(
        (
            (
                3 * len(part.things & values[w])
                + 2 * len(part.verbs & key.verbs)
                + len(part.things & key.things)
                + bool(part.classes & key.classes)
                + len(part.things & titles[w]),
                -w,
                -p,
            )
            for w, key in enumerate(keys)
            for p, part in enumerate(told)
        ),
        reverse=True,
    )
    taken: dict[int, list[_Told]] = {}
    used: set[int] = set()
    for score, w, p in scores:
        if score > 0 and -w not in taken and -p not in used:
            taken[-w] = [told[-p]]
            used.add(-p)
    left_ways = [w for w in range(len(keys)) if w not in taken]
    left_parts = [p for p in range(len(told)) if p not in used]
    if len(left_ways) == 1 and left_parts:
        taken[left_ways[0]] = [told[p] for p in left_parts]
        left_parts = []
    for w, p in zip(left_ways, left_parts, strict=False):
        taken.setdefault(w, [told[p]])
    return [taken.get(w, []) for w in range(len(keys))]


# -- the condition ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class _Key:
    classes: frozenset[str]
    states: frozenset[str]
    verbs: frozenset[str]
    things: frozenset[str]
    value_things: frozenset[str]
    knowing: bool


def _of_tests(way: WayText) -> _Key:
    """What the condition of a way speaks of: participles are acts, other words are things."""
    classes: set[str] = set()
    states: set[str] = set()
    verbs: set[str] = set()
    things: set[str] = set()
    values: set[str] = set()
    knowing = False
    for key, value, kind in way.tests:
        key_words = [
            word for word in _words(key.replace("_", " ").replace("-", " ")) if word not in SMALL | _PLAIN_KEYS
        ]
        value_words = [word for word in _words(value) if word not in SMALL or word in STATES] if kind == "text" else []
        knowing = knowing or bool(_KNOWING & set(key_words))
        for word in key_words + value_words:
            # `on` says how a thing is; in `on the glass` it only says where.
            if word not in SMALL or len(value_words) < 2:
                states |= STATES.get(word, frozenset()) - (_ASKED if word in value_words else frozenset())
            if (is_past_form(word) and verb_of(word) != word) or (
                word.endswith("s")
                and kind == "text"
                and verb_of(word) in CLASSES_OF
                and word in value_words[:1]
                and len(value_words) > 1
            ):
                verbs.add(verb_of(word))
                classes |= CLASSES_OF.get(verb_of(word), frozenset())
            elif word == "read" or (
                word in value_words
                and word not in SYNONYMS
                and verb_of(word) == word
                and word in CLASSES_OF
                and len(value_words) > 1
            ):
                verbs.add(word)
                classes |= CLASSES_OF.get(word, frozenset())
            elif word not in STATES and word not in NEUTRAL:
                (values if word in value_words else things).add(noun_of(word))
    return _Key(
        classes=frozenset(classes | states),
        states=frozenset(states),
        verbs=frozenset(verbs),
        things=frozenset(things | values),
        value_things=frozenset(values),
        knowing=knowing,
    )


# -- what the scene says ----------------------------------------------------------------------------------------------


_SCENE_PARTS = re.compile(
    r"(?<=[.!?;])\s+|;\s*|,\s+(?=(?:where|and|but|the|a|on|to|in|at|behind|under|over|above|below|beside|from)\b)"
)


class _SceneIndex:
    """A scene, its people and its lore by their words: read once, since each way asks for them."""

    def __init__(self, scene: SceneText) -> None:
        self.goal_words = frozenset(_words(scene.goal))
        self.people: defaultdict[str, list[Person]] = defaultdict(list)
        self._people_called: defaultdict[str, list[Person]] = defaultdict(list)
        for person in scene.people:
            self.people[person.id].append(person)
            for word in person.words:
                self._people_called[word].append(person)
        self.names = frozenset(self._people_called)
        self._also_called: dict[str, frozenset[str]] = {}
        self._nouns: list[list[str]] = []
        self._sentences: defaultdict[str, list[int]] = defaultdict(list)
        for place, sentence in enumerate(_SCENE_PARTS.split(scene.scene.lower())):
            words = _words(sentence)
            nouns = dict.fromkeys(map(noun_of, words))
            self._nouns.append([noun for noun in nouns if _is_there(noun)])
            for word in nouns.keys() | set(map(verb_of, words)):
                self._sentences[word].append(place)
        self._lore: list[tuple[frozenset[str], frozenset[str], tuple[str, ...]]] = []
        self._lore_named: defaultdict[str, list[int]] = defaultdict(list)
        for title, keywords in scene.lore:
            self._add_lore(title, keywords)

    def _add_lore(self, title: str, keywords: tuple[str, ...]) -> None:
        opening = _words(title.split(",")[0])
        named = frozenset(noun_of(word) for word in opening if word not in SMALL and not is_past_form(word)) - NEUTRAL
        needed = named - _COLOURS - ADJECTIVES
        # All that is needed must be there, so that one word of it is enough to find the entry by.
        for word in [min(needed)] if needed else named:
            self._lore_named[word].append(len(self._lore))
        self._lore.append((named, needed, keywords))

    def near(self, words: frozenset[str]) -> frozenset[str]:
        """What the scene names in one breath with what a way is about: the yellow window of the inn."""
        places = sorted({place for word in words for place in self._sentences.get(word, ())})
        found: set[str] = set()
        for place in places:
            found.update(self._nouns[place][: MOST_NEAR - len(found)])
        return frozenset(found)

    def from_lore(self, things: frozenset[str]) -> frozenset[str]:
        """Keywords of the entries whose title names just these things."""
        found: set[str] = set()
        for place in sorted({place for thing in things for place in self._lore_named.get(thing, ())}):
            named, needed, keywords = self._lore[place]
            if len(found) < MOST_FROM_LORE and needed <= things and named & things:
                plain = (keyword for keyword in keywords if " " not in keyword)
                words = [noun_of(word) for keyword in plain for word in _words(keyword)]
                found.update(words[: MOST_FROM_LORE - len(found)])
        return frozenset(found)

    def called(self, things: frozenset[str]) -> frozenset[str]:
        """What else the people are called that a way names."""
        return frozenset().union(*map(self._called, things & self.names))

    def _called(self, name: str) -> frozenset[str]:
        if name not in self._also_called:
            self._also_called[name] = frozenset(word for one in self._people_called[name] for word in one.words)
        return self._also_called[name]

    def person_of(self, way: WayText) -> Person | None:
        """The person that is the value of the condition, if it names one."""
        values = {word for _, value, kind in way.tests if kind == "text" for word in _words(value) if word not in SMALL}
        known = self._people_called.get(min(values), ()) if values else ()
        return next((person for person in known if values <= person.words), None)


def _is_there(noun: str) -> bool:
    """Whether a noun of a scene says what is there, or where."""
    plain = noun not in SMALL and noun not in NEUTRAL and (noun in SYNONYMS or not is_verb(noun))
    return noun in DIRECTIONS or plain


# -- a way ------------------------------------------------------------------------------------------------------------


def _way(scene: SceneText, text: WayText, key: _Key, told: Sequence[_Told], index: _SceneIndex) -> Way:
    told_classes = frozenset().union(*(one.classes for one in told))
    classes = told_classes | key.classes
    verbs = key.verbs.union(*(one.verbs for one in told))
    things = frozenset(noun for noun in key.things.union(*(one.things for one in told)) if noun not in NEUTRAL)
    many = len(scene.ways) > 1
    person = index.person_of(text)
    if person is not None and many:
        things |= person.words
        if _ACCUSING & index.goal_words or _ACCUSING & frozenset(_words(text.tests[0][0].replace("_", " "))):
            classes |= {"accuse"}
    if verbs & _HELPING and "trust" not in key.states and "trust" not in things:
        classes -= {"trust"}
    if not classes and not verbs:
        classes = frozenset({"go", "choose"})
    going = bool(classes & _GOING)
    if classes & {"accept", "agree"}:
        classes = classes.union(*(CLASSES_OF.get(thing, frozenset()) for thing in things))
    elsewhere = frozenset[str]()
    wider = _wide(things) | index.from_lore(things)
    if going:
        title = frozenset(noun_of(word) for word in _words(text.title) if word not in SMALL and word not in NEUTRAL)
        wider |= _wide((title - _ANY_PLACE) or title)
        elsewhere = frozenset(
            word for id in text.people for one in index.people.get(id, ()) if not one.here for word in one.words
        )
        wider |= elsewhere
    manner = manners_in(tuple(word for _, value, _ in text.tests for word in _words(value)))
    manner |= manners_in(tuple(word for one in told for word in _words(one.text)))
    classes = classes.union(*(MANNER_ACTS.get(name, frozenset()) for name in manner))
    near = (index.near(things | (verbs - _BARE_VERBS)) | index.called(things)) - things - wider
    said = frozenset(word for one in told for word in _words(one.text))
    return Way(
        classes=classes,
        verbs=verbs,
        things=things,
        wider=(wider - things) - NEUTRAL,
        people=things & index.names,
        manner=manner,
        means=_means(text.means, index.names),
        near=near,
        going=going,
        elsewhere=elsewhere,
        knowing=key.knowing,
        ending=text.ending,
        directions=DIRECTIONS & (said | near),
        on_person=bool(said & _PERSON_PRONOUNS),
        asked=_asked_after(told),
        accuses=person.id if person is not None and "accuse" in classes else "",
        label=_label(scene, text, told, person),
        named=frozenset(map(noun_of, _words(text.title))) - SMALL,
    )


def _label(scene: SceneText, way: WayText, told: Sequence[_Told], person: Person | None) -> str:
    """What a way is called when the player is asked about it: its part of the goal, with its capitals."""
    texts = [text for _, text, kind in way.tests if kind == "text"]
    if len(scene.ways) > 1 and told and sum(1 for one in told) and _is_of_all(scene, told):
        part = texts[0] if texts else way.title
        return f"to name {part}" if person is not None else part
    if not told:
        return texts[0] if texts else way.title
    at = scene.goal.lower().find(told[0].text.strip())
    part = scene.goal[at : at + len(told[0].text.strip())] if at >= 0 else told[0].text
    part = part.strip().rstrip(".!")
    if told[0].verbs and told[0].text.split()[0] in told[0].verbs:
        return f"to {part[0].lower()}{part[1:]}"
    if "go" in told[0].classes:
        return "to go " + re.sub(r"\b(?:at|in|on)\b", "to", part, count=1)
    return part


def _is_of_all(scene: SceneText, told: Sequence[_Told]) -> bool:
    """Whether the goal says the same of all ways."""
    goal = scene.goal.lower()
    return len(told) == 1 and told[0].text.strip().rstrip(".") == goal.strip().rstrip(".!")


_PERSON_PRONOUNS = word_set("him her them")
_ASKS_AFTER = re.compile(r"\b(?:ask|find out|learn|hear)\b.*?\b(?:why|how|who|what|where|when|whether|if|about)\b(.*)")


def _asked_after(told: Sequence[_Told]) -> frozenset[str]:
    """What is asked in a goal, as a dictionary has its words: `why he eats people` is about eating and people."""
    asked = " ".join(found[1] for one in told if (found := _ASKS_AFTER.search(one.text)))
    words = [word for word in _words(asked) if word not in SMALL and word not in NEUTRAL]
    return frozenset(form for word in words for form in (verb_of(word), noun_of(word))) - _BARE_VERBS


def _means(means: Iterable[str], names: frozenset[str]) -> PhraseBook | None:
    """What the author says that a way means, as phrases: small words may stand between the others."""
    phrases = [_loose(text) for text in means]
    return PhraseBook(one for one in phrases if one.needs) if phrases else None


def _loose(text: str) -> Phrase:
    """The phrase without its small words; nothing where one of them was the point: `look at that`."""
    every = _words(plain_wish(plain_line(text)))
    kept = [word for word in every if word not in BETWEEN]
    dangles = 0 < len(kept) < 3 and kept[-1] in PREPOSITIONS and every[-1] in BETWEEN
    return phrase("" if dangles else " ".join(kept), "means")


def _wide(things: frozenset[str]) -> frozenset[str]:
    return things.union(*(map(noun_of, SYNONYMS.get(thing, ())) for thing in things)) if things else things


def _set_apart(ways: list[Way]) -> list[Way]:
    """Each way with what is its own among the others."""
    accepted = [way.classes.union(*(CLASSES[name].accepts for name in way.classes)) for way in ways]
    if len(ways) > 1:
        accepted = [classes | {"choose"} for classes in accepted]
    # Words are counted once for all ways: what one of them has by itself is its own.
    things = _in_one(way.things for way in ways)
    wide = _in_one(way.things | way.wider for way in ways)
    near = _in_one(way.near | way.things | way.wider for way in ways)
    distinct = _in_one(accepted)
    directions = _in_one(way.directions for way in ways)
    manner = _in_one(way.manner for way in ways)
    found: list[Way] = []
    for place, way in enumerate(ways):
        own = (way.things & things) | (way.wider & wide)
        found.append(
            replace(
                way,
                accepts=accepted[place],
                distinct=accepted[place] & distinct,
                own=own,
                shared=(way.things | way.wider) - own,
                near=way.near & near,
                shared_near=way.near,
                directions=way.directions & directions,
                own_manner=way.manner & manner,
            )
        )
    return found


def _in_one(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    """What just one of these has."""
    counted = Counter(word for one in sets for word in one)
    return frozenset(word for word, count in counted.items() if count == 1)


def test_of(comparison: Comparison) -> tuple[str, str, str]:
    """What is compared, with what, and whether that is a text."""
    value: Json = comparison.value
    return comparison.key, value if isinstance(value, str) else "", "text" if isinstance(value, str) else "other"


def words_for(name: str, personality: str) -> frozenset[str]:
    """The words that name a person: parts of the name, and the role that the personality begins with."""
    named = [word for word in _words(name) if len(word) > 2 and word not in SMALL]
    opening = re.split(r"[,.;:(]| who | that | with ", personality.strip().lower())[0]
    role = re.match(r"(?:the|a|an)\s+((?:[\w'-]+\s+){0,3}?[\w'-]+)(?:\s+of\b.*)?$", opening)
    roles = role[1].split()[-1:] if role else []
    found = {*named, *roles}
    for word in list(found):
        if word in PERSONS or word in roles:
            found |= SYNONYMS.get(word, frozenset())
    found |= set(map(noun_of, found))
    return frozenset(word for word in found if word not in ("old", "young"))
