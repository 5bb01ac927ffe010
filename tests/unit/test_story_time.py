"""Story time: what the minutes of a play read as, how many of them a turn takes, and whom they bring."""

from __future__ import annotations

import random
import re

import pytest
from tests.rule_play import play_of, samples

from fabula.actions.memories.story_time import story_day
from fabula.agents.prompts import write_prompt
from fabula.loops.scene.contexts import Scene, SceneTeller
from fabula.loops.scene.play_setup import PlaySetup
from fabula.story.calendars import (
    LATEST,
    Calendar,
    Month,
    Phase,
    StoryDate,
    calendar_problems,
    minutes_until_start,
    moment,
)
from fabula.story.changes import MOST_PRESENT
from fabula.story.conditions import Any as AnyOf
from fabula.story.graph import Comparison, Graph, Node, Transition
from fabula.story.passing_time import begin_time, minutes_of_rest, pass_time
from fabula.story.plays import PlayState
from fabula.story.schedules import Schedule, ScheduleException
from fabula.story.state import MemoryEntry, Snapshot, WorldState
from fabula.story.story_worlds import MOST_RULES, StoryWorld, world_problems

OURS = Calendar()
SALT = Calendar(
    months=[Month(name="Dust", days=10), Month(name="Wells", days=11)],
    weekdays=["Wheelday", "Ropeday", "Restday"],
    hours_per_day=10,
    phases=[Phase(name="dawn", from_hour=2), Phase(name="noon", from_hour=5), Phase(name="dark", from_hour=8)],
    begins=StoryDate(year=60, month=2, day=11, hour=9, minute=30),
    begins_on="Restday",
)


def play(node: str = "inn", **state: object) -> PlayState:
    world = WorldState.model_validate({"current_node": node, **state})
    return PlayState(snapshot=Snapshot(story_id="s", player_description="", world_state=world), graph="g")


def node(id: str = "inn", **fields: object) -> Node:
    return Node.model_validate({"id": id, "title": id, "scene": "A room.", "goal": "Go on.", **fields})


def test_without_another_word_the_calendar_is_ours() -> None:
    assert calendar_problems(OURS) == []
    assert moment(OURS, 0).text == "Monday, 1 January 1, 8:00, morning"
    assert moment(OURS, 365 * 24 * 60).text == "Tuesday, 1 January 2, 8:00, morning"


def test_months_weekdays_hours_and_phases_are_data_of_the_world() -> None:
    assert calendar_problems(SALT) == []
    assert moment(SALT, 0).text == "Restday, 11 Wells 60, 9:30, dark"
    # The year ends, and the dark goes on until the next dawn.
    assert moment(SALT, 30).text == "Wheelday, 1 Dust 61, 0:00, dark"
    assert moment(SALT, 30 + 120).phase == "dawn"


def test_any_later_minute_reads_as_a_later_moment() -> None:
    dice = random.Random(1)
    names = [month.name for month in SALT.months]
    read = []
    for minutes in sorted(dice.sample(range(200_000), 400)):
        at = moment(SALT, minutes)
        read.append((at.year, names.index(at.month), at.day, at.hour, at.minute))
    assert read == sorted(read) and len(set(read)) == 400


@pytest.mark.parametrize(
    ("calendar", "problem"),
    [
        (Calendar(phases=[Phase(name="a", from_hour=30)]), "after the last hour"),
        (Calendar(phases=[Phase(name="a", from_hour=9), Phase(name="b", from_hour=3)]), "order of their hours"),
        (Calendar(phases=[Phase(name="a", from_hour=1), Phase(name="A", from_hour=3)]), "named twice"),
        (Calendar(begins=StoryDate(month=2, day=30)), "no day 30 in February"),
        (Calendar(begins_on="Doomsday"), "no weekday 'Doomsday'"),
        (Calendar(wakes_at="tea"), "no phase 'tea'"),
    ],
)
def test_a_calendar_that_cannot_be_is_refused_with_its_reason(calendar: Calendar, problem: str) -> None:
    assert problem in "; ".join(calendar_problems(calendar))


@pytest.mark.parametrize(
    ("line", "minutes"),
    [
        ("I sleep.", 22 * 60),
        ("We go to bed", 22 * 60),
        ("I wait until evening.", 10 * 60),
        ("Wait until the night, then go on.", 14 * 60),
        ("I rest for two hours", 120),
        ("I wait another 20 minutes.", 20),
        ("wait half an hour", 30),
        ("I wait here.", 60),
        ("rest", 60),
        ("I rest for 900 days", 7 * 24 * 60),
        ("Wait! Who are you?", 0),
        ("I wait for Tobias to answer.", 0),
        ("I do not sleep.", 0),
        ("I ask how long they sleep", 0),
        ("She waits.", 0),
        ("", 0),
    ],
)
def test_who_sleeps_rests_or_waits_says_so_in_the_line(line: str, minutes: int) -> None:
    assert minutes_of_rest(OURS, moment(OURS, 0), line) == minutes


def passed(line: str, here: Node, *, moved: bool) -> int:
    world = StoryWorld()
    before = begin_time(world, play(), node())
    after = pass_time(world, before, line, here, moved=moved).snapshot.time
    assert after is not None
    return after.minutes


def test_a_turn_takes_the_minutes_of_its_scene_and_a_journey_more() -> None:
    assert passed("I look.", node(), moved=False) == OURS.minutes_per_turn
    assert passed("I look.", node(minutes=90), moved=False) == 90
    assert passed("I go.", node(), moved=True) == OURS.minutes_per_turn + OURS.minutes_per_journey
    assert passed("I go.", node(journey=240), moved=True) == OURS.minutes_per_turn + 240


def test_a_scene_that_is_played_at_night_begins_at_night() -> None:
    assert passed("I go.", node(phase="night"), moved=True) == 14 * 60
    assert passed("I wait until evening.", node(phase="afternoon"), moved=True) == 4 * 60, "it is not missed"
    # A phase that the calendar does not have says nothing.
    assert passed("I go.", node(phase="teatime"), moved=True) == 25


MARIT = Schedule(
    usual={"morning": "inn", "night": "tower"},
    exceptions=[
        ScheduleException(weekday="Tuesday", phase="morning"),
        ScheduleException(condition=Comparison(key="arrested", op="eq", value=True), node_id="gaol"),
    ],
)
WORLD = StoryWorld(schedules={"marit": MARIT})


def present(before: PlayState, line: str, here: Node, *, moved: bool = False) -> list[str]:
    return pass_time(WORLD, before, line, here, moved=moved).world.active_characters


def test_who_is_met_follows_from_schedules() -> None:
    begun = begin_time(WORLD, play(active_characters=["cook"]), node(characters=["cook"]))
    assert begun.world.active_characters == ["cook", "marit"]
    assert present(begun, "I wait until evening.", node(characters=["cook"])) == ["cook"]
    assert present(begun, "I look.", node(characters=["cook"])) == ["cook", "marit"]


def test_whom_a_schedule_brings_to_a_full_scene_finds_no_room_in_it() -> None:
    full = [f"guest-{n}" for n in range(MOST_PRESENT)]
    assert begin_time(WORLD, play(active_characters=full), node()).world.active_characters == full


def test_exceptions_come_before_the_usual() -> None:
    begun = begin_time(WORLD, play(), node())
    assert begun.world.active_characters == ["marit"]
    assert present(begun, "I sleep.", node()) == [], "on Tuesdays she is in no scene in the morning"
    assert begin_time(WORLD, play(custom={"arrested": True}), node()).world.active_characters == []
    assert begin_time(WORLD, play("gaol", custom={"arrested": True}), node("gaol")).world.active_characters == ["marit"]


def test_the_story_has_the_last_word_on_who_is_there() -> None:
    begun = begin_time(WORLD, play(active_characters=["marit"]), node(characters=["marit"]))
    assert present(begun, "I wait until evening.", node(characters=["marit"])) == ["marit"]
    alone = begin_time(WORLD, play(), node(keeps_cast=True))
    assert alone.world.active_characters == []


def test_who_was_sent_away_stays_away_until_their_schedule_moves_them() -> None:
    begun = begin_time(WORLD, play(), node())
    away = begun.with_world(begun.world.model_copy(update={"active_characters": []}))
    assert present(away, "I look.", node()) == []


def test_a_play_from_before_its_story_had_a_calendar_begins_its_clock_with_the_next_turn() -> None:
    after = pass_time(WORLD, play(), "I look.", node(), moved=False)
    assert after.snapshot.time == moment(OURS, 0)


def test_without_a_calendar_a_state_says_nothing_about_time() -> None:
    stored = play().as_json()
    assert "world_mark" not in stored and stored["snapshot"].keys() == {
        "story_id",
        "player_description",
        "world_state",
        "turn_index",
    }
    timed = begin_time(WORLD, play(), node())
    assert PlayState.model_validate(timed.as_json()) == timed


def test_prompts_tell_the_time_after_the_history_and_only_where_there_is_a_clock() -> None:
    lighthouse, caravan = samples()
    assert caravan.world is not None
    begun = begin_time(caravan.world, play_of(caravan).play, caravan.nodes[caravan.graph.start_node])
    told = prompt(caravan, begun)
    assert told.index("It is Kettleday, 9 Wells 60, 5:40, dawn.") > told.index("## What happened in it")
    assert re.search(r"^It is .+:\d\d", prompt(lighthouse, play_of(lighthouse).play), re.MULTILINE) is None


@pytest.mark.parametrize("line", ["What time is it?", "How late is it?", "Hadda, what day is it today?"])
def test_who_asks_without_a_model_is_told_what_the_clock_says(line: str) -> None:
    lighthouse, caravan = samples()
    assert caravan.world is not None
    here = play_of(caravan)
    here.play = begin_time(caravan.world, here.play, here.node)
    assert "It is 5:46, dawn. Kettleday, 9 Wells." in here.say(line).text
    assert not re.search(r"It is \d+:\d\d", play_of(lighthouse).say(line).text)


def prompt(setup: PlaySetup, state: PlayState) -> str:
    """The narrator's prompt after the player's first line."""
    said = MemoryEntry(speaker_id="player", speaker_name="Robin", kind="player_input", text="I look around.")
    here = state.world
    scene = Scene(previous_node_id=here.current_node, previous_cast=here.active_characters, noticed=[said])
    context = SceneTeller(setup, state, scene, said.text, turn_index=1).narrator("describe_result")
    return write_prompt(setup.agent("narrator"), context).messages[-1].content


def test_a_world_that_names_what_is_not_there_is_refused_with_its_reasons() -> None:
    graph = Graph(start_node="inn", nodes=[node(phase="teatime", transitions=[Transition(to="inn")])])
    problems = "; ".join(world_problems(WORLD, graph, frozenset()))
    for part in ("'marit', who is not in the cast", "node 'tower'", "node 'gaol'", "phase 'teatime'"):
        assert part in problems


def test_a_phase_begins_again_only_on_the_next_day() -> None:
    at_six = moment(OURS, 22 * 60)
    assert (at_six.hour, at_six.phase) == (6, "morning")
    assert minutes_until_start(OURS, at_six, OURS.phases[0]) == 24 * 60


def test_the_schedules_of_a_story_together_ask_so_much_and_no_more() -> None:
    test = Comparison(key="tide", op="eq", value=1)
    exceptions = [ScheduleException(condition=AnyOf(any=[test] * 24), node_id="a") for _ in range(100)]
    graph = Graph(start_node="a", nodes=[Node(id="a", title="A", scene="", goal="", characters=[])])

    def problems(people: int) -> list[str]:
        schedules = {f"p{number}": Schedule(exceptions=exceptions) for number in range(people)}
        return world_problems(StoryWorld(schedules=schedules), graph, frozenset(schedules))

    assert problems(2) == []
    (problem,) = problems(3)
    told = f"its schedules and quests have 7500 exceptions and comparisons, and {MOST_RULES} are the most"
    assert problem.startswith(told)


@pytest.mark.parametrize("line", ["I wait until evening.", "We rest until evening.", "I sleep until evening."])
def test_who_waits_in_a_scene_that_can_be_stayed_in_decides_nothing(line: str) -> None:
    _, caravan = samples()
    assert caravan.world is not None
    here = play_of(caravan)
    here.play = begin_time(caravan.world, here.play, here.node)
    first = here.node
    here.say(line)
    assert here.node is first
    assert here.play.snapshot.time is not None and here.play.snapshot.time.phase == "evening"


def test_who_stays_for_breakfast_decides_it() -> None:
    _, caravan = samples()
    here = play_of(caravan)
    here.say("I stay for breakfast.")
    assert here.node.id == "the-kitchen-fire"


def test_a_year_that_no_calendar_of_ours_has_is_no_day_of_ours() -> None:
    hasty = Calendar(months=[Month(name="May", days=1)], hours_per_day=1, phases=[Phase(name="day", from_hour=0)])
    hasty = hasty.model_copy(update={"begins": StoryDate(hour=0)})
    for minutes, years in ((0, 0), (60 * 9_998, 9_998), (60 * 9_999, None), (LATEST, None)):
        began = play()
        at = began.model_copy(update={"snapshot": began.snapshot.model_copy(update={"time": moment(hasty, minutes)})})
        day = story_day(at)
        assert (None if day is None else day.year - 1) == years
