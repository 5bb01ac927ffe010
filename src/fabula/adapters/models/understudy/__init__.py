"""The understudy: plays every role by rule, from the typed context alone, so that stories work with no model."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator
from typing import assert_never

from fabula.adapters.models.structure import decoded
from fabula.adapters.models.understudy.actor import act
from fabula.adapters.models.understudy.architect import build
from fabula.adapters.models.understudy.director import direct
from fabula.adapters.models.understudy.fill import smallest
from fabula.adapters.models.understudy.keeper import keep
from fabula.adapters.models.understudy.narrator import narrate
from fabula.adapters.models.understudy.npc import react
from fabula.adapters.models.understudy.planner import plan
from fabula.adapters.models.understudy.replyer import suggest
from fabula.adapters.models.understudy.swift import play
from fabula.adapters.models.understudy.talker import talk, write
from fabula.adapters.models.understudy.words import sentences
from fabula.ports.models import ModelReply, ModelRequest, Piece, Usage
from fabula.story.contexts import (
    ActorContext,
    ArchitectContext,
    DirectorContext,
    InkAgentContext,
    InkGenerateContext,
    KeeperContext,
    ModelContext,
    NarratorContext,
    NpcContext,
    PlannerContext,
    ReplyerContext,
    SwiftContext,
)
from fabula.story.values import JsonObject

UNDERSTUDY = "understudy"
_PIECE = re.compile(r"\s*\S+|\s+$")


class Understudy:
    """Answers at once and always alike; the same context and seed give the same words."""

    @property
    def fingerprint(self) -> str:
        return UNDERSTUDY

    async def close(self) -> None:
        """There is nothing to close."""

    async def ask(self, request: ModelRequest) -> AsyncGenerator[Piece | ModelReply, None]:
        text = answer(request)
        structured = decoded(text, request.output_schema) if request.output_schema is not None else None
        read_along = request.streaming and structured is None
        for piece in _PIECE.findall(text) if read_along else [text]:
            yield Piece(text=piece)
            # Others get their turn between two words, and a reader who leaves is noticed.
            await asyncio.sleep(0)
        yield ModelReply(text=text, model=UNDERSTUDY, usage=_usage(request, text), structured=structured)


def answer(request: ModelRequest) -> str:
    """The whole answer to a request."""
    if request.context is None:
        return _without_context(request)
    said = _answer(request.context, request.seed)
    return said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)


def _answer(context: ModelContext, seed: int | None) -> str | JsonObject:
    match context:
        case PlannerContext():
            return plan(context, seed)
        case ArchitectContext():
            return build(context, seed)
        case DirectorContext():
            return direct(context, seed)
        case NarratorContext():
            return narrate(context, seed)
        case ActorContext():
            return act(context, seed)
        case KeeperContext():
            return keep(context)
        case ReplyerContext():
            return suggest(context, seed)
        case SwiftContext():
            return play(context, seed)
        case InkAgentContext():
            return talk(context, seed)
        case InkGenerateContext():
            return write(context, seed)
        case NpcContext():
            return react(context, seed)
        case _:
            assert_never(context)


def _without_context(request: ModelRequest) -> str:
    """With only a prompt to go by: the smallest fitting JSON, or the last thing that was asked about, in short."""
    if request.output_schema is not None:
        return json.dumps(smallest(request.output_schema, request.output_schema), ensure_ascii=False)
    last = request.messages[-1].content if request.messages else ""
    told = sentences(last)
    return " ".join(told[:2])[:400] or "So it goes."


def _usage(request: ModelRequest, text: str) -> Usage:
    """Words stand for tokens, so that budgets can be tried out with no model."""
    asked = sum(len(message.content.split()) for message in request.messages)
    return Usage(prompt_tokens=asked, completion_tokens=len(text.split()))
