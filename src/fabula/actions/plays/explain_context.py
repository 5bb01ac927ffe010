"""Explain the context: what the prompts of the next turn would be made of, what would be left out, and why.

No text is shown, only what it is about, how long it is and what became of it. Even so, how much there is to tell of
lore and minds says something about them. So a player is told it of the prompt that knows no more than they do, which is
the one that suggests replies; an author or admin is told it of every role that the next turn would ask.
"""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from typing import Literal

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.plays.kinds.protocol import RolePrompt, RoleQuestion
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.play_states import head_state
from fabula.actions.plays.suggest_replies import DEFAULT
from fabula.actions.repositories import SESSIONS
from fabula.actions.views import Command, View
from fabula.agents.context_packer import Outcome, SectionKind
from fabula.agents.packed_prompts import Prompt
from fabula.agents.prompt_explanations import ExplainedSection, explain_sections
from fabula.agents.prompts import write_prompt
from fabula.ports.actors import Actor
from fabula.ports.plays import Play
from fabula.ports.store import Unit
from fabula.story.plays import PlayState
from fabula.story.values import Sparse, Value

MOST_ACTORS = 6
VERSION_BYTES = 6


class ExplainContext(Command):
    """`player_input` is what the player might say next: it calls lore to mind as if it were said."""

    player_input: str | None = None


class ContextSection(Value):
    """A section of a prompt in its order. `told` says whether it is told whole, in short (`compact`), not at all
    (`dropped`), or has nothing to tell (`empty`); `why` says it in words. The same `version` means the same text.

    The lowest `priority` goes first, what is `required` never. `share` is how much of the room a section may take
    before it is shortened, `reserved` how much of it nobody takes away. Tokens are estimated."""

    name: str
    kind: SectionKind
    told: Outcome
    why: str
    tokens: int
    full_tokens: int
    priority: int
    share: float
    reserved: float
    canonical: bool
    required: bool
    version: str


class ContextPrompt(Sparse):
    """What a role would be told. `character_id` is who speaks, where a character does."""

    optional = frozenset({"character_id"})
    agent: str
    character_id: str | None = None
    tokens: int
    budget: int
    sections: list[ContextSection]


class ContextExplained(View):
    """The prompts of the next turn, with the sections that they are made of."""

    type: Literal["context_explained"] = "context_explained"
    prompts: list[ContextPrompt]


@allowed("player")
async def explain_context(house: House, actor: Actor, session_id: str, command: ExplainContext) -> ContextExplained:
    """Tells what the next prompts would be made of, what would be left out and why; no text is shown."""
    async with house.store.reading() as unit:
        play, state = await head_state(unit, actor, session_id)
        if not actor.may_act_as("author"):
            told = await _prompt(house, unit, play, state, RoleQuestion(role="replyer", reply_limit=DEFAULT))
            return ContextExplained(prompts=[_shown(told)])
        return ContextExplained(
            prompts=[
                _shown(told, character_id)
                async for character_id, told in _asked_next(house, unit, play, state, command.player_input or "")
            ]
        )


async def _asked_next(
    house: House, unit: Unit, play: Play, state: PlayState, said: str
) -> AsyncIterator[tuple[str | None, RolePrompt]]:
    """Whom the next turn may ask: at the swift pace one role, in a conversation those in it, else all of a scene."""
    talking = state.conversation
    cast = state.world.active_characters if talking is None else talking.character_ids
    if talking is None:
        first = await _prompt(house, unit, play, state, _question("director", said))
        yield None, first
        if first.context.role == "swift":
            return
        yield None, await _prompt(house, unit, play, state, _question("narrator", said))
        yield None, await _prompt(house, unit, play, state, _question("keeper", said))
    for character_id in cast[:MOST_ACTORS]:
        yield character_id, await _prompt(house, unit, play, state, _question("actor", said, character_id))


def _question(
    role: Literal["director", "narrator", "keeper", "actor"], said: str, character_id: str | None = None
) -> RoleQuestion:
    return RoleQuestion(role=role, character_id=character_id, player_input=said, reply_limit=DEFAULT)


async def _prompt(house: House, unit: Unit, play: Play, state: PlayState, asked: RoleQuestion) -> RolePrompt:
    session = await SESSIONS.get(unit, play.session_id)
    return await kind_of_play(state).prompt(house, unit, session, play, state, asked)


def _shown(told: RolePrompt, character_id: str | None = None) -> ContextPrompt:
    prompt: Prompt = write_prompt(told.agent, told.context)
    return ContextPrompt(
        agent=told.context.role,
        character_id=character_id,
        tokens=prompt.tokens,
        budget=prompt.budget,
        sections=[_section(one) for one in explain_sections(prompt)],
    )


def _section(one: ExplainedSection) -> ContextSection:
    rule = one.rule
    return ContextSection(
        name=one.name,
        kind=rule.kind,
        told=one.outcome,
        why=one.why,
        tokens=one.tokens,
        full_tokens=one.full_tokens,
        priority=rule.priority,
        share=rule.share,
        reserved=rule.reserved,
        canonical=rule.canonical,
        required=rule.required,
        version=hashlib.blake2b(one.text.encode("utf-8", "replace"), digest_size=VERSION_BYTES).hexdigest(),
    )
