"""Agendas: clocks move by stated odds, the same from the same seed, however the time is cut into pieces."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import FrameType
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.mass import Mass, examples

from fabula.canon.staging import agenda_proposals
from fabula.rules.agendas import TELLING_CHANCES, Advanced, advance, chance_of, odds_of_firing, world_draws
from fabula.rules.draws import Draws
from fabula.story.agendas import AgendaClock, Firing, ForceRule, agenda_problems
from fabula.story.canon import EntityContent, EventContent, FactContent
from fabula.story.conditions import Comparison
from fabula.story.events import OffScreenEvent, WorldAdvanced
from fabula.story.player_views import event_for_players
from fabula.story.state import WorldState

IDS = ("ferries", "boats", "book")


def clock(clock_id: str = "ferries", **more: object) -> AgendaClock:
    return AgendaClock(clock_id=clock_id, name=clock_id.title(), **more)  # type: ignore[arg-type]


@st.composite
def worlds(draw: st.DrawFn) -> list[AgendaClock]:
    """Up to three clocks that start and push each other."""
    made = []
    for id in IDS[: draw(st.integers(1, 3))]:
        segments = draw(st.integers(1, 12))
        fires = Firing(
            event=f"{id} is full",
            starts=draw(st.lists(st.sampled_from(IDS), max_size=2)),
            pushes=draw(st.dictionaries(st.sampled_from(IDS), st.integers(-3, 3), max_size=2)),
        )
        made.append(
            clock(
                id,
                segments=segments,
                filled=draw(st.integers(0, segments)),
                pressure=draw(st.integers(0, 10)),
                opposition=draw(st.integers(0, 10)),
                every=draw(st.integers(10, 200)),
                status=draw(st.sampled_from(["waiting", "active", "active", "fired", "dropped"])),
                fires=fires,
            )
        )
    return made


def moved(clocks: Sequence[AgendaClock], pieces: Sequence[int], seed: int) -> tuple[list[AgendaClock], list[str], int]:
    """The clocks after these pieces of time, what came to pass, and how many numbers were drawn."""
    draws, now, fired = Draws(seed), 0, []
    for minutes in pieces:
        advanced = advance(clocks, minutes, draws, now=now)
        clocks, now = advanced.clocks, now + minutes
        fired += [f"{one.minute} {one.clock_id}" for one in advanced.fired]
    return list(clocks), fired, draws.cursor


@examples(600)
@given(worlds(), st.lists(st.integers(0, 900), min_size=1, max_size=6), st.integers(0, 2**31))
def test_an_evening_comes_to_the_same_in_one_piece_and_in_many(
    clocks: list[AgendaClock], pieces: list[int], seed: int
) -> None:
    assert moved(clocks, pieces, seed) == moved(clocks, [sum(pieces)], seed)


@examples(600)
@given(worlds(), st.integers(0, 20_000), st.integers(0, 2**31))
def test_clocks_only_fill_and_each_fires_at_most_once(clocks: list[AgendaClock], minutes: int, seed: int) -> None:
    before = {one.clock_id: one for one in clocks}
    done = advance(clocks, minutes, Draws(seed), now=100)
    fired = [one.clock_id for one in done.fired]
    assert len(fired) == len(set(fired))
    assert [one.minute for one in done.fired] == sorted(one.minute for one in done.fired)
    for one in done.clocks:
        was = before[one.clock_id]
        assert was.filled <= one.filled <= one.segments and one.rest < max(one.every, 1)
        assert (one.clock_id in fired) == (one.status == "fired" and was.status != "fired")
        if was.status in ("fired", "dropped"):
            assert one.now == was.now.model_copy(update={"rest": 0, "pressure": one.pressure})
        if one.status == "fired" and was.status != "fired":
            assert one.filled == one.segments
    assert all(100 <= one.minute <= 100 + minutes for one in done.fired)


def test_a_clock_with_no_pressure_rests_and_draws_no_number() -> None:
    draws = Draws(3)
    done = advance([clock(pressure=0), clock("boats", status="waiting")], 10_000, draws)
    assert ([one.filled for one in done.clocks], done.fired, draws.cursor) == ([0, 0], [], 0)


def test_chances_come_as_often_as_stated(mass: Mass) -> None:
    runs, hits = mass(20_000), 0
    draws = Draws(11)
    for _ in range(runs):
        hits += advance([clock(pressure=2, opposition=1, segments=12)], 60, draws).clocks[0].filled
    assert abs(hits / runs - 0.5) < 0.035
    assert chance_of(clock(pressure=2, opposition=1)) == 0.5


def test_the_odds_that_are_shown_are_those_that_come_true(mass: Mass) -> None:
    one, runs = clock(pressure=1, opposition=1, segments=3), mass(20_000)
    shown = odds_of_firing(one, 8 * 60)
    draws = Draws(5)
    fired = sum(bool(advance([one], 8 * 60, draws).fired) for _ in range(runs))
    assert abs(fired / runs - shown) < 0.035 and 0.4 < shown < 0.6
    assert odds_of_firing(one, 100) == 0 and odds_of_firing(clock(pressure=0), 10**6) == 0
    assert odds_of_firing(clock(filled=6), 1) == 1


def test_the_odds_of_years_cost_no_more_than_those_of_the_days_that_decide() -> None:
    slowest, years = clock(segments=12, pressure=1, opposition=10, every=10), 5 * 366 * 1440
    lines = 0

    def count(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal lines
        lines += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        odds = odds_of_firing(slowest, years)
    finally:
        sys.settrace(before)
    assert odds == odds_of_firing(slowest, TELLING_CHANCES * 10) == 1.0
    assert lines < 40_000, "a world and a play have 24 clocks each, and everybody waits for their odds"


def test_a_full_clock_starts_and_pushes_others_at_its_own_minute() -> None:
    fires = Firing(event="The ferries come.", starts=["boats"], pushes={"book": 4})
    first = clock(segments=1, pressure=10, fires=fires)
    second, third = clock("boats", status="waiting", pressure=10, segments=1), clock("book", pressure=0, segments=12)
    done = advance([first, second, third], 180, Draws(1))
    assert [(one.clock_id, one.minute) for one in done.fired] == [("ferries", 60), ("boats", 120)]
    assert done.clocks[2].pressure == 4 and done.moves[2].chances == 2


def test_what_a_play_says_adds_to_the_forces_or_stops_a_clock() -> None:
    taken = Comparison(key="ledger", op="eq", value="taken")
    rules = [
        ForceRule(when=taken, opposition=9),
        ForceRule(when=Comparison(key="won", op="eq", value=True), stops=True),
    ]
    one = clock(pressure=1, rules=rules)
    here, there = WorldState(current_node="n"), WorldState(current_node="n", custom={"ledger": "taken"})
    assert (chance_of(one, here), chance_of(one, there)) == (0.5, 1 / 11)
    done = advance([one], 6000, Draws(1), state=WorldState(current_node="n", custom={"won": True}))
    assert (done.clocks[0].status, done.fired) == ("dropped", [])


def test_what_comes_to_pass_is_proposed_with_the_clock_as_evidence() -> None:
    fires = Firing(
        event="The ferries are tied up below the bridge.",
        where="the-long-bridge",
        known_to=["isaude"],
        changes=[
            FactContent(subject="chain", predicate="owns", object="forty ferries"),
            EntityContent(entity_id="ferries", entity_kind="object", name="the ferries"),
        ],
    )
    one = clock(owner="chain", segments=1, pressure=10, fires=fires)
    done = advance([one], 600, Draws(2))
    event, fact, thing = [proposed.content for proposed in agenda_proposals(done.fired, done.clocks)]
    assert isinstance(event, EventContent) and isinstance(fact, FactContent)
    assert (event.who, event.where, event.known_to) == (["chain"], "the-long-bridge", ["isaude"])
    assert event.at == fact.since == done.fired[0].minute and fact.known_to == ["isaude"]
    assert thing == fires.changes[1]
    (evidence,) = agenda_proposals(done.fired, done.clocks)[0].evidence
    assert (evidence.type, evidence.ref, evidence.quote) == ("clock", "ferries", "Ferries: 1 of 1 segments.")


def test_who_notices_depends_on_the_place_and_on_who_knows() -> None:
    def fired(**more: object) -> Advanced:
        return advance([clock(filled=6, fires=Firing(event="It is done.", **more))], 0, Draws(1))  # type: ignore[arg-type]

    (everywhere,), (there,), (secret,) = (
        fired().fired,
        fired(where="inn").fired,
        fired(where="inn", known_to=["mara"]).fired,
    )
    assert everywhere.is_known_in("gate", ["orr"])
    assert there.is_known_in("inn", []) and not there.is_known_in("gate", ["mara"])
    assert secret.is_known_in("gate", ["mara"]) and not secret.is_known_in("inn", ["orr"])


def test_the_numbers_of_a_world_are_not_those_of_its_dice() -> None:
    assert [world_draws(7, 0).below(1000) for _ in range(3)] != [Draws(7).below(1000) for _ in range(3)]
    assert world_draws("tree", 0).below(1000) != world_draws("other", 0).below(1000)


def test_clocks_that_name_nothing_or_are_too_many_are_problems() -> None:
    assert agenda_problems([clock(), clock("boats")]) == []
    assert "is there twice" in agenda_problems([clock(), clock()])[0]
    assert "'x', which does not exist" in agenda_problems([clock(fires=Firing(event="e", starts=["x"]))])[0]
    assert "24 are the most" in agenda_problems([clock(f"c{number}") for number in range(25)])[0]


def test_players_are_told_only_of_what_everybody_everywhere_knows() -> None:
    told = WorldAdvanced(
        minutes=50,
        events=tuple(
            OffScreenEvent(clock_id=id, event=id, minute=1, where=where, known_to=known)
            for id, where, known in (("bell", None, []), ("inn", "inn", []), ("plot", None, ["mara"]))
        ),
    )
    shown = event_for_players(told)
    assert isinstance(shown, WorldAdvanced)
    assert (shown.minutes, [one.clock_id for one in shown.events]) == (50, ["bell"])
