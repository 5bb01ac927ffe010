"""The understudy: plays every role by rule, from the typed context alone, so that stories work with no model."""

from __future__ import annotations

import json
from typing import assert_never

from fabula.language.english import sentences
from fabula.ports.models import ModelRequest
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
from fabula.understudy.actor import act
from fabula.understudy.architect import build
from fabula.understudy.director import direct
from fabula.understudy.fill import smallest
from fabula.understudy.keeper import keep
from fabula.understudy.narrator import narrate
from fabula.understudy.npc import react
from fabula.understudy.planner import plan
from fabula.understudy.replyer import suggest
from fabula.understudy.swift import play
from fabula.understudy.talker import talk, write
from fabula.understudy.wishes import as_wished, decision_as_wished


def answer(request: ModelRequest) -> str:
    """The whole answer to a request."""
    if request.context is None:
        return _without_context(request)
    return answer_by_rule(request.context, request.seed)


def answer_by_rule(context: ModelContext, seed: int | None) -> str:
    """The whole answer of a role, from its context alone."""
    said = _answer(context, seed)
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
            return decision_as_wished(talk(context, seed), context.wish)
        case InkGenerateContext():
            return as_wished(write(context, seed), context.wish)
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
