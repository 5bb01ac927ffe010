"""Canon holds whatever comes, in whatever order: no two truths contradict, a verdict follows from its own steps, and
taking things back restores exactly what was true."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from tests.mass import examples

from fabula.canon.contradictions import contradictions
from fabula.canon.policy import Known, recomputed, review
from fabula.ports.store import Unit
from fabula.story.canon import (
    Authority,
    AxiomContent,
    Change,
    Content,
    Decision,
    EntityContent,
    EntityKind,
    EventContent,
    Evidence,
    FactContent,
    Policy,
    RelationshipContent,
    Verdict,
)
from fabula.story.state_hash import json_hash
from fabula.testing.memory_store import memory_place
from fabula.testing.world import FixedClock

WHO = st.sampled_from(["orr", "ilse", "tower"])
WHAT = st.sampled_from(["located_in", "spouse", "alive", "dead", "attacks", "ally_of", "enemy_of", "owns", "destroyed"])
OBJECTS = st.sampled_from(["tower", "cave", "ilse", "yes"])
WHEN = st.none() | st.integers(0, 3)
KINDS: st.SearchStrategy[EntityKind] = st.sampled_from(["character", "place"])
AUTHORITIES: st.SearchStrategy[Authority] = st.sampled_from(["source", "gm", "player", "system"])


@st.composite
def contents(draw: st.DrawFn) -> Content:
    kind = draw(st.sampled_from(["fact", "relationship", "entity", "event", "axiom"]))
    if kind == "entity":
        return EntityContent(
            entity_id=draw(WHO),
            entity_kind=draw(KINDS),
            name=draw(st.sampled_from(["A", "B"])),
            anchor=draw(st.booleans()),
        )
    if kind == "event":
        return EventContent(what="something", who=draw(st.lists(WHO, max_size=2)), where=draw(WHO), at=draw(WHEN))
    if kind == "axiom":
        only = draw(st.lists(KINDS, max_size=1))
        return AxiomContent(text="never", predicate=draw(WHAT), object=draw(st.none() | OBJECTS), entity_kinds=only)
    since = draw(WHEN)
    until = None if since is None else draw(st.none() | st.integers(since + 1, 4))
    if kind == "fact":
        return FactContent(subject=draw(WHO), predicate=draw(WHAT), object=draw(OBJECTS), since=since, until=until)
    return RelationshipContent(subject=draw(WHO), predicate=draw(WHAT), object=draw(OBJECTS), since=since, until=until)


@st.composite
def proposals(draw: st.DrawFn) -> list[list[Change]]:
    """Changes as they come, in some reviews."""
    made = [
        Change(
            change_id=f"c{number:02d}",
            world_id="w",
            content=draw(contents()),
            evidence=[Evidence(type="source", ref="x")] if draw(st.booleans()) else [],
            confidence=draw(st.sampled_from([0.2, 0.6, 0.9, 1.0])),
            authority=draw(AUTHORITIES),
            proposer="p",
        )
        for number in range(draw(st.integers(1, 14)))
    ]
    cuts = sorted(draw(st.sets(st.integers(1, 13), max_size=3)))
    edges = [0, *(cut for cut in cuts if cut < len(made)), len(made)]
    return [made[start:end] for start, end in pairwise(edges)]


def committed(reviews: Sequence[Sequence[Change]], policy: Policy) -> list[Change]:
    """What is true after these reviews, one after the other."""
    true: list[Change] = []
    for changes in reviews:
        for change, verdict in review(changes, policy, Known(canon=true)):
            if verdict.result == "accept":
                true = [*(one for one in true if one.change_id not in verdict.retcons), change]
    return true


@examples(2000)
@given(proposals())
def test_no_two_truths_contradict_each_other_whatever_came_first(reviews: list[list[Change]]) -> None:
    true = committed(reviews, Policy())
    for change in true:
        assert contradictions(change, [one for one in true if one is not change]) == []


@examples(2000)
@given(proposals())
def test_a_verdict_follows_from_the_steps_that_explain_it(reviews: list[list[Change]]) -> None:
    policy, true = Policy(), list[Change]()
    for changes in reviews:
        for change, verdict in review(changes, policy, Known(canon=true)):
            assert recomputed(verdict.steps, policy) == (verdict.result, verdict.weight)
            if verdict.result == "accept":
                true = [*(one for one in true if one.change_id not in verdict.retcons), change]


async def graph_hash(unit: Unit) -> str:
    return json_hash([row.change.as_json() for row in await unit.canon.true_now("w")])


@examples(100)
@given(proposals())
async def test_taking_back_what_was_committed_restores_the_graph_exactly(reviews: list[list[Change]]) -> None:
    decision = Decision(by="keeper", at_ms=1, reason="so")
    with memory_place() as place:
        store = place.store(FixedClock())
        await store.open()
        async with store.writing() as unit:
            stack: list[tuple[str, str]] = []
            for changes in reviews:
                true = [row.change for row in await unit.canon.true_now("w")]
                judged: list[tuple[Change, Verdict]] = review(changes, Policy(), Known(canon=true))
                for change, verdict in sorted(judged, key=lambda one: isinstance(one[0].content, EntityContent)):
                    await unit.canon.propose(change)
                    if verdict.result == "accept":
                        stack.append((change.change_id, await graph_hash(unit)))
                        await unit.canon.commit([(change.change_id, verdict)], decision)
            for change_id, before in reversed(stack):
                assert await unit.canon.undo(change_id, decision)
                assert await graph_hash(unit) == before
        await store.close()
