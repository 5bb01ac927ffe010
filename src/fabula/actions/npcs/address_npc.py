"""Address NPCs: a game's connection gets its company of NPCs, and a model that speaks for them.

Which model: the one named in the settings (`game_model`, else `llm_model`, at `openai_api_base`), or, when none is
named, the one that plays actors in the first api group.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.npcs.npc_memories import NpcMemories
from fabula.actions.repositories import API_GROUPS, APIS
from fabula.loops.npc.company import Company
from fabula.loops.npc.ledger import Ledger
from fabula.loops.npc.speech import NpcRun, Voice
from fabula.ports.actors import Actor
from fabula.ports.errors import NotFound
from fabula.ports.meters import RECALL_SECONDS
from fabula.ports.models import Message
from fabula.ports.npcs import OpenTurn
from fabula.story.npc_events import GameMessage, NpcEvent
from fabula.story.resources import Api

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
) -> Company:
    """The NPCs of a connection; they join as the game speaks of them."""

    async def voice() -> Voice:
        return await find_voice(house)

    memories = NpcMemories(house)
    run = NpcRun(
        game_id=game_id(actor, game),
        connection_id=connection_id,
        store=house.store,
        ledger=Ledger(house.store),
        clock=house.clock,
        find_voice=voice,
        saw_prompt=saw_prompt,
        recalled_in=partial(house.meters.observe, RECALL_SECONDS),
        recall=memories.recall,
        remember=memories.remember,
        remembered=memories.close,
        seconds=house.settings.turn_deadline_s,
    )
    return Company(run, new_id=house.ids.new, send=send)


@allowed("player")
async def address_npc(house: House, actor: Actor, company: Company, message: GameMessage) -> None:
    """Passes on what the game tells its NPCs; what they answer is sent as it comes."""
    company.hear(message)


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
    async with house.store.reading() as unit:
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
