"""The sample worlds are whole: they load, nothing is wrong with their graphs, and every face is their own."""

from __future__ import annotations

import pytest

from fabula.actions.library.samples import SampleWorld, read_worlds, sample_folder
from fabula.formats.images import read_image
from fabula.formats.portraits import draw_portrait, portrait_for
from fabula.story.graph import Comparison, graph_problems
from fabula.story.lint import Ground, lint
from fabula.story.schemas import schema_problems
from fabula.story.stories import common_variable_problems

WORLDS = read_worlds(sample_folder())
every_world = pytest.mark.parametrize("world", WORLDS, ids=lambda world: world.story.story_id)


def ground_of(world: SampleWorld) -> Ground:
    schemas = {schema.schema_id: schema.fields for schema in world.schemas}
    return Ground(
        world=schemas[world.story.world_schema_id],
        player=schemas[world.story.player_schema_id],
        characters={content.id: schemas[content.schema_id] for content in world.characters},
    )


def test_there_are_two_worlds_at_least() -> None:
    assert len(WORLDS) >= 2


@every_world
def test_nothing_is_wrong_with_a_sample_story(world: SampleWorld) -> None:
    assert graph_problems(world.story.graph) == []
    assert [finding.sentence for finding in lint(world.story.graph, ground_of(world))] == []
    assert [problem for schema in world.schemas for problem in schema_problems(schema.fields)] == []


@every_world
def test_a_sample_story_branches_and_has_more_than_one_ending(world: SampleWorld) -> None:
    nodes = world.story.graph.nodes
    assert 8 <= len(nodes) <= 12
    assert sum(not node.transitions for node in nodes) >= 2
    assert sum(len(node.transitions) > 1 for node in nodes) >= 3
    conditions = [way.condition for node in nodes for way in node.transitions]
    assert all(isinstance(condition, Comparison) for condition in conditions), "not every editor saves other ones"


@every_world
def test_a_sample_world_is_furnished(world: SampleWorld) -> None:
    cast = {content.id for content in world.characters}
    assert set(world.resources.character_ids) == cast == set(world.portraits)
    assert sum(len(book.entries) for book in world.lorebooks) >= 12
    assert world.profiles
    plan = world.resources.planned_story or ""
    assert "Opening Situation:" in plan and "Suggested Beats:" in plan
    schemas = {schema.schema_id: schema for schema in world.schemas}
    problems = common_variable_problems(
        world.story.common_variables,
        world=schemas[world.story.world_schema_id],
        player=schemas[world.story.player_schema_id],
        characters={content.id: schemas[content.schema_id] for content in world.characters},
    )
    assert problems == []


@every_world
def test_every_scene_can_be_told_whole(world: SampleWorld) -> None:
    # The understudy tells six sentences of a scene at most, and takes a title's full stop for a sentence's end.
    for node in world.story.graph.nodes:
        assert node.scene.count(". ") <= 5, f"{node.id} is too long to be told at once"
        assert "Mrs." not in node.scene and "Mr." not in node.scene


def test_every_character_has_a_face_of_its_own() -> None:
    faces = [draw_portrait(portrait) for world in WORLDS for portrait in world.portraits.values()]
    assert len(set(faces)) == len(faces)
    assert all(read_image(face) == ("image/png", []) for face in faces)


def test_a_face_is_drawn_alike_each_time() -> None:
    assert draw_portrait(portrait_for("Odile")) == draw_portrait(portrait_for("Odile"))
    assert draw_portrait(portrait_for("Odile")) != draw_portrait(portrait_for("Anton"))
