"""Asking a role: its prompt is written, its model is asked, and what it says becomes a proposal or a fallback."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Generic, TypeVar

from fabula.agents.packed_prompts import Prompt
from fabula.agents.presets.templates import PromptRole
from fabula.agents.prompts import write_prompt
from fabula.agents.replies.shapes import output_schema, repair_messages
from fabula.loops.guardrails import note_objections
from fabula.loops.scene.scene_run import PendingAnswer, SceneRun
from fabula.ports.errors import FabulaError
from fabula.ports.models import CallOrigin, Message, ModelReply, ModelRequest, ModelUnusable
from fabula.ports.threads import run_on_texts
from fabula.story.contexts import RoleContext
from fabula.story.events import AgentDegraded
from fabula.story.resources import AgentRole
from fabula.story.values import JsonObject

T = TypeVar("T")

TURNS_TO_LEAVE = 4


@dataclass(frozen=True, kw_only=True)
class Proposal(Generic[T]):
    """What a role proposed, its reply, and why it is only the fallback, if so."""

    value: T
    reply: ModelReply | None
    degraded: str | None = None


@dataclass(frozen=True, kw_only=True)
class Question:
    """What a role is told, and the name of the call with which it is asked."""

    call: str
    context: RoleContext


async def propose(
    run: SceneRun,
    call: str,
    context: Callable[[], RoleContext],
    *,
    read: Callable[[str], tuple[T | None, list[str]]],
    fallback: Callable[[], T],
) -> Proposal[T]:
    """Asks for JSON; a faulty answer is repaired once; what is then unusable is replaced by the fallback, and told.

    The context is not built where the step before has asked already, unless the answer needs a repair.
    """
    asked = run.handover.answer_to(attempt(call, 0))
    told = None if asked is not None else context()
    said, problems, messages = "", ["the answer was no JSON"], None
    for tried in range(2):
        try:
            if asked is None:
                told = told or context()
                asked = await _ask(run, Question(call=attempt(call, tried), context=told), messages)
            reply = await asked.read()
        except ModelUnusable as error:
            said, problems = error.reply_text, [error.message]
        else:
            value, problems = read(reply.text)
            if value is not None and not problems:
                return Proposal(value=value, reply=reply)
            if value is not None and tried > 0:
                reason = _degraded(run, told or context(), f"part of its answer could not be used: {_few(problems)}")
                return Proposal(value=value, reply=reply, degraded=reason)
            said = reply.text
        asked, told = None, told or context()
        messages = _repair(run, told, said, problems)
    reason = _degraded(run, told or context(), f"its answer could not be used: {_few(problems)}")
    return Proposal(value=fallback(), reply=None, degraded=reason)


def _repair(run: SceneRun, context: RoleContext, said: str, problems: list[str]) -> tuple[Message, ...]:
    schema = schema_of(context.role)
    return repair_messages(_prompt(run, context).messages, raw=said, problems=problems, schema=schema)


def _few(problems: list[str]) -> str:
    return "; ".join(problems[:3])


def attempt(call: str, number: int) -> str:
    """The name of one attempt at a call."""
    return f"{call}:{number}"


def _degraded(run: SceneRun, context: RoleContext, reason: str) -> str:
    return tell_degraded(run, context.role, reason)


async def ask(run: SceneRun, question: Question) -> PendingAnswer:
    """Sends a role's question; its answer is on its way. Who asks it for the next step puts it into the handover."""
    return await _ask(run, question, None)


async def ask_ahead(run: SceneRun, question: Question) -> PendingAnswer | None:
    """Sends the question of the next step, which then only has to listen; what cannot be sent is for it to tell.

    The question gets a few turns of the event loop to leave before the loop computes on.
    """
    try:
        asked = await ask(run, question)
    except FabulaError:
        return None
    for _ in range(TURNS_TO_LEAVE):
        await asyncio.sleep(0)
    return asked


async def _ask(run: SceneRun, question: Question, messages: tuple[Message, ...] | None) -> PendingAnswer:
    role = preset_role(question.context)
    client = await run.models.client_for(run.setup.api(role), api_revision=run.setup.revision_of_api(role))
    prompt = None if messages is not None else _prompt(run, question.context)
    sent = messages or (() if prompt is None else prompt.messages)
    run.stage.recorder.ask(question.context, prompt)
    request = _request(run, role, question, sent, is_repair=prompt is None)
    return PendingAnswer(question.call, client, request, run.cut, run.stage.recorder)


def _prompt(run: SceneRun, context: RoleContext) -> Prompt:
    return write_prompt(run.setup.agent(preset_role(context)), context)


def _request(
    run: SceneRun, role: AgentRole, question: Question, messages: tuple[Message, ...], *, is_repair: bool
) -> ModelRequest:
    agent, session, context = run.setup.agent(role), run.setup.session, question.context
    return ModelRequest(
        origin=CallOrigin(
            agent=context.role,
            session_id=session.session_id,
            story_id=session.story_id,
            turn_id=run.turn.turn_id,
            is_repair=is_repair,
        ),
        messages=messages,
        context=context,
        output_schema=schema_of(context.role),
        seed=call_seed(run.turn.seed, question.call),
        temperature=agent.temperature,
        max_tokens=agent.max_tokens,
        deadline=run.deadline,
        first_asked=run.first_played,
        gather_s=run.stage.gather_s,
    )


@cache
def schema_of(role: PromptRole) -> JsonObject | None:
    """The shape in which a role answers, if it answers in one."""
    return output_schema(role)


def call_seed(turn_seed: int, call: str) -> int:
    """The seed of one call of a turn: a resumed turn asks the same, a regenerated one asks anew."""
    return int.from_bytes(hashlib.sha256(f"{turn_seed}:{call}".encode()).digest()[:4], "big") >> 1


def preset_role(context: RoleContext) -> AgentRole:
    """Whose preset and model a context is for; the swift pace is the director's."""
    return "director" if context.role == "swift" else context.role


def tell_degraded(run: SceneRun, agent: str, reason: str) -> str:
    """Tells that an agent was of no use, and answers why. The reason may quote it, so it passes the guardrails, too."""
    checked = run.setup.guardrails(run.before, agent).cut(reason)
    note_objections(run.stage.recorder, agent, checked.objections)
    run.stage.tell(AgentDegraded(agent=agent, reason=checked.text))
    return checked.text


async def shown_output(run: SceneRun, who: str, reply: ModelReply | None) -> JsonObject | None:
    """A reply as the result of a turn shows it, or nothing of one that has what may not be told at this table."""
    if reply is None:
        return None
    crossed = await run_on_texts(run.setup.guardrails(run.before, who).objection_to, reply.text)
    if crossed is None:
        return output_view(reply)
    note_objections(run.stage.recorder, who, [crossed])
    return None


def output_view(reply: ModelReply) -> JsonObject:
    """A reply as the result of a turn shows it."""
    usage = reply.usage
    return {
        "message": {"role": "assistant", "content": reply.text},
        "model": reply.model,
        "finish_reason": reply.finish_reason,
        "usage": {
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
            "total_tokens": usage.total_tokens,
        },
        "structured_output": reply.structured,
    }
