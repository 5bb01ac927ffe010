"""Asking a role outside of a turn: its prompt is written, its model is asked, a broken answer is asked for again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, Generic, TypeVar

from fabula.agents.prompts import write_prompt
from fabula.agents.replies.shapes import repair_messages
from fabula.ports.models import CallOrigin, Message, ModelClient, ModelRequest, ModelUnusable, whole
from fabula.story.contexts import RoleContext
from fabula.story.resources import AgentPreset
from fabula.story.values import JsonObject

T = TypeVar("T")
MOST_TOLD: Final = 3
"""So many problems of an answer are told in a sentence."""


@dataclass(frozen=True, kw_only=True)
class Question(Generic[T]):
    """What a role is asked, and how its words are read. `seed` None means that the answer may vary."""

    agent: AgentPreset
    context: RoleContext
    origin: CallOrigin
    read: Callable[[str], tuple[T | None, list[str]]]
    deadline: float
    schema: JsonObject | None = None
    seed: int | None = None
    temperature: float | None = None
    max_tokens: int | None = None


@dataclass(frozen=True, kw_only=True)
class Answer(Generic[T]):
    """What was proposed, or why nothing of what came can be used."""

    value: T | None
    problems: list[str]


def unusable(what: str, problems: Sequence[str]) -> ModelUnusable:
    """The failure of a question whose answer cannot be used. What failed the model itself is a sentence of its own,
    that ends with what to do."""
    told = "; ".join(problems[:MOST_TOLD])
    advice = "" if told.endswith(".") else ". Try again."
    return ModelUnusable(f"{what} could not be used: {told}{advice}", problems=list(problems))


async def ask(client: ModelClient, question: Question[T], *, repairs: int) -> Answer[T]:
    """Asks; an answer that cannot be used goes back with its problems, at most `repairs` times."""
    agent = question.agent
    request = ModelRequest(
        origin=question.origin,
        messages=write_prompt(agent, question.context).messages,
        context=question.context,
        output_schema=question.schema,
        temperature=agent.temperature if agent.temperature is not None else question.temperature,
        max_tokens=agent.max_tokens or question.max_tokens,
        streaming=False,
        deadline=question.deadline,
    )
    first, problems = request.messages, list[str]()
    for attempt in range(repairs + 1):
        request = replace(request, seed=None if question.seed is None else derived_seed(question.seed, str(attempt)))
        said, value, problems = await _attempt(client, request, question.read)
        if value is not None:
            return Answer(value=value, problems=[])
        request = replace(request, messages=_again(first, said, problems, question.schema))
    return Answer(value=None, problems=problems)


async def _attempt(
    client: ModelClient, request: ModelRequest, read: Callable[[str], tuple[T | None, list[str]]]
) -> tuple[str, T | None, list[str]]:
    try:
        reply = await whole(client, request)
    except ModelUnusable as error:
        return error.reply_text, None, [error.message]
    value, problems = read(reply.text)
    return reply.text, value, problems


def _again(
    first: tuple[Message, ...], said: str, problems: list[str], schema: JsonObject | None
) -> tuple[Message, ...]:
    """A text is simply asked for anew; JSON is asked for with what was wrong."""
    return first if schema is None else repair_messages(first, raw=said, problems=problems, schema=schema)


def derived_seed(seed: int | str, call: str) -> int:
    """The seed of one call among several that belong together: the same names give the same seed."""
    return int.from_bytes(hashlib.sha256(f"{seed}:{call}".encode()).digest()[:4], "big") >> 1
