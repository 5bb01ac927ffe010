"""Asking a role: its prompt is written, its model is asked, and what it says becomes a proposal or a fallback."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Generic, TypeVar

from fabula.agents.presets.templates import PromptRole
from fabula.agents.prompts import write_prompt
from fabula.agents.replies.shapes import output_schema, repair_messages
from fabula.loops.scene.scene_run import Parts, SceneRun
from fabula.ports.models import CallOrigin, Message, ModelReply, ModelRequest, ModelUnusable, whole_of
from fabula.story.contexts import RoleContext
from fabula.story.events import AgentDegraded
from fabula.story.resources import AgentRole
from fabula.story.values import JsonObject

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Proposal(Generic[T]):
    """What a role proposed, its reply, and why it is only the fallback, if so."""

    value: T
    reply: ModelReply | None
    degraded: str | None = None


async def propose(
    run: SceneRun,
    context: RoleContext,
    *,
    call: str,
    read: Callable[[str], tuple[T | None, list[str]]],
    fallback: Callable[[], T],
) -> Proposal[T]:
    """Asks for JSON; a faulty answer is repaired once; what is then unusable is replaced by the fallback, and told."""
    role = preset_role(context)
    schema = schema_of(context.role)
    prompt = write_prompt(run.setup.agent(role), context)
    said, problems = "", ["the answer was no JSON"]
    messages = prompt.messages
    for tried in range(2):
        try:
            name = attempt(call, tried)
            answer = run.ahead.take(name) or await _asked(run, role, context, messages, call=name, schema=schema)
            reply = await whole_of(answer)
        except ModelUnusable as error:
            said, problems = error.reply_text, [error.message]
        else:
            value, problems = read(reply.text)
            if value is not None and not problems:
                return Proposal(value=value, reply=reply)
            if value is not None and tried > 0:
                reason = _degraded(run, context, f"part of its answer could not be used: {'; '.join(problems[:3])}")
                return Proposal(value=value, reply=reply, degraded=reason)
            said = reply.text
        messages = repair_messages(prompt.messages, raw=said, problems=problems, schema=schema)
    reason = _degraded(run, context, f"its answer could not be used: {'; '.join(problems[:3])}")
    return Proposal(value=fallback(), reply=None, degraded=reason)


def attempt(call: str, number: int) -> str:
    """The name of one attempt at a call."""
    return f"{call}:{number}"


def _degraded(run: SceneRun, context: RoleContext, reason: str) -> str:
    run.stage.tell(AgentDegraded(agent=context.role, reason=reason))
    return reason


async def stream(run: SceneRun, context: RoleContext, *, call: str) -> Parts:
    """Asks for text, which comes as it is written; an answer that was asked for ahead is under way already."""
    return run.ahead.take(call) or await asked(run, context, call=call)


async def asked(run: SceneRun, context: RoleContext, *, call: str) -> Parts:
    """The answer to a role's prompt, which goes out with the first look at it."""
    role = preset_role(context)
    prompt = write_prompt(run.setup.agent(role), context)
    return await _asked(run, role, context, prompt.messages, call=call, schema=schema_of(context.role))


async def _asked(
    run: SceneRun,
    role: AgentRole,
    context: RoleContext,
    messages: tuple[Message, ...],
    *,
    call: str,
    schema: JsonObject | None,
) -> Parts:
    client = await run.models.client_for(run.setup.api(role), api_revision=run.setup.revision_of_api(role))
    return client.stream(_request(run, role, context, messages, call=call, schema=schema))


def _request(
    run: SceneRun,
    role: AgentRole,
    context: RoleContext,
    messages: tuple[Message, ...],
    *,
    call: str,
    schema: JsonObject | None,
) -> ModelRequest:
    agent, session = run.setup.agent(role), run.setup.session
    return ModelRequest(
        origin=CallOrigin(
            agent=context.role, session_id=session.session_id, story_id=session.story_id, turn_id=run.turn.turn_id
        ),
        messages=messages,
        context=context,
        output_schema=schema,
        seed=call_seed(run.turn.seed, call),
        temperature=agent.temperature,
        max_tokens=agent.max_tokens,
        deadline=run.deadline,
        first_asked=run.first_played,
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


def output_view(reply: ModelReply | None) -> JsonObject | None:
    """A reply as the result of a turn shows it."""
    if reply is None:
        return None
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
