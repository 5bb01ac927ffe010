"""Explain a turn: its steps, what models were told and said, what went into prompts, what was changed, what followed.

Prompts hold plans, thoughts and secrets of the story. So a player is told how a turn went, and only an author or admin
who reaches the session what was in it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from fabula.actions.authority import allowed
from fabula.actions.followers.dispatch import FOLLOWER_WORK
from fabula.actions.house import House
from fabula.actions.plays.play_states import play_of
from fabula.actions.plays.reached_turns import turn_within_reach
from fabula.actions.views import Command, View
from fabula.ports.actors import Actor
from fabula.ports.packed import MOST_GROWTH, unpack_bytes
from fabula.ports.plays import Turn
from fabula.ports.store import Unit
from fabula.ports.threads import run_in_thread
from fabula.ports.traces import LONGEST_TEXT, StoredPart
from fabula.ports.work import Work
from fabula.story.values import Json, JsonObject, Sparse, Value

FORGOTTEN = "(this text is no longer kept)"
MOST_SHOWN = 32 * 2**20
"""So many letters all prompts and answers in one explanation have; those of a long turn are a tenth of it."""
NOTED = ("checks", "verdicts", "minds", "social_beats", "relations", "conflicts")
"""The names under which others note what they did in a turn: see `TurnRecorder.rows`."""


class ExplainTurn(Command):
    turn_id: str


class StepView(Value):
    """A step; `began_ms` counts from the beginning of the attempt it belongs to."""

    name: str
    began_ms: int
    took_ms: int


class MessageShown(Value):
    role: str
    content: str


class CallShown(Sparse):
    """A model call. `repaired`: an earlier answer could not be used, and this one was asked for with what was wrong."""

    optional = frozenset({"problem"})
    number: int
    agent: str
    model: str
    messages: list[MessageShown]
    reply: str
    tokens: int
    took_ms: int
    first_piece_ms: int | None
    memo_hit: bool
    repaired: bool
    problem: str | None = None


class SectionShown(Value):
    """A section of the prompt of a role, and why it is there or not. Tokens are estimated."""

    agent: str
    name: str
    tokens: int
    included: bool
    why: str


class LoreShown(Value):
    """An entry of a lorebook that went into a prompt, and the word that called it up."""

    entry: str
    because: str
    word: str | None


class DegradedShown(Value):
    """An answer that could not be used, wholly or in part; something else was taken in its place."""

    agent: str
    reason: str


class OperationShown(Sparse):
    """An operation on the state: who wanted it (keeper, rule or story), and why it was refused."""

    optional = frozenset({"reason"})
    op: JsonObject
    by: str
    accepted: bool
    reason: str | None = None


class FollowerShown(Value):
    """Work that followed the turn. `took_ms` adds up its attempts, as far as they were noted."""

    kind: str
    state: str
    took_ms: int | None
    outcome: str


class MemoryReason(View):
    """A part of the score of a memory."""

    part: str
    score: float


class MemoryShown(View):
    """A memory that came to its owner's mind for the prompts of the turn, and why."""

    memory_id: str
    owner: str
    text: str
    score: float
    reasons: list[MemoryReason]


class TurnTraceView(View):
    """What happened in a turn. Of a turn from before traces were kept, or whose trace is gone, `kept` is false.

    What only authors may know is left out for players: all from `calls` on. `checks`, `verdicts`, `minds`,
    `social_beats`, `relations` and `conflicts` are there where the turn noted some.
    """

    type: Literal["turn_trace"] = "turn_trace"
    may_be_large = True
    optional = frozenset({"calls", "sections", "lore", "degraded", "operations", "plan", "memories", *NOTED})
    turn_id: str
    trace_id: str
    turn_index: int
    status: str
    kept: bool
    attempts: int
    took_ms: int | None
    steps: list[StepView]
    followers: list[FollowerShown]
    calls: list[CallShown] | None = None
    sections: list[SectionShown] | None = None
    lore: list[LoreShown] | None = None
    memories: list[MemoryShown] | None = None
    degraded: list[DegradedShown] | None = None
    operations: list[OperationShown] | None = None
    plan: JsonObject | None = None
    checks: list[JsonObject] | None = None
    verdicts: list[JsonObject] | None = None
    minds: list[JsonObject] | None = None
    social_beats: list[JsonObject] | None = None
    relations: list[JsonObject] | None = None
    conflicts: list[JsonObject] | None = None


@allowed("player")
async def explain_turn(house: House, actor: Actor, session_id: str, command: ExplainTurn) -> TurnTraceView:
    """Tells what happened in a turn and why; players are told its steps and what followed it, authors all of it."""
    async with house.store.reading() as unit:
        play = await play_of(unit, actor, session_id)
        turn = await turn_within_reach(unit, actor, play, command.turn_id)
    if turn.status != "running":
        # Its last frame is sent a moment before its trace is noted.
        await house.work.wait(turn.turn_id)
    await house.traces.settle()
    async with house.store.reading() as unit:
        parts = await unit.traces.of_turn(turn.turn_id)
        followers = [work for kind in FOLLOWER_WORK if (work := await unit.work.by_key(kind, turn.turn_id)) is not None]
        inside = await _inside(unit, turn, parts) if actor.may_act_as("author") else {}
    attempts = [part.doc for part in parts if part.kind == "turn"]
    took = [_number(doc, "took_ms") for doc in attempts]
    return TurnTraceView(
        turn_id=turn.turn_id,
        trace_id=turn.turn_id,
        turn_index=turn.turn_index,
        status=turn.status,
        kept=bool(attempts),
        attempts=len(attempts),
        took_ms=sum(took) if took else None,
        steps=[StepView.model_validate(step) for doc in attempts for step in _rows(doc, "steps")],
        followers=_followers(followers, [part.doc for part in parts if part.kind == "work"]),
        **inside,
    )


async def _inside(unit: Unit, turn: Turn, parts: Sequence[StoredPart]) -> dict[str, Any]:
    """What a player may not know."""
    docs = [part.doc for part in parts if part.kind == "turn"]
    calls = sorted((part for part in parts if part.kind == "call"), key=lambda part: part.at_ms)
    packed = await unit.traces.texts(list({name for part in calls for name in _named(part.doc)}))
    texts = _Texts(texts=await run_in_thread(_unpacked, packed), left=MOST_SHOWN)
    result = await unit.plays.result(turn.turn_id)
    return {
        "calls": [_call(number, part.doc, texts) for number, part in enumerate(calls, 1)],
        "sections": [SectionShown.model_validate(row) for doc in docs for row in _rows(doc, "sections")],
        "lore": [LoreShown.model_validate(row) for doc in docs for row in _rows(doc, "lore")],
        "memories": [MemoryShown.model_validate(row) for doc in docs for row in _noted(doc, "memories")],
        "degraded": [DegradedShown.model_validate(row) for doc in docs for row in _rows(doc, "degraded")],
        "operations": [OperationShown.model_validate(row) for doc in docs for row in _rows(doc, "operations")],
        "plan": _plan(result or {}),
        **{name: rows for name in NOTED if (rows := [row for doc in docs for row in _noted(doc, name)])},
    }


def _noted(doc: JsonObject, name: str) -> list[JsonObject]:
    """What somebody noted in the recorder of the turn under a name."""
    noted = doc.get("rows")
    return _rows(noted, name) if isinstance(noted, dict) else []


def _plan(result: JsonObject) -> JsonObject | None:
    """The plan of the director, where one made a plan."""
    director = result.get("director")
    plan = director.get("response_plan") if isinstance(director, dict) else None
    return plan if isinstance(plan, dict) else None


def _named(doc: JsonObject) -> list[str]:
    """The hashes of all texts of a call."""
    return [*(str(row.get("text")) for row in _rows(doc, "messages")), str(doc.get("reply"))]


def _unpacked(packed: Mapping[str, bytes]) -> dict[str, str]:
    """The texts that can be unpacked, as many as one explanation may show."""
    texts: dict[str, str] = {}
    left = MOST_SHOWN
    for name, data in packed.items():
        most = min(left, 4 * LONGEST_TEXT)
        raw = unpack_bytes(data, most=most)
        # Prompts may name very many texts: what was unpacked of one that is too long has cost as much.
        left -= min(most, MOST_GROWTH * len(data)) if raw is None else len(raw)
        if raw is not None:
            texts[name] = raw.decode("utf-8", "replace")
    return texts


@dataclass(kw_only=True)
class _Texts:
    """The texts of an explanation. One may stand in many prompts, so each place where it is shown counts."""

    texts: Mapping[str, str]
    left: int

    def show(self, name: str) -> str:
        text = self.texts.get(name)
        if text is None or len(text) > self.left:
            return FORGOTTEN
        self.left -= len(text)
        return text


def _call(number: int, doc: JsonObject, texts: _Texts) -> CallShown:
    first = doc.get("first_piece_ms")
    problem = doc.get("problem")
    return CallShown(
        number=number,
        agent=str(doc.get("agent")),
        model=str(doc.get("model")),
        messages=[
            MessageShown(role=str(row.get("role")), content=texts.show(str(row.get("text"))))
            for row in _rows(doc, "messages")
        ],
        reply=texts.show(str(doc.get("reply"))),
        tokens=_number(doc, "prompt_tokens") + _number(doc, "completion_tokens"),
        took_ms=_number(doc, "took_ms"),
        first_piece_ms=first if isinstance(first, int) else None,
        memo_hit=doc.get("memo_hit") is True,
        repaired=doc.get("repaired") is True,
        problem=None if problem is None else str(problem),
    )


def _followers(found: Sequence[Work], attempts: Sequence[JsonObject]) -> list[FollowerShown]:
    """What followed, from the table of work while it remembers it, else from the trace."""
    took: dict[str, int] = {}
    for doc in attempts:
        took[str(doc["kind"])] = took.get(str(doc["kind"]), 0) + _number(doc, "took_ms")
    shown = {
        work.kind: FollowerShown(
            kind=work.kind,
            state=work.status,
            took_ms=took.get(work.kind),
            outcome=work.status if work.error is None or work.status == "done" else work.error.message,
        )
        for work in found
    }
    for doc in attempts:
        kind, outcome = str(doc["kind"]), str(doc["outcome"])
        if kind not in {work.kind for work in found}:
            said = doc.get("problem") or outcome
            shown[kind] = FollowerShown(kind=kind, state=outcome, took_ms=took[kind], outcome=str(said))
    return list(shown.values())


def _rows(doc: JsonObject, name: str) -> list[JsonObject]:
    found: Json = doc.get(name)
    return [row for row in found if isinstance(row, dict)] if isinstance(found, list) else []


def _number(doc: JsonObject, name: str) -> int:
    found = doc.get(name)
    return found if isinstance(found, int) else 0
