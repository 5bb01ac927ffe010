"""What becomes canon and why: weights, evidence, the gate for entities, contradictions; no two truths clash."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.growth import calls_of
from tests.mass import examples

from fabula.canon.contradictions import Standing, _breaks, _why, contradictions
from fabula.canon.policy import MOST_LOOKED_AT, MOST_NAMED, MOST_REPLACED, Known, judge, recomputed, review
from fabula.story.boundaries import Boundaries, limits_of
from fabula.story.canon import (
    Authority,
    AxiomContent,
    Change,
    Content,
    EntityContent,
    EventContent,
    Evidence,
    FactContent,
    Policy,
    Verdict,
)

GOLDEN = Path(__file__).parent / "canon_verdicts.json"
QUOTE = Evidence(type="turn", ref="t1", quote="as it was told")


def fact(subject: str, predicate: str, object: str, **time: Any) -> dict[str, Any]:
    return {"kind": "fact", "subject": subject, "predicate": predicate, "object": object, **time}


def entity(id: str, kind: str = "character", **more: Any) -> dict[str, Any]:
    return {"kind": "entity", "entity_id": id, "entity_kind": kind, "name": id.title(), **more}


def event(what: str, *who: str, where: str | None = None, at: int | None = None) -> dict[str, Any]:
    return {"kind": "event", "what": what, "who": list(who), "where": where, "at": at}


def axiom(predicate: str, object: str | None = None, *kinds: str) -> dict[str, Any]:
    return {
        "kind": "axiom",
        "text": f"nobody {predicate}",
        "predicate": predicate,
        "object": object,
        "entity_kinds": list(kinds),
    }


def change(content: dict[str, Any], name: str = "new", **more: Any) -> Change:
    fields = {"change_id": name, "world_id": "w", "authority": "gm", "proposer": "author", "evidence": [QUOTE], **more}
    return Change.model_validate(
        {**fields, "content": content, "evidence": [one.as_json() for one in fields["evidence"]]}
    )


CANON = [
    change(one, f"c{number}").as_json()
    for number, one in enumerate(
        [
            entity("orr"),
            entity("mara"),
            entity("tower", "place"),
            fact("orr", "located_in", "tower", since=60),
            fact("mara", "dead", "drowned", since=100),
            fact("orr", "spouse", "ilse"),
            fact("orr", "ally_of", "tam"),
            axiom("flies", None, "character"),
            axiom("casts", "fire"),
            event("the feast", "orr", "tam", where="hall", at=200),
        ],
        1,
    )
]
PROPOSED = [
    fact("orr", "located_in", "cave", since=60),
    fact("orr", "located_in", "cave", since=90),
    fact("orr", "located_in", "Tower", since=60),
    fact("mara", "says", "hello", since=150),
    fact("mara", "says", "hello", since=50),
    fact("mara", "alive", "well", since=120),
    fact("orr", "spouse", "mara"),
    fact("orr", "spouse", "ilse"),
    {"kind": "relationship", "subject": "orr", "predicate": "enemy_of", "object": "tam", "strength": -0.5},
    {"kind": "relationship", "subject": "orr", "predicate": "enemy_of", "object": "brom", "strength": -0.5},
    fact("orr", "flies", "high"),
    fact("tower", "flies", "away"),
    fact("orr", "casts", "fire"),
    fact("orr", "casts", "light"),
    event("a swim", "orr", where="sea", at=200),
    event("a talk", "mara", where="hall", at=300),
    event("a walk", "tam", where="wood", at=201),
    entity("nobody"),
    entity("anchor", anchor=True),
    entity("orr", "place"),
]


def cases() -> list[dict[str, Any]]:
    """400 proposals: each content with every authority, sure and unsure, with evidence and without."""
    return [
        {"content": content, "authority": authority, "confidence": confidence, "evidence": evidence}
        for content in PROPOSED
        for authority in get_args(Authority)
        for confidence, evidence in ((1.0, True), (1.0, False), (0.9, True), (0.5, True), (0.2, True))
    ]


def judged(case: dict[str, Any]) -> Verdict:
    proposed = change(
        case["content"],
        authority=case["authority"],
        confidence=case["confidence"],
        evidence=[QUOTE] if case["evidence"] else [],
    )
    return judge(proposed, Policy(), Known(canon=[Change.model_validate(one) for one in CANON]))


def shown(verdict: Verdict) -> dict[str, Any]:
    return {
        "result": verdict.result,
        "rule": verdict.steps[-1].rule,
        "why": verdict.sentence,
        "against": verdict.contradicts,
    }


def test_four_hundred_proposals_get_the_verdict_and_the_reason_that_are_written() -> None:
    written = json.loads(GOLDEN.read_text("utf-8"))
    assert len(written) == 400
    wrong = [(one["case"], shown(judged(one["case"])), one["verdict"]) for one in written]
    assert [found for found in wrong if found[1] != found[2]] == []


@pytest.mark.parametrize(
    ("authority", "confidence", "evidence", "result"),
    [
        ("gm", 1.0, True, "accept"),
        ("gm", 1.0, False, "pending"),
        ("player", 0.9, True, "accept"),
        ("player", 0.8, True, "pending"),
        ("system", 1.0, True, "pending"),
        ("system", 0.5, True, "reject"),
        ("system", 1.0, False, "reject"),
    ],
)
def test_authority_confidence_and_evidence_weigh_as_the_policy_says(
    authority: Any, confidence: float, evidence: bool, result: str
) -> None:
    case = {"content": fact("tam", "likes", "bread"), "authority": authority, "confidence": confidence}
    assert judged({**case, "evidence": evidence}).result == result


def test_a_critical_contradiction_blocks_even_a_game_master_and_any_other_is_replaced() -> None:
    sure = {"authority": "gm", "confidence": 1.0, "evidence": True}
    dead = judged({"content": fact("mara", "says", "hello", since=150), **sure})
    assert (dead.result, dead.critical) == ("reject", True)
    spouse = judged({"content": fact("orr", "spouse", "mara"), **sure})
    assert (spouse.result, spouse.retcons) == ("accept", ["c6"])


@pytest.mark.parametrize(
    ("known", "passes"),
    [
        (Known(), False),
        (Known(mentions={"tam": 3}), False),
        (Known(mentions={"tam": 4}), True),
        (Known(used=frozenset({"tam"})), True),
        (Known(accepted=[change(fact("orr", "likes", "tam"), "x")]), True),
    ],
)
def test_an_entity_that_nothing_needs_stays_flavour(known: Known, passes: bool) -> None:
    verdict = judge(change(entity("tam"), authority="player"), Policy(), known)
    assert (verdict.result == "accept") is passes


names = st.sampled_from(["orr", "mara", "tam"])
moments = st.none() | st.integers(0, 4)
facts = st.builds(
    fact,
    names,
    st.sampled_from(["located_in", "dead", "alive", "says", "spouse", "flies", "likes"]),
    st.sampled_from(["tower", "cave", "orr"]),
    since=moments,
    until=st.none() | st.integers(5, 6),
)
contents = st.one_of(
    facts,
    st.builds(event, st.just("a walk"), names, names, where=st.sampled_from(["tower", "cave", None]), at=moments),
    st.builds(
        lambda predicate, object, kinds: axiom(predicate, object, *kinds),
        st.sampled_from(["flies", "says"]),
        st.sampled_from([None, "tower", "Cave"]),
        st.lists(st.sampled_from(["character", "place"]), unique=True),
    ),
    st.builds(entity, names, st.sampled_from(["character", "place"])),
)
proposals = st.lists(st.tuples(contents, st.sampled_from(get_args(Authority))), max_size=12)


@examples(2000)
@given(proposals)
def test_no_two_truths_contradict_each_other_whatever_was_proposed_in_which_order(
    proposed: list[tuple[dict[str, Any], Any]],
) -> None:
    changes = [change(content, f"c{n}", authority=authority) for n, (content, authority) in enumerate(proposed)]
    verdicts = review(changes, Policy(), Known())
    gone = {old for _, verdict in verdicts for old in verdict.retcons}
    true = [one for one, verdict in verdicts if verdict.result == "accept" and one.change_id not in gone]
    for one in true:
        assert contradictions(one, [other for other in true if other is not one]) == []


@examples(500)
@given(contents, st.sampled_from(get_args(Authority)), st.floats(0, 1), st.booleans())
def test_the_explanation_of_a_verdict_leads_to_the_verdict_again(
    content: dict[str, Any], authority: Any, confidence: float, evidence: bool
) -> None:
    policy = Policy()
    proposed = change(content, authority=authority, confidence=confidence, evidence=[QUOTE] if evidence else [])
    verdict = judge(proposed, policy, Known(canon=[Change.model_validate(one) for one in CANON]))
    assert judge(proposed, policy, Known(canon=[Change.model_validate(one) for one in CANON])) == verdict
    last = verdict.steps[-1]
    match last.rule:
        case "accept_at":
            assert verdict.result == "accept" and verdict.weight >= policy.accept_at
        case "reject_below":
            assert verdict.result == "reject" and verdict.weight < policy.reject_below
        case "pending":
            assert verdict.result == "pending" and policy.reject_below <= verdict.weight < policy.accept_at
        case "critical" | "contradiction" | "entity_gate":
            assert verdict.result == "reject"
        case "retcon":
            assert verdict.result == "accept" and authority in policy.retcon
        case rule:
            raise AssertionError(rule)
    assert all(step.sentence.endswith(".") for step in verdict.steps)


if __name__ == "__main__":
    # Writes the golden verdicts anew: read what changed.
    rows = [json.dumps({"case": case, "verdict": shown(judged(case))}) for case in cases()]
    GOLDEN.write_text("[\n" + ",\n".join(rows) + "\n]\n", "utf-8")


few = st.sampled_from(["orr", "mara"])
facts_of_few = st.builds(
    lambda who, predicate, object, since, lasts: fact(
        who, predicate, object, since=since, until=None if lasts is None else (since or 0) + lasts
    ),
    few,
    st.sampled_from(["located_in", "located_in", "located_in", "dead", "alive", "says"]),
    st.sampled_from(["tower", "Tower", "cave"]),
    st.sampled_from([None, 0, 0, 1, 1]),
    st.sampled_from([None, 1, 2]),
)
of_few = st.one_of(
    facts_of_few,
    facts_of_few,
    st.builds(
        event,
        st.just("a walk"),
        few,
        few,
        where=st.sampled_from(["tower", "cave", None]),
        at=st.none() | st.integers(0, 2),
    ),
    st.builds(
        lambda predicate, object, kinds: axiom(predicate, object, *kinds),
        st.sampled_from(["located_in", "says"]),
        st.sampled_from([None, "tower"]),
        st.sampled_from([[], ["character"], ["place"]]),
    ),
    st.builds(entity, few, st.sampled_from(["character", "place"])),
)


@examples(2000)
@given(st.lists(st.tuples(of_few, st.integers(0, 9)), min_size=4, max_size=16), st.data())
def test_what_contradicts_is_found_by_its_keys_as_by_looking_at_all_of_canon(
    steps: list[tuple[dict[str, Any], int]], data: st.DataObject
) -> None:
    """Canon grows change by change; some are refused, and some take the place of others, as in a review."""
    standing, true, kinds = Standing(), list[Change](), dict[str, str]()
    for number, (content, fate) in enumerate(steps):
        proposed = change(content, f"c{number}")
        found = [one.change_id for one in standing.contradictions(proposed)]
        assert found == _against_all(proposed, true, kinds)
        assert found == [one.change_id for one in contradictions(proposed, true)]
        for name in ("orr", "mara", "tower"):
            assert standing.is_about(name) is any(name in _about(one.content) for one in true)
        if fate == 0:
            continue
        others = [one.change_id for one in true if one.kind != "entity"]
        gone = data.draw(st.lists(st.sampled_from(others), unique=True)) if others and fate == 9 else []
        # What somebody is stays known, however often it is said.
        gone += [
            one.change_id
            for one in true
            if proposed.kind == "entity" and one.kind == "entity" and _is_same(one, proposed)
        ]
        standing.add(proposed)
        standing.replace(gone)
        true = [*(one for one in true if one.change_id not in gone), proposed]
        kinds |= {content["entity_id"]: content["entity_kind"]} if content["kind"] == "entity" else {}


def _against_all(new: Change, canon: list[Change], kinds: dict[str, str]) -> list[str]:
    """What contradicts a change, by looking at each of canon, and for what somebody is at each pair."""
    content = new.content
    if not isinstance(content, EntityContent):
        return [one.change_id for one in canon if _why(content, one.content, kinds) is not None]
    kinds = {**kinds, content.entity_id: content.entity_kind}
    axioms = [one.content for one in canon if isinstance(one.content, AxiomContent)]
    return [
        one.change_id
        for one in canon
        if _why(content, one.content, kinds) is not None
        or (
            isinstance(one.content, FactContent)
            and one.content.subject == content.entity_id
            and any(_breaks(one.content, axiom, kinds) for axiom in axioms)
        )
    ]


def _is_same(one: Change, other: Change) -> bool:
    ids = [one.content.entity_id for one in (one, other) if isinstance(one.content, EntityContent)]
    return len(ids) == 2 and ids[0] == ids[1]


def _about(content: Content) -> list[str | None]:
    match content:
        case FactContent():
            return [content.subject, content.object]
        case EventContent():
            return [*content.who, content.where]
        case _:
            return []


def test_a_review_costs_as_much_as_there_is_to_review_and_canon_to_read() -> None:
    def review_of(size: int) -> int:
        canon = [change(fact("orr", "likes", f"thing {number}"), f"c{number}") for number in range(size)]
        new = [change(fact("orr", "likes", f"song {number}"), f"n{number}") for number in range(50)]
        return calls_of(lambda: review(new, Policy(), Known(canon=canon))).total()

    assert review_of(2000) < 12 * review_of(200)


@pytest.mark.parametrize(
    ("known", "new"),
    [
        (lambda number: fact("orr", f"has_{number}", "it"), lambda number: entity("orr")),
        (lambda number: event(f"bell {number}", "orr", at=5), lambda number: event(f"song {number}", "orr", at=5)),
        (
            lambda number: fact("orr", "located_in", f"place {number}", since=9 * number, until=9 * number + 1),
            lambda number: event(f"song {number}", "orr", where="tower", at=5),
        ),
        (lambda number: axiom("swims", None, "object"), lambda number: fact("orr", "swims", f"lake {number}")),
    ],
    ids=["facts of an entity", "events of a minute", "whereabouts", "axioms about others"],
)
def test_a_review_passes_over_what_can_contradict_nothing_however_much_it_is(
    known: Callable[[int], dict[str, Any]], new: Callable[[int], dict[str, Any]]
) -> None:
    def review_of(size: int) -> int:
        canon = [change(one, f"c{place}") for place, one in enumerate([entity("orr"), *map(known, range(size))])]
        changes = [change(new(number), f"n{number}") for number in range(50)]
        return calls_of(lambda: review(changes, Policy(), Known(canon=canon))).total()

    assert review_of(2000) < 14 * review_of(200)


def test_a_review_looks_at_so_many_truths_and_leaves_the_rest_to_the_next_one() -> None:
    canon = [
        change(fact("orr", "located_in", f"place {number}", since=9 * number, until=9 * number + 1), f"c{number}")
        for number in range(4000)
    ]
    new = [
        change(fact("orr", "located_in", "cave", since=9 * number + 5, until=9 * number + 6), f"n{number}")
        for number in range(60)
    ]
    verdicts = [verdict for _, verdict in review(new, Policy(), Known(canon=canon))]
    judged = next(place for place, verdict in enumerate(verdicts) if verdict.result != "accept")
    assert 0 < judged * 4000 < MOST_LOOKED_AT + 2 * 4000
    assert {one.result for one in verdicts[judged:]} == {"pending"} and "Review what is left" in verdicts[-1].sentence
    assert recomputed(verdicts[-1].steps, Policy())[0] == "pending"


def test_all_that_travellers_went_through_is_taken_in_at_once() -> None:
    moves = [(f"hero{hero}", 9 * move + hero) for move in range(150) for hero in range(20)]
    went = [
        change(fact(who, "located_in", f"place {at % 7}", since=at), f"c{number}")
        for number, (who, at) in enumerate(moves)
    ]
    assert {verdict.result for _, verdict in review(went, Policy(), Known())} == {"accept"}


def test_one_change_replaces_so_many_truths_and_names_so_many_and_no_more() -> None:
    def verdict_on(size: int) -> Verdict:
        canon = [change(fact("orr", "spouse", f"wife {number}"), f"c{number}") for number in range(size)]
        return judge(change(fact("orr", "spouse", "nobody")), Policy(), Known(canon=canon))

    some, many = verdict_on(MOST_REPLACED), verdict_on(MOST_REPLACED + 1)
    assert (some.result, len(some.retcons), len(some.contradicts)) == ("accept", MOST_REPLACED, MOST_NAMED)
    assert (many.result, many.retcons, len(many.contradicts)) == ("reject", [], MOST_NAMED)
    assert many.sentence == "It contradicts more than 200 others, and so many are the most that are replaced at once."
    assert recomputed(many.steps, Policy())[0] == "reject"


def test_what_crosses_a_line_is_rejected_with_that_reason_whoever_proposes_it() -> None:
    known = Known(limits=limits_of(Boundaries(lines=["spiders"])))
    verdict = judge(change(fact("mara", "keeps", "a tame spider"), authority="gm"), Policy(), known)
    assert (verdict.result, verdict.sentence) == ("reject", "It crosses the line 'spiders'.")
    assert recomputed(verdict.steps, Policy())[0] == "reject"
    assert judge(change(fact("mara", "keeps", "a tame crow")), Policy(), known).result == "accept"
    assert judge(change(axiom("keeps", "spider")), Policy(), known).result == "accept"
