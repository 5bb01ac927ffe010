"""What players say, and what must become of it: tables of utterances over four worlds, in plain files.

`utterances/by-readers` was written by somebody who knew the stories and not the code, `utterances/by-us` by us. The
worlds are both samples, and two in `utterances/worlds`: one that was written for this table and says nothing of what
its ways mean, and one as the wizard makes them with no model. The columns:

    scene      where the line is said
    setup      what was said there before, if anything
    line       what the player writes
    kind       what kind of line it is; see INTENTS for those that say which act must be read
    expected   `move:key=value` or `move:scene`, `ask` (back), or `stay`
    tells      a pattern that the answer must show
    must_not   a pattern that it must not
"""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest
from tests.rule_play import RulePlay, Told, play_of, samples
from tests.unit.knowing_stage import setup_of_world

from fabula.actions.library.samples import read_worlds
from fabula.loops.scene.play_setup import PlaySetup
from fabula.story.graph import tests_of as comparisons_of
from fabula.story.readings import IntentKind, TakeWay

FOLDER = Path(__file__).parent / "utterances"
INTENTS: dict[str, frozenset[IntentKind]] = {
    "q": frozenset({"ask", "hint", "where", "who_is_here"}),
    "greet": frozenset({"greet"}),
    "thank": frozenset({"thank"}),
    "meta": frozenset({"hint", "where", "who_is_here", "look"}),
    "nonsense": frozenset({"unknown", "speech"}),
}


@dataclass(frozen=True, kw_only=True)
class Utterance:
    """A row of a table."""

    table: str
    world: str
    scene: str
    setup: str
    line: str
    kind: str
    expected: str
    tells: str = ""
    must_not: str = ""


def rows() -> list[Utterance]:
    found: list[Utterance] = []
    for file in sorted(FOLDER.glob("by-*/*.tsv")):
        with file.open(encoding="utf-8", newline="") as table:
            for row in csv.DictReader(table, delimiter="\t", quoting=csv.QUOTE_NONE):
                filled = {key: value or "" for key, value in row.items()}
                found.append(Utterance(table=file.parent.name, world=file.stem, **filled))
    return found


ROWS = rows()


@cache
def worlds() -> dict[str, PlaySetup]:
    sarn, court = samples()
    ours = {world.story.display_name: setup_of_world(world) for world in read_worlds(FOLDER / "worlds")}
    return {
        "the-unlit-hour": sarn,
        "the-walking-court": court,
        "dead-air": ours["Dead Air"],
        "the-locked-sea-chest": ours["The Locked Sea Chest"],
    }


def said(row: Utterance) -> tuple[RulePlay, Told]:
    """The line, said in its scene after the setup. The scene has been told by then, as in a play."""
    play = play_of(worlds()[row.world], row.scene)
    for words in filter(None, ["I look around.", *row.setup.split(" | ")]):
        play.say(words)
    return play, play.say(row.line)


def problems(row: Utterance) -> list[str]:
    """What is wrong with what became of a line."""
    play, told = said(row)
    found = [*_effect(row, play, told), *_words(row, told)]
    kinds = {intent.kind for intent in told.read.intents}
    if row.kind in INTENTS and not kinds & INTENTS[row.kind]:
        found.append(f"read as {sorted(kinds)}")
    return found


def _effect(row: Utterance, play: RulePlay, told: Told) -> list[str]:
    if row.expected == "ask":
        return [] if told.asked and not told.ops else [f"not asked back: {told.read.decision.kind}"]
    if row.expected == "stay":
        moved = [f"changed {told.ops}"] if told.ops else []
        return [*moved, *(["asked back"] if told.asked else [])]
    wanted = row.expected.removeprefix("move:")
    if not isinstance(told.read.decision, TakeWay):
        return [f"no move: {told.read.decision.kind} {told.read.scores}"]
    way = play.setup.nodes[told.before].transitions[told.read.decision.way]
    tests = {f"{test.key}={_shown(test.value)}" for test in comparisons_of(way.condition)}
    return [] if told.ops and wanted in tests | {way.to} else [f"moved to {way.to} by {sorted(tests)}"]


def _shown(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _words(row: Utterance, told: Told) -> list[str]:
    found: list[str] = []
    if row.tells and not re.search(row.tells, told.text):
        found.append(f"does not tell {row.tells!r}: {told.text!r}")
    if row.must_not and re.search(row.must_not, told.text):
        found.append(f"tells {row.must_not!r}: {told.text!r}")
    if not told.text.strip():
        found.append("answers nothing")
    return found


def test_the_tables_have_four_hundred_lines_and_half_are_by_readers() -> None:
    assert len(ROWS) >= 400
    assert sum(row.table == "by-readers" for row in ROWS) == 200


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.table}-{row.scene}-{row.line[:40]}")
def test_a_line_does_what_it_says_and_nothing_else(row: Utterance) -> None:
    assert problems(row) == []
