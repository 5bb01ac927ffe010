"""DraftSetup: everything that a story is built from and that does not change while it is built."""

from __future__ import annotations

from dataclasses import dataclass

from fabula.story.contexts import CastMember
from fabula.story.lint import Fields, Ground
from fabula.story.resources import (
    AgentPreset,
    AgentRole,
    Api,
    ApiGroup,
    CharacterContent,
    LorebookEntry,
    Preset,
    StoryResources,
)
from fabula.story.schemas import Schema, SchemaField
from fabula.story.templates import Filling, cast_member


@dataclass(frozen=True, kw_only=True)
class DraftSetup:
    """Concept, cast, lore and seeds of a resource, and the prompts and models that make a story of them."""

    resource: StoryResources
    characters: dict[str, CharacterContent]
    character_schemas: dict[str, Schema]
    lore: tuple[LorebookEntry, ...]
    world_seed: Schema | None
    player_seed: Schema | None
    preset: Preset
    group: ApiGroup
    apis: dict[str, Api]

    def agent(self, role: AgentRole) -> AgentPreset:
        return self.preset.agents.of(role)

    def api(self, role: AgentRole) -> Api:
        return self.apis[self.group.bindings.api_for(role)]

    def cast(self) -> list[CastMember]:
        """The cast as its authors wrote it, before anyone plays."""
        filling = Filling(user=None)
        return [
            cast_member(content, state={}, schema=self.character_schemas.get(content.schema_id), filling=filling)
            for content in self.characters.values()
        ]

    def ground(self, world: Fields, player: Fields) -> Ground:
        """What a graph of this cast stands on."""
        return ground_of(self.characters, self.character_schemas, world, player)


def ground_of(
    characters: dict[str, CharacterContent], schemas: dict[str, Schema], world: Fields, player: Fields
) -> Ground:
    """The variables of world, player and everyone in the cast."""
    fields = {id: schemas[content.schema_id].fields for id, content in characters.items()}
    return Ground(world=world, player=player, characters=fields)


def seeded(seed: Schema | None, proposed: dict[str, SchemaField]) -> dict[str, SchemaField]:
    """The fields of a seed as their author wrote them, then what was proposed beyond them."""
    return proposed if seed is None else {**seed.fields, **{k: v for k, v in proposed.items() if k not in seed.fields}}
