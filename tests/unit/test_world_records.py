"""World records: which turns leave followers something to do, and what the journal makes of them."""

from __future__ import annotations

from fabula.story.calendars import moment
from fabula.story.graph import Comparison, Node, Transition
from fabula.story.journals import MOST_ENTRIES, MOST_MOVES
from fabula.story.passing_time import begin_time, with_time
from fabula.story.plays import PlayState
from fabula.story.quests import Quest, QuestRule
from fabula.story.state import Snapshot, WorldState
from fabula.story.state_hash import state_hash
from fabula.story.story_worlds import StoryWorld
from fabula.story.world_records import WorldRecord, changes_world, mark_world, record_after

SEAL = Quest(
    quest_id="seal",
    title="Find the seal",
    opens=QuestRule(nodes=["box"]),
    done=QuestRule(condition=Comparison(key="seal", op="eq", value="found")),
    fails=QuestRule(condition=Comparison(key="seal", op="eq", value="lost")),
)
WORLD = StoryWorld(quests=[SEAL])


def node(id: str, *ways: str) -> Node:
    return Node(
        id=id, title=id.title(), scene="A room.", goal=f"Leave {id}.", transitions=[Transition(to=w) for w in ways]
    )


NODES = {one.id: one for one in (node("hall", "box"), node("box", "hall", "end"), node("end"))}


def begun() -> PlayState:
    world = WorldState(current_node="hall")
    state = PlayState(snapshot=Snapshot(story_id="s", player_description="", world_state=world), graph="g")
    return begin_time(WORLD, state.entering("hall"), NODES["hall"])


def changed(play: PlayState, **state: object) -> PlayState:
    return play.with_world(play.world.model_copy(update=state))


def moved(play: PlayState, to: str) -> PlayState:
    return changed(play, current_node=to).entering(to)


def test_only_variables_that_the_world_asks_for_leave_followers_something_to_do() -> None:
    play = begun()
    assert not changes_world(play, changed(play, custom={"weather": "rain"}), WORLD)
    assert changes_world(play, changed(play, custom={"seal": "found"}), WORLD)
    assert changes_world(play, changed(play, custom={"weather": "rain"})), "who does not know the world is careful"


def test_a_scene_a_phase_a_day_and_the_end_leave_followers_something_to_do() -> None:
    play = begun()
    assert changes_world(play, moved(play, "box"), WORLD)
    assert changes_world(play, play.model_copy(update={"ended": True}), WORLD)
    later = [with_time(play, moment(WORLD.calendar, minutes)) for minutes in (5, 5 * 60, 24 * 60)]
    assert [changes_world(play, one, WORLD) for one in later] == [False, True, True]
    untimed = play.model_copy(update={"snapshot": play.snapshot.model_copy(update={"time": None})})
    assert not changes_world(untimed, moved(untimed, "box"), WORLD) and changes_world(untimed, play, WORLD)


def test_marked_turns_are_counted_along_the_line_and_name_the_one_before() -> None:
    first = mark_world(None, begun(), "t0", WORLD)
    same = mark_world(first, first, "t1", WORLD)
    second = mark_world(same, moved(same, "box"), "t2", WORLD)
    assert same is first and (first.snapshot.world_version, second.snapshot.world_version) == (1, 2)
    assert second.world_mark is not None
    assert (second.world_mark.turn_id, second.world_mark.before) == ("t2", "t0")


def test_two_plays_that_went_the_same_way_have_the_same_hash() -> None:
    one, other = mark_world(None, begun(), "t0", WORLD), mark_world(None, begun(), "t9", WORLD)
    assert one != other and state_hash(one) == state_hash(other)


def walked(*plays: PlayState) -> WorldRecord:
    record = WorldRecord()
    for number, play in enumerate(plays):
        record = record_after(record, WORLD, NODES, play, f"t{number}")
    return record


def test_a_lead_is_done_when_its_scene_is_left_and_opens_again_with_it() -> None:
    hall = begun()
    box = moved(hall, "box")
    record = walked(hall, box, moved(box, "hall"))
    found = {entry.entry_id: (entry.status, [move.turn_id for move in entry.moves]) for entry in record.journal}
    assert found["lead:hall"] == ("open", ["t0", "t1", "t2"])
    assert found["lead:box"] == ("done", ["t1", "t2"])
    assert found["quest:seal"] == ("open", ["t1"])


def test_what_is_settled_stays_settled_and_what_is_open_at_the_end_has_failed() -> None:
    box = moved(begun(), "box")
    done = walked(box, changed(box, custom={"seal": "found"}), changed(box, custom={"seal": "lost"}))
    assert {entry.entry_id: entry.status for entry in done.journal}["quest:seal"] == "done"
    over = moved(box, "end").model_copy(update={"ended": True})
    assert {entry.entry_id: entry.status for entry in walked(box, over).journal} == {
        "lead:box": "done",
        "quest:seal": "failed",
    }


def test_a_journal_and_its_entries_stay_small() -> None:
    hall = begun()
    box = moved(hall, "box")
    record = walked(*([hall, box] * 40))
    assert all(len(entry.moves) <= MOST_MOVES for entry in record.journal)
    many = {f"n{number}": node(f"n{number}", "hall") for number in range(2 * MOST_ENTRIES)}
    for number, id in enumerate(many):
        record = record_after(record, WORLD, many, moved(hall, id), f"m{number}")
    assert len(record.journal) <= MOST_ENTRIES
    assert "quest:seal" in {entry.entry_id for entry in record.journal}
