"""The chapters of an exported play: a long play is put into them by looking at each scene a few times."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from fabula.actions.plays.export_session import _chapters, _Gathered
from fabula.ports.plays import SpokenMessage

TURNS = 300


class Mark:
    """A scene that counts how often its turn was asked for."""

    asked = 0

    def __init__(self, turn_index: int, node_id: str) -> None:
        self._turn_index, self.node_id = turn_index, node_id

    @property
    def turn_index(self) -> int:
        Mark.asked += 1
        return self._turn_index


def line(turn_index: int) -> SpokenMessage:
    return SpokenMessage(
        message_id=f"m{turn_index}",
        turn_id=f"t{turn_index}",
        turn_index=turn_index,
        sequence=turn_index,
        kind="narration",
        speaker_id="narrator",
        speaker_name="Narrator",
        text="The road goes on.",
        recorded_at_ms=1,
        created_at_ms=1,
        updated_at_ms=1,
    )


def test_each_scene_is_looked_at_a_few_times_however_many_there_are() -> None:
    # The second turn of three says nothing: its scene is left before anybody spoke in it.
    state: Any = SimpleNamespace(player_name="Ann")
    found = _Gathered(
        session_id="s",
        title="Night",
        story="",
        introduction="",
        end="t",
        state=state,
        written_at_ms=1,
        lines=[line(turn) for turn in range(TURNS) if turn % 3 != 1],
        scenes=[Mark(turn, f"n{turn}") for turn in range(TURNS)],  # type: ignore[misc]
        titles={f"n{turn}": f"Scene {turn}" for turn in range(TURNS)},
    )
    chapters = _chapters(found)
    assert [chapter.title for chapter in chapters] == [f"Scene {turn}" for turn in range(TURNS) if turn % 3 != 1]
    assert Mark.asked < 10 * TURNS
