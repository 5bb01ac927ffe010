"""What can be done in a world, and what it says where something cannot: a hundred and twenty lines in three worlds."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from tests.growth import calls_of
from tests.rule_play import RulePlay, play_of
from tests.unit.knowing_stage import setup_of_world

from fabula.actions.library.samples import read_worlds, sample_folder
from fabula.loops.denial import judge_or_deny
from fabula.loops.scene.feasibility import judge_line
from fabula.loops.scene.play_setup import PlaySetup
from fabula.rules.feasibility import FAILED_GATE, Elsewhere, WorldSeen, axiom_terms, judge_intents
from fabula.story.canon import AxiomContent
from fabula.story.caps import Beyond, Caps, MagicCap, TechnologyCap, cap_words
from fabula.story.intent_verdicts import IntentVerdict
from fabula.story.passing_time import begin_time
from fabula.story.plays import SceneMark
from fabula.story.readings import Intent, Stay, TakeWay, Understood

TABLE = Path(__file__).parent / "golden_intents.txt"


@cache
def setups() -> dict[str, PlaySetup]:
    """The samples by a word of their names, the river with what is true and possible in its world."""
    found: dict[str, PlaySetup] = {}
    for world in read_worlds(sample_folder()):
        setup = setup_of_world(world)
        if world.canon is not None:
            setup = replace(setup, caps=world.canon.world.caps)
            setup.axioms.extend(one for one in world.canon.contents if isinstance(one, AxiomContent))
        found[world.story.story_id.partition("-")[0]] = setup
    return found


@cache
def play_at(world: str, node: str, visited: str) -> RulePlay:
    setup = setups()[world]
    play = play_of(setup, node)
    marks = [SceneMark(turn_index=0, node_id=id) for id in [*visited.split(), node]]
    play.play = play.play.model_copy(update={"scenes": marks})
    if setup.world is not None:
        play.play = begin_time(setup.world, play.play, setup.nodes[node])
    return play


def verdicts(world: str, node: str, visited: str, line: str) -> list[IntentVerdict]:
    play = play_at(world, node, visited)
    return judge_line(play.setup, play.play, play._read(line), [])[1]


def test_a_line_of_very_many_deeds_is_looked_through_once() -> None:
    caps = cap_words(Caps(technology=TechnologyCap(level="medieval"), magic=MagicCap(level="none")))
    absent = [f"Person{n} Family{n}" for n in range(30)]

    def counted(deeds: int) -> Counter[str]:
        intents = [Intent(kind="attack", text="hit", mood="act")] * deeds
        read = Understood(line="I hit. " * 100, node_id="n", decision=Stay(), intents=intents)
        return calls_of(lambda: judge_intents(read, WorldSeen(caps=caps, absent=absent)))

    few, many = counted(2), counted(40)
    assert few["find_in"] == many["find_in"] > 0
    assert many["search"] == few["search"], "names that are not said are not looked for with patterns"


@pytest.mark.parametrize(
    ("line", "text", "called"),
    [
        ("Odo, come here!", "come here", True),
        ("ODO: come!", "come", True),
        ("Come here, Odo!”", "come here", True),
        ("I talk to Odo.", "talk to odo", True),
        ("I talk about Odo.", "talk about odo", False),
        ("I hit the odour.", "hit the odour", False),
        ("Go, Odot.", "go", False),
    ],
)
def test_who_is_away_is_called_by_name_or_acted_upon(line: str, text: str, called: bool) -> None:
    read = Understood(line=line, node_id="n", decision=Stay(), intents=[Intent(kind="talk", text=text, mood="act")])
    found = [one.rule for one in judge_intents(read, WorldSeen(absent=["Odo"]))]
    assert found == (["absent_person"] if called else [])


def rows() -> list[tuple[str, str, str, str, str]]:
    """World, node, visited nodes, line and what is expected."""
    found, at = [], ("", "", "")
    for row in TABLE.read_text("utf-8").splitlines():
        if row.startswith("## "):
            world, node, *visited = row[3:].split()
            at = world, node, " ".join(visited)
        elif row.strip() and not row.startswith("#"):
            line, _, expected = row.partition(" => ")
            found.append((*at, line.strip(), expected.strip()))
    return found


def shown(found: list[IntentVerdict]) -> str:
    return "; ".join(f"{one.result} {one.rule} {one.about}" for one in found) or "allow"


def test_a_hundred_and_twenty_lines_get_the_verdicts_that_are_written() -> None:
    assert len(rows()) >= 120 and len({world for world, *_ in rows()}) == 3
    wrong = [
        f"{line} => {got} (not {expected})"
        for world, node, visited, line, expected in rows()
        if (got := shown(verdicts(world, node, visited, line))) != expected
    ]
    assert not wrong, "\n".join(wrong)


def test_every_verdict_says_why_what_to_tell_and_what_helps() -> None:
    for world, node, visited, line, expected in rows():
        for one in verdicts(world, node, visited, line):
            assert one.sentence and one.guidance and one.lead, (line, expected)


def test_what_the_world_denies_opens_no_way_and_what_it_replaces_may() -> None:
    intent = Intent(kind="use", text="i fire my pistol at the lock", what="pistol")
    read = Understood(line="I fire my pistol at the lock.", node_id="n", intents=[intent], decision=TakeWay(way=0))
    caps = cap_words(Caps(technology=TechnologyCap(level="medieval")))
    (analog,) = judge_intents(read, WorldSeen(caps=caps))
    assert analog.result == "analog" and not analog.stops
    none = Caps(technology=TechnologyCap(beyond=[Beyond(words=["pistol"])]), magic=MagicCap())
    (denied,) = judge_intents(read, WorldSeen(caps=cap_words(none)))
    assert denied.result == "deny" and denied.stops


def test_a_world_without_caps_axioms_or_calendar_says_nothing_to_deeds() -> None:
    intent = Intent(kind="attack", text="i cast a fireball with my laser pistol at midnight")
    read = Understood(line="...", node_id="n", intents=[intent], decision=Stay())
    assert judge_intents(read, WorldSeen()) == []


def test_a_gate_that_fails_denies_and_the_log_says_why(caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> frozenset[str]:
        raise ZeroDivisionError("a broken rule")

    take = Intent(kind="take", text="i take the lamp", what="lamp")
    read = Understood(line="I take the lamp.", node_id="n", intents=[take])
    seen = WorldSeen(elsewhere=[Elsewhere(title="Mill", words=frozenset({"lamp"}))], at_hand=broken)
    (one,) = judge_or_deny("feasibility", lambda: judge_intents(read, seen), [FAILED_GATE])
    assert (one.rule, one.result, one.stops) == ("check_failed", "deny", True)
    assert "a broken rule" in caplog.text


def test_an_axiom_is_found_by_all_that_it_says_can_never_be() -> None:
    owns = AxiomContent(text="No one may own the river.", predicate="owns", object="the Ammer")
    terms = axiom_terms([owns])
    assert terms is not None
    assert terms.find_in("i own the ammer now") == owns.text and terms.find_in("i look at the ammer") is None
