"""One turn of an NPC: hear, recall, speak. The game confirms afterwards what was really played.

1. hear: the turn is kept, so that the game's word on it is understood even after a crash.
2. recall: the NPC's own history, and what of it this moment brings back.
3. speak: one streamed call; each piece is handed on as it comes. Ending the task ends the call upstream.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from fabula.agents.npc import write_npc_prompt
from fabula.loops.guardrails import Guardrails, guardrails_of
from fabula.loops.npc.floor import TURN_WEIGHT
from fabula.loops.npc.ledger import Ledger
from fabula.loops.npc.repetition import TURNS_WATCHED
from fabula.loops.npc.signals import Begin, Happening, PieceCame, ReplyEnded, ReplyFailed, TurnReady
from fabula.ports.errors import FabulaError
from fabula.ports.models import CallOrigin, GuardedModel, Message, ModelRequest
from fabula.ports.npcs import NpcKey, Remembered
from fabula.ports.store import Store
from fabula.ports.world import Clock
from fabula.rules.guardrails import Objection
from fabula.story.boundaries import Boundaries
from fabula.story.contexts import NpcContext
from fabula.story.npc import GameEvent, Lived
from fabula.story.session_zero import SessionZero
from fabula.story.sizes import memory_size, text_weight

HISTORY_STEP = 16
MOST_TOKENS = 1024
MOST_OF_THE_PAST = TURN_WEIGHT
"""Bytes: more than a prompt has room for, and what a turn that waits for its model keeps in memory."""
LONGEST_REPLY = 32_000
"""In letters; a server that does not keep to the tokens that were asked for is left."""


@dataclass(frozen=True, kw_only=True)
class Voice:
    """The model that speaks for NPCs now, and the name under which games hear of it."""

    client: GuardedModel
    model: str


@dataclass(frozen=True, kw_only=True)
class NpcRun:
    """What an NPC works with. `saw_prompt` is told of every model input, `recalled_in` how long recalling took.

    `recall` answers which entries before a number an event brings back; `remember` has what an NPC lived through
    written down as memories, of a turn also if its word came late, and waits for nothing; `remembered` does.
    `boundaries` are those that the game has set by now; `note` writes down what guardrails object to.
    """

    game_id: str
    connection_id: str
    store: Store
    ledger: Ledger
    clock: Clock
    find_voice: Callable[[], Awaitable[Voice]]
    saw_prompt: Callable[[str, str, tuple[Message, ...]], None]
    recalled_in: Callable[[float], None]
    recall: Callable[[NpcKey, GameEvent, int], Awaitable[Sequence[int]]]
    remember: Callable[[NpcKey, str | None], None]
    remembered: Callable[[], Awaitable[None]]
    note: Callable[[str, Sequence[Objection]], None]
    seconds: float
    boundaries: Callable[[], Boundaries | None] = lambda: None

    def guardrails(self) -> Guardrails:
        """What the game wants kept, now."""
        return guardrails_of(self.boundaries())


async def take_turn(run: NpcRun, agent_id: str, begin: Begin, tell: Callable[[Happening], None]) -> None:
    """Takes the turn and tells what happens; failures that a user can understand are told, too."""
    npc = NpcKey(game_id=run.game_id, agent_id=agent_id)
    try:
        context, voice = await _prepared(run, npc, begin)
        request = _request(run, agent_id, begin, context)
        if begin.attempt == 1:
            tell(TurnReady(turn_id=begin.turn_id, model=voice.model, last_says=_last_says(context)))
        await _speak(voice.client, request, begin, tell)
    except FabulaError as error:
        tell(ReplyFailed(turn_id=begin.turn_id, attempt=begin.attempt, message=error.message))


async def _prepared(run: NpcRun, npc: NpcKey, begin: Begin) -> tuple[NpcContext, Voice]:
    """Hears and recalls; the disk and the search for the model wait for each other no longer than they must."""
    kept, voice = await asyncio.gather(_hear(run, npc, begin), run.find_voice())
    del kept
    return await _recall(run, npc, begin), voice


async def _hear(run: NpcRun, npc: NpcKey, begin: Begin) -> None:
    await asyncio.shield(
        run.ledger.write(
            lambda unit: unit.npcs.begin(npc, turn_id=begin.turn_id, connection_id=run.connection_id, event=begin.event)
        )
    )


async def _recall(run: NpcRun, npc: NpcKey, begin: Begin) -> NpcContext:
    began = run.clock.monotonic()
    async with run.store.reading() as unit:
        recent = _window(await unit.npcs.recent(npc, limit=2 * HISTORY_STEP))
    history = newest_of([*(one.lived for one in recent), *begin.pending])
    recent = recent[max(len(recent) + len(begin.pending) - len(history), 0) :]
    first = recent[0].number if recent else 0
    # A history that stands in the prompt as a whole has nothing more to give.
    numbers = await run.recall(npc, begin.event, first) if first > 1 else []
    older = await run.store.read(lambda unit: unit.npcs.entries(npc, numbers)) if numbers else []
    run.recalled_in(run.clock.monotonic() - began)
    return NpcContext(
        state=begin.state,
        event=begin.event,
        history=history,
        recalled=newest_of([one.lived for one in older]),
        repeats=begin.attempt > 1 and begin.crossed is None,
        crossed=begin.crossed,
        session_zero=_agreed(run.boundaries()),
    )


def _agreed(boundaries: Boundaries | None) -> SessionZero | None:
    """The boundaries of a game, as roles are told of them."""
    if boundaries is None or not boundaries.has_limits:
        return None
    return SessionZero.model_construct(**dict(boundaries))


def _window(recent: list[Remembered]) -> list[Remembered]:
    """Between one and two steps of the newest entries: its beginning stays for many turns, and so does the prompt's."""
    if not recent:
        return []
    first = max(recent[-1].number - HISTORY_STEP, 0) // HISTORY_STEP * HISTORY_STEP
    return [one for one in recent if one.number >= first]


def newest_of(past: Sequence[Lived], most: int = MOST_OF_THE_PAST) -> list[Lived]:
    """The newest of what an NPC lived through, as far as it has room together; the last always has."""
    kept: list[Lived] = []
    for one in reversed(past):
        most -= _weight(one)
        if kept and most < 0:
            break
        kept.append(one)
    return kept[::-1]


def _weight(lived: Lived) -> int:
    said = sum(text_weight(tag.text) for tag in lived.played)
    return text_weight(lived.event.text) + said + (0 if lived.event.data is None else memory_size(lived.event.data))


def _last_says(context: NpcContext) -> tuple[str, ...]:
    settled: list[Lived] = [lived for lived in context.history if not lived.unconfirmed]
    return tuple(said for lived in settled if (said := lived.said()))[-TURNS_WATCHED:]


def _request(run: NpcRun, agent_id: str, begin: Begin, context: NpcContext) -> ModelRequest:
    messages = write_npc_prompt(context).messages
    run.saw_prompt(agent_id, begin.turn_id, messages)
    return ModelRequest(
        origin=CallOrigin(agent="npc", turn_id=begin.turn_id),
        messages=messages,
        context=context,
        max_tokens=MOST_TOKENS,
        max_chars=LONGEST_REPLY,
        deadline=run.clock.monotonic() + run.seconds,
    )


async def _speak(client: GuardedModel, request: ModelRequest, begin: Begin, tell: Callable[[Happening], None]) -> None:
    turn_id, attempt = begin.turn_id, begin.attempt
    reply = await client.stream_to(
        request, lambda piece: tell(PieceCame(turn_id=turn_id, attempt=attempt, text=piece.text))
    )
    usage = {"prompt_tokens": reply.usage.prompt_tokens, "completion_tokens": reply.usage.completion_tokens}
    tell(ReplyEnded(turn_id=turn_id, attempt=attempt, reason=reply.finish_reason, usage=usage))
