"""Decisions: how strongly each clause of a line means each way, and what follows from all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fabula.language.words import word_set
from fabula.story.readings import AskBack, Decision, Stay, TakeWay, Unclear
from fabula.understudy.reading.clauses import Clause, Line
from fabula.understudy.reading.deeds import SOURCES, Deed, content
from fabula.understudy.reading.lexicon import ADJECTIVES, CLASSES
from fabula.understudy.reading.ways import BETWEEN, SceneWays, Way

ENOUGH = 0.45
AHEAD = 0.08
MAYBE = 0.2
"""A way that the line only may mean: the player is asked."""
_ASK_ACTS = word_set("ask listen talk gossip")
_CRIMES = word_set(
    "steal take rob kill murder poison betray lie cheat hide do commit attack burn break cut plan have be sit stand"
)
_GUILT = word_set("thief culprit murderer killer traitor guilty criminal liar spy poisoner robber")


@dataclass(frozen=True, kw_only=True)
class Weight:
    """How strongly a clause means a way, or, with `against`, that it is not to be taken."""

    way: int
    value: float
    against: bool = False
    strong: bool = False
    yet: bool = False


def decide(line: Line, deeds: Sequence[Deed], scene: SceneWays) -> tuple[Decision, list[float]]:
    """What a line means for the ways of its scene, and how strongly it means each of them."""
    deeds = _with_antecedents(deeds, scene)
    weights = [
        weight
        for at, deed in enumerate(deeds)
        for place, way in enumerate(scene.ways)
        for weight in _lessened(_weights(deed, place, way, scene, line), deed, deeds[at + 1 : at + 2], way)
    ]
    scores = [
        max((w.value for w in weights if w.way == at and not w.against), default=0.0) for at in range(len(scene.ways))
    ]
    turned_down = [
        max((w.value for w in weights if w.way == at and w.against), default=0.0) for at in range(len(scene.ways))
    ]
    left = [0.0 if turned_down[at] and turned_down[at] >= score else score for at, score in enumerate(scores)]
    decision = _decided(left)
    if decision is None:
        decision = _contrary(weights, left, scene) or _maybe(left)
    if decision is None:
        decision = Unclear() if _means_nothing(line, deeds, scene) else Stay()
    return decision, [round(score, 2) for score in left]


def _lessened(weights: list[Weight], deed: Deed, following: Sequence[Deed], way: Way) -> list[Weight]:
    """To pick a thing up and look at it is to look at it: what follows says what it was picked up for."""
    after = following[0] if following else None
    if after is None or after.clause.joined != "and" or not after.pronoun or after.done & way.accepts:
        return weights
    if deed.clause.verb not in _PICKING or not after.classes:
        return weights
    return [replace(weight, value=min(weight.value, MAYBE)) for weight in weights]


_PICKING = word_set("pick take lift grab hold raise")


def _with_antecedents(deeds: Sequence[Deed], scene: SceneWays) -> list[Deed]:
    """Deeds on `it` or `there` are on what the clauses before them named last."""
    found: list[Deed] = []
    last: frozenset[str] = frozenset()
    own = frozenset(word for way in scene.ways for word in way.own)
    all_things = own.union(*(way.shared for way in scene.ways))
    for deed in deeds:
        points = deed.pronoun or {"there", "this", "that"} & set(deed.clause.words[-2:])
        if points and last and not content(deed.things):
            deed = replace(deed, things=(*deed.things, *sorted(last)), nouns=deed.nouns | last)
        named = deed.nouns & own
        handled = content(deed.things) - deed.said_in_phrase
        if named and not deed.clause.negated and not deed.clause.rejected:
            last = named
        elif (
            handled
            and not handled & all_things
            and deed.clause.subject in ("i", "order")
            and handled & set(deed.clause.words)
        ):
            last = handled
        found.append(deed)
    return found


def _decided(scores: list[float]) -> Decision | None:
    ranked = sorted(range(len(scores)), key=lambda at: -scores[at])
    if not ranked or scores[ranked[0]] < ENOUGH:
        return None
    close = [at for at in ranked if scores[ranked[0]] - scores[at] < AHEAD]
    return TakeWay(way=ranked[0]) if len(close) == 1 else AskBack(ways=sorted(close))


def _maybe(scores: list[float]) -> Decision | None:
    found = [at for at, score in enumerate(scores) if score >= MAYBE]
    return AskBack(ways=found) if found else None


def _contrary(weights: list[Weight], scores: list[float], scene: SceneWays) -> Decision | None:
    """To turn one of two contrary ways down is to take the other: who will not keep a secret betrays it."""
    down = [w for w in weights if w.against and w.strong and not w.yet and w.value >= 0.75]
    if len(scene.ways) != 2 or not down or any(score >= MAYBE for score in scores):
        return None
    if len({w.way for w in down}) != 1:
        return None
    refused, other = scene.ways[down[0].way], 1 - down[0].way
    contrary = any(CLASSES[name].opposite & scene.ways[other].classes for name in refused.classes)
    return TakeWay(way=other) if contrary else None


def _weights(deed: Deed, place: int, way: Way, scene: SceneWays, line: Line) -> list[Weight]:
    clause = deed.clause
    meant = _meant(clause, place, way)
    if meant is not None and not (way.going and clause.subject == "order" and _is_for_another(deed, line, way)):
        return [meant]
    if clause.idiom:
        return []
    if clause.mood == "question":
        return _asked(deed, place, way, scene)
    if clause.mood in ("past", "aside"):
        return []
    if clause.mood == "maybe":
        named = deed.nouns & way.own
        thought = clause.subject in ("i", "order") and named and not clause.negated and not deed.harmless
        return [Weight(way=place, value=MAYBE)] if thought and "if" not in clause.words else []
    if way.accuses:
        return _accused(deed, place, way, scene, line)
    if clause.subject in ("you", "third"):
        return _state(deed, place, way, scene)
    if clause.subject == "order" and _is_for_another(deed, line, way):
        return _state(deed, place, way, scene)
    if clause.verb_at is None:
        return _bare(deed, place, way, scene)
    return _acted(deed, place, way, scene)


def _meant(clause: Clause, place: int, way: Way) -> Weight | None:
    """Whether the clause has a phrase that the author gave the way; articles and adverbs may stand within it."""
    if way.means is None or clause.idiom or clause.mood not in ("act", "question"):
        return None
    told = [at for at, word in enumerate(clause.words) if word not in BETWEEN]
    for hit in way.means.hits([clause.lemmas[at] for at in told]):
        places = [told[at] for at in hit.places]
        if clause.mood == "question" and not way.knowing:
            continue
        denied = any(at < places[-1] for at in clause.negations - set(places))
        return Weight(way=place, value=0.97, against=clause.rejected or denied)
    return None


def _asked(deed: Deed, place: int, way: Way, scene: SceneWays) -> list[Weight]:
    """A question never moves, unless to know is what the way waits for and it asks about just that."""
    if deed.clause.negated and deed.clause.words[:1] != ("do",):
        return []
    if "if" in deed.clause.words or "would" in deed.clause.words:
        return []
    if "answer" in way.classes and "answer" in deed.by_phrase:
        return [Weight(way=place, value=0.8)]
    if not way.knowing:
        return []
    about = deed.nouns & ((way.own - way.people) | way.shared)
    if about or deed.by_phrase & {"listen", "gossip"}:
        return [Weight(way=place, value=0.9)]
    return []


def _is_for_another(deed: Deed, line: Line, way: Way) -> bool:
    """Whether an order is for somebody else to carry out."""
    clause = deed.clause
    if {"yourself", "yourselves"} & set(clause.words):
        return True
    if deed.to_me and clause.verb in _FOR_ME:
        return False
    return deed.to_me or (clause.told and not (deed.classes & _SAID_TO_ME))


_SAID_TO_ME = word_set("give take")
_FOR_ME = word_set("give hand pass show tell take bring lead let lend explain read translate teach guide carry deal")


def _state(deed: Deed, place: int, way: Way, scene: SceneWays) -> list[Weight]:
    """What others are said or told to do matters only where it changes the world as the way does, or is itself said."""
    found: list[Weight] = []
    for classes, against in ((deed.done, False), (deed.denied, True)):
        said = {name for name in classes & deed.by_phrase & way.accepts if CLASSES[name].said}
        state = (
            {name for name in classes & way.accepts if CLASSES[name].state}
            if deed.clause.subject == "order" or deed.by_phrase & classes
            else set()
        )
        if "persuade" in way.classes and deed.clause.subject == "order" and classes & (way.accepts | way.classes):
            state |= classes & way.accepts
        fits = said | state
        if not fits:
            continue
        value = _by_things(deed, way, scene, frozenset(fits))
        if value:
            found.append(_weight(deed, place, way, value, frozenset(fits), against=against))
    return found


def _weight(deed: Deed, place: int, way: Way, value: float, fits: frozenset[str], *, against: bool) -> Weight:
    return Weight(way=place, value=value, against=against, strong=bool(fits & way.classes), yet=deed.clause.yet)


def _accused(deed: Deed, place: int, way: Way, scene: SceneWays, line: Line) -> list[Weight]:
    """Who is named as the one who did it: by `I accuse`, by a sentence that says so, or by the name alone."""
    clause = deed.clause
    person = next(one for one in scene.people if one.id == way.accuses)
    others = frozenset(word for one in scene.people if one.id != way.accuses for word in one.words)
    named = deed.nouns & (person.words - others)
    against = clause.negated or clause.rejected
    if clause.subject == "i":
        fits = bool(deed.classes & {"accuse", "name", "choose"}) and bool(
            frozenset(deed.things) & person.words or (named and not content(deed.things))
        )
        if fits and "accuse" not in deed.classes and content(deed.things) - person.words - others:
            return []
        if fits and content(deed.things) - person.words - {"thief", "culprit"} - ADJECTIVES:
            return []
        return [Weight(way=place, value=1.0, against=against)] if fits else []
    if clause.subject == "none" or clause.verb_at is None:
        bare = named and not (content(tuple(deed.nouns)) - person.words)
        return [Weight(way=place, value=0.8, against=against)] if bare else []
    if clause.subject == "you":
        named = line.spoken_to & person.words
    if clause.subject in ("third", "you") and _says_guilt(deed, bool(named), person.words):
        return [Weight(way=place, value=0.95, against=against)]
    return []


def _says_guilt(deed: Deed, named: bool, words: frozenset[str]) -> bool:
    clause = deed.clause
    if not named:
        return False
    verb = clause.verb
    if "absolve" in deed.done or "innocent" in clause.words:
        return False
    if deed.nouns & _GUILT and verb in _CRIMES:
        return True
    if clause.words[0] in ("it", "that") and verb == "be" and deed.nouns & words:
        return True
    if verb in ("steal", "rob", "kill", "murder", "poison") and (deed.subject_nouns & words or clause.subject == "you"):
        return True
    if clause.subject == "you" and {"stolen", "killed", "murdered", "poisoned"} & set(clause.words):
        return True
    did = {"did", "done"} & set(clause.words) or (verb in ("take",) and (deed.things or deed.pronoun))
    has = verb == "have" and bool(deed.things) and clause.subject == "third" and deed.subject_nouns & words
    return bool((did or has) and (deed.subject_nouns & words or (clause.subject == "you" and verb != "have")))


def _bare(deed: Deed, place: int, way: Way, scene: SceneWays) -> list[Weight]:
    """Words without a verb: `the inn`, `truly`, `lamp off`."""
    clause = deed.clause
    against = clause.negated or clause.rejected
    fits = (deed.done | deed.denied) & deed.by_phrase & way.accepts
    if fits:
        value = _by_things(deed, way, scene, fits)
        if value:
            return [Weight(way=place, value=value, against=bool(deed.denied & fits), strong=True)]
    if deed.manner & way.own_manner and len(clause.words) <= 4:
        return [Weight(way=place, value=0.8, against=against)]
    named = content(tuple(deed.nouns))
    things = frozenset(deed.nouns)
    if things and things <= way.near and len(clause.words) <= 3:
        return [Weight(way=place, value=0.5, against=against)]
    if not things & way.own or len(clause.words) > 10:
        return []
    if named <= way.own | way.shared:
        return [Weight(way=place, value=0.7, against=against)]
    return (
        [Weight(way=place, value=MAYBE, against=against)]
        if len(named - way.own - way.shared) == 1 and len(clause.words) <= 4 and not against
        else []
    )


def _acted(deed: Deed, place: int, way: Way, scene: SceneWays) -> list[Weight]:
    """What the player does, or orders without saying whom."""
    found: list[Weight] = []
    for classes, against in ((deed.done, False), (deed.denied, True)):
        fits = classes & way.accepts
        if not fits and deed.clause.verb in way.verbs and (not deed.by_phrase) and bool(deed.denied) == against:
            fits = frozenset({"_verb"})
        if not fits:
            continue
        if scene_manner(scene) and not deed.manner & way.own_manner and not fits & way.distinct:
            value = (
                MAYBE
                if not deed.manner and not deed.harmless and not _misses(deed, way) and not _chosen(deed, scene)
                else 0.0
            )
        elif way.own_manner and deed.manner & way.own_manner:
            value = 1.0 if not _misses(deed, way) else 0.0
        else:
            value = _by_things(deed, way, scene, fits)
        if value:
            found.append(_weight(deed, place, way, value, fits, against=against))
    if _is_opposite(deed, way):
        found.append(Weight(way=place, value=0.8, against=True))
    if found:
        return found
    return _perhaps(deed, place, way)


def _is_opposite(deed: Deed, way: Way) -> bool:
    """Whether what is done is the opposite of the way: who says no does not accept."""
    against = frozenset().union(*(CLASSES[name].opposite for name in deed.done & deed.by_phrase))
    return bool(against & way.classes) and not deed.done & deed.by_phrase & way.classes


def scene_manner(scene: SceneWays) -> bool:
    return all(way.own_manner for way in scene.ways)


def _chosen(deed: Deed, scene: SceneWays) -> bool:
    """Whether the act has the manner of some way by what it is."""
    return any(deed.classes & way.distinct for way in scene.ways)


def _misses(deed: Deed, way: Way) -> bool:
    """Whether the act is on something that the way is not about."""
    named = content(deed.things) - deed.said_in_phrase
    return bool(named) and not frozenset(deed.things) & (way.own | way.shared)


def _by_things(deed: Deed, way: Way, scene: SceneWays, fits: frozenset[str]) -> float:
    things = frozenset(deed.things)
    behind = frozenset(noun for prep, nouns in deed.places if prep not in SOURCES for noun in nouns)
    distinct = bool(fits & way.distinct) or fits == {"_verb"}
    alone = way.own | way.shared
    if things & way.own and not _only_described(things & way.own, deed):
        return 1.0
    if way.going and behind & way.own:
        return 0.9
    if way.going and behind & way.near:
        return 0.7
    if way.going and not content(deed.things) and frozenset(deed.clause.words) & way.directions:
        return 0.8
    if things & way.shared:
        return 0.9 if distinct else 0.5
    said = {name for name in fits & deed.by_phrase if CLASSES[name].said}
    if _misses(deed, way) and not said:
        return _by_neighbours(deed, way, scene, fits, distinct, behind)
    if deed.pronoun:
        return 0.75 if distinct else 0.4
    if behind & way.own:
        return 0.85 if distinct else 0.5
    if all(name != "_verb" and CLASSES[name].harmless for name in fits):
        return 0.0
    if fits & deed.by_phrase:
        only_going = all(CLASSES[name].intent == "go" for name in fits)
        return (0.0 if only_going and way.going and not distinct else 0.75) if distinct else 0.4
    if all(name == "_verb" or CLASSES[name].intent == "go" for name in fits) and not fits & {"flee"}:
        return 0.0
    return ENOUGH if distinct and not alone & frozenset() else MAYBE


def _by_neighbours(
    deed: Deed, way: Way, scene: SceneWays, fits: frozenset[str], distinct: bool, behind: frozenset[str]
) -> float:
    """The act is on something else: it counts if the scene names it in one breath with what the way is about."""
    things = frozenset(deed.things)
    if "search" in fits & way.classes:
        return 0.9 if behind & way.own else 0.6 if things & scene.seen else 0.0
    if things & way.near or (things & way.shared_near and fits & way.distinct):
        return 0.6
    return 0.6 if behind & way.own and fits & deed.by_phrase and distinct else 0.0


def _only_described(found: frozenset[str], deed: Deed) -> bool:
    """Whether only an adjective fits: `the red cup` is not the red ink."""
    return all(noun in ADJECTIVES for noun in found) and bool(content(deed.things) - found)


def _perhaps(deed: Deed, place: int, way: Way) -> list[Weight]:
    """A thing of the way, and an act that no lexicon fits to it: worth a question, if the act is not a mere look."""
    clause = deed.clause
    if (
        clause.verb in ("leave", "keep", "spare", "ignore", "forget")
        or deed.harmless
        or clause.negated
        or clause.rejected
        or (deed.clause.told and clause.subject == "order")
    ):
        return []
    if frozenset(deed.things) & (way.own - way.people) - ADJECTIVES and clause.verb not in ("be", "have"):
        return [Weight(way=place, value=MAYBE)]
    return []


def _means_nothing(line: Line, deeds: Sequence[Deed], scene: SceneWays) -> bool:
    """Whether no clause has a subject, an act or a word of the story."""
    return (
        bool(deeds)
        and all(_is_nothing(deed, scene) for deed in deeds)
        and not line.spoken_to
        and not line.yes
        and not line.no
    )


def _is_nothing(deed: Deed, scene: SceneWays) -> bool:
    clause = deed.clause
    if clause.mood == "question" or clause.subject in ("i", "you", "third") or deed.classes:
        return False
    return not deed.nouns & (scene.story | scene.names) and not (frozenset(clause.words) & _TALKED)


_TALKED = word_set(
    "hello hi hey good thanks thank welcome goodbye bye please sorry yes no help wait morning evening night greetings"
)
