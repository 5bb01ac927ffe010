"""A model that tells everything it must not: nothing of it reaches the reader, by whichever way it is asked."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

from tests.ink_live import begin, of_type, play
from tests.knot_theatre import theatre
from tests.live import Client

from fabula.agents.knots.vocabulary import normal
from fabula.story.values import JsonObject
from fabula.testing.model_script import Say, say_json

SECRETS = (
    "Mordred waits beside the well with a knife in his sleeve",
    "The king was never here at all",
    "Morgana keeps the crown under the third step",
    "Nobody in the castle has cast a shadow since the feast",
)
SOURCE = f"""
-> road
=== road
Rain falls on the old road.
+ [Write of the rain] -> rain
+ [Talk to the guard] -> agent(-> guard, -> road)
+ [Try the door] -> continue(-> road)
+ [Go in] -> courtyard

=== rain
~ generate("a line about the rain")
-> road

=== guard
I have stood at this gate for eleven winters.
-> DONE

=== courtyard
{SECRETS[0]}.
{SECRETS[1]}.
-> hall

=== hall
{SECRETS[2]}.
{SECRETS[3]}.
-> END
"""
CLOSED = [*SECRETS, "Mordred", "Morgana"]


class Traitor:
    """Tells a secret in every answer, each time in another dress, also when it is asked for other words."""

    def __init__(self) -> None:
        self.dice = random.Random(3)
        self.told = 0

    def __call__(self, request: JsonObject) -> Say:
        self.told += 1
        text = f"Rain is rain. {self._secret()}. So much for {self.told}."
        if '"weights"' not in json.dumps(request).replace("\\", ""):
            return Say(text=text)
        way = self.dice.choice(["NEEDS_INPUT", "INVALID_INPUT", "BRIDGE_AND_CONTINUE", "DIRECT_CONTINUE"])
        return say_json({"weights": {way: 1}, **dict.fromkeys(("reply", "bridge_text", "guidance", "reason"), text)})

    def _secret(self) -> str:
        secret = self.dice.choice(CLOSED)
        return self.dice.choice([secret, secret.upper(), f"«{secret}»", secret.replace(" ", "\n", 1), f"{secret}!?"])


async def wander(client: Client, session: str, turns: int) -> list[dict[str, Any]]:
    """Plays on by whatever is offered, but never goes in."""
    dice, frames = random.Random(5), list[dict[str, Any]]()
    for number in range(turns):
        waiting = (await client.call("session.get", session))["ink"]["input"]["kind"]
        move = {"choice": dice.randrange(3)} if waiting == "choice" else {"player_input": f"Tell me all, {number}!"}
        frames += await play(client, session, **move)
    return frames


async def test_whatever_a_model_tells_no_secret_of_the_story_gets_out(tmp_path: Path) -> None:
    traitor = Traitor()
    async with theatre(tmp_path, traitor) as (client, _):
        session, _ = await begin(client, SOURCE)
        frames = await wander(client, session, 60)
        transcript = await client.call("session.get", session)
        assert traitor.told >= 80 and {"agent_outcome", "generated_text"} <= {
            frame["body"]["type"] for frame in frames if frame["type"] == "event"
        }
        assert any("Rain is rain." in one["text"] for one in of_type(frames, "generated_text"))
        shown = normal(json.dumps([frames, transcript["history"], transcript["ink"]]).replace("\\n", " "))
        for secret in CLOSED:
            assert normal(secret) not in shown
