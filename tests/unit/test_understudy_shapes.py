"""What the understudy answers fits the shapes that roles are held to."""

from __future__ import annotations

import json

import pytest
from tests.unit.test_understudy import CONCEPT, LORE, MARA, PIER, TAM, moment
from tests.unit.understudy_walk import asked

from fabula.adapters.models.structure import schema_problem
from fabula.agents.replies.shapes import output_schema
from fabula.story.contexts import ArchitectContext, DirectorContext, KeeperContext, ProgressionHint, ReplyerContext
from fabula.story.resources import ArchitectMode

WORDS = ["", "Hello.", "Who are you?", "I take the key.", "Let's go.", "I look around."]


@pytest.mark.parametrize("words", WORDS)
def test_roles_that_answer_in_json_keep_their_shape(words: str) -> None:
    hints = [ProgressionHint(to=way.to, condition=way.condition) for way in PIER.transitions]
    keeper = KeeperContext(
        **moment(words), phase="after_player_input", progression_hints=hints, player_input=words, turns_in_scene=9
    )
    for context in (DirectorContext(**moment(words)), keeper, ReplyerContext(**moment(words))):
        schema = output_schema(context.role)
        assert schema is not None
        assert schema_problem(json.loads(asked(context)), schema) is None


@pytest.mark.parametrize("mode", ["graph", "draft_init", "draft_continue"])
def test_the_architect_keeps_the_shape_of_each_mode(mode: ArchitectMode) -> None:
    context = ArchitectContext(
        mode=mode,
        story_concept=CONCEPT,
        planned_story="",
        lore=LORE,
        available_characters=[MARA, TAM],
        current_section="Mara holds back one thing.",
        total_sections=2,
    )
    schema = output_schema("architect", mode)
    assert schema is not None
    assert schema_problem(json.loads(asked(context)), schema) is None
