"""A model that tells everything it must not: nothing of it reaches the reader, by whichever way it is asked."""

from __future__ import annotations

import json
import random
import unicodedata
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.ink_live import begin, of_type, play
from tests.knot_theatre import theatre
from tests.live import Client

from fabula.language.vocabulary import normal
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
FAR_SECRETS = ("莫德雷德在井边等着，袖子里藏着一把刀", "国王从来没有来过这里", "王は一度もここに来なかった")
FAR_SOURCE = f"""
-> road
=== road
雨落在旧路上。
+ [写雨] -> rain
+ [和守卫说话] -> agent(-> guard, -> road)
+ [试试门] -> continue(-> road)
+ [进去] -> courtyard

=== rain
~ generate("关于雨的一句话")
-> road

=== guard
我在这扇门前站了十一个冬天。
-> courtyard

=== courtyard
{FAR_SECRETS[0]}。{FAR_SECRETS[1]}。
{FAR_SECRETS[2]}。
-> DONE
"""


Dress = Callable[[str], str]
DISGUISES: tuple[Dress, ...] = (
    lambda secret: unicodedata.normalize("NFD", secret),
    lambda secret: "\u200b".join(secret),
    lambda secret: "\u00ad".join(secret).upper(),
    lambda secret: secret.translate({code: code + 0xFEE0 for code in range(0x21, 0x7F)}),
    lambda secret: secret.replace("r", "-r").replace("e", "**e**"),
    lambda secret: secret.translate(str.maketrans("aeoc", "аеос")),
)


class Traitor:
    """Tells a secret in every answer, each time in another dress, also when it is asked for other words."""

    def __init__(self, closed: Sequence[str] = CLOSED, dresses: Sequence[Dress] = ()) -> None:
        self.closed, self.dresses = closed, dresses
        self.dice = random.Random(3)
        self.told = 0
        self.asked: list[str] = []

    def __call__(self, request: JsonObject) -> Say:
        self.told += 1
        self.asked.append(json.dumps(request, ensure_ascii=False))
        text = f"Rain is rain. {self._secret()}. So much for {self.told}."
        if '"weights"' not in json.dumps(request).replace("\\", ""):
            return Say(text=text)
        way = self.dice.choice(["NEEDS_INPUT", "INVALID_INPUT", "BRIDGE_AND_CONTINUE", "DIRECT_CONTINUE"])
        return say_json({"weights": {way: 1}, **dict.fromkeys(("reply", "bridge_text", "guidance", "reason"), text)})

    def _secret(self) -> str:
        secret = self.dice.choice(self.closed)
        if self.dresses:
            return self.dice.choice(self.dresses)(secret)
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


@pytest.mark.parametrize(
    ("source", "closed", "dresses"),
    [(SOURCE, CLOSED, DISGUISES), (FAR_SOURCE, FAR_SECRETS, (str, DISGUISES[0], DISGUISES[1]))],
    ids=["in disguise", "in scripts without spaces"],
)
async def test_no_secret_gets_out_in_disguise_or_in_scripts_without_spaces(
    tmp_path: Path, source: str, closed: Sequence[str], dresses: Sequence[Dress]
) -> None:
    traitor = Traitor(closed, dresses)
    async with theatre(tmp_path, traitor) as (client, _):
        session, _ = await begin(client, source)
        frames = await wander(client, session, 30)
        transcript = await client.call("session.get", session)
        assert traitor.told >= 40 and any("Rain is rain." in one["text"] for one in of_type(frames, "generated_text"))
        shown = [frames, transcript["history"], transcript["ink"], traitor.asked]
        letters = normal(json.dumps(shown, ensure_ascii=False)).replace(" ", "")
        for secret in closed:
            assert normal(secret).replace(" ", "") not in letters
