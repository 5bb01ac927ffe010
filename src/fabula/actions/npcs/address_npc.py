"""Address NPCs: a game's connection gets its company of NPCs, and a model that speaks for them.

Which model: the one named in the settings (`game_model`, else `llm_model`, at `openai_api_base`), or, when none is
named, the one that plays actors in the first api group.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from functools import partial

from fabula.actions.audit_notes import note_crossed, note_objections
from fabula.actions.authority import allowed
from fabula.actions.care.pace import check_calls
from fabula.actions.house import House
from fabula.actions.npcs.npc_memories import NpcMemories
from fabula.actions.repositories import API_GROUPS, APIS
from fabula.loops.guardrails import Guardrails
from fabula.loops.npc.company import Company, Waiting
from fabula.loops.npc.ledger import Ledger
from fabula.loops.npc.speech import NpcRun, Voice
from fabula.ports.actors import Actor
from fabula.ports.errors import LineCrossed, NotFound
from fabula.ports.meters import RECALL_SECONDS
from fabula.ports.models import Message
from fabula.ports.npcs import OpenTurn
from fabula.ports.threads import run_on_texts
from fabula.rules.guardrails import Objection
from fabula.story.boundaries import Boundaries
from fabula.story.npc_events import (
    CancelCame,
    EventCame,
    GameMessage,
    NoticeCame,
    NpcEvent,
    StateCame,
    ToolsUsed,
    TurnPlayed,
)
from fabula.story.resources import Api
from fabula.story.values import texts_in

GAME_API_ID = "game socket"
"""A name with a space, which no api of a user can have: its key comes from the settings and fits only there."""

OPEN_AI = "https://api.openai.com/v1"

NAMELESS_GAME = "default"

SawPrompt = Callable[[str, str, tuple[Message, ...]], None]


@allowed("player")
async def gather_company(
    house: House,
    actor: Actor,
    *,
    game: str,
    connection_id: str,
    send: Callable[[NpcEvent], None],
    saw_prompt: SawPrompt,
    waiting: Waiting,
    boundaries: Callable[[], Boundaries | None] = lambda: None,
) -> Company:
    """The NPCs of a connection; they join as the game speaks of them."""

    async def voice() -> Voice:
        return await find_voice(house)

    named = game_id(actor, game)
    queue = house.ledger_queues.of(actor.token_id or named)
    memories = NpcMemories(house, queue.remembering)
    noting: set[asyncio.Task[None]] = set()

    def note(agent_id: str, objections: Sequence[Objection]) -> None:
        """No turn waits for the audit."""
        task = asyncio.create_task(note_objections(house, named, f"npc {agent_id}", objections))
        noting.add(task)
        task.add_done_callback(noting.discard)

    async def remembered() -> None:
        await asyncio.gather(memories.close(), *noting)

    run = NpcRun(
        game_id=named,
        connection_id=connection_id,
        store=house.store,
        ledger=Ledger(house.store, queue),
        clock=house.clock,
        find_voice=voice,
        saw_prompt=saw_prompt,
        recalled_in=partial(house.meters.observe, RECALL_SECONDS),
        recall=memories.recall,
        remember=memories.remember,
        remembered=remembered,
        note=note,
        boundaries=boundaries,
        seconds=house.settings.turn_deadline_s,
    )
    return Company(run, new_id=house.ids.new, send=send, waiting=waiting)


@allowed("player")
async def address_npc(house: House, actor: Actor, company: Company, message: GameMessage) -> None:
    """Passes on what the game tells its NPCs; what they answer is sent as it comes. Asking for an answer is a call."""
    if isinstance(message, EventCame) or (isinstance(message, ToolsUsed) and message.goes_on):
        await check_calls(house, actor)
    rails = company.guardrails
    if not rails.is_empty:
        await _refuse_crossed(house, actor, rails, message)
    company.hear(message)


async def _refuse_crossed(house: House, actor: Actor, rails: Guardrails, message: GameMessage) -> None:
    """Refuses what a game tells its NPCs, if it crosses a line of the game. Who an NPC is, the game's author wrote."""
    words = _words_of(message)
    try:
        await run_on_texts(rails.refuse_crossed, *words)
    except LineCrossed as error:
        await note_crossed(house, actor, getattr(message, "agent_id", NAMELESS_GAME), error)
        raise


def _words_of(message: GameMessage) -> list[str]:
    """All that a message would tell an NPC, or have it remember."""
    match message:
        case EventCame(event=event) | NoticeCame(event=event):
            return [event.text, event.event_type, event.source.name, *texts_in(event.data)]
        case ToolsUsed(results=results):
            return [text for one in results for text in (one.name, one.error, *texts_in(one.result))]
        case TurnPlayed(tags=tags):
            return [text for one in tags for text in (one.text, *texts_in(one.attrs))]
        case StateCame() | CancelCame():
            return []


def game_id(actor: Actor, game: str) -> str:
    """Under which name NPCs remember. What is remembered for a token is its own, whatever the game calls itself."""
    if actor.token_id is None:
        return game or NAMELESS_GAME
    return f"token:{actor.token_id}/{game}" if game else f"token:{actor.token_id}"


@allowed("player")
async def take_up_turns(
    house: House, actor: Actor, company: Company, *, game: str, connection_id: str
) -> list[OpenTurn]:
    """The turns of an earlier connection that the game has not confirmed; it may still do so."""
    # All games of a token may come back at once, and others are answered in between.
    async with company.one_at_a_time, house.store.reading() as unit:
        turns = await unit.npcs.unconfirmed(game_id(actor, game), connection_id)
    company.take_up(turns)
    return turns


async def find_voice(house: House) -> Voice:
    """The model that speaks for NPCs now."""
    api = _named_in_settings(house) or await _actor_of_first_group(house)
    return Voice(client=await house.models.client_for(api), model=api.model or api.provider)


def _named_in_settings(house: House) -> Api | None:
    model = house.settings.game_model or house.settings.llm_model
    if not model:
        return None
    base_url = house.settings.openai_api_base or OPEN_AI
    return Api.model_construct(
        api_id=GAME_API_ID, display_name="Game socket", provider="open_ai", base_url=base_url, model=model
    )


async def _actor_of_first_group(house: House) -> Api:
    async with house.store.reading() as unit:
        group_id = await unit.resources.first("api_group")
        if group_id is None:
            raise NotFound("There is no api group yet. Make one, or set LLM_MODEL.")
        group = await API_GROUPS.get(unit, group_id)
        return await APIS.get(unit, group.bindings.api_for("actor"))
