"""A small engine that plays a graph with the understudy alone, as the scene loop does: enough to read and to test."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from fabula.ports.models import CallOrigin, ModelRequest
from fabula.story.contexts import (
    ActorContext,
    CastMember,
    DirectorContext,
    KeeperContext,
    Lore,
    NarratorContext,
    PlayerCard,
    ProgressionHint,
    RoleContext,
    StateView,
)
from fabula.story.graph import Graph, Node, open_transition
from fabula.story.schemas import SchemaField
from fabula.story.state import MemoryEntry, WorldState
from fabula.understudy import answer

SNAKE = re.compile(r"(?<!^)(?=[A-Z])")


def asked(context: RoleContext, seed: int = 1) -> str:
    return answer(
        ModelRequest(origin=CallOrigin(agent=context.role), messages=(), context=context, seed=seed, deadline=0)
    )


@dataclass
class Walk:
    """A play in progress; `lines` is what a reader sees."""

    graph: Graph
    cast: dict[str, CastMember]
    lore: Lore = field(default_factory=Lore)
    fields: dict[str, SchemaField] = field(default_factory=dict)
    seed: int = 1
    lines: list[str] = field(default_factory=list)
    history: list[MemoryEntry] = field(default_factory=list)
    state: WorldState = field(default_factory=lambda: WorldState(current_node="?"))
    private: dict[str, list[MemoryEntry]] = field(default_factory=dict)
    turns_in_scene: int = 0
    moved: bool = False

    def __post_init__(self) -> None:
        custom = {key: one.default for key, one in self.fields.items()}
        self.state = WorldState(current_node=self.graph.start_node, custom=custom)

    @property
    def node(self) -> Node:
        node = self.graph.node(self.state.current_node)
        assert node is not None
        return node

    @property
    def ended(self) -> bool:
        return not self.node.transitions

    def shared(self) -> dict[str, Any]:
        return {
            "lore": self.lore,
            "player": PlayerCard(name="Robin", description="A traveller."),
            "current_cast": [self.cast[name] for name in self.node.characters],
            "current_node": self.node,
            "transitioned_this_turn": self.moved,
            "world_state": StateView(custom=self.state.custom, player_state={}),
            "shared_history": self.history[-8:],
        }

    def turn(self, words: str) -> None:
        self.lines.append(f"\n> {words}")
        self._note("player", "Robin", "player_input", words)
        hints = [ProgressionHint(to=way.to, condition=way.condition) for way in self.node.transitions]
        keeper = KeeperContext(
            **self.shared(),
            phase="after_player_input",
            world_fields=self.fields,
            progression_hints=hints,
            player_input=words,
            turns_in_scene=self.turns_in_scene,
        )
        custom = dict(self.state.custom)
        for op in json.loads(asked(keeper, self.seed))["ops"]:
            custom[op["key"]] = op["value"]
        self.state = self.state.model_copy(update={"custom": custom})
        self._move_on()
        for beat in json.loads(asked(DirectorContext(**self.shared()), self.seed))["beats"]:
            self._beat(beat)

    def _move_on(self) -> None:
        way = open_transition(self.node, self.state)
        self.moved = way is not None
        self.turns_in_scene = 0 if way is not None else self.turns_in_scene + 1
        if way is not None:
            self.state = self.state.model_copy(update={"current_node": way.to})

    def _beat(self, beat: dict[str, str]) -> None:
        purpose: Any = SNAKE.sub("_", beat["purpose"]).lower()
        if beat["type"] == "Narrator":
            text = asked(NarratorContext(**self.shared(), purpose=purpose), self.seed)
            self.lines.append(text)
            self._note("narrator", "Narrator", "narration", text)
            return
        actor = self.cast[beat["speaker_id"]]
        private = self.private.setdefault(actor.id, [])
        text = asked(
            ActorContext(**self.shared(), actor=actor, purpose=purpose, private_memory=private[-8:]), self.seed
        )
        for kind, said in re.findall(r"<(thought|action|dialogue)>(.*?)</\1>", text, re.DOTALL):
            self.lines.append(
                {"thought": f"({actor.name} thinks: {said})", "action": said}.get(kind, f"{actor.name}: {said}")
            )
            if kind == "thought":
                private.append(MemoryEntry(speaker_id=actor.id, speaker_name=actor.name, kind="thought", text=said))
            else:
                self._note(actor.id, actor.name, kind, said)

    def _note(self, speaker_id: str, speaker_name: str, kind: str, text: str) -> None:
        entry = {"speaker_id": speaker_id, "speaker_name": speaker_name, "kind": kind, "text": text}
        self.history.append(MemoryEntry.model_validate(entry))
