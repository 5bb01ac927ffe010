"""A story full of secrets, and a scripted model that invents one with every line: who may know which is written down
beside the play, so that every prompt can be looked through for what its owner neither saw nor was told.

Every secret is a word of its own (`zq17x`) beside a topic that many share, so that questions bring secrets back.
"""

from __future__ import annotations

import json
import random
import re
from dataclasses import dataclass, field
from typing import Any

from tests.live import Client

from fabula.story.values import JsonObject
from fabula.testing.model_script import Behaviour, Say, say_json
from fabula.testing.troupe import is_closed_question, is_for_summariser, role_of

NAMES = {"mara": "Mara", "orr": "Orr", "tam": "Tam", "vex": "Vex"}
CASTS = {"quay": ["mara", "orr"], "mill": ["orr", "tam"], "hall": ["vex", "mara", "tam"]}
TOPICS = ("lantern", "bridge", "ledger", "harbour", "letter", "locket")
SECRET = re.compile(r"zq\d+x")
_IN_SCENE = re.compile(r"## Who is in the scene\n(.*?)(?:\n## |\Z)", re.S)
_ACTOR = re.compile(r"You are \w+ \(id (\w+)\)\.")
_ID = re.compile(r"\(id (\w+)\)")


def scenes() -> JsonObject:
    """Three scenes in a ring, each with a cast of its own; the player walks on by saying so."""
    ring = list(CASTS)
    nodes: list[Any] = [
        {
            "id": name,
            "title": f"The {name.title()}",
            "scene": f"Fog hangs over the {name}.",
            "goal": "Talk.",
            "characters": CASTS[name],
            "transitions": [
                {"to": ring[(at + 1) % 3], "condition": {"key": "way", "op": "eq", "value": ring[(at + 1) % 3]}}
            ],
        }
        for at, name in enumerate(ring)
    ]
    return {"start_node": "quay", "nodes": nodes}


async def gossip_story(client: Client) -> str:
    """Makes the story; answers its id."""
    way = {"way": {"value_type": "string", "default": "", "description": "Where the player goes."}}
    await client.call("schema.create", schema_id="gossip-world", display_name="World", fields=way)
    for schema in ("gossip-player", "gossip-people"):
        await client.call("schema.create", schema_id=schema, display_name=schema, fields={})
    for id, name in NAMES.items():
        content = {"id": id, "name": name, "personality": "Talkative.", "style": "plain", "schema_id": "gossip-people"}
        await client.call("character.create", content={**content, "system_prompt": ""})
    resource = await client.call("story_resources.create", story_concept="Gossip.", character_ids=[*NAMES])
    story = await client.call(
        "story.create",
        resource_id=resource["resource_id"],
        display_name="Gossip",
        graph=scenes(),
        world_schema_id="gossip-world",
        player_schema_id="gossip-player",
        introduction="Fog.",
    )
    return str(story["story_id"])


@dataclass
class Gossips:
    """The model, and the truth. `known` says of each secret who may know it, on the line that is being played.

    `asked` counts the prompts that were looked through, `found` the secrets that stood in prompts of actors.
    """

    dice: random.Random
    known: dict[str, frozenset[str]] = field(default_factory=dict)
    thoughts: dict[str, str] = field(default_factory=dict)
    here: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    asked: int = 0
    found: int = 0
    number: int = 0
    walks: str = ""

    def secret(self, knowers: list[str]) -> str:
        """A new secret that these may know, with something that it is about."""
        self.number += 1
        word = f"zq{self.number}x"
        self.known[word] = frozenset(knowers)
        return f"the {self.dice.choice(TOPICS)} is {word}"

    def player_line(self, here: list[str]) -> str:
        """What the player says to who is here: aloud, in a whisper, in thought, or on the way out; some of it lies."""
        self.here = list(here)
        asks = f"What do you know of the {self.dice.choice(TOPICS)}? "
        match self.dice.randrange(6):
            case 0 if here:
                to = self.dice.choice(here)
                other = self.dice.choice([*NAMES])
                return f"I whisper to {NAMES[to]} that {self.secret([to])} and {NAMES[other]} must not know."
            case 1:
                return f"I say to myself under my breath: {self.secret([])}."
            case 2:
                self.walks = "go on"
                return f"I go on. {self.secret(here)}."
            case _:
                return f"{asks}I tell you all that {self.secret(here)}."

    def __call__(self, request: JsonObject) -> Behaviour | str:
        if is_closed_question(request):
            return "0"
        if is_for_summariser(request):
            return Say(text="Much was said.")
        role, prompt = role_of(request), _text(request)
        if cast := _IN_SCENE.search(prompt):
            self.here = _ID.findall(cast[1])
        self._look_through(role, prompt)
        match role:
            case "keeper":
                return say_json({"ops": self._ops(prompt)})
            case "director":
                speakers = self.dice.sample(self.here, min(len(self.here), self.dice.randint(1, 2)))
                beats: list[Any] = [{"type": "Narrator", "purpose": "DescribeResult"}]
                beats += [{"type": "Actor", "speaker_id": one, "purpose": "ReactToPlayer"} for one in speakers]
                return say_json({"role_actions": [], "beats": beats})
            case "actor":
                return Say(text=self._speech(_ACTOR.findall(prompt)[-1], ""))
            case "swift":
                voices = "".join(self._speech(one, f' who="{one}"') for one in self.here)
                update = json.dumps({"ops": self._walk(prompt) or self._come_or_go()})
                return Say(
                    text=f"<narration>Fog; {self.secret(self.here)}.</narration>{voices}<update>{update}</update>"
                )
            case "replyer":
                return say_json({"replies": [{"id": "1", "text": "Go on."}]})
            case _:
                return Say(text=f"Gulls cry; {self.secret(self.here)}.")

    def _speech(self, who: str, mark: str) -> str:
        thought = self.secret([who])
        self.thoughts[thought.split()[-1]] = who
        others = [one for one in self.here if one != who]
        if others and self.dice.random() < 0.3:
            to = self.dice.choice(others)
            said = f"<action{mark}>{NAMES[who]} leans over and whispers to {NAMES[to]}.</action>"
            said += f"<dialogue{mark}>Tell nobody: {self.secret([who, to])}.</dialogue>"
        else:
            said = f"<dialogue{mark}>I swear that {self.secret(self.here)}.</dialogue>"
        return f"<thought{mark}>I think {thought}.</thought>{said}"

    def _ops(self, prompt: str) -> list[Any]:
        """Somebody comes or goes now and then; a player who walks on does."""
        if "The phase: after_player_input" in prompt:
            return self._walk(prompt)
        return self._come_or_go() if "The phase: after_turn_outputs" in prompt else []

    def _walk(self, prompt: str) -> list[Any]:
        ways = re.findall(r"to (\w+): world way eq", prompt) if self.walks else []
        self.walks = ""
        return [{"type": "SetState", "key": "way", "value": way, "because": "I go on"} for way in ways[:1]]

    def _come_or_go(self) -> list[Any]:
        if self.dice.random() < 0.6:
            return []
        who = self.dice.choice([*NAMES])
        kind = "RemoveActiveCharacter" if who in self.here else "AddActiveCharacter"
        return [{"type": kind, "character": who}]

    def _look_through(self, role: str, prompt: str) -> None:
        self.asked += 1
        if role == "actor":
            who = _ACTOR.findall(prompt)[-1]
            for word in set(SECRET.findall(prompt)):
                self.found += 1
                if who not in self.known.get(word, frozenset()):
                    self.problems.append(f"{who} is told {word}, which is for {sorted(self.known.get(word, ()))}")
            return
        for word in set(SECRET.findall(prompt)):
            if word not in self.known:
                self.problems.append(f"the {role} is told {word}, which was never said on this line")
            elif word in self.thoughts and role != "swift":
                self.problems.append(f"the {role} is told {word}, which {self.thoughts[word]} only thought")
        if role == "swift":
            self._look_at_marks(prompt)

    def _look_at_marks(self, prompt: str) -> None:
        """Where one model plays everybody, each line says who noticed it, and each memory whose it is."""
        noticed: set[str] = set()
        for line in prompt.splitlines():
            if line.startswith("[Noticed by: "):
                noticed = set(line[len("[Noticed by: ") : -1].split(", ")) & NAMES.keys()
                continue
            for word in SECRET.findall(line):
                who = _owners(line) or noticed
                self.found += 1
                if not who <= self.known.get(word, frozenset()):
                    self.problems.append(f"{word} is marked as known to {sorted(who)}: {line[:80]}")


def _owners(line: str) -> set[str]:
    """Whose memory a line is marked as: one name, or those of all who have the same."""
    names = line.removeprefix("- ").partition(": ")[0].split(", ") if line.startswith("- ") else []
    ids = {name: id for id, name in NAMES.items()}
    return {ids[name] for name in names} if names and ids.keys() >= set(names) else set()


def _text(request: JsonObject) -> str:
    messages: Any = request["messages"]
    return "\n".join(str(one["content"]) for one in messages)
