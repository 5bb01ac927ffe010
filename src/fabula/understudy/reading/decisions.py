"""Decisions: how strongly each clause of a line means each way, and what follows from all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from fabula.language.words import word_set
from fabula.story.readings import AskBack, Decision, Stay, TakeWay, Unclear
from fabula.understudy.reading.clauses import WH, Clause, Line
from fabula.understudy.reading.deeds import SOURCES, Deed, content
from fabula.understudy.reading.lexicon import ADJECTIVES, CLASSES, FAREWELLS, GREETINGS, PREPOSITIONS, pattern
from fabula.understudy.reading.ways import BETWEEN, SceneWays, Way
from fabula.understudy.reading.words import verb_of

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


def decide(
    line: Line, deeds: Sequence[Deed], scene: SceneWays, before: frozenset[str] = frozenset()
) -> tuple[Decision, list[float]]:
    """What a line means for the ways of its scene, and how strongly it means each of them. `before` was named last."""
    deeds = _with_antecedents(deeds, scene, before)
    weights = [
        weight
        for at, deed in enumerate(deeds)
        for place, way in enumerate(scene.ways)
        for weight in _lessened(_weights(deed, place, way, scene, line), deed, deeds[at + 1 : at + 2], way)
    ]
    scores, turned_down = [0.0] * len(scene.ways), [0.0] * len(scene.ways)
    for weight in weights:
        side = turned_down if weight.against else scores
        side[weight.way] = max(side[weight.way], weight.value)
    left = [0.0 if turned_down[at] and turned_down[at] >= score else score for at, score in enumerate(scores)]
    decision = _decided(left)
    if decision is None:
        decision = _contrary(weights, left, scene) or _maybe(left) or _undecided(line, deeds, scene)
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


def _with_antecedents(deeds: Sequence[Deed], scene: SceneWays, before: frozenset[str] = frozenset()) -> list[Deed]:
    """Deeds on `it` or `there` are on what the clauses before them named last, or else the line before."""
    found: list[Deed] = []
    own, all_things = scene.own, scene.own_and_shared
    last = before & own
    for deed in deeds:
        if last and deed.clause.verb_at is not None and points_back(deed) and not content(deed.things):
            places = (*deed.places, ("to", tuple(sorted(last)))) if "there" in deed.clause.words else deed.places
            deed = replace(deed, things=(*deed.things, *sorted(last)), nouns=deed.nouns | last, places=places)
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
        elif deed.things and not handled and deed.clause.subject in ("i", "order") and not points_back(deed):
            last = frozenset()
        found.append(deed)
    return found


def points_back(deed: Deed) -> bool:
    """Whether a deed is done to `it` or `there`: to something that was named before."""
    behind = (deed.clause.verb_at or 0) + 1
    pointing = [at for at, word in enumerate(deed.clause.words) if at >= behind and word in _POINTING]
    return any(at not in deed.covered for at in pointing)


_POINTING = word_set("it that this them these those there one him her")


def _decided(scores: list[float]) -> Decision | None:
    ranked = sorted(range(len(scores)), key=lambda at: -scores[at])
    if not ranked or scores[ranked[0]] < ENOUGH:
        return None
    close = [at for at in ranked if scores[ranked[0]] - scores[at] < AHEAD]
    return TakeWay(way=ranked[0]) if len(close) == 1 else AskBack(ways=sorted(close))


def _maybe(scores: list[float]) -> Decision | None:
    found = [at for at, score in enumerate(scores) if score >= MAYBE]
    return AskBack(ways=found) if found else None


def _undecided(line: Line, deeds: Sequence[Deed], scene: SceneWays) -> Decision | None:
    """A line that names several ways without a verb, or wants to go on and does not say how: the player is asked."""
    every = list(range(len(scene.ways)))
    named = frozenset(noun for deed in deeds if deed.clause.verb_at is None for noun in deed.nouns)
    meant = [at for at in every if named & scene.ways[at].own]
    weighed = [deed.done for deed in deeds if deed.clause.mood == "question" and deed.clause.subject == "order"]
    meant = meant if len(meant) > 1 else [at for at in every if any(done & scene.ways[at].distinct for done in weighed)]
    if "or" in line.words and len(meant) > 1 and len(weighed) > 1:
        return AskBack(ways=meant)
    asked = any(deed.clause.mood == "question" and deed.clause.verb_at is not None for deed in deeds)
    asked = asked or any(deed.clause.words[0] in WH for deed in deeds)
    if {"or", "both"} & set(line.words) and len(meant) > 1 and not asked:
        return AskBack(ways=meant)
    plain = " ".join(line.words)
    if every and (_ONWARD.search(plain) or (_KNOWS_WHO.search(plain) and all(way.accuses for way in scene.ways))):
        return AskBack(ways=every)
    return None


_ONWARD = pattern("onward")
_KNOWS_WHO = pattern("knows_who")


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
    found = _plain_weights(deed, place, way, scene, line)
    if found or way.means is not None:
        return found
    return [Weight(way=place, value=MAYBE)] if _is_worth_asking(deed, way, scene, line) else []


def _is_worth_asking(deed: Deed, way: Way, scene: SceneWays, line: Line) -> bool:
    """Where no author says what a way means, whatever touches on it is asked back: better than to be passed over."""
    clause = deed.clause
    if clause.mood != "act" or clause.idiom or clause.negated or clause.rejected or deed.denied:
        return False
    away = frozenset(noun for prep, nouns in deed.places if prep in SOURCES - {"off"} for noun in nouns)
    here = scene.words_here
    named = deed.nouns - away - ADJECTIVES
    if clause.subject in ("you", "third", "none"):
        told = way.classes & _TOLD_TO and named & (way.own | way.shared | way.near) - here
        return bool(told)
    if clause.subject == "order" and clause.told:
        return bool(deed.done & way.distinct) and not content(deed.things) and not deed.places
    fits = deed.done & way.accepts
    if clause.verb in _LEAVING:
        return False
    if clause.verb in ("speak", "talk", "announce") and way.classes & _TOLD_TO | way.classes & {"read"}:
        return not named & here
    if _root(clause.verb) in {_root(thing) for thing in way.own & way.things}:
        return True
    if deed.harmless:
        return bool(((clause.wished and way.going) or fits) and named & way.own)
    if named & way.own - here or (fits and named & (way.near | way.own)):
        return True
    if named & way.people and not _is_talk(deed):
        return True
    loose = bool(way.things & _ANY_GIFT) or not way.own | way.shared
    return bool(fits & way.distinct and (loose or fits & deed.by_phrase - {"choose"}))


def _is_talk(deed: Deed) -> bool:
    return bool(deed.done) and all(CLASSES[name].intent in _TALKING for name in deed.done)


_TALKING = word_set("ask talk tell greet farewell thank apologise listen gesture examine look touch give promise")
_LEAVING = word_set("leave keep spare ignore forget")
_TOLD_TO = word_set("tell warn lie confess betray alert persuade")
_ANY_GIFT = word_set("gift present offering tribute payment price sacrifice something")


def _root(word: str) -> str:
    """What `knock` and `the knocking` have in common."""
    return verb_of(word)


def _plain_weights(deed: Deed, place: int, way: Way, scene: SceneWays, line: Line) -> list[Weight]:
    clause = deed.clause
    meant = _meant(clause, place, way)
    if meant is not None and not (way.going and clause.subject == "order" and _is_for_another(deed, line, way)):
        return [meant]
    if clause.idiom:
        return []
    if clause.mood == "question":
        return _asked(deed, place, way, scene)
    if clause.mood in ("past", "aside", "maybe"):
        return []
    if way.accuses:
        return _accused(deed, place, way, scene, line)
    if clause.subject in ("you", "third"):
        return _state(deed, place, way, scene, line)
    if clause.subject == "order" and _is_for_another(deed, line, way):
        return _state(deed, place, way, scene, line)
    if clause.verb_at is None:
        return _bare(deed, place, way, scene)
    return _acted(deed, place, way, scene)


def _meant(clause: Clause, place: int, way: Way) -> Weight | None:
    """Whether the clause has a phrase that the author gave the way; articles and adverbs may stand within it."""
    if way.means is None or clause.idiom or clause.supposed or clause.mood not in ("act", "question", "aside"):
        return None
    told = [at for at, word in enumerate(clause.words) if word not in BETWEEN]
    for hit in way.means.hits([clause.lemmas[at] for at in told]):
        places = [told[at] for at in hit.places]
        if clause.mood == "question" and not way.knowing:
            continue
        if clause.mood == "aside" and (len(places) < len(told) or clause.reported):
            continue
        denied = any(at < places[-1] for at in clause.negations - set(places))
        return Weight(way=place, value=0.97, against=clause.rejected or denied)
    return None


def _asked(deed: Deed, place: int, way: Way, scene: SceneWays) -> list[Weight]:
    """A question never moves, unless to know is what the way waits for and it asks about just that."""
    if deed.clause.supposed or (deed.clause.negated and deed.clause.words[:1] != ("do",)):
        return []
    if "if" in deed.clause.words or "would" in deed.clause.words:
        return []
    if "answer" in way.classes and "answer" in deed.by_phrase:
        return [Weight(way=place, value=0.8)]
    if not way.knowing:
        return []
    about = (deed.nouns | {deed.clause.verb}) & ((way.own - way.people) | way.shared | way.asked)
    if about or deed.by_phrase & way.classes & {"listen", "gossip"}:
        return [Weight(way=place, value=0.9)]
    return []


def _is_for_another(deed: Deed, line: Line, way: Way) -> bool:
    """Whether an order is for somebody else to carry out."""
    clause = deed.clause
    if {"yourself", "yourselves"} & set(clause.words):
        return True
    if clause.verb in _FOR_ME and (deed.to_me or (clause.verb in _HANDING and not _HIM & set(clause.words))):
        return False
    return deed.to_me or clause.told


_HANDING = word_set("give hand pass surrender")
_HIM = word_set("him her them to")
_FOR_ME = word_set(
    "give hand surrender pass show tell take bring lead let lend explain read translate teach guide carry deal"
)


def _state(deed: Deed, place: int, way: Way, scene: SceneWays, line: Line) -> list[Weight]:
    """What others are said or told to do matters only where it changes the world as the way does, or is itself said."""
    found: list[Weight] = []
    for classes, against in ((deed.done, False), (deed.denied, True)):
        ordered = deed.clause.subject == "order" and deed.clause.told and bool(content(deed.things) - line.spoken_to)
        said = {name for name in classes & deed.by_phrase & way.accepts if CLASSES[name].said and not ordered}
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
        if not fits & way.classes and not deed.nouns & (way.own | way.shared):
            # Said, but of something else than the way is about: who calls somebody a thief does not report to a queen.
            value = min(value, MAYBE)
        if value:
            found.append(_weight(deed, place, way, value, frozenset(fits), against=against))
    return found


def _weight(deed: Deed, place: int, way: Way, value: float, fits: frozenset[str], *, against: bool) -> Weight:
    strong = bool(fits & way.classes) and not (against and _is_only_left_undone(deed))
    return Weight(way=place, value=value, against=against, strong=strong, yet=deed.clause.yet)


def _is_only_left_undone(deed: Deed) -> bool:
    """`I do not put it in my pocket` says what is not done; `I will not take it` refuses."""
    said = " ".join(deed.clause.words)
    return "i do not" in said and deed.clause.verb not in ("want", "take", "accept", "lie", "agree")


def _accused(deed: Deed, place: int, way: Way, scene: SceneWays, line: Line) -> list[Weight]:
    """Who is named as the one who did it: by `I accuse`, by a sentence that says so, or by the name alone."""
    clause = deed.clause
    person = scene.people_by_id[way.accuses]
    named = deed.nouns & person.words & scene.words_of_one
    against = clause.negated or clause.rejected
    if clause.subject == "i":
        fits = bool(deed.classes & {"accuse", "name", "choose"}) and bool(
            frozenset(deed.things) & person.words or (named and not content(deed.things))
        )
        if fits and "accuse" not in deed.classes and content(deed.things) - person.words - scene.names:
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
    if clause.words[0] in GREETINGS | FAREWELLS:
        return []
    against = clause.negated or clause.rejected
    fits = (deed.done | deed.denied) & deed.by_phrase & way.accepts
    if fits and (fits & way.classes or deed.nouns & (way.own | way.shared)):
        value = _by_things(deed, way, scene, fits)
        if value:
            return [Weight(way=place, value=value, against=bool(deed.denied & fits), strong=True)]
    if deed.manner & way.own_manner and len(clause.words) <= 4:
        return [Weight(way=place, value=0.8, against=against)]
    named = content(tuple(deed.nouns))
    things = frozenset(deed.nouns)
    things -= frozenset(word for one in scene.people if one.here for word in one.words) & way.people
    things -= frozenset(noun for prep, nouns in deed.places if prep == "from" for noun in nouns)
    if things and things <= way.near and len(clause.words) <= 3:
        return [Weight(way=place, value=0.5, against=against)]
    if len(clause.words) <= 2 and frozenset(clause.words) & way.directions and way.going:
        return [Weight(way=place, value=0.7, against=against)]
    if len(clause.words) == 1 and verb_of(clause.words[0]) in way.verbs & scene.verbs_of_one:
        return [Weight(way=place, value=0.7, against=against)]
    if not things & way.own or len(clause.words) > 10:
        return []
    moved = frozenset(noun for prep, nouns in deed.places if prep == "with" for noun in nouns)
    if clause.words[0] in PREPOSITIONS and moved & way.own:
        return [Weight(way=place, value=0.7, against=against)]
    if named <= way.own | way.shared:
        return [Weight(way=place, value=0.7, against=against)]
    return (
        [Weight(way=place, value=MAYBE, against=against)]
        if len(named - way.own - way.shared) == 1 and len(clause.words) <= 4 and not against
        else []
    )


_QUESTIONING = word_set("ask inquire enquire")
_IDLE = frozenset(["wait", "rest"])


def _acted(deed: Deed, place: int, way: Way, scene: SceneWays) -> list[Weight]:
    """What the player does, or orders without saying whom. To ask is never the deed that is asked about."""
    found: list[Weight] = []
    by_verb = (deed.done & way.classes) - deed.by_phrase
    if deed.clause.verb in _QUESTIONING and not way.classes & _ASK_ACTS and not by_verb:
        return found
    for classes, against in ((deed.done, False), (deed.denied, True)):
        fits = classes & way.accepts or _gone(deed, classes, way)
        if not fits and deed.clause.verb in way.verbs and (not deed.by_phrase) and bool(deed.denied) == against:
            fits = frozenset({"_verb"})
        if not fits:
            continue
        if scene.told_apart_by_manner and not deed.manner & way.own_manner and not fits & way.distinct:
            value = (
                MAYBE
                if not deed.manner & scene.own_manners
                and not deed.harmless
                and not _misses(deed, way)
                and not deed.classes & scene.distinct
                else 0.0
            )
        elif way.own_manner and deed.manner & way.own_manner:
            value = 1.0 if not _misses(deed, way) else 0.8 if frozenset(deed.things) & scene.seen else 0.0
        else:
            value = _by_things(deed, way, scene, fits)
        if value:
            found.append(_weight(deed, place, way, value, fits, against=against))
    if _is_opposite(deed, way):
        found.append(Weight(way=place, value=0.8, against=True))
    if found:
        return found
    return _perhaps(deed, place, way)


def _gone(deed: Deed, classes: frozenset[str], way: Way) -> frozenset[str]:
    """Any way of going takes a way that leads somewhere, if it goes there: `I cross the street to the sheriff's`."""
    there = frozenset(noun for prep, nouns in deed.places if prep in _TOWARDS for noun in nouns)
    if not way.going:
        return frozenset()
    if deed.clause.verb in ("find", "seek", "meet", "question") and frozenset(deed.things) & way.elsewhere:
        return classes
    return frozenset(name for name in classes if CLASSES[name].intent == "go" and there & way.own)


_TOWARDS = word_set("to into onto towards toward inside aboard on for up down at through in")


def _is_opposite(deed: Deed, way: Way) -> bool:
    """Whether what is done is the opposite of the way: who says no does not accept."""
    against = frozenset().union(*(CLASSES[name].opposite for name in deed.done & deed.by_phrase))
    return bool(against & way.classes) and not deed.done & deed.by_phrase & way.classes


def _misses(deed: Deed, way: Way) -> bool:
    """Whether the act is on something that the way is not about."""
    things = frozenset(deed.things)
    named = content(deed.things) - deed.said_in_phrase
    # Who closes their eyes closes nothing else.
    named |= things & _OF_ONESELF if {"my", "our"} & set(deed.clause.words) else frozenset()
    return bool(named) and not things & (way.own | way.shared)


def _is_somebody_here(deed: Deed, scene: SceneWays) -> bool:
    return not scene.words_here.isdisjoint(deed.things)


_OF_ONESELF = word_set("eye ear hand finger arm head foot knee face shoulder mouth lip back heart mind")


def _by_things(deed: Deed, way: Way, scene: SceneWays, fits: frozenset[str]) -> float:
    things = frozenset(deed.things)
    behind = frozenset(noun for prep, nouns in deed.places if prep not in SOURCES for noun in nouns)
    distinct = bool(fits & way.distinct) or fits == {"_verb"}
    alone = way.own | way.shared
    if things & way.own and not _only_described(things & way.own, deed):
        return 1.0
    if way.means is None and distinct and things & way.verbs & scene.verbs_of_one:
        return 0.9
    if way.going and behind & way.own:
        return 0.9
    if way.going and behind & way.near:
        return 0.7
    if way.going and not content(deed.things) and frozenset(deed.clause.words) & way.directions:
        return 0.8
    if things & way.shared:
        return 0.9 if distinct else 0.5
    said = {name for name in fits & deed.by_phrase if CLASSES[name].said}
    if _misses(deed, way) and not said and not (way.on_person and _is_somebody_here(deed, scene)):
        return _by_neighbours(deed, way, scene, fits, distinct, behind)
    if all(name != "_verb" and CLASSES[name].harmless for name in fits):
        return 0.0
    if deed.pronoun:
        if way.going or (way.means is not None and not fits & (way.classes | {"_verb"})):
            return 0.0
        return 0.75 if distinct and fits & (way.classes | {"_verb"}) else 0.4
    if way.on_person and _is_somebody_here(deed, scene):
        return 0.75 if distinct else 0.4
    if behind & way.own:
        return 0.85 if distinct else 0.5
    if fits & deed.by_phrase:
        # `I know who` may lead somewhere, but it is no road.
        if way.going and all(CLASSES[name].intent == "go" for name in fits) and not fits & way.classes:
            return 0.0
        return 0.75 if distinct and (fits & way.classes or way.means is None) else 0.4
    if all(name == "_verb" or CLASSES[name].intent == "go" for name in fits) and not fits & {"flee"}:
        return 0.0
    # A phrase says what was done, or the verb may well be idle: sleeves are rolled up, one leans in.
    if deed.by_phrase or any(CLASSES[name].harmless for name in deed.done):
        return 0.0
    # To wait or sleep lets time pass; it is no decision to stay for something, unless the way itself says so.
    if fits <= _IDLE and not fits & way.classes:
        return 0.0
    return ENOUGH if distinct and not alone & frozenset() else MAYBE


def _by_neighbours(
    deed: Deed, way: Way, scene: SceneWays, fits: frozenset[str], distinct: bool, behind: frozenset[str]
) -> float:
    """The act is on something else: it counts if the scene names it in one breath with what the way is about."""
    things = frozenset(deed.things)
    if "search" in fits & way.classes:
        looked_at = "examine" in deed.done or "look" in deed.done
        return 0.9 if behind & way.own else 0.6 if things & scene.seen and not looked_at else 0.0
    named = content(deed.things)
    if named & way.near or (named & way.shared_near and fits & way.distinct):
        return 0.6 if way.means is not None else MAYBE
    return 0.6 if behind & way.own and fits & deed.by_phrase and distinct else 0.0


def _only_described(found: frozenset[str], deed: Deed) -> bool:
    """Whether only an adjective fits: `the red cup` is not the red ink."""
    return all(noun in ADJECTIVES for noun in found) and bool(content(deed.things) - found)


def _perhaps(deed: Deed, place: int, way: Way) -> list[Weight]:
    """A thing of the way, and an act that no lexicon fits to it: worth a question, if the act is not a mere look."""
    clause = deed.clause
    behind = frozenset(noun for prep, nouns in deed.places if prep in ("on", "against", "to") for noun in nouns)
    if deed.done & deed.by_phrase == {"touch"} and behind & (way.own | way.shared) and not clause.negated:
        return [Weight(way=place, value=MAYBE)]
    if (
        clause.verb in _LEAVING
        or deed.harmless
        or clause.negated
        or clause.rejected
        or (deed.clause.told and clause.subject == "order")
        or (deed.done and deed.done <= _ROUGH)
        or _undoes(deed, way)
    ):
        return []
    own = way.own & (way.things | way.named) if way.going else way.own
    if frozenset(deed.things) & (own - way.people) - ADJECTIVES and clause.verb not in ("be", "have"):
        return [Weight(way=place, value=MAYBE)]
    if frozenset(deed.things) & way.shared - ADJECTIVES and clause.verb in _VAGUE:
        return [Weight(way=place, value=MAYBE)]
    return []


_ROUGH = word_set("throw drop break destroy attack tear distract kill")


def _undoes(deed: Deed, way: Way) -> bool:
    """Whether the act is the opposite of one that would take the way: a closed book is not read."""
    return any(CLASSES[name].opposite & way.accepts for name in deed.done) and not deed.done & way.accepts


_VAGUE = word_set("deal do finish handle settle see attend tend use take")


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
    said = clause.subject in ("you", "third") or (clause.subject == "i" and clause.verb_at is not None)
    if clause.mood == "question" or said or deed.classes:
        return False
    return not deed.nouns & (scene.story | scene.names) and not (frozenset(clause.words) & _TALKED)


_TALKED = word_set(
    "hello hi hey good thanks thank welcome goodbye bye please sorry yes no help wait morning evening night greetings"
)
