"""Conflicts gather, break and settle by stated rules; every step has its reason, and each ends once."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.mass import examples

from fabula.canon.staging import conflict_proposals
from fabula.rules.conflicts import Circumstances, Moved, due_in, push_conflicts, tick_conflicts
from fabula.story.agendas import FiredAgenda
from fabula.story.canon import EventContent
from fabula.story.conflicts import PHASES, Conflict, ConflictNow, conflict_problems
from fabula.story.off_screen import OffScreen
from fabula.story.plays import PlayState
from fabula.story.relations import Relation, Relations
from fabula.story.state import Snapshot, WorldState

WELL: dict[str, Any] = {
    "conflict_id": "the-well",
    "title": "Whose well it is",
    "stakes": "Water for one street, or for two.",
    "stakeholders": [{"who": "mara", "wants": "The well for Upper Street."}, {"who": "bram"}],
    "intensity": 0.1,
    "drift": 0.05,
    "patience": 1,
    "every": 10,
    "signs": {"rising": "Somebody has put a lock on the well."},
    "pushes": [
        {
            "push_id": "dry",
            "when": {"key": "rain", "op": "eq", "value": False},
            "by": 0.3,
            "why": "The cistern is dry.",
        },
        {
            "push_id": "calmed",
            "feeling": {"who": "bram", "axis": "trust", "at_least": 0.3},
            "by": -0.2,
            "why": "Bram listens to somebody he trusts.",
        },
    ],
    "moves": [
        {"move_id": "lock", "by": "bram", "phases": ["emerging", "rising"], "what": "Bram locks the well.", "push": 0.2}
    ],
    "outcomes": [
        {
            "outcome_id": "shared",
            "when": {"key": "key_shared", "op": "eq", "value": True},
            "early": True,
            "event": "The well has two keys.",
        },
        {
            "outcome_id": "broken",
            "event": "The well is broken.",
            "changes": [{"kind": "fact", "subject": "well", "predicate": "is", "object": "broken"}],
        },
    ],
}
CONFLICT = Conflict.model_validate(WELL)


def around(relations: Relations | None = None, *, turn: int = 1, **variables: Any) -> Circumstances:
    state = WorldState(current_node="square", custom=variables)
    return Circumstances(state=state, relations=relations or {}, turn_index=turn, minute=turn * 10)


def standing(moved: Moved) -> ConflictNow:
    return moved.now["the-well"]


def test_what_happens_pushes_a_conflict_once_and_says_why() -> None:
    first = push_conflicts([CONFLICT], {}, around(rain=False))
    now = standing(first)
    assert (now.phase, now.intensity, now.momentum) == ("emerging", 0.4, 0.15)
    assert [change.step.why for change in first.changes] == ["The cistern is dry."]
    assert push_conflicts([CONFLICT], first.now, around(rain=False)).changes == []


def test_a_tick_brings_momentum_drift_and_the_move_of_somebody_who_has_a_part_in_it() -> None:
    begun = push_conflicts([CONFLICT], {}, around(rain=False)).now
    later = tick_conflicts([CONFLICT], begun, around(rain=False, turn=2))
    now = standing(later)
    assert (now.phase, now.intensity, now.made) == ("rising", 0.8, ["lock"])
    assert {news.told for news in later.news} == {"Bram locks the well.", "Somebody has put a lock on the well."}
    assert len({news.clock_id for news in later.news}) == 2, "each is noticed by itself"


def test_a_conflict_moves_with_the_time_that_passes_and_not_with_every_step_through_the_town() -> None:
    slow = CONFLICT.model_copy(update={"every": 60, "moves": []})
    now = tick_conflicts([slow], {}, around(turn=0)).now
    for turn in range(1, 6):
        now = tick_conflicts([slow], now, around(turn=turn)).now
    assert now["the-well"].intensity == 0.15, "not an hour has passed"
    assert tick_conflicts([slow], now, around(turn=18)).now["the-well"].intensity == 0.3, "three hours have"


def test_somebody_who_trusts_you_calms_it() -> None:
    calm: Relations = {"bram": {"player": Relation(trust=0.4)}}
    moved = push_conflicts([CONFLICT], {"the-well": ConflictNow(phase="rising", intensity=0.4)}, around(calm))
    assert (standing(moved).phase, standing(moved).intensity) == ("emerging", 0.2)


def played_out(*, turns: int = 20, **variables: Any) -> tuple[list[ConflictNow], list[FiredAgenda]]:
    now: dict[str, ConflictNow] = {}
    seen, news = [], []
    for turn in range(turns):
        moved = tick_conflicts([CONFLICT], now, around(turn=turn, **variables))
        now = moved.now
        seen.append(now["the-well"])
        news += moved.news
    return seen, news


def test_what_nobody_decides_ends_as_it_is_written_and_comes_to_pass_once() -> None:
    seen, news = played_out()
    phases = list(dict.fromkeys(one.phase for one in seen))
    assert phases == [phase for phase in PHASES if phase in phases] and phases[-1] == "aftermath"
    assert [one.event for one in news].count("The well is broken.") == 1
    assert seen[-1].outcome_id == "broken" and seen[-1].intensity == 0


def test_an_early_outcome_ends_it_before_it_breaks_and_what_was_decided_stays() -> None:
    emerging = {"the-well": ConflictNow(phase="emerging", intensity=0.2)}
    decided = push_conflicts([CONFLICT], emerging, around(key_shared=True))
    assert (standing(decided).phase, standing(decided).outcome_id) == ("falling", "shared")
    assert due_in(CONFLICT, standing(decided), around()) == "It is decided, and settles: The well has two keys."
    undone = push_conflicts([CONFLICT], decided.now, around(key_shared=False, rain=False))
    assert standing(undone) == standing(decided)


def play(now: dict[str, ConflictNow]) -> PlayState:
    snapshot = Snapshot(
        story_id="s", player_description="", world_state=WorldState(current_node="square"), turn_index=3
    )
    return PlayState(snapshot=snapshot, graph="g", off_screen=OffScreen(conflicts=now))


def test_a_resolution_is_proposed_to_canon_when_it_is_reached_and_at_no_other_time() -> None:
    falling = {"the-well": ConflictNow(phase="falling", outcome_id="broken")}
    over = tick_conflicts([CONFLICT], falling, around()).now
    proposed = conflict_proposals([CONFLICT], falling, play(over))
    assert isinstance(proposed[0].content, EventContent) and proposed[0].content.what == "The well is broken."
    assert len(proposed) == 2 and {one.evidence[0].ref for one in proposed} == {"the-well"}
    after = tick_conflicts([CONFLICT], over, around()).now
    assert conflict_proposals([CONFLICT], over, play(over)) == []
    assert conflict_proposals([CONFLICT], over, play(after)) == []


def test_a_conflict_that_could_never_end_or_moves_a_stranger_is_refused() -> None:
    endless = CONFLICT.model_copy(update={"outcomes": CONFLICT.outcomes[:1]})
    stranger = CONFLICT.model_copy(update={"moves": [CONFLICT.moves[0].model_copy(update={"by": "nobody"})]})
    assert conflict_problems([CONFLICT]) == []
    assert "never ends by itself" in conflict_problems([endless])[0]
    assert "who has no part in it" in conflict_problems([stranger])[0]
    assert "there twice" in conflict_problems([CONFLICT, CONFLICT])[0]


STEPS = st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans(), st.floats(-1, 1)), max_size=30)


@given(STEPS)
@examples(100)
def test_whatever_happens_a_conflict_moves_one_phase_at_a_time_and_lands_once(
    steps: list[tuple[bool, bool, bool, float]],
) -> None:
    now: dict[str, ConflictNow] = {}
    landed = 0
    for turn, (ticks, rain, shared, trust) in enumerate(steps):
        relations: Relations = {"bram": {"player": Relation(trust=round(trust, 3))}}
        here = around(relations, turn=turn, rain=rain, key_shared=shared)
        moved = (tick_conflicts if ticks else push_conflicts)([CONFLICT], now, here)
        landed += len(
            [one for one in conflict_proposals([CONFLICT], now, play(moved.now)) if one.content.kind == "event"]
        )
        for change in moved.changes:
            assert 0 <= change.step.intensity <= 1 and change.step.why
            if change.step.phase != "falling":
                assert abs(PHASES.index(change.step.phase) - PHASES.index(change.before.phase)) <= 1
        now = moved.now
    assert landed == (1 if now.get("the-well", ConflictNow()).phase in ("resolution", "aftermath") else 0)
