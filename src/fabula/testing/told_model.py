"""A scripted model that tells a written story: after each line of the player what the narrator and somebody say.

    >* I persuade Orr to tell me.
    The mill is quiet for as long as a wheel would turn.
    Orr: I stopped it myself.

A line of the player's stands after `>`; with a star what it asks for is granted, as far as the scene has a way for it:
the place that it names, or else what somebody there keeps to themselves. `Name:` is who says something. It plays every
role as the troupe does, but for what is told.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from fabula.story.values import Json, JsonObject
from fabula.testing.model_script import Behaviour, Say, say_json
from fabula.testing.troupe import (
    Troupe,
    is_closed_question,
    is_for_extractor,
    is_for_resolver,
    is_for_summariser,
    role_of,
    words_of_role,
)

_SPOKEN = re.compile(r"^([A-Z]\w{1,20}(?: [A-Z]\w{1,20}){0,2}): (.+)$")
_HINT = re.compile(r"^- to \S+: (\S+) (\S+) (?:eq|gte) (.+)$", re.MULTILINE)
_PERSON = re.compile(r"^[-*# ]{0,4}([^\s(][^(\n]{0,80}) \(id ([^)\s]{1,128})\)", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Told:
    """What is told after one line of the player's."""

    line: str
    grants: bool
    narration: str
    speaker: str = ""
    speech: str = ""


@dataclass(kw_only=True)
class ToldModel(Troupe):
    """Answers each role from what was written for the player's last line; `unheard` are lines nobody asked for."""

    script: list[Told]
    unheard: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()
        self.unheard = {one.line for one in self.script}

    @classmethod
    def of(cls, text: str) -> ToldModel:
        """Reads a script; blocks are parted by empty lines."""
        return cls(script=[_told(block) for block in text.strip().split("\n\n")])

    def __call__(self, request: JsonObject) -> Behaviour | str:
        aside = (is_closed_question, is_for_summariser, is_for_extractor, is_for_resolver)
        if any(is_it(request) for is_it in aside):
            return super().__call__(request)
        role, prompt = role_of(request), words_of_role(request, "user")
        told = self._last(prompt)
        if told is None:
            return super().__call__(request)
        # The keeper is asked again when the turn was told; what a line asks for is granted once.
        grants = told.grants and role == "keeper" and told.line in self.unheard
        if role == "keeper":
            self.unheard.discard(told.line)
        self.calls.append(role)
        match role:
            case "keeper":
                return say_json({"ops": _ops(told, prompt) if grants else []})
            case "director":
                return say_json(_plan(told, prompt))
            case "actor":
                return Say(text=f"<dialogue>{told.speech}</dialogue>")
            case "narrator":
                return Say(text=told.narration)
            case _:
                return super().__call__(request)

    def _last(self, prompt: str) -> Told | None:
        """What was written for the line that was said last: the script stands in the order of the play."""
        return next((one for one in reversed(self.script) if one.line in prompt), None)


def _told(block: str) -> Told:
    first, *rest = block.splitlines()
    spoken = next((found for line in rest if (found := _SPOKEN.match(line))), None)
    narration = " ".join(line for line in rest if not _SPOKEN.match(line))
    line = first.removeprefix(">").removeprefix("*").strip()
    said = {} if spoken is None else {"speaker": spoken[1], "speech": spoken[2]}
    return Told(line=line, grants=first.startswith(">*"), narration=narration, **said)


def _ops(told: Told, prompt: str) -> list[Json]:
    """Opens the way that a line asks for."""
    hints = _HINT.findall(prompt)
    named = [hint for hint in hints if hint[1] == "place" and hint[2].strip('"').casefold() in told.line.casefold()]
    kept = [hint for hint in hints if hint[1].startswith("learned_")]
    for _, key, value in (named or kept)[:1]:
        return [
            {"type": "SetState", "key": key, "value": True if value == "true" else value.strip('"'), "because": "so"}
        ]
    return []


def _plan(told: Told, prompt: str) -> JsonObject:
    people = dict(_PERSON.findall(prompt))
    beats: list[Json] = [{"type": "Narrator", "purpose": "DescribeResult"}] if told.narration else []
    if told.speaker in people:
        beats.append({"type": "Actor", "speaker_id": people[told.speaker], "purpose": "ReactToPlayer"})
    return {"role_actions": [], "beats": beats}
