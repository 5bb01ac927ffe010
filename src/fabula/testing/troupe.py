"""A scripted model that plays all of Fabula's roles, well by default, and as badly as a test tells it to.

    troupe = Troupe()
    async with ModelServer(troupe) as server: ...
    troupe.misbehave("director", Fail(status=500), say_json({"beats": "none"}))

It knows each role by its built-in prompt. What it says follows from the prompt alone: the same prompt hears the same
words, another prompt other words, so that two plays with equal transcripts were asked the same questions.
A player who says "go on" gets the first way on opened. As a process of its own:

    python -m fabula.testing.model_server --respond fabula.testing.troupe:respond
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import defaultdict, deque
from dataclasses import replace

from fabula.agents.closed_question import NONE
from fabula.agents.presets.templates import PROMPT_ROLES, PromptRole, built_in_entries
from fabula.story.values import Json, JsonObject
from fabula.testing.model_script import Behaviour, Pace, Say, say_json

GO_ON = "go on"
PROSE: frozenset[PromptRole] = frozenset({"narrator", "actor", "swift"})
_ID = re.compile(r"\(id ([^)\s]+)\)")
_HINT = re.compile(r"^- to \S+: (\S+) (\S+) (?:eq|gte) (.+)$", re.MULTILINE)


class Troupe:
    """Answers requests as each role should; `misbehave` lines up what a role does instead, call by call.

    `calls` lists the roles that were asked, in order. `pace` is how fast prose comes, if not as fast as the server's.
    `summary`, `extraction`, `check` and `judgement` are what the summariser, the extractor, the resolver and the judge
    of what can be done do instead; they are no roles of a turn, and not among the calls.
    """

    def __init__(self) -> None:
        self.calls: list[PromptRole] = []
        self.pace: Pace | None = None
        self.summary: Behaviour | None = None
        self.extraction: Behaviour | None = None
        self.check: Behaviour | None = None
        self.judgement: Behaviour | None = None
        self._instead: defaultdict[PromptRole, deque[Behaviour | str | None]] = defaultdict(deque)

    def misbehave(self, role: PromptRole, *behaviours: Behaviour | str | None) -> None:
        """What the next calls of a role get; None plays well, and so does every call after the last."""
        self._instead[role].extend(behaviours)

    def forgive(self) -> None:
        """Everybody plays well again."""
        self._instead.clear()

    def __call__(self, request: JsonObject) -> Behaviour | str:
        if is_closed_question(request):
            return NONE
        if is_for_summariser(request):
            good = Say(text=f"You came to the gate. It was the hour of {_mark(words_of_role(request, 'user'))}.")
            return self.summary or good
        if is_for_extractor(request):
            return self.extraction or Say(text="[]")
        if is_for_resolver(request):
            return self.check or Say(text="{}")
        if is_for_judge(request):
            return self.judgement or say_json({"result": "allow"})
        role = role_of(request)
        self.calls.append(role)
        waiting = self._instead[role]
        instead = waiting.popleft() if waiting else None
        if instead is not None:
            return instead
        good = respond(request)
        return replace(good, pace=self.pace) if role in PROSE else good


def respond(request: JsonObject) -> Say:
    """A good answer to any prompt of a turn."""
    role, prompt = role_of(request), words_of_role(request, "user")
    match role:
        case "keeper":
            return say_json({"ops": _ops(prompt)})
        case "director":
            return say_json(_plan(prompt))
        case "replyer":
            return say_json({"replies": [{"id": str(n), "text": f"{n}: {_mark(prompt)}"} for n in range(1, 6)]})
        case "actor":
            mark = _mark(prompt)
            return Say(
                text=f"<thought>I wonder about {mark}.</thought><action>nods at {mark}</action>"
                f"<dialogue>You speak of {mark}, friend.</dialogue>"
            )
        case "swift":
            return Say(text=_swift(prompt))
        case "narrator" | "planner" | "architect":
            return Say(text=f"Somewhere a bell rings; it is the hour of {_mark(prompt)}, and the rain goes on.")


def is_closed_question(request: JsonObject) -> bool:
    """Whether a request asks for one letter: which way a line means."""
    return f"{NONE}: none of these" in words_of_role(request, "user")


def is_for_summariser(request: JsonObject) -> bool:
    """Whether a request asks for a summary, which is no part of any turn."""
    return words_of_role(request, "system").startswith("You sum up")


def is_for_extractor(request: JsonObject) -> bool:
    """Whether a request asks what some lines say to be true, which is no part of any turn either."""
    return words_of_role(request, "system").startswith("You read lines of an interactive story")


def is_for_resolver(request: JsonObject) -> bool:
    """Whether a request asks what the dice of a deed are held against."""
    return words_of_role(request, "system").startswith("You help the rules of a game. A player does something risky")


def is_for_judge(request: JsonObject) -> bool:
    """Whether a request asks if a rule of the world stands against a deed."""
    return words_of_role(request, "system").startswith("You help the rules of a game. A player wants to do something")


def role_of(request: JsonObject) -> PromptRole:
    """Whose prompt a request is, by the words with which it opens."""
    system = words_of_role(request, "system")
    for role in PROMPT_ROLES:
        opening = built_in_entries(role)["role"].text
        if opening and opening in system:
            return role
    raise AssertionError(f"This prompt is of no role: {system[:200]}")


def _swift(prompt: str) -> str:
    mark = _mark(prompt)
    voices = "".join(
        f'<thought who="{id}">I wonder about {mark}.</thought><dialogue who="{id}">You speak of {mark}.</dialogue>'
        for id in _cast(prompt)
    )
    update = f"<update>{json.dumps({'ops': _ops(prompt)})}</update>"
    return f"<narration>A bell rings; it is the hour of {mark}.</narration>{voices}{update}"


def _plan(prompt: str) -> JsonObject:
    actors: list[Json] = [{"type": "Actor", "speaker_id": id, "purpose": "ReactToPlayer"} for id in _cast(prompt)]
    return {"role_actions": [], "beats": [{"type": "Narrator", "purpose": "DescribeResult"}, *actors]}


def _ops(prompt: str) -> list[Json]:
    """Opens the first way on when the player asks for it."""
    hint = _HINT.search(prompt)
    if hint is None or GO_ON not in _section(prompt, "The player's input").casefold():
        return []
    whose, told = hint[1], {"key": hint[2], "value": _value(hint[3]), "because": GO_ON}
    match whose:
        case "world":
            return [{"type": "SetState", **told}]
        case "player":
            return [{"type": "SetPlayerState", **told}]
        case _:
            return [{"type": "SetCharacterState", "character": whose, **told}]


def _value(text: str) -> Json:
    try:
        value: Json = json.loads(text)
    except ValueError:
        return text
    return value


def _cast(prompt: str) -> list[str]:
    return _ID.findall(_section(prompt, "Who is in the scene"))


def _section(prompt: str, title: str) -> str:
    """The text under a heading, up to the next one."""
    return prompt.partition(f"## {title}\n")[2].partition("\n## ")[0]


def words_of_role(request: JsonObject, role: str) -> str:
    """What a request says in one of its roles: `system`, or `user`."""
    messages = request.get("messages")
    found = [one for one in messages if isinstance(one, dict)] if isinstance(messages, list) else []
    return "\n".join(str(one.get("content")) for one in found if one.get("role") == role)


def _mark(prompt: str) -> str:
    """A few letters that only this prompt has."""
    return hashlib.sha256(prompt.encode()).hexdigest()[:10]
