"""Worlds with their canon, and game systems, as they travel in data packages: what is true in them, not how it came.

What a package says is nobody's word yet. It is read as typed values, held against itself by the rules of canon, and
taken in whole or not at all; who proposed and decided it elsewhere means nothing here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Final

import orjson
from pydantic import Field

from fabula.actions.house import House
from fabula.actions.outside_values import outside_value
from fabula.actions.repositories import GAME_SYSTEMS, WORLDS
from fabula.actions.setups.game_systems import find_system
from fabula.actions.views import refuse
from fabula.canon.policy import Known, review
from fabula.formats.json_bounds import bounds_problem
from fabula.ports.canon_graph import TrueKind
from fabula.ports.errors import InvalidRequest, NotFound
from fabula.ports.store import Unit
from fabula.ports.threads import run_in_thread
from fabula.rules.systems import builtin_systems, system_problems
from fabula.story.agendas import agenda_problems
from fabula.story.boundaries import categories_problem
from fabula.story.canon import (
    AxiomContent,
    Change,
    Decision,
    EntityContent,
    EventContent,
    Evidence,
    FactContent,
    Policy,
    RelationshipContent,
    Verdict,
)
from fabula.story.caps import caps_problem
from fabula.story.conflicts import conflict_problems
from fabula.story.directives import directive_problems
from fabula.story.game_systems import NO_RULES, GameSystem
from fabula.story.plot_threads import thread_problems
from fabula.story.story_templates import template_problems
from fabula.story.values import Json, JsonObject, Value
from fabula.story.worlds import World, private_world_id

CANON: Final = "canon"
"""The field of a packaged world that holds what is true in it."""
MOST_CHANGES: Final = 10_000
MOST_TOGETHER: Final = 20_000
PAGE: Final = 1_000
# Axioms and entities first: whatever is said of them is held against them.
KINDS: Final[tuple[TrueKind, ...]] = ("axiom", "entity", "relationship", "fact", "event")
PACKAGE: Final = "data package"
_STRICT = Policy(retcon=[])
"""A package is judged by this policy and not by its own: nothing in it may contradict anything else in it."""


class PackagedCanon(Value):
    """What is true in a world, in the order in which it is taken in."""

    canon: list[
        Annotated[
            AxiomContent | EntityContent | RelationshipContent | FactContent | EventContent, Field(discriminator="kind")
        ]
    ] = Field(default=[], max_length=MOST_CHANGES)


async def packaged_canon(unit: Unit, world: World) -> JsonObject:
    """What is true in a world, for its document."""
    if world.story_id is not None:
        raise InvalidRequest(f"The world '{world.world_id}' is that of one story. Give the story a world to export it.")
    found: list[Json] = []
    for kind in KINDS:
        after: str | None = None
        while True:
            rows = await unit.graph.about(world.world_id, kind, after=after, limit=PAGE)
            found += [_short(row.change.content.as_json()) for row in rows]
            if len(found) > MOST_CHANGES:
                raise InvalidRequest(
                    f"The world '{world.world_id}' has more than {MOST_CHANGES} truths, too many for a package. A "
                    "backup takes everything along."
                )
            if len(rows) < PAGE:
                break
            after = rows[-1].change.change_id
    if (problem := await run_in_thread(lambda: bounds_problem(orjson.dumps(found)))) is not None:
        raise InvalidRequest(f"The canon of the world '{world.world_id}' is too large for a package: {problem}")
    return {CANON: found}


def _short(content: JsonObject) -> JsonObject:
    """A content without what it leaves open: a package has room for so many values."""
    return {name: value for name, value in content.items() if value not in (None, [], "")}


def own_system(world: World) -> str | None:
    """The game system of a world, if it did not come with Fabula."""
    system = world.game_system_id
    return None if system is None or system in builtin_systems() or system == NO_RULES else system


def packaged_system_problems(system: GameSystem) -> list[str]:
    """Why a game system of a package cannot be taken in."""
    if system.system_id in builtin_systems() or system.system_id == NO_RULES:
        return [f"'{system.system_id}' came with Fabula and cannot be replaced"]
    return system_problems(system)


def check_packaged_world(world: World) -> None:
    """Refuses a world that would pass for the private one of a story, or that has more words to look for than may be
    set."""
    if world.session_zero is not None and (problem := categories_problem(world.session_zero.categories)) is not None:
        raise InvalidRequest(f"The boundaries of the world '{world.world_id}' in the package are too large. {problem}")
    if world.caps is not None and (problem := caps_problem(world.caps)) is not None:
        raise InvalidRequest(f"The caps of the world '{world.world_id}' in the package are too large. {problem}")
    refuse(_asked_by_every_turn(world), f"world '{world.world_id}' of the package")
    if world.story_id is not None or world.world_id.startswith(private_world_id("")):
        raise InvalidRequest(f"The world '{world.world_id}' of the package claims to be that of one story.")


async def check_packaged_system(unit: Unit, world: World) -> None:
    """Refuses a world that is played by a system which is not here; those of its package were added before it."""
    if world.game_system_id is not None and world.game_system_id != NO_RULES:
        try:
            await find_system(unit, world.game_system_id)
        except NotFound:
            raise InvalidRequest(
                f"The world '{world.world_id}' is played by the {GAME_SYSTEMS.noun} '{world.game_system_id}', which is "
                "neither here nor in the package."
            ) from None


def _asked_by_every_turn(world: World) -> list[str]:
    """What is wrong with what every turn in a world looks at: it has the bounds of what is written here."""
    clocks = frozenset(one.clock_id for one in world.clocks)
    return [
        *directive_problems(world.directives),
        *agenda_problems(world.clocks),
        *thread_problems(world.threads, clocks),
        *conflict_problems(world.conflicts),
        *template_problems(world.templates),
    ]


def truths_problems(worlds: Mapping[str, JsonObject]) -> list[str]:
    """What is wrong with how much is true in the worlds of a package: it is kept in memory until it is written down,
    and everybody else who writes waits while it is."""
    told = (document.get(CANON) for document in worlds.values())
    together = sum(len(truths) for truths in told if isinstance(truths, list))
    if together <= MOST_TOGETHER:
        return []
    return [f"its worlds have {together} truths together, and {MOST_TOGETHER} are the most; export it in parts"]


@dataclass(frozen=True, kw_only=True)
class JudgedCanon:
    """What a document says is true in its world, found to agree with itself."""

    judged: list[tuple[Change, Verdict]]
    decision: Decision

    async def take_in(self, unit: Unit) -> None:
        """Makes it true in a new world."""
        if self.judged:
            await unit.canon.commit_new(self.judged, self.decision)


async def judged_canon(house: House, world: World, document: JsonObject) -> JudgedCanon:
    """What is to become true in a new world; raises InvalidRequest where that contradicts itself."""
    what = f"The canon of the {WORLDS.noun} '{world.world_id}' in the package"
    judged = await run_in_thread(_judged, house, world, document, what)
    for _, verdict in judged:
        if verdict.result != "accept":
            raise InvalidRequest(f"{what} cannot be taken in: {verdict.sentence}")
    decision = Decision(by=PACKAGE, at_ms=house.clock.now_ms(), reason="taken in from a package")
    return JudgedCanon(judged=judged, decision=decision)


def _judged(house: House, world: World, document: JsonObject, what: str) -> list[tuple[Change, Verdict]]:
    canon = outside_value(PackagedCanon, {CANON: document.get(CANON, [])}, what)
    changes = [
        Change(
            change_id=house.ids.new("change"),
            world_id=world.world_id,
            content=content,
            evidence=[Evidence(type="source", ref=PACKAGE)],
            authority="source",
            proposer=PACKAGE,
        )
        for content in canon.canon
    ]
    return review(changes, _STRICT, Known())
