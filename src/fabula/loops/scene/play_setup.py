"""The setup: everything a turn reads that does not change within it."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

from fabula.agents.windows import shared_history_limit, told_history, windows_of
from fabula.canon.staging import Spoken, spoken_by
from fabula.ports.threads import run_in_thread
from fabula.story.caches import IdentityCache
from fabula.story.changes import Bounds
from fabula.story.contexts import CanonNote
from fabula.story.game_systems import GameSystem
from fabula.story.gate import Place, moving_places
from fabula.story.graph import Graph, Node
from fabula.story.lore import has_book, lore_bundle, lore_version, prepare_book
from fabula.story.plays import PlayState, SessionSettings
from fabula.story.resources import (
    ROLES,
    AgentPreset,
    AgentRole,
    Api,
    ApiGroup,
    Bindings,
    CharacterContent,
    LorebookEntry,
    Preset,
)
from fabula.story.schemas import Schema
from fabula.story.story_spoilers import StorySpoilers, story_spoilers
from fabula.story.story_worlds import StoryWorld
from fabula.story.values import JsonObject
from fabula.understudy.reading.ways import SceneText

SMALL_STORY = 10_000
MOST_SCENES = 500
"""So many scenes of a story have what they call up prepared."""
LINES_BY_RULE = 1_000
TRIES_BEFORE_WEAK = 2
"""So many turns in a row a model may fail to answer in a shape before it is no longer asked to."""
_spoilers: IdentityCache[Graph, StorySpoilers] = IdentityCache(64)


@dataclass(frozen=True, kw_only=True)
class PlaySetup:
    """What a session plays: its story as it is for this session, its cast and lore, its prompts and models.

    `lore_bundle` is what another process prepared of exactly this lore, if one did.
    `world` is the story's time, `world_id` the world whose canon its plays build upon; a play without one has no canon.
    """

    session: SessionSettings
    graph: Graph
    introduction: str
    world_schema: Schema
    player_schema: Schema
    characters: dict[str, CharacterContent]
    character_schemas: dict[str, Schema]
    lore: tuple[LorebookEntry, ...]
    preset: Preset
    group: ApiGroup
    apis: dict[str, Api]
    nodes: dict[str, Node]
    api_revisions: dict[str, int] = field(default_factory=dict)
    system: GameSystem | None = None
    world: StoryWorld | None = None
    lore_bundle: JsonObject | None = None
    world_id: str | None = None

    @cached_property
    def spoken(self) -> Spoken:
        """The variables that speak of the world to which the story belongs."""
        cast = {id: self.character_schemas.get(content.schema_id) for id, content in self.characters.items()}
        return spoken_by(self.world_schema, self.player_schema, cast)

    @property
    def spoilers(self) -> StorySpoilers:
        """What must not be given away before its time; sessions that play the same share it."""
        return _spoilers.of(self.graph, self._find_spoilers)

    async def prepare(self) -> None:
        """Does in a thread what the first question about a large story would hold the event loop up with."""
        if self.is_large and not _spoilers.has(self.graph):
            _spoilers.put(self.graph, await run_in_thread(lambda: self._find_spoilers().prepare()))
        if self.is_large and not has_book(self.lore):
            keep = await run_in_thread(prepare_book, self.lore, self.lore_bundle)
            keep()

    @property
    def wants_bundle(self) -> bool:
        """Whether its lore takes so long to prepare that it should be done once for everybody, and was not."""
        return self.is_large and bool(self.lore) and self.lore_bundle is None

    @cached_property
    def lore_version(self) -> str:
        """Names what a bundle of its lore is made of."""
        return lore_version(self.lore, self._scene_words)

    def make_lore_bundle(self) -> JsonObject:
        """What takes long about its lore, and what each scene calls up."""
        return lore_bundle(self.lore, self._scene_words)

    @property
    def _scene_words(self) -> Iterator[str]:
        for node in self.graph.nodes[:MOST_SCENES]:
            yield from (node.title, node.scene, node.goal)

    @cached_property
    def is_large(self) -> bool:
        """Whether so much is written for it that looking through it takes longer than reaching a thread."""
        return len(self.graph.nodes) + len(self.lore) > 30 or self._letters > SMALL_STORY

    @property
    def _letters(self) -> int:
        return sum(len(entry.content) for entry in self.lore) + sum(len(node.scene) for node in self.graph.nodes)

    def _find_spoilers(self) -> StorySpoilers:
        cast = self.characters.values()
        return story_spoilers(self.graph, introduction=self.introduction, lore=self.lore, characters=cast)

    def bounds(self, play: PlayState) -> Bounds:
        """What operations are checked against; who entered during play exists too."""
        schemas: dict[str, Schema | None] = {
            id: self.character_schemas.get(content.schema_id) for id, content in self.characters.items()
        }
        guests: dict[str, Schema | None] = dict.fromkeys(play.session_characters)
        return Bounds(
            world=self.world_schema,
            player=self.player_schema,
            characters={**guests, **schemas},
            nodes=frozenset(self.nodes),
        )

    def names_of(self, ids: Collection[str], play: PlayState) -> dict[str, str]:
        """What these characters are called; guests of the play are characters too, and who is unknown is left out."""
        found = {id: one.name for id in ids if (one := self.characters.get(id)) is not None}
        guests = play.session_characters
        return {**found, **{id: guests[id].display_name for id in ids if id in guests and id not in found}}

    def agent(self, role: AgentRole) -> AgentPreset:
        return self.preset.agents.of(role)

    def api(self, role: AgentRole) -> Api:
        return self.apis[self.group.bindings.api_for(role)]

    def played_by(self, api: Api) -> PlaySetup:
        """The same with one api for all roles."""
        group = self.group.model_copy(update={"bindings": Bindings.all_to(api.api_id)})
        return replace(self, group=group, apis={api.api_id: api}, api_revisions={})

    def revision_of_api(self, role: AgentRole) -> int | None:
        """The revision at which a role's api was read, if it is known."""
        return self.api_revisions.get(self.group.bindings.api_for(role))

    @cached_property
    def scene_texts(self) -> dict[tuple[str, tuple[str, ...]], SceneText]:
        """The words of scenes as they were read before, by node and by who is there."""
        return {}

    @cached_property
    def canon_notes(self) -> dict[tuple[int, str, tuple[str, ...]], tuple[CanonNote, ...]]:
        """What is true around those in a scene as it was read before, by version of canon, turn and cast."""
        return {}

    @cached_property
    def entity_names(self) -> dict[str, str]:
        """What entities of canon are called, by id, as they were read with the notes."""
        return {}

    @cached_property
    def moving_places(self) -> frozenset[Place]:
        """The variables that the story's conditions read."""
        return moving_places(self.graph)

    @cached_property
    def shapeless(self) -> dict[AgentRole, int]:
        """How often in a row a role's model could not answer in the asked shape, as far as this process knows."""
        return {}

    def is_weak(self, role: AgentRole) -> bool:
        """Whether a role's model is known not to answer in a shape: it is then not asked for one again."""
        return self.shapeless.get(role, 0) >= TRIES_BEFORE_WEAK

    @cached_property
    def swift(self) -> bool:
        """Whether one call writes the whole turn."""
        extra = self.preset.agents.director.extra
        return isinstance(extra, dict) and extra.get("pace") == "swift"

    @cached_property
    def has_inner_lives(self) -> bool:
        """Whether somebody in the cast wears a mask, or has something that cannot be forgotten."""
        return any(one.mask is not None or one.traumas for one in self.characters.values())

    @cached_property
    def by_rule(self) -> bool:
        """Whether a role of this play is played by rule."""
        return any(self.api(role).provider == "understudy" for role in ROLES)

    @cached_property
    def past_lines(self) -> int:
        """How many lines of the transcript a turn sets out with: who plays by rule repeats nothing of them."""
        return max(self.told_history, LINES_BY_RULE if self.by_rule else 0)

    @cached_property
    def told_history(self) -> int:
        """How many lines of the transcript the role that looks back furthest is told."""
        return max(told_history(self.preset.agents.of(role)) for role in ROLES)

    @cached_property
    def shared_window(self) -> int:
        """How many entries the shared history keeps."""
        return shared_history_limit(self.preset.agents)

    @cached_property
    def private_window(self) -> int:
        """How many of its own thoughts a character keeps."""
        return windows_of("actor", self.preset.agents.actor).private
