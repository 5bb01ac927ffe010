"""Checks: bands, criticals, advantage, contests, conditions, effects and tracks of the built-in systems."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fabula.rules.draws import Draws
from fabula.rules.resolution import group_level, resolve
from fabula.rules.sheets import preventing, sheet_of, sheet_schema
from fabula.rules.systems import builtin_systems, system_problems
from fabula.story.checks import Check, Edge
from fabula.story.game_systems import GameSystem
from fabula.story.schemas import defaults_of, schema_problems
from fabula.story.values import JsonObject

GOLDEN = Path(__file__).parent / "resolutions.json"
SYSTEMS = builtin_systems()


def cases() -> list[dict[str, Any]]:
    """300 checks over the four systems: every stat, act, edge, contest and condition in turn."""
    made: list[dict[str, Any]] = []
    acts, edges = ("attack", "risk", "social"), ("none", "advantage", "disadvantage")
    for number in range(300):
        system = SYSTEMS[("d20", "pbta", "fate", "narrative")[number % 4]]
        turn = number // 4
        stats, skills, conditions = [*system.attributes], [*system.skills], [*system.conditions]
        attribute = stats[turn % len(stats)]
        case: dict[str, Any] = {
            "system": system.system_id,
            "seed": number,
            "act": acts[turn % 3],
            "edge": edges[turn // 3 % 3],
            "stat": attribute,
            "skill": skills[turn % len(skills)] if skills and turn % 2 else None,
            "target": [None, 5, 10, 15, 20][turn % 5] if system.system_id == "d20" else [None, 1, 3][turn % 3],
            "opponent": "orc" if turn % 3 == 0 or turn % 4 == 0 else None,
            "player": {attribute: system.attributes[attribute].default + turn % 4},
            "orc": {attribute: system.attributes[attribute].default - turn % 2},
        }
        if turn % 5 == 4:
            case["player"]["conditions"] = [conditions[turn % len(conditions)]]
        if turn % 7 == 6:
            track = next(iter(system.tracks))
            case["orc"][track] = 1 if system.system_id == "d20" else system.tracks[track].most - 1
        made.append(case)
    return made


def outcome(case: dict[str, Any]) -> dict[str, Any]:
    check = Check(
        check_id="check-1",
        act=case["act"],
        deed="what is tried",
        stat=case["stat"],
        skill=case["skill"],
        target=case["target"],
        opponent=case["opponent"],
        edge=case["edge"],
    )
    draws = Draws(case["seed"])
    sheets = {"player": case["player"], "orc": case["orc"]}
    resolved = resolve(SYSTEMS[case["system"]], check, sheets, draws, {"player": "Ann", "orc": "Orc"})
    found = resolved.resolution
    return {
        "total": found.roll.total,
        "dice": found.roll.raw,
        "against": found.target,
        "margin": found.margin,
        "level": found.level,
        "effects": [effect.sentence for effect in found.effects],
        "drawn": draws.cursor,
    }


@pytest.mark.parametrize(("case", "wanted"), [(one["case"], one["outcome"]) for one in json.loads(GOLDEN.read_text())])
def test_a_check_comes_out_as_it_is_written(case: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert outcome(case) == wanted


def check(**fields: Any) -> Check:
    return Check(**{"check_id": "c", "act": "risk", "deed": "cross the beam", **fields})


def seed_for(system: GameSystem, wanted: int, *, edge: Edge = "none") -> int:
    """A seed with which the first die shows a number."""
    return next(seed for seed in range(1000) if Draws(seed).below(20) + 1 == wanted)


@pytest.mark.parametrize(
    ("shown", "target", "level"),
    [
        (15, 5, "critical_success"),
        (14, 5, "success"),
        (10, 10, "success"),
        (9, 10, "partial"),
        (5, 10, "partial"),
        (4, 10, "failure"),
        (5, 15, "failure"),
        (4, 15, "critical_failure"),
        (20, 30, "critical_success"),
        (1, -5, "critical_failure"),
    ],
)
def test_margins_and_naturals_decide_in_d20(shown: int, target: int, level: str) -> None:
    system = SYSTEMS["d20"]
    found = resolve(system, check(target=target), {}, Draws(seed_for(system, shown)), {}).resolution
    assert (found.roll.total, found.level) == (shown, level)


@pytest.mark.parametrize(("bonus", "level"), [(20, "success"), (-20, "failure")])
def test_two_dice_have_three_outcomes(bonus: int, level: str) -> None:
    moved = check(modifiers=[{"source": "tools", "value": bonus}])
    assert resolve(SYSTEMS["pbta"], moved, {}, Draws(4), {}).resolution.level == level


def test_with_advantage_the_better_die_counts_and_both_are_shown() -> None:
    found = resolve(SYSTEMS["d20"], check(edge="advantage"), {}, Draws(9), {}).resolution
    assert len(found.roll.raw) == 2
    assert found.roll.kept == [max(found.roll.raw)]
    worse = resolve(SYSTEMS["d20"], check(edge="disadvantage"), {}, Draws(9), {}).resolution
    assert worse.roll.kept == [min(found.roll.raw)]


def test_who_is_opposed_must_reach_what_the_other_rolls() -> None:
    found = resolve(SYSTEMS["d20"], check(opponent="orc", stat="strength"), {"orc": {"strength": 18}}, Draws(2), {})
    opposed = found.resolution.opposed
    assert opposed is not None and opposed.total == opposed.raw[0] + 4
    assert found.resolution.margin == found.resolution.roll.total - opposed.total


def test_a_forced_outcome_draws_no_dice() -> None:
    draws = Draws(1)
    found = resolve(SYSTEMS["d20"], check(forced="failure", act="risk"), {}, draws, {})
    assert (found.resolution.level, draws.cursor) == ("failure", 0)


def test_who_falls_to_no_hit_points_is_down_and_can_do_nothing() -> None:
    system = SYSTEMS["d20"]
    seed = seed_for(system, 20)
    found = resolve(
        system, check(act="attack", opponent="orc", target=5), {"orc": {"hp": 3}}, Draws(seed), {"orc": "Orc"}
    )
    said = [effect.sentence for effect in found.resolution.effects]
    assert said == ["Orc: Hit points 3 → 0.", "Orc: down."]
    sheet = {op.key: op.value for op in found.ops}
    assert preventing(system, sheet) == "down"


def test_conditions_weigh_on_the_stats_they_are_about() -> None:
    shaken: dict[str, JsonObject] = {"player": {"conditions": ["shaken"]}}
    social = resolve(SYSTEMS["d20"], check(stat="charisma"), shaken, Draws(3), {}).resolution
    bodily = resolve(SYSTEMS["d20"], check(stat="strength"), shaken, Draws(3), {}).resolution
    assert [one.source for one in social.check.modifiers] == ["shaken"]
    assert bodily.roll.total - social.roll.total == 2


@pytest.mark.parametrize(
    ("levels", "together"),
    [
        (["success", "success", "failure"], "success"),
        (["failure", "failure", "critical_success"], "failure"),
        (["success", "failure"], "success"),
        (["partial"], "partial"),
    ],
)
def test_a_group_achieves_what_half_of_it_does(levels: list[Any], together: str) -> None:
    assert group_level(levels) == together


@pytest.mark.parametrize("system", SYSTEMS.values(), ids=lambda system: system.system_id)
def test_a_built_in_system_has_no_problems_and_a_sheet_that_fits_it(system: GameSystem) -> None:
    assert system_problems(system) == []
    schema = sheet_schema(system)
    assert schema_problems(schema.fields) == []
    assert sheet_of(system, {}) == defaults_of(schema)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"core": {"formula": "1d20 +", "bands": [{"level": "success"}]}}, "no formula"),
        ({"core": {"formula": "1d20 + luck", "bands": [{"level": "success"}]}}, "names 'luck'"),
        ({"core": {"formula": "1d20", "bands": [{"level": "success", "at_least": 3}]}}, "have no level"),
        (
            {
                "core": {
                    "formula": "1d20",
                    "bands": [
                        {"level": "success", "at_least": 3},
                        {"level": "partial", "at_least": 5},
                        {"level": "failure"},
                    ],
                }
            },
            "in order",
        ),
        ({"attributes": {"might": {"display_name": "Might", "modifier": "1d4"}}}, "is fixed"),
        ({"skills": {"swim": {"display_name": "Swim", "attribute": "might"}}}, "no attribute"),
        ({"effects": [{"levels": ["success"], "track": "gold", "change": "1"}]}, "no track"),
        ({"effects": [{"levels": ["success"], "adds": "rich"}]}, "no condition"),
        (
            {
                "attributes": {"might": {"display_name": "Might"}},
                "tracks": {"might": {"display_name": "Might"}},
            },
            "has the name of",
        ),
    ],
)
def test_what_is_wrong_with_a_system_is_said_in_words(change: dict[str, Any], said: str) -> None:
    plain = {"system_id": "mine", "display_name": "Mine", "core": {"formula": "1d20", "bands": [{"level": "success"}]}}
    (problem, *_) = system_problems(GameSystem.model_validate({**plain, **change}))
    assert said in problem


if __name__ == "__main__":
    # Writes the golden outcomes anew: read what changed.
    written = [{"case": case, "outcome": outcome(case)} for case in cases()]
    GOLDEN.write_text("[\n" + ",\n".join(json.dumps(one, ensure_ascii=False) for one in written) + "\n]\n", "utf-8")


@pytest.mark.parametrize(
    "formulas",
    [
        {"modifier": "1 / value"},
        {"modifier": "value * value", "default": 2**53 - 1, "most": 2**53 - 1},
        {"core": "1000d1e1"},
        {"change": "6 / (margin - margin)"},
    ],
)
def test_a_formula_that_cannot_be_reckoned_on_some_sheet_counts_nothing(formulas: dict[str, Any]) -> None:
    strength = {
        "display_name": "Strength",
        **{key: formulas[key] for key in ("modifier", "default", "most") & formulas.keys()},
    }
    effect = {"levels": ["success", "failure"], "track": "harm", "change": formulas.get("change", "0")}
    system = GameSystem.model_validate(
        {
            "system_id": "odd",
            "display_name": "Odd",
            "core": {
                "formula": formulas.get("core", "stat"),
                "bands": [{"level": "success", "at_least": 1}, {"level": "failure"}],
            },
            "attributes": {"strength": strength},
            "tracks": {"harm": {"display_name": "Harm"}},
            "effects": [effect],
        }
    )
    assert system_problems(system) == []
    check = Check(check_id="c", act="risk", deed="a climb", stat="strength")
    resolved = resolve(system, check, {"player": {}}, Draws(1), {})
    assert (resolved.resolution.level, resolved.resolution.roll.total, resolved.ops) == ("failure", 0, ())
