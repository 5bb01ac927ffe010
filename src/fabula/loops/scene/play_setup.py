"""The setup: everything a turn reads that does not change within it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from fabula.agents.windows import shared_history_limit, told_history, windows_of
from fabula.canon.staging import Spoken, spoken_by
from fabula.loops.guardrails import Guardrails, guardrails_of
from fabula.ports.threads import run_in_thread
from fabula.rules.feasibility import Elsewhere
from fabula.rules.scene_lore import Written
from fabula.story.agendas import AgendaClock
from fabula.story.boundaries import union_of
from fabula.story.caches import IdentityCache
from fabula.story.canon import AxiomContent
from fabula.story.caps import Caps
from fabula.story.changes import Bounds
from fabula.story.conflicts import Conflict
from fabula.story.contexts import CanonNote
from fabula.story.directives import Directive
from fabula.story.free_plays import FreeWorld, node_now, purpose_of
from fabula.story.game_systems import GameSystem
from fabula.story.gate import Place, moving_places
from fabula.story.graph import Graph, Node
from fabula.story.lore import has_book, lore_bundle, lore_version, named_lore, prepare_book
from fabula.story.plays import PlayState, SessionSettings
from fabula.story.plot_threads import PlotThread
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
from fabula.story.scene_lore import PlaceLore
from fabula.story.schemas import Schema
from fabula.story.session_zero import SessionZero
from fabula.story.state_hash import json_hash
from fabula.story.story_spoilers import StorySpoilers, story_spoilers
from fabula.story.story_templates import StoryTemplate, TemplateNow
from fabula.story.story_worlds import StoryWorld
from fabula.story.values import Json, JsonObject
from fabula.understudy.reading.ways import SceneText

SMALL_STORY = 10_000
MOST_SCENES = 500
"""So many scenes of a story have what they call up prepared."""
MOST_BACKGROUND = 40
"""So many entries that no scene calls to mind are looked at for gossip."""
PLACE_LORE_FORMAT = 2
"""Raise it when the rules find other lore for a place, or it is written otherwise."""
LINES_BY_RULE = 1_000
TRIES_BEFORE_WEAK = 2
"""So many turns in a row a model may fail to answer in a shape before it is no longer asked to."""
_spoilers: IdentityCache[Graph, StorySpoilers] = IdentityCache(64)


@dataclass(frozen=True, kw_only=True)
class PlaySetup:
    """What a session plays: its story as it is for this session, its cast and lore, its prompts and models.

    `lore_bundle` is what another process prepared of exactly this lore, if one did.
    `free` is there in free play: what can be found out on the map that `graph` is.
    `world` is the story's time, `world_id` the world whose canon its plays build upon; a play without one has no canon.
    `clocks`, `threads`, `conflicts`, `directives` and `templates` are those of that world as they are written,
    `world_minute` is when its plays begin.
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
    clocks: tuple[AgendaClock, ...] = ()
    threads: tuple[PlotThread, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    directives: tuple[Directive, ...] = ()
    templates: tuple[StoryTemplate, ...] = ()
    world_minute: int = 0
    free: FreeWorld | None = None
    world_zero: SessionZero | None = None
    caps: Caps | None = None

    def agreed(self, play: PlayState) -> SessionZero | None:
        """What counts at this table: its own session zero, and the boundaries of its world."""
        own, shared = play.session_zero, self.world_zero
        if shared is None or not shared.has_limits:
            return own
        own = own or SessionZero()
        return own.model_copy(update=dict(union_of(shared, own)))

    def guardrails(self, play: PlayState, *who: str) -> Guardrails:
        """What is kept at this table, in what these agents and characters tell."""
        told = self.told_directives(play)
        return guardrails_of(self.world_zero, play.session_zero, directives=told, who=who, minute=play.minute)

    def followed(self, play: PlayState) -> tuple[StoryTemplate, TemplateNow] | None:
        """The template that a play follows, and how far it has come in it; None where its world has it no more."""
        now = play.template
        found = (
            None if now is None else next((one for one in self.templates if one.template_id == now.template_id), None)
        )
        return None if now is None or found is None else (found, now)

    def told_directives(self, play: PlayState) -> tuple[Directive, ...]:
        """What agents and characters are told in a play: by its world, then by itself."""
        return (*self.directives, *play.directives)

    def now(self, play: PlayState) -> PlaySetup:
        """The setup of a turn. In free play a place has a purpose that changes, and so does what can be found out."""
        world, free = self.free, play.free
        if world is None or free is None:
            return self
        nodes = {id: node_now(world, free, node, play.world) for id, node in self.nodes.items()}
        return replace(self, nodes=nodes)

    def purpose(self, play: PlayState, node: Node) -> str:
        """What a scene is for."""
        if self.free is None or play.free is None:
            return node.goal
        return purpose_of(self.free, play.free, node, play.world)

    def open_scenes(self, play: PlayState) -> frozenset[str]:
        """The scenes of which may be told: those that were visited; in free play everybody knows the places."""
        return play.visited if self.free is None else frozenset(self.nodes)

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

    @property
    def wants_lore(self) -> bool:
        """Whether a scene that was entered leaves something to prepare."""
        return self.wants_bundle or self.world_id is not None

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
        scenes = sum(len(node.scene) for node in self.graph.nodes)
        return scenes + sum(len(entry.content) + sum(map(len, entry.keywords)) for entry in self.lore)

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
    def written(self) -> Written:
        """What the lore of scenes is made of, beside what is true in the world."""

        def called(node: Node) -> Sequence[LorebookEntry]:
            return named_lore(self.lore, node.title, node.scene, node.goal)

        scenes = self.graph.nodes[:MOST_SCENES]
        named = {entry.entry_id for node in scenes for entry in called(node)}
        background = [one for one in self.lore if one.enabled and one.entry_id not in named]
        names = {id: one.name for id, one in self.characters.items()}
        return Written(names=names, called=called, background=background[:MOST_BACKGROUND])

    @cached_property
    def written_version(self) -> str:
        """Names what is written as far as the lore of scenes is made of it."""
        places: list[Json] = [[one.id, one.title, one.scene, one.goal] for one in self.graph.nodes[:MOST_SCENES]]
        lore: list[Json] = [[one.entry_id, one.content, one.enabled, one.match, *one.keywords] for one in self.lore]
        people: list[Json] = [[id, one.name] for id, one in self.characters.items()]
        return json_hash([PLACE_LORE_FORMAT, places, lore, people])

    @cached_property
    def lore_by_id(self) -> dict[str, LorebookEntry]:
        return {one.entry_id: one for one in self.lore}

    @cached_property
    def place_lore(self) -> dict[tuple[int, str, str], PlaceLore]:
        """What may be said at places as it was read before, by version of canon, turn and place."""
        return {}

    @cached_property
    def canon_notes(self) -> dict[tuple[int, str, tuple[str, ...]], tuple[CanonNote, ...]]:
        """What is true around those in a scene as it was read before, by version of canon, turn and cast."""
        return {}

    @cached_property
    def canon_commits(self) -> dict[str, int]:
        """When the keeper was done with marked turns of the play, as it was read before."""
        return {}

    @cached_property
    def axioms(self) -> list[AxiomContent]:
        """What can never be true in the world, as it was read with the notes."""
        return []

    @cached_property
    def visited_words(self) -> dict[str, Elsewhere]:
        """What visited scenes tell of, by node."""
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
    def gate_asks_model(self) -> bool:
        """Whether the preset has a model asked what can be done, where the rules leave it open."""
        extra = self.preset.agents.director.extra
        return isinstance(extra, dict) and extra.get("feasibility") == "model"

    @cached_property
    def has_inner_lives(self) -> bool:
        """Whether somebody in the cast wears a mask, or has something that cannot be forgotten."""
        return any(one.mask is not None or one.traumas for one in self.characters.values())

    def is_by_rule(self, role: AgentRole) -> bool:
        return self.api(role).provider == "understudy"

    @cached_property
    def by_rule(self) -> bool:
        """Whether a role of this play is played by rule."""
        return any(self.is_by_rule(role) for role in ROLES)

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
