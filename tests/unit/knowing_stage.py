"""Stages for tests of who may know what: a play of a world at any state, without a store or a model."""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass, field

from fabula.actions.library.samples import SampleWorld
from fabula.agents.presets.forms import builtin_preset
from fabula.loops.scene.contexts import Scene, SceneTeller
from fabula.loops.scene.play_setup import PlaySetup
from fabula.ports.models import CallOrigin, ModelRequest
from fabula.story.contexts import RoleContext
from fabula.story.graph import Comparison, Graph, Node, Transition
from fabula.story.knowledge import Fact, SceneNote, Until
from fabula.story.plays import PlayState, SceneMark, SessionSettings
from fabula.story.readings import Understood
from fabula.story.resources import Api, ApiGroup, Bindings, CharacterContent, LorebookEntry
from fabula.story.schemas import Schema, SchemaField
from fabula.story.state import MemoryEntry, Snapshot, WorldState
from fabula.story.story_worlds import StoryWorld
from fabula.story.values import Json
from fabula.understudy import answer

ROLES = ("planner", "architect", "director", "actor", "narrator", "keeper", "replyer")
WORDS = ("amber", "basin", "cedar", "dune", "ember", "fjord", "grove", "harbour", "island", "kiln", "marsh", "nettle")


def setup_of(
    graph: Graph,
    *,
    lore: tuple[LorebookEntry, ...],
    characters: list[CharacterContent],
    world: Schema,
    player: Schema,
    schemas: dict[str, Schema],
    introduction: str = "",
    time: StoryWorld | None = None,
) -> PlaySetup:
    api = Api(api_id="u", display_name="u", provider="understudy", base_url="", model="u")
    bindings = Bindings(**{f"{role}_api_id": "u" for role in ROLES})
    return PlaySetup(
        session=SessionSettings(
            session_id="s", story_id="st", display_name="", player_schema_id="p", api_group_id="g", preset_id="builtin"
        ),
        graph=graph,
        introduction=introduction,
        world=time,
        world_schema=world,
        player_schema=player,
        characters={one.id: one for one in characters},
        character_schemas=schemas,
        lore=lore,
        preset=builtin_preset(),
        group=ApiGroup(api_group_id="g", display_name="g", bindings=bindings),
        apis={"u": api},
        nodes={node.id: node for node in graph.nodes},
    )


def setup_of_world(world: SampleWorld) -> PlaySetup:
    schemas = {schema.schema_id: schema for schema in world.schemas}
    return setup_of(
        world.story.graph,
        lore=tuple(entry for book in world.lorebooks for entry in book.entries),
        characters=world.characters,
        world=schemas[world.story.world_schema_id],
        player=schemas[world.story.player_schema_id],
        schemas=schemas,
        introduction=world.story.introduction,
        time=world.story.world,
    )


def generated_setup(seed: int) -> PlaySetup:
    """A story of some scenes, people and lore, with secrets of every kind."""
    dice = random.Random(seed)
    people = [f"person-{n}" for n in range(dice.randint(2, 4))]
    fields = {f"flag_{n}": SchemaField(value_type="bool", default=False, description=f"Flag {n}.") for n in range(4)}
    tick = iter(range(10_000))

    def text() -> str:
        one, other, third = dice.sample(WORDS, 3)
        return f"The {one} keeps number {next(tick)} of {other} under the {third}."

    def who() -> list[str] | Until | None:
        condition = Comparison(key=f"flag_{dice.randrange(4)}", op="eq", value=True)
        named = dice.sample(people, dice.randint(0, len(people)))
        return dice.choice([None, named, Until(until=condition), Until(until=condition, then=named)])

    nodes = [
        Node(
            id=f"n{n}",
            title=f"Scene {n}",
            scene=text(),
            goal=f"Go on to {n + 1}.",
            characters=dice.sample(people, dice.randint(0, len(people))),
            transitions=[Transition(to=f"n{n + 1}")] if n < 5 else [],
            notes=[SceneNote(text=text(), known_by=who(), secret=dice.random() < 0.5) for _ in range(2)],
        )
        for n in range(6)
    ]
    lore = tuple(
        LorebookEntry(
            entry_id=f"e{n}",
            title=f"Entry {n}",
            content=text(),
            keywords=dice.sample(WORDS, 2),
            always_include=dice.random() < 0.2,
            recursive=dice.random() < 0.3,
            known_by=who(),
            secret=dice.random() < 0.5,
        )
        for n in range(12)
    )
    cast = [
        CharacterContent(
            id=id,
            name=id.capitalize(),
            personality="Quiet.",
            style="Short.",
            schema_id="c",
            system_prompt="You are {{char}}.",
            facts=[Fact(text=text(), known_by=who(), secret=dice.random() < 0.5) for _ in range(2)],
        )
        for id in people
    ]
    world = Schema(schema_id="w", display_name="w", fields=fields)
    empty = Schema(schema_id="p", display_name="p", fields={})
    schemas = {"c": Schema(schema_id="c", display_name="c", fields={}), "w": world, "p": empty}
    graph = Graph(start_node="n0", nodes=nodes)
    return setup_of(graph, lore=lore, characters=cast, world=world, player=empty, schemas=schemas)


def random_play(setup: PlaySetup, dice: random.Random) -> PlayState:
    """A play at any scene, with any variables, after some scenes."""
    node = dice.choice(setup.graph.nodes)
    visited = dice.sample([one.id for one in setup.graph.nodes], dice.randint(0, 3))
    world = WorldState(
        current_node=node.id,
        active_characters=node.characters,
        custom={key: _any_value(field, dice) for key, field in setup.world_schema.fields.items()},
        player_state={key: _any_value(field, dice) for key, field in setup.player_schema.fields.items()},
        character_state={
            id: {
                key: _any_value(field, dice) for key, field in setup.character_schemas[content.schema_id].fields.items()
            }
            for id, content in setup.characters.items()
        },
    )
    marks = [SceneMark(turn_index=n, node_id=id) for n, id in enumerate([*visited, node.id])]
    snapshot = Snapshot(story_id="st", player_description="", world_state=world)
    return PlayState(snapshot=snapshot, graph="g", scenes=marks)


def _any_value(field: SchemaField, dice: random.Random) -> Json:
    if field.enum_values is not None:
        return dice.choice(field.enum_values)
    match field.value_type:
        case "bool":
            return dice.random() < 0.5
        case "int":
            return dice.randint(0, 3)
        case _:
            return dice.choice([field.default, "delighted"])


def random_line(setup: PlaySetup, dice: random.Random) -> str:
    """A line that calls up lore: some keywords and names."""
    keywords = [word for entry in setup.lore for word in entry.keywords]
    names = [content.name for content in setup.characters.values()]
    return f"{dice.choice(names)}, tell me about {' and '.join(dice.sample(keywords, min(4, len(keywords))))}."


def teller_of(setup: PlaySetup, play: PlayState, line: str) -> SceneTeller:
    here = play.world.current_node
    said = MemoryEntry(speaker_id="player", speaker_name="User", kind="player_input", text=line)
    scene = Scene(previous_node_id=here, previous_cast=play.world.active_characters, noticed=[said])
    heard = play.world.model_copy(update={"actor_shared_history": [said]})
    return SceneTeller(setup, play.with_world(heard), scene, line, turn_index=9)


@dataclass
class Conversation:
    """A play that stays in its scene: every line is answered by rule, and everything that was told is remembered."""

    setup: PlaySetup
    play: PlayState
    seed: int = 1
    past: list[MemoryEntry] = field(default_factory=list)
    understood: Understood | None = None

    def say(self, line: str) -> str:
        """What is told to the player, as one text."""
        said = MemoryEntry(speaker_id="player", speaker_name="User", kind="player_input", text=line)
        here = self.play.world
        heard = here.model_copy(update={"actor_shared_history": [*here.actor_shared_history, said][-8:]})
        self.play = self.play.with_world(heard)
        scene = Scene(previous_node_id=here.current_node, previous_cast=here.active_characters, noticed=[said])
        told: list[MemoryEntry] = []
        for beat in json.loads(self._ask(self._teller(scene, line).director()))["beats"]:
            teller = self._teller(scene.after(told), line)
            told += self._perform(teller, beat)
        self.past += [said, *told]
        world = self.play.world
        self.play = self.play.with_world(
            world.model_copy(update={"actor_shared_history": [*world.actor_shared_history, *told][-8:]})
        )
        return "\n".join(entry.text for entry in told)

    def _teller(self, scene: Scene, line: str) -> SceneTeller:
        return SceneTeller(self.setup, self.play, scene, line, self.past, turn_index=9)

    def _perform(self, teller: SceneTeller, beat: dict[str, str]) -> list[MemoryEntry]:
        if beat["type"] == "Narrator":
            purpose = re.sub(r"(?<!^)(?=[A-Z])", "_", beat["purpose"]).lower()
            text = self._ask(teller.narrator(purpose))  # type: ignore[arg-type]
            return [MemoryEntry(speaker_id="narrator", speaker_name="Narrator", kind="narration", text=text)]
        who = beat["speaker_id"]
        purpose = re.sub(r"(?<!^)(?=[A-Z])", "_", beat["purpose"]).lower()
        spoken = self._ask(teller.actor(who, purpose))  # type: ignore[arg-type]
        return [
            MemoryEntry(speaker_id=who, speaker_name=teller.name_of(who), kind=kind, text=text)
            for kind, text in re.findall(r"<(action|dialogue)>(.*?)</\1>", spoken)
        ]

    def _ask(self, context: RoleContext) -> str:
        if self.understood is not None:
            context = context.model_copy(update={"understood": self.understood})
        origin = CallOrigin(agent=context.role)
        return answer(ModelRequest(origin=origin, messages=(), context=context, seed=self.seed, deadline=0))


def talk_in(setup: PlaySetup, node_id: str, *, seed: int = 1, **custom: Json) -> Conversation:
    """A conversation in a scene, with the variables as the schemas give them, except for these of the world."""
    node = setup.nodes[node_id]
    characters = {
        id: {key: one.default for key, one in setup.character_schemas[content.schema_id].fields.items()}
        for id, content in setup.characters.items()
    }
    world = WorldState(
        current_node=node_id,
        active_characters=node.characters,
        custom={**{key: one.default for key, one in setup.world_schema.fields.items()}, **custom},
        player_state={key: one.default for key, one in setup.player_schema.fields.items()},
        character_state=characters,
    )
    snapshot = Snapshot(story_id="st", player_description="", world_state=world)
    marks = [SceneMark(turn_index=0, node_id=node_id)]
    return Conversation(setup, PlayState(snapshot=snapshot, graph="g", scenes=marks), seed)
