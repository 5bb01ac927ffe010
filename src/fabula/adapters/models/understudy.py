"""The understudy as a model client: its answers are streamed word by word, as a model's would be."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator

from fabula.adapters.models.structure import decoded
from fabula.ports.models import ModelReply, ModelRequest, Piece, Usage
from fabula.ports.threads import run_in_thread
from fabula.story.contexts import ModelContext, NpcContext, SceneContext
from fabula.story.npc import NpcState
from fabula.understudy import answer

UNDERSTUDY = "understudy"
LITTLE_KNOWN = 30_000
"""So many letters about a scene and its cast are looked through at once."""
OF_A_WAY = 1_000
"""A way on counts as so many letters: it is held against all that its scene says."""
OF_A_PERSON = 20
"""So many letters a relation, thing or fact counts at least: there may be thousands of them."""
_PIECE = re.compile(r"\s*\S+|\s+$")


class Understudy:
    """Answers at once and always alike; the same context and seed give the same words."""

    @property
    def fingerprint(self) -> str:
        return UNDERSTUDY

    async def close(self) -> None:
        """There is nothing to close."""

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Piece | ModelReply, None]:
        text = answer(request) if _is_short(request.context) else await run_in_thread(answer, request)
        structured = decoded(text, request.output_schema) if request.output_schema is not None else None
        read_along = request.streaming and structured is None
        for piece in _PIECE.findall(text) if read_along else [text]:
            yield Piece(text=piece)
            # Others get their turn between two words, and a reader who leaves is noticed.
            await asyncio.sleep(0)
        yield ModelReply(text=text, model=UNDERSTUDY, usage=_usage(request, text), structured=structured)


def _is_short(context: ModelContext | None) -> bool:
    """Whether little is known of a scene and of those in it: an answer looks through all of it."""
    if isinstance(context, NpcContext):
        return _is_short_npc(context)
    if not isinstance(context, SceneContext):
        return True
    cast = [*context.current_cast, *context.absent_cast]
    known = sum(len(fact.text) for one in cast for fact in one.facts)
    known += sum(len(one.personality) for one in cast)
    here = context.current_node
    return known + len(here.scene) + len(here.goal) + OF_A_WAY * len(here.transitions) <= LITTLE_KNOWN


def _is_short_npc(context: NpcContext) -> bool:
    """The same of an NPC, of which its game says what it likes, and of its past."""
    past = sum(len(one.event.text) for one in (*context.history, *context.recalled))
    return past + len(context.event.text) + _told_of(context.state) <= LITTLE_KNOWN


def _told_of(state: NpcState) -> int:
    spec = state.spec
    texts = [
        spec.name,
        spec.role,
        spec.personality,
        spec.style,
        spec.mood,
        spec.backstory,
        *spec.knowledge,
        *spec.goals,
    ]
    people = sum(len(one.name) + len(one.description) + OF_A_PERSON for one in spec.relationships)
    return sum(map(len, texts)) + people + OF_A_PERSON * (len(state.world.inventory) + len(texts))


def _usage(request: ModelRequest, text: str) -> Usage:
    """Words stand for tokens, so that budgets can be tried out with no model."""
    asked = sum(len(message.content.split()) for message in request.messages)
    return Usage(prompt_tokens=asked, completion_tokens=len(text.split()))
