"""Reading a scene by rule costs what the scene is long and what its ways are many, never one times the other."""

from __future__ import annotations

from tests.growth import calls_of

from fabula.story.conditions import Any as AnyOf
from fabula.story.conditions import holds
from fabula.story.graph import MOST_WAYS_READ, Comparison, Graph, Node, Transition, width_problems
from fabula.story.knowledge import Reader, Until
from fabula.story.lore import readable_lore
from fabula.story.readings import TakeWay
from fabula.story.resources import LorebookEntry
from fabula.story.state import WorldState
from fabula.story.values import Json
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


def asked(values: list[Json]) -> AnyOf:
    return AnyOf(any=[Comparison(key="bag", op="contains", value=value) for value in values])


def test_a_long_list_is_looked_through_once_however_much_is_looked_for_in_it() -> None:
    bag: list[Json] = [f"thing {n}" for n in range(5_000)]
    here = WorldState(current_node="n", custom={"bag": bag})
    absent: list[Json] = ["thing", ["thing 1"], {"thing 1": 1}]
    for nothing in absent:
        few, many = ([nothing] * count for count in (1, 30))
        once = calls_of(lambda: holds(asked(few), here)).total()  # noqa: B023
        assert calls_of(lambda: holds(asked(many), here)).total() < 2 * once + 1_000  # noqa: B023


def test_what_is_in_a_long_list_is_what_is_in_a_short_one() -> None:
    bag: list[Json] = [1, 2.0, True, None, "key", ["key", 1], {"a": [1, False]}, "9"]
    wanted: list[Json] = [1, 1.0, 2, True, False, 0, None, "key", "ke", [], ["key", True], ["key", 1.0], 9, 3]
    wanted += [{"a": [1.0, False]}, {"a": [1, 0]}, {"a": [True, False]}, {}]
    short, long = (WorldState(current_node="n", custom={"bag": bag * times}) for times in (1, 20))
    found = [[holds(asked([value]), here) for value in wanted] for here in (short, long)]
    assert found[0] == found[1]
    assert sum(found[0]) == 8


def test_the_ways_out_of_a_scene_ask_so_much_and_no_more() -> None:
    def problems(times: int) -> list[str]:
        ways = [Transition(to="n", condition=asked(["key"] * 20)) for _ in range(times)]
        node = Node(id="n", title="N", scene="", goal="", transitions=ways)
        return width_problems(Graph(start_node="n", nodes=[node]))

    assert problems(10) == []
    (problem,) = problems(11)
    assert problem.startswith("the ways out of node 'n' have 2200 comparisons, and 2000 are the most")


def test_what_is_in_a_long_text_is_found_however_much_is_looked_for_in_it() -> None:
    tale = " ".join(f"Mara met {n} wolves." for n in range(1_000))
    here = WorldState(current_node="n", custom={"bag": tale})
    for n in range(200):
        assert holds(asked([f"met {n} wolves"]), here)
        assert not holds(asked([f"met {n} foxes"]), here)
    assert holds(asked([""]), here)
    assert holds(asked([tale]), here)
    assert holds(asked(["999 wolves."]), here)
    assert not holds(asked(["999 wolves. "]), here)


def test_lore_that_looks_into_a_long_text_sorts_it_once() -> None:
    here = WorldState(current_node="n", custom={"bag": "a" * 20_000})
    lore = tuple(
        LorebookEntry(entry_id=f"e{n}", title="t", content="x", known_by=Until(until=asked([f"{'a' * 20}b"])))
        for n in range(2_000)
    )
    crowd = Reader.scene(f"p{n}" for n in range(50))
    calls = calls_of(lambda: readable_lore(lore, crowd, here))
    assert calls["holds"] <= 4 * len(lore)
    assert calls["begins"] <= 20_000 + 20 * calls["has"]
    assert calls["has"] <= 2 * len(lore)
