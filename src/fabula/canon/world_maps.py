"""A world as a map to play on: places to walk between, who is met there, and what can be found out; by rule from canon.

1. Every place of canon is a place on the map, but for those that are only the sum of others. From each one the places
   can be reached that canon ties to it, then others in their order.
2. Who is alive is met where canon says that they live, work or keep to; who is placed nowhere, at the beginning.
3. What only some know is what can be found out from them.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from fabula.canon.contradictions import DEAD
from fabula.canon.sentences import sentence_of
from fabula.language.english import closed
from fabula.story.canon import Content, EntityContent, FactContent, RelationshipContent
from fabula.story.free_plays import MOST_DISCOVERIES, Discovery, FreeWorld
from fabula.story.graph import Comparison, Graph, Node, Transition
from fabula.story.knowledge import SceneNote
from fabula.story.resources import CharacterContent
from fabula.story.state import SetState

MOST_PLACES: Final = 60
MOST_WAYS: Final = 12
MOST_PEOPLE: Final = 60
MOST_NOTES: Final = 40
SHORT: Final = 90
"""A description of so few letters is told with what else everybody knows of the place."""
HOMES: Final = frozenset(["keeps_to", "lives_in", "lives_at", "works_at", "works_in", "found_at", "located_in"])
PARTS: Final = frozenset(["part_of"])
KEPT: Final = frozenset(["kept_in", "kept_at"])
TIES: Final = frozenset(["part_of", "next_to", "near", "leads_to", "connected_to", "borders", "above", "below"])
LONGEST_MEANS: Final = 120
_BROUGHT_IN: Final = re.compile(r"there (?:is|was|are) [^.]{1,80} (?:called|named) [^.]{1,80}\.?$", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class WorldMap:
    """The map. `cast` are all that may be met, `made` those of them whom only canon knows."""

    graph: Graph
    free: FreeWorld
    cast: list[str]
    made: list[CharacterContent] = field(default_factory=list)


Tie = FactContent | RelationshipContent


class _Canon:
    """What is true, looked up by who it is about."""

    def __init__(self, contents: Iterable[Content]) -> None:
        every = list(contents)
        self.entities = {one.entity_id: one for one in every if isinstance(one, EntityContent)}
        self.ties = [one for one in every if isinstance(one, FactContent | RelationshipContent) and _lasts(one)]
        self.names = {id: one.name for id, one in self.entities.items()}
        called = [(name, id) for id, one in self.entities.items() for name in (one.name, *one.aliases)]
        self._called = {name.casefold(): id for name, id in reversed(called)}

    def id_of(self, words: str) -> str | None:
        """The entity that is meant, by id, name or other name."""
        return words if words in self.entities else self._called.get(words.casefold())

    def of_kind(self, kind: str) -> list[EntityContent]:
        return [one for one in self.entities.values() if one.entity_kind == kind]

    def about(self, id: str) -> list[Tie]:
        return [one for one in self.ties if one.subject == id]

    def is_dead(self, id: str) -> bool:
        return any(one.predicate in DEAD for one in self.about(id) if isinstance(one, FactContent))

    def said(self, tie: Tie) -> str:
        told = sentence_of(tie, self.names)
        # What was done before the play began is told as past: `The pier was cut by Garrick.`
        is_past = tie.since is not None and tie.since < 0 and tie.predicate.endswith("_by")
        return told.replace(" is ", " was ", 1) if is_past else told


def _lasts(tie: Tie) -> bool:
    """Whether something still holds when a play begins."""
    return tie.until is None or tie.until > 0


def map_of(
    contents: Iterable[Content], library: Collection[str], schema_id: str, *, start: str | None = None
) -> WorldMap | None:
    """The map of a world; None where it has no two places. `library` are the ids of characters that are written."""
    canon = _Canon(contents)
    places = _places(canon)
    if len(places) < 2:
        return None
    people = [one for one in canon.of_kind("character") if not canon.is_dead(one.entity_id)][:MOST_PEOPLE]
    homes = _homes(canon, [one.entity_id for one in people], [one.entity_id for one in places])
    wanted = [one.entity_id for one in places if one.entity_id == start]
    peopled = [one.entity_id for one in places if one.entity_id in homes.values()]
    first = [*wanted, *peopled, places[0].entity_id][0]
    homes = {one.entity_id: homes.get(one.entity_id, first) for one in people}
    nodes = [_node(canon, place, places, homes) for place in places]
    free = FreeWorld(discoveries=_discoveries(canon, homes))
    return WorldMap(
        graph=Graph(start_node=first, nodes=nodes),
        free=free,
        cast=list(homes),
        made=[_character(canon, one, schema_id) for one in people if one.entity_id not in library],
    )


def _places(canon: _Canon) -> list[EntityContent]:
    every = canon.of_kind("place")
    wholes = {canon.id_of(one.object) for one in canon.ties if one.predicate in PARTS}
    homes = {canon.id_of(one.object) for one in canon.ties if one.predicate in HOMES | KEPT}
    # A land of which other places are parts, and where nobody and nothing is, is no place to stand in.
    is_sum = {one.entity_id for one in every if one.entity_id in wholes and one.entity_id not in homes}
    parts = {one.subject for one in canon.ties if one.predicate in PARTS}
    kept = [one for one in every if one.entity_id not in is_sum or one.entity_id in parts]
    # Of two places of one name only the first could be gone to.
    return list({one.name.casefold(): one for one in reversed(kept)}.values())[::-1][:MOST_PLACES]


def _homes(canon: _Canon, people: Sequence[str], places: Sequence[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for tie in canon.ties:
        place = canon.id_of(tie.object) if tie.predicate in HOMES else None
        if place is not None and place in places and tie.subject in people and tie.subject not in found:
            found[tie.subject] = place
    return found


def _node(canon: _Canon, place: EntityContent, places: Sequence[EntityContent], homes: Mapping[str, str]) -> Node:
    public = [one for one in canon.about(place.entity_id) if not one.known_to and one.predicate not in PARTS]
    kept = [one for one in canon.ties if one.predicate in KEPT and canon.id_of(one.object) == place.entity_id]
    things = [one for one in kept if not one.known_to]
    reached = _reached(canon, place, places)
    text = place.description.strip()
    if len(text) < SHORT:
        more = [canon.said(one) for one in public[:3]]
        # `There is a lighthouse called the Candle` is how an author brings it in, not what somebody sees there.
        first = "" if more and _BROUGHT_IN.match(text) else closed(text)
        text = " ".join([first, *more]).strip()
    notes = [*public, *(tie for thing in things for tie in canon.about(thing.subject) if not tie.known_to)]
    return Node(
        id=place.entity_id,
        title=_titled(place.name),
        scene=text or f"You are at {place.name}.",
        goal=f"{'; '.join(f'go to {other.name}' for other in reached)}.",
        characters=[id for id, home in homes.items() if home == place.entity_id],
        transitions=[_way(other) for other in reached],
        on_enter_updates=[SetState(key=PLACE, value=place.name)],
        notes=[SceneNote(text=canon.said(one)) for one in notes[:MOST_NOTES]],
    )


def _titled(name: str) -> str:
    return name[:1].upper() + name[1:]


def _reached(canon: _Canon, place: EntityContent, places: Sequence[EntityContent]) -> list[EntityContent]:
    """The places that can be reached from one: those that canon ties to it first."""
    tied = set[str]()
    for tie in canon.ties:
        if tie.predicate in TIES:
            ends = (tie.subject, canon.id_of(tie.object) or "")
            if place.entity_id in ends:
                tied |= set(ends)
    others = [one for one in places if one.entity_id != place.entity_id]
    return sorted(others, key=lambda one: one.entity_id not in tied)[:MOST_WAYS]


def _way(place: EntityContent) -> Transition:
    called = list(dict.fromkeys([place.name, *place.aliases]))[:4]
    means = [f"{verb} {name}" for name in called for verb in ("go to", "walk to", "visit", "over to", "head for")]
    condition = Comparison(key=PLACE, op="eq", value=place.name)
    return Transition(to=place.entity_id, condition=condition, means=[one[:LONGEST_MEANS] for one in means])


PLACE: Final = "place"
"""The variable that says where the player is, by the name of the place: lines are read by the words of what a way
waits for."""


def _discoveries(canon: _Canon, homes: Mapping[str, str]) -> list[Discovery]:
    """What only some know, and who of them can be asked."""
    found: list[Discovery] = []
    for tie in canon.ties:
        knower = next((id for id in tie.known_to if id in homes), None)
        if knower is not None and len(found) < MOST_DISCOVERIES:
            found.append(_discovery(canon, tie, knower, homes[knower], len(found) + 1))
    return found


_HOOKS: Final = (
    "{who} knows more about {about} than is said aloud.",
    "If anybody can tell you about {about}, it is {who}.",
    "There is something about {about} that {who} does not say.",
    "Whatever there is to know about {about}, {who} knows it.",
    "{who} goes quiet when {about} is spoken of.",
)
_HOOKS_OWN: Final = (
    "{who} is keeping something back.",
    "There is something that {who} would rather not be asked.",
    "{who} has more to tell than the time of day.",
)


def _discovery(canon: _Canon, tie: Tie, knower: str, place: str, number: int) -> Discovery:
    name = canon.names[knower]
    # What is about nothing that has a name is, to those who ask, simply something that is kept back.
    own = tie.subject == knower or tie.subject not in canon.names
    about = canon.names.get(tie.subject, tie.subject.replace("-", " "))
    hooks = _HOOKS_OWN if own else _HOOKS
    what = "what they keep to themselves" if own else f"what they know about {about}"
    means = [
        f"{verb} {call}"
        for call in dict.fromkeys([name, *canon.entities[knower].aliases, name.split()[0]])
        for verb in ("persuade", "convince", "press", "bargain with", "threaten", "trick", "charm", "beg")
    ]
    return Discovery(
        discovery_id=f"d{number}",
        place=place,
        subject=tie.subject,
        knower=knower,
        knower_name=name,
        about="" if own else about,
        truth=canon.said(tie),
        purpose=f"Persuade {name} to tell {what}.",
        # One form after the other: a campaign has a dozen of them, and a player reads them all.
        hook=hooks[(number - 1) % len(hooks)].format(who=name, about=about),
        means=[one[:LONGEST_MEANS] for one in means][:64],
    )


def _character(canon: _Canon, entity: EntityContent, schema_id: str) -> CharacterContent:
    """Somebody whom only canon knows, as a character that can be spoken to."""
    public = [canon.said(one) for one in canon.about(entity.entity_id) if not one.known_to]
    return CharacterContent(
        id=entity.entity_id,
        name=entity.name,
        personality=" ".join([closed(entity.description) if entity.description else "", *public]).strip(),
        style="",
        schema_id=schema_id,
        system_prompt="",
        tags=["from canon"],
    )
