"""Stories and drafts of stories, in the shapes in which they are kept."""

from __future__ import annotations

from typing import Literal

from fabula.story.free_plays import FreeWorld
from fabula.story.graph import Graph
from fabula.story.schemas import Schema
from fabula.story.story_worlds import StoryWorld
from fabula.story.values import Id, Sparse, Value

VariableScope = Literal["world", "player", "character"]


class CommonVariable(Sparse):
    """A variable that the author pins to the stage's panel."""

    optional = frozenset({"character_id"})
    scope: VariableScope
    key: str
    display_name: str
    character_id: Id | None = None
    pinned: bool = True


class Story(Sparse):
    """A playable story. `world` is there if time passes in it, `rules` names the game system that it is played by.

    `world_id` names the world whose canon its plays build upon; `world` is another thing, the story's own time.
    `free` is there where the graph is a map of that world, and no plot was written: the story of its free plays.
    """

    optional = frozenset({"world", "rules", "world_id", "free"})
    story_id: Id
    display_name: str
    resource_id: Id
    graph: Graph
    world_schema_id: Id
    player_schema_id: Id
    introduction: str
    common_variables: list[CommonVariable] = []
    world: StoryWorld | None = None
    rules: Id | None = None
    world_id: Id | None = None
    free: FreeWorld | None = None

    @property
    def kind(self) -> Literal["graph"]:
        return "graph"


DraftStatus = Literal["building", "ready_to_finalize", "finalized"]


class StoryDraft(Value):
    """A story in the making: what is planned, what is built, what comes next.

    `recent_node_ids` are the nodes of the last section: the next one is built upon them.
    """

    draft_id: Id
    display_name: str
    resource_id: Id
    api_group_id: Id
    preset_id: Id
    planned_story: str
    outline_sections: list[str]
    next_section_index: int
    partial_graph: Graph
    world_schema_id: Id
    player_schema_id: Id
    introduction: str
    common_variables: list[CommonVariable] = []
    section_summaries: list[str] = []
    status: DraftStatus
    final_story_id: Id | None = None
    recent_node_ids: list[Id] = []

    @property
    def total_sections(self) -> int:
        return len(self.outline_sections)


def common_variable_problems(
    variables: list[CommonVariable], *, world: Schema, player: Schema, characters: dict[str, Schema]
) -> list[str]:
    """What is wrong with pinned variables, given the bound schemas and the schema of each cast member."""
    problems, seen = [], set()
    for variable in variables:
        name = (variable.scope, variable.character_id, variable.key)
        if name in seen:
            problems.append(f"the common variable '{variable.key}' is listed twice")
        seen.add(name)
        problems += _variable_problems(variable, world, player, characters)
    return problems


def _variable_problems(
    variable: CommonVariable, world: Schema, player: Schema, characters: dict[str, Schema]
) -> list[str]:
    if variable.scope == "character":
        if variable.character_id is None:
            return [f"the common variable '{variable.key}' has scope character but no character_id"]
        if variable.character_id not in characters:
            return [f"the common variable '{variable.key}' names '{variable.character_id}', who is not in the cast"]
        schema = characters[variable.character_id]
    elif variable.character_id is not None:
        return [f"the common variable '{variable.key}' has a character_id, but its scope is {variable.scope}"]
    else:
        schema = world if variable.scope == "world" else player
    if variable.key not in schema.fields:
        return [f"the common variable '{variable.key}' is not in schema '{schema.schema_id}'"]
    return []
