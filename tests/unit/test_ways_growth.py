"""Reading a scene by rule costs what the scene is long and what its ways are many, never one times the other."""

from __future__ import annotations

from tests.growth import calls_of

from fabula.story.graph import MOST_WAYS_READ, Comparison, Node, Transition
from fabula.story.readings import TakeWay
from fabula.understudy.reading.reader import read_line
from fabula.understudy.reading.scenes import scene_text
from fabula.understudy.reading.ways import SceneText, WayText, ways_of


def letters(number: int) -> str:
    return str(number).translate(str.maketrans("0123456789", "abcdefghij"))


def scene(ways: int, sentences: int) -> SceneText:
    told = " ".join(f"The old tower{letters(n)} stands by the well." for n in range(sentences))
    tests = [((f"tower{letters(n)}", f"well{letters(n)}", "text"),) for n in range(ways)]
    led = tuple(WayText(to="m", title="Mill", tests=test) for test in tests)
    return SceneText(node_id="n", title="T", scene=told, goal="Go on.", ways=led)


def reading_work(ways: int, sentences: int) -> int:
    ways_of(scene(1, 1))
    return calls_of(lambda: ways_of(scene(ways, sentences))).total()


def test_a_scene_is_read_once_however_many_ways_lead_on() -> None:
    assert reading_work(200, 300) < 2 * (reading_work(200, 1) + reading_work(1, 300))


def test_ways_are_set_apart_without_comparing_them_with_each_other() -> None:
    assert reading_work(800, 1) < 5 * reading_work(200, 1)
    few, many = scene(200, 1), scene(800, 1)
    for one in (few, many):
        read_line("I go to the mill.", one)
    four_times = calls_of(lambda: read_line("I go to the old mill.", many)).total()
    assert four_times < 5 * calls_of(lambda: read_line("I go to the old mill.", few)).total()


def wide(ways: int) -> Node:
    led = [Transition(to=f"m{n}", condition=Comparison(key=letters(n), op="eq", value="lit")) for n in range(1, ways)]
    lamp = Transition(to="lamp", condition=Comparison(key="lamp", op="eq", value="lit"))
    return Node(id="n", title="T", scene="A lamp.", goal="Light the lamp or leave.", transitions=[lamp, *led])


def test_of_very_many_ways_the_first_are_read_and_the_scene_is_played() -> None:
    read = scene_text(wide(8_000), {}, [], [])
    assert len(read.ways) == MOST_WAYS_READ
    assert read_line("I light the lamp.", read).decision == TakeWay(way=0)
