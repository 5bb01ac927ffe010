"""Which lines need a check: deeds that are risky, done now, by the player; and what they are rolled with."""

from __future__ import annotations

from typing import Any

import pytest

from fabula.rules.agreement import PUSHBACK, correction, roll_sentence
from fabula.rules.check_needs import _pattern, needed_check
from fabula.rules.draws import Draws
from fabula.rules.resolution import resolve
from fabula.rules.systems import builtin_systems
from fabula.story.checks import Check, Resolution, RollView
from fabula.story.game_systems import Skill
from fabula.story.graph import Node
from fabula.story.readings import Understood
from fabula.understudy.reading.reader import read_line
from fabula.understudy.reading.scenes import Somebody, scene_text

D20 = builtin_systems()["d20"]
YARD = Node(id="yard", title="The yard", scene="A high wall, a locked door and a guard called Brom.", goal="Get out.")
BROM = Somebody(id="brom", name="Brom", personality="A guard.", here=True)


def read(line: str) -> Understood:
    return read_line(line, scene_text(YARD, {"yard": YARD}, [BROM], []), question=None, turns_in_scene=1, before="")


def needed(line: str, system: Any = D20, **sheet: Any) -> Check | None:
    return needed_check(system, read(line), check_id="c", sheets={"player": sheet}, present=["brom"])


def test_of_thousands_of_words_of_a_system_only_those_that_a_line_has_are_made_ready() -> None:
    skills = {
        f"s{number}": Skill(
            display_name="S", attribute="strength", words=[f"odd{number}x{word}" for word in range(100)]
        )
        for number in range(100)
    }
    system = D20.model_copy(update={"skills": {**skills, **D20.skills}})
    made = _pattern.cache_info().misses
    check = needed("I climb the wall.", system)
    assert check is not None and check.skill == "athletics"
    assert _pattern.cache_info().misses - made < 20


@pytest.mark.parametrize(
    ("line", "act", "rolled_with", "opponent"),
    [
        ("I climb the wall.", "risk", "athletics", None),
        ("I try to climb the wall.", "risk", "athletics", None),
        ("I sneak past the guard.", "risk", "stealth", None),
        ("I pick the lock of the door.", "risk", "thievery", None),
        ("I force the door.", "risk", "strength", None),
        ("I attack Brom.", "attack", "fighting", "brom"),
        ("I punch Brom.", "attack", "fighting", "brom"),
        ("I try to persuade Brom to let me go.", "social", "persuasion", "brom"),
        ("I threaten Brom.", "social", "intimidation", "brom"),
        ("I jump over the wall.", "risk", "athletics", None),
    ],
)
def test_a_risky_deed_is_rolled_with_the_stat_that_it_is_about(
    line: str, act: str, rolled_with: str, opponent: str | None
) -> None:
    check = needed(line)
    assert check is not None
    assert (check.act, check.skill or check.stat, check.opponent) == (act, rolled_with, opponent)


@pytest.mark.parametrize(
    "line",
    [
        "I look around.",
        "I go to the door.",
        "Hello, Brom.",
        "How high is the wall to climb?",
        "I do not climb the wall.",
        "Brom, climb the wall!",
        "Yesterday I climbed a wall.",
        "I wish I could climb the wall.",
        "What is behind the door?",
        "I wait.",
        "",
    ],
)
def test_what_is_not_risky_or_not_done_rolls_no_dice(line: str) -> None:
    assert needed(line) is None


def test_who_tells_the_outcome_with_the_deed_still_has_to_roll_for_it() -> None:
    check = needed("I easily climb the wall.")
    assert check is not None and check.forced is None
    assert "not the player's to tell" in check.because


@pytest.mark.parametrize(
    ("line", "edge"),
    [
        ("I carefully climb the wall.", "advantage"),
        ("I climb the wall in a hurry.", "disadvantage"),
        ("I climb the wall.", "none"),
    ],
)
def test_care_helps_and_haste_hinders(line: str, edge: str) -> None:
    check = needed(line)
    assert check is not None and check.edge == edge


def test_who_is_down_can_do_nothing() -> None:
    check = needed("I climb the wall.", conditions=["down"])
    assert check is not None and check.forced == "failure" and "down" in check.because


@pytest.mark.parametrize("difficulty", [*D20.difficulties])
def test_the_difficulty_of_a_scene_is_what_must_be_reached(difficulty: str) -> None:
    check = needed_check(D20, read("I climb the wall."), check_id="c", sheets={}, present=[], difficulty=difficulty)
    assert check is not None and check.target == D20.difficulties[difficulty]


@pytest.mark.parametrize(
    ("level", "told", "corrected"),
    [
        ("failure", "You succeed at last.", True),
        ("critical_failure", "It works, and the door gives.", True),
        ("success", "You fail, and slide back down.", True),
        ("success", "Your attempt fails.", True),
        ("failure", "You slide back down the wall.", False),
        ("failure", "You succeed at first, then you fail.", False),
        ("partial", "You succeed.", False),
        ("success", "The wall is behind you.", False),
    ],
)
def test_a_telling_that_claims_the_opposite_of_the_dice_is_set_right(level: Any, told: str, corrected: bool) -> None:
    check = Check(check_id="c", act="risk", deed="climb")
    resolution = Resolution(check=check, roll=RollView(formula="1d20", total=3), margin=-9, level=level)
    assert (correction(resolution, told) is not None) is corrected


def test_what_we_do_is_a_check_of_the_group_and_half_of_it_decides() -> None:
    check = needed("We climb the wall together.")
    assert check is not None and check.group == ["brom"] and check.opponent is None
    alone = needed("I climb the wall.")
    assert alone is not None and alone.group == []
    sheets: dict[str, dict[str, Any]] = {"player": {"athletics": -20}, "brom": {"athletics": 30}}
    done = resolve(D20, check, sheets, Draws(7), {"player": "Wren", "brom": "Brom"}).resolution
    (brom,) = done.group
    assert (brom.who, brom.level) == ("brom", "critical_success") and done.level == "critical_success"
    sentence = roll_sentence(done, stat="Athletics", names={"brom": "Brom"})
    assert sentence.startswith(
        f"Athletics: {done.roll.total}, Brom {brom.roll.total} against 12, together critical success."
    )


def test_who_declares_what_somebody_else_does_has_to_roll_and_is_told_so() -> None:
    check = needed("I ask Brom for the key and he agrees.")
    assert check is not None and (check.act, check.opponent, check.declared) == ("social", "brom", True)
    done = resolve(D20, check, {}, Draws(1), {"brom": "Brom"}).resolution
    assert PUSHBACK in roll_sentence(done, stat="Charisma", names={})
    assert needed("I ask Brom for the key.") is None
