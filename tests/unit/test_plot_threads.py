"""Plot threads: set up, advanced, paid off or dropped by stated rules; arc and tension follow from them."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from tests.mass import examples

from fabula.rules.off_screen import follow_threads
from fabula.rules.plot import Happened, arc_of, threads_after, urgency
from fabula.story.agendas import AgendaClock, FiredAgenda
from fabula.story.conditions import Comparison
from fabula.story.events import ThreadChanged
from fabula.story.off_screen import OffScreen
from fabula.story.player_views import event_for_players
from fabula.story.plays import PlayState
from fabula.story.plot_threads import MOST_THREAD_MOVES, PlotThread, ThreadMove, ThreadNow, thread_problems
from fabula.story.quests import Quest, QuestRule
from fabula.story.state import Snapshot, WorldState

PIER = "who-cut-the-pier"


def when(key: str, value: Any = True) -> QuestRule:
    return QuestRule(condition=Comparison(key=key, op="eq", value=value))


def thread(**more: Any) -> PlotThread:
    return PlotThread(thread_id=PIER, title="Who cut the pier?", **more)


def play(turn: int = 1, *, ended: bool = False, node: str = "bridge", **variables: Any) -> PlayState:
    world = WorldState(current_node=node, custom=variables)
    snapshot = Snapshot(story_id="s", player_description="", world_state=world, turn_index=turn)
    return PlayState(snapshot=snapshot, graph="g", ended=ended, off_screen=OffScreen())


def after(one: PlotThread, *turns: PlayState, **more: Any) -> ThreadNow | None:
    """Where a thread stands after these turns; `more` is what else happened in the last one."""
    now: dict[str, ThreadNow] = {}
    for number, state in enumerate(turns, 1):
        happened = Happened(play=state, **(more if number == len(turns) else {}))
        now, _ = threads_after([one], now, happened)
    return now.get(PIER)


def moves(now: ThreadNow | None) -> list[tuple[str, int]]:
    return [] if now is None else [(move.status, move.turn_index) for move in now.moves]


def test_a_thread_is_set_up_and_paid_off_with_the_turns_that_did_it() -> None:
    one = thread(set_up=when("boots_seen"), pay_off=when("pier_seen"))
    now = after(one, play(1), play(2, boots_seen=True), play(3, boots_seen=True), play(9, pier_seen=True))
    assert moves(now) == [("open", 2), ("resolved", 9)]
    assert now is not None and now.paid_off is not None and now.paid_off.turn_index == 9
    assert after(one, play(1)) is None and moves(after(thread(), play(1))) == [("open", 1)]


def test_a_thread_follows_its_quest() -> None:
    quest = Quest(
        quest_id="q", title="Find out", opens=QuestRule(nodes=["bridge"]), done=when("done"), fails=when("lost")
    )
    one = thread(quest_id="q")

    def ends(**variables: Any) -> list[tuple[str, int]]:
        now: dict[str, ThreadNow] = {}
        for state in (play(1, node="inn"), play(2), play(3, **variables)):
            now, _ = threads_after([one], now, Happened(play=state, quests=[quest]))
        return moves(now[PIER])

    assert ends() == [("open", 2)]
    assert ends(done=True) == [("open", 2), ("resolved", 3)]
    assert ends(lost=True) == [("open", 2), ("abandoned", 3)]


def test_a_thread_that_nobody_takes_up_is_dropped_when_its_time_is_over_or_the_story_ends() -> None:
    one = thread(lasts=30, pay_off=when("paid"))
    assert moves(after(one, play(1), play(3), play(4))) == [("open", 1), ("abandoned", 4)]
    # What is paid with the last turn is paid.
    assert moves(after(one, play(1), play(4, paid=True))) == [("open", 1), ("resolved", 4)]
    assert moves(after(thread(deadline=20), play(1), play(2))) == [("open", 1), ("abandoned", 2)]
    assert moves(after(thread(), play(1), play(2, ended=True))) == [("open", 1), ("abandoned", 2)]
    assert moves(after(thread(drop=when("gone")), play(1), play(2, gone=True))) == [("open", 1), ("abandoned", 2)]


def test_what_happens_to_whom_it_is_about_advances_a_thread() -> None:
    one = thread(about=["garrick", "third-pier"], clock_id="ferries")
    touched = after(one, play(1), play(2), touched={"third-pier": "The third pier is cut."})
    assert touched is not None and (touched.status, touched.moves[-1].why) == ("advanced", "The third pier is cut.")
    assert moves(after(one, play(1), play(2), fired={"ferries": "The ferries come."})) == [("open", 1), ("advanced", 2)]
    assert moves(after(one, play(1), play(2), touched={"tansy": "Tansy laughs."})) == [("open", 1)]
    doomed = thread(clock_id="ferries", on_full="abandoned")
    assert moves(after(doomed, play(1), play(2), fired={"ferries": "They come."})) == [("open", 1), ("abandoned", 2)]


def test_an_agenda_that_comes_to_its_end_touches_whose_it_was() -> None:
    fired = FiredAgenda(clock_id="c", name="c", owner="chain", minute=5, event="The ferries come.", told="They come.")
    started, _ = follow_threads(play(1), [thread(about=["chain"])])
    followed, (change,) = follow_threads(started, [thread(about=["chain"])], fired=[fired])
    assert (change.move.status, change.move.why) == ("advanced", "The ferries come.")
    assert followed.off_screen is not None and followed.off_screen.threads[PIER].status == "advanced"
    assert follow_threads(followed.model_copy(update={"off_screen": None}), [thread()])[1] == []


@examples(500)
@given(
    st.lists(
        st.tuples(st.booleans(), st.booleans(), st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=30
    ),
    st.integers(10, 400),
)
def test_what_is_settled_stays_settled_and_every_move_has_its_turn(
    turns: list[tuple[bool, bool, bool, bool, bool]], lasts: int
) -> None:
    one = thread(set_up=when("a"), pay_off=when("b"), drop=when("c"), lasts=lasts, about=["x"])
    now: dict[str, ThreadNow] = {}
    settled: ThreadNow | None = None
    for number, (a, b, c, touch, ended) in enumerate(turns, 1):
        state = play(number, a=a, b=b, c=c, ended=ended and number == len(turns))
        now, changes = threads_after([one], now, Happened(play=state, touched={"x": "y"} if touch else {}))
        found = now.get(PIER)
        assert all(change.move.turn_index == number for change in changes)
        if settled is not None:
            assert found == settled and changes == []
        elif found is not None and not found.is_live:
            settled = found
        if found is not None:
            assert found.moves[0].status == "open" and len(found.moves) <= MOST_THREAD_MOVES
            assert [one.turn_index for one in found.moves] == sorted(one.turn_index for one in found.moves)


def stand(status: Any, priority: int = 3, *, deadline: int | None = None) -> ThreadNow:
    return ThreadNow(
        status=status,
        priority=priority,
        deadline=deadline,
        moves=[] if status == "waiting" else [ThreadMove(status="open", turn_index=0, minute=0)],
    )


def test_the_arc_follows_from_threads_and_clocks() -> None:
    slow = AgendaClock(clock_id="c", name="c", segments=4, filled=0)
    full = slow.model_copy(update={"filled": 4})
    assert arc_of([], [], 0).label == "opening" and arc_of([], [], 0).tension == 0
    assert arc_of([stand("open", 1), stand("waiting")], [slow], 0).label == "opening"
    assert arc_of([stand("advanced", 1), stand("open", 1)], [slow], 0).label == "rising"
    assert arc_of([stand("open", 5, deadline=100)], [full], 100).label == "crisis"
    assert arc_of([stand("resolved", 4), stand("open", 1)], [slow], 0).label == "falling"
    assert arc_of([stand("resolved"), stand("abandoned")], [slow], 0).label == "ended"


@examples(400)
@given(
    st.lists(st.sampled_from(["waiting", "open", "advanced", "resolved", "abandoned"]), max_size=6),
    st.lists(st.integers(0, 6), max_size=3),
    st.integers(0, 500),
    st.integers(1, 5),
)
def test_tension_is_a_share_and_grows_with_the_clock(
    statuses: list[str], filled: list[int], minute: int, priority: int
) -> None:
    threads = [stand(one, priority, deadline=300) for one in statuses]
    clocks = [AgendaClock(clock_id=f"c{at}", name="c", filled=one) for at, one in enumerate(filled)]
    arc = arc_of(threads, clocks, minute)
    assert 0 <= arc.tension <= 1
    fuller = [one.model_copy(update={"filled": 6}) for one in clocks]
    assert arc_of(threads, fuller, minute).tension >= arc.tension
    assert all(0 <= urgency(one, minute) <= urgency(one, minute + 10) <= 1 for one in threads)


def test_players_are_not_told_which_thread_moved() -> None:
    told = ThreadChanged(thread_id=PIER, title="Who cut the pier?", status="advanced", why="Garrick confessed.")
    shown = event_for_players(told)
    assert isinstance(shown, ThreadChanged)
    assert (shown.thread_id, shown.title, shown.why, shown.status) == ("", "", "", "advanced")


def test_threads_that_name_nothing_or_are_too_many_are_problems() -> None:
    assert thread_problems([thread(clock_id="c")], frozenset(["c"])) == []
    assert "'c', which does not exist" in thread_problems([thread(clock_id="c")], frozenset())[0]
    assert "is there twice" in thread_problems([thread(), thread()], frozenset())[0]


def test_in_free_play_it_is_paid_off_when_nothing_about_it_is_kept_back_any_more() -> None:
    one = thread(about=["pier", "mason"])
    half, _ = threads_after([one], {}, Happened(play=play(), found_out=frozenset(["pier"])))
    whole, moved = threads_after([one], half, Happened(play=play(9), found_out=frozenset(["pier", "mason", "toll"])))
    assert (half[PIER].status, whole[PIER].status) == ("open", "resolved")
    assert [(move.move.status, move.move.turn_index) for move in moved] == [("resolved", 9)]
