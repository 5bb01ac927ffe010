"""A play by rule without a store: every turn is understood, moved, told and guarded by the same functions as in the
scene loop, at a hundredth of its cost. For tests that play very much.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from tests.unit.knowing_stage import setup_of_world

from fabula.actions.library.samples import read_worlds, sample_folder
from fabula.language.guarded_stream import GuardedStream
from fabula.loops.scene.contexts import Scene, SceneTeller
from fabula.loops.scene.play_setup import PlaySetup
from fabula.loops.scene.player_line import said_before
from fabula.ports.models import CallOrigin, ModelRequest
from fabula.story.changes import apply_all, enter, opening_state, remember
from fabula.story.conditions import holds
from fabula.story.contexts import RoleContext, StateView
from fabula.story.graph import Node, Transition, open_transition
from fabula.story.passing_time import pass_time
from fabula.story.plays import PlayState, SceneMark
from fabula.story.readings import AskBack, OpenQuestion, Understood
from fabula.story.state import MemoryEntry, Snapshot, StateOp, StateUpdate, WorldState
from fabula.understudy import answer
from fabula.understudy.keeper import opening, progress
from fabula.understudy.reading.reader import read_line
from fabula.understudy.reading.scenes import Somebody, scene_text
from fabula.understudy.reading.ways import SceneText

SNAKE = re.compile(r"(?<!^)(?=[A-Z])")
SPOKEN = re.compile(r"<(action|dialogue)>(.*?)</\1>", re.DOTALL)
_TEXTS: dict[tuple[int, str, tuple[str, ...]], SceneText] = {}


@dataclass(frozen=True, kw_only=True)
class Told:
    """A turn: what was understood, what the player read, which operations were made, and where it led."""

    read: Understood
    text: str
    lines: list[MemoryEntry]
    ops: list[StateOp]
    before: str
    after: str

    @property
    def asked(self) -> bool:
        return isinstance(self.read.decision, AskBack)


@dataclass
class RulePlay:
    """A play at its newest turn."""

    setup: PlaySetup
    play: PlayState
    seed: int = 1
    past: list[MemoryEntry] = field(default_factory=list)
    turns: int = 0

    @property
    def node(self) -> Node:
        return self.setup.nodes[self.play.world.current_node]

    @property
    def ended(self) -> bool:
        return not self.node.transitions

    def say(self, line: str) -> Told:
        """Plays a turn."""
        self.turns += 1
        before, read = self.play.world.current_node, self._read(line)
        said = MemoryEntry(speaker_id="player", speaker_name="Robin", kind="player_input", text=line)
        world = remember(self.play.world, [said], limit=self.setup.shared_window)
        scene = Scene(previous_node_id=before, previous_cast=world.active_characters, noticed=[said], understood=read)
        ops = self._ops(world, read)
        done = apply_all(ops, world, self.setup.bounds(self.play))
        question = OpenQuestion(node_id=read.node_id, ways=read.decision.ways) if _asks(read) else None
        self.play = self.play.with_world(done.state).model_copy(
            update={"turns_in_scene": self.play.turns_in_scene + 1, "question": question}
        )
        scene = self._move_on(scene)
        if self.setup.world is not None:
            self.play = pass_time(self.setup.world, self.play, line, self.node, moved=scene.transitioned)
        told = self._tell(scene, line)
        self.past += [said, *told]
        text = "\n".join(entry.text for entry in told)
        return Told(read=read, text=text, lines=told, ops=list(done.ops), before=before, after=self.node.id)

    def _read(self, line: str) -> Understood:
        here = self.play.world
        key = (id(self.setup), here.current_node, tuple(here.active_characters))
        if key not in _TEXTS:
            people = [
                Somebody(id=id, name=one.name, personality=one.personality, here=id in here.active_characters)
                for id, one in self.setup.characters.items()
            ]
            lore = [(entry.title, tuple(entry.keywords)) for entry in self.setup.lore if entry.enabled]
            _TEXTS[key] = scene_text(self.node, self.setup.nodes, people, lore)
        return read_line(
            line,
            _TEXTS[key],
            question=self.play.question,
            turns_in_scene=self.play.turns_in_scene,
            before=said_before(self.play),
        )

    def _ops(self, world: WorldState, read: Understood) -> list[StateOp]:
        view = StateView(custom=world.custom, player_state=world.player_state, character_state=world.character_state)
        ops = progress(self.node, read, view, self.setup.world_schema.fields, world.active_characters)
        return StateUpdate.model_validate({"ops": ops}).ops

    def _move_on(self, scene: Scene) -> Scene:
        way = open_transition(self.node, self.play.world)
        if way is None:
            return scene
        arrived = enter(self.setup.nodes[way.to], self.play.world, self.setup.bounds(self.play))
        self.play = self.play.with_world(arrived.state).entering(way.to)
        return scene.model_copy(update={"transitioned": True})

    def _tell(self, scene: Scene, line: str) -> list[MemoryEntry]:
        told: list[MemoryEntry] = []
        for beat in json.loads(self._ask(self._teller(scene, line).director()))["beats"]:
            teller = self._teller(scene.after(told), line)
            entries = self._perform(teller, beat)
            told += entries
            self.play = self.play.with_world(remember(self.play.world, entries, limit=self.setup.shared_window))
        return told

    def _teller(self, scene: Scene, line: str) -> SceneTeller:
        return SceneTeller(self.setup, self.play, scene, line, self.past, turn_index=self.turns)

    def _perform(self, teller: SceneTeller, beat: dict[str, str]) -> list[MemoryEntry]:
        purpose: Any = SNAKE.sub("_", beat["purpose"]).lower()
        if beat["type"] == "Narrator":
            return _entries("narrator", "Narrator", [("narration", self._ask(teller.narrator(purpose)))], teller)
        who = beat["speaker_id"]
        return _entries(who, teller.name_of(who), SPOKEN.findall(self._ask(teller.actor(who, purpose))), teller)

    def _ask(self, context: RoleContext) -> str:
        origin = CallOrigin(agent=context.role)
        return answer(ModelRequest(origin=origin, messages=(), context=context, seed=self.seed, deadline=0))


def _asks(read: Understood) -> bool:
    return isinstance(read.decision, AskBack)


def _entries(who: str, name: str, spoken: list[tuple[Any, str]], teller: SceneTeller) -> list[MemoryEntry]:
    found: list[MemoryEntry] = []
    for kind, text in spoken:
        watch = GuardedStream(teller.guard())
        kept = (watch.take(text) + watch.close()).strip()
        if kept:
            found.append(MemoryEntry(speaker_id=who, speaker_name=name, kind=kind, text=kept))
    return found


def play_of(setup: PlaySetup, node_id: str = "", *, seed: int = 1) -> RulePlay:
    """A play at its beginning, or in a scene, with the variables that the shortest road there has set."""
    snapshot = Snapshot(story_id="st", player_description="", world_state=WorldState(current_node="?"))
    empty = PlayState(snapshot=snapshot, graph="g")
    world = opening_state(setup.graph, setup.bounds(empty)).state
    for way in road_to(setup, world.current_node, node_id or world.current_node):
        while not holds(way.condition, world):
            view = StateView(
                custom=world.custom, player_state=world.player_state, character_state=world.character_state
            )
            ops = StateUpdate.model_validate({"ops": opening(way.condition, view, setup.world_schema.fields)}).ops
            world = apply_all(ops, world, setup.bounds(empty)).state
        world = enter(setup.nodes[way.to], world, setup.bounds(empty)).state
    marks = [SceneMark(turn_index=0, node_id=world.current_node)]
    return RulePlay(setup, empty.with_world(world).model_copy(update={"scenes": marks}), seed)


def road_to(setup: PlaySetup, start: str, goal: str) -> list[Transition]:
    """The fewest ways from one scene to another."""
    roads: dict[str, list[Transition]] = {start: []}
    waiting = [start]
    for node_id in waiting:
        for way in setup.nodes[node_id].transitions:
            if way.to not in roads:
                roads[way.to] = [*roads[node_id], way]
                waiting.append(way.to)
    return roads[goal]


def samples() -> tuple[PlaySetup, PlaySetup]:
    """Both sample worlds: the lighthouse and the caravan."""
    found = {world.story.story_id: setup_of_world(world) for world in read_worlds(sample_folder())}
    return found["lighthouse-the-unlit-hour"], found["caravan-the-walking-court"]
