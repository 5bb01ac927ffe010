"""The player's words are read while they are written down, where that takes no time; what is read is the same."""

from __future__ import annotations

import pytest
from tests.rule_play import play_of, samples

from fabula.loops.scene.player_line import SHORT_LINE, read_ahead
from fabula.understudy.reading.scenes import Somebody, scene_text

LINES = ("I look around.", "I go to the lamp room and climb the stairs.", "<b>Where</b> is Tobias?", "yes")


@pytest.mark.parametrize("line", LINES)
def test_what_is_read_ahead_is_what_the_turn_would_read(line: str) -> None:
    setup, _ = samples()
    play = play_of(setup)
    world = play.play.world
    setup.scene_texts.clear()
    assert read_ahead(setup, play.play, line) is None, "the words of a new scene take longer than a line"
    here = set(world.active_characters)
    people = [
        Somebody(id=id, name=one.name, personality=one.personality, here=id in here)
        for id, one in setup.characters.items()
    ]
    lore = [(entry.title, tuple(entry.keywords)) for entry in setup.lore if entry.enabled]
    key = (world.current_node, tuple(world.active_characters))
    setup.scene_texts[key] = scene_text(setup.nodes[world.current_node], setup.nodes, people, lore)
    told = play.say(line.replace("<b>", " ").replace("</b>", " "))
    assert read_ahead(setup, play_of(setup).play, line) == told.read
    assert read_ahead(setup, play_of(setup).play, "I look around. " * SHORT_LINE) is None
