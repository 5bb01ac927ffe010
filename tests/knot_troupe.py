"""A scripted model that plays the characters of Ink stories, well or badly as the player's words tell it to."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from importlib.resources import files

from fabula.story.values import JsonObject
from fabula.testing.model_script import Behaviour, Say, say_json
from fabula.testing.troupe import Troupe

_TEXTS = files("fabula.agents.talks") / "texts"
DECISION = (_TEXTS / "decision.txt").read_text("utf-8").strip()
REWRITE = (_TEXTS / "rewrite.txt").read_text("utf-8").strip()
SPOILER = "Mordred waits beside the well with a knife in his sleeve."


class KnotTroupe(Troupe):
    """What it says follows from the prompt alone.

    A player who says "go on" is led on; one who says "secret" hears too much, until the words are asked for anew.
    """

    def __call__(self, request: JsonObject) -> Behaviour | str:
        prompt = "\n".join(_contents(request))
        mark = hashlib.sha256(prompt.encode()).hexdigest()[:10]
        if DECISION not in prompt:
            self.calls.append("narrator")
            return Say(text=f"The light is {mark}, and it does not hurry.", pace=self.pace)
        self.calls.append("actor")
        return replace(_decision(prompt, mark), pace=self.pace)


def _decision(prompt: str, mark: str) -> Say:
    said = prompt.rpartition("## The player now says or does\n")[2].partition(DECISION)[0]
    told_too_much = "secret" in said and REWRITE not in prompt
    reply = SPOILER if told_too_much else f"You speak of {mark}, friend, and the rain goes on and on and does not end."
    way = "BRIDGE_AND_CONTINUE" if "go on" in said else "NEEDS_INPUT"
    bridge = f"The old man nods at {mark}."
    return say_json({"weights": {way: 1}, "reply": reply, "bridge_text": bridge, "guidance": "", "reason": mark})


def _contents(request: JsonObject) -> list[str]:
    messages = request.get("messages")
    return [str(one.get("content")) for one in messages if isinstance(one, dict)] if isinstance(messages, list) else []
