"""Asking for decisions and texts: every call is seeded with the play's own seed, so that a replay costs nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from fabula.agents.replies.shapes import repair_messages
from fabula.agents.talks.decisions import DECISION_SCHEMA, Decision, read_decision
from fabula.agents.talks.prompts import rewrite_messages, write_agent_prompt, write_generate_prompt
from fabula.agents.windows import budget_of
from fabula.knots.evaluation import Evaluator
from fabula.loops.guardrails import NO_GUARDRAILS, Guardrails, note_objections
from fabula.loops.turns.turn_recorder import TurnRecorder
from fabula.ports.models import CallOrigin, Message, ModelClients, ModelReply, ModelRequest, ModelUnusable, whole
from fabula.rules.guardrails import Objection
from fabula.story.contexts import InkAgentContext, InkGenerateContext, KnotContext
from fabula.story.plays import SessionSettings
from fabula.story.resources import AgentRole, Api, ApiGroup, Preset
from fabula.story.seeds import derived_seed
from fabula.story.session_zero import SessionZero
from fabula.story.values import JsonObject

LONGEST_GENERATED = 8_000


def role_in_talk(context: InkAgentContext) -> Literal["narrator", "actor"]:
    """Whose preset and model speak for a character; where nobody is named, the teller's."""
    return "narrator" if context.character is None else "actor"


@dataclass(frozen=True, kw_only=True)
class Asker:
    """Who asks, with whose models. `variation` above one means that the player wants to hear something else, and `wish`
    how."""

    models: ModelClients
    session: SessionSettings
    preset: Preset
    group: ApiGroup
    apis: dict[str, Api]
    api_revisions: dict[str, int]
    deadline: float
    turn_id: str | None = None
    variation: int = 1
    wish: str | None = None
    recorder: TurnRecorder | None = None
    guardrails: Guardrails = NO_GUARDRAILS
    agreed: SessionZero | None = None

    async def decide(self, context: InkAgentContext, seed: int) -> Decision | None:
        """A decision; an unusable answer is repaired once, then there is none."""
        context = context.model_copy(update=self._wanted)
        return await self._decision(context, self._agent_messages(context), seed)

    async def rewrite(self, context: InkAgentContext, seed: int, *, crossed: str | None = None) -> Decision | None:
        """The decision in other words, because the first ones told too much, or crossed a line of the table."""
        context = context.model_copy(update=self._wanted)
        told = context.model_copy(update={"told_too_much": True})
        return await self._decision(told, rewrite_messages(self._agent_messages(context), crossed=crossed), seed)

    async def generate(self, context: InkGenerateContext, seed: int, watch: Evaluator) -> str:
        """A text for the story, in one piece; one that may not be told is written once more, then cut."""
        context = context.model_copy(update=self._wanted)
        messages = write_generate_prompt(context, budget=budget_of("narrator", self.preset.agents.narrator)).messages
        text = await self._text(context, messages, seed)
        crossed = self.guardrails.objection_to(text)
        if crossed is None and not watch.wrong(text):
            return text
        self.note("narrator", crossed)
        told = context.model_copy(update={"told_too_much": True})
        again = rewrite_messages(messages, plain=True, crossed=None if crossed is None else crossed.rule)
        return self.keep_to_limits("narrator", watch.cut(await self._text(told, again, seed)))

    def keep_to_limits(self, who: str, text: str) -> str:
        """A text with marks in the place of what may not be told at this table; each of them is noted."""
        checked = self.guardrails.cut(text)
        self.note(who, *checked.objections)
        return checked.text

    def note(self, who: str, *objections: Objection | None) -> None:
        """Notes what guardrails object to."""
        note_objections(self.recorder, who, [one for one in objections if one is not None])

    @property
    def _wanted(self) -> dict[str, object]:
        return {"wish": self.wish, "session_zero": self.agreed}

    def _agent_messages(self, context: InkAgentContext) -> tuple[Message, ...]:
        role = role_in_talk(context)
        return write_agent_prompt(context, budget=budget_of(role, self.preset.agents.of(role))).messages

    async def _text(self, context: InkGenerateContext, messages: tuple[Message, ...], seed: int) -> str:
        reply = await self._ask("narrator", context, messages, seed, None)
        return " ".join(reply.text.split())[:LONGEST_GENERATED]

    async def _decision(self, context: InkAgentContext, messages: tuple[Message, ...], seed: int) -> Decision | None:
        role = role_in_talk(context)
        asked = messages
        for tried in range(2):
            said, decision, problems = await self._attempt(
                role, context, asked, seed, read_decision, is_repair=tried > 0
            )
            if decision is not None:
                return decision
            asked = repair_messages(messages, raw=said, problems=problems, schema=DECISION_SCHEMA)
        return None

    async def _attempt(
        self,
        role: AgentRole,
        context: InkAgentContext,
        messages: tuple[Message, ...],
        seed: int,
        read: Callable[[str], tuple[Decision | None, list[str]]],
        *,
        is_repair: bool,
    ) -> tuple[str, Decision | None, list[str]]:
        try:
            reply = await self._ask(role, context, messages, seed, DECISION_SCHEMA, is_repair=is_repair)
        except ModelUnusable as error:
            return error.reply_text, None, [error.message]
        return reply.text, *read(reply.text)

    async def _ask(
        self,
        role: AgentRole,
        context: KnotContext,
        messages: tuple[Message, ...],
        seed: int,
        schema: JsonObject | None,
        *,
        is_repair: bool = False,
    ) -> ModelReply:
        api = self.apis[self.group.bindings.api_for(role)]
        client = await self.models.client_for(api, api_revision=self.api_revisions.get(api.api_id))
        agent = self.preset.agents.of(role)
        request = ModelRequest(
            origin=CallOrigin(
                agent=context.role,
                session_id=self.session.session_id,
                story_id=self.session.story_id,
                turn_id=self.turn_id,
                is_repair=is_repair,
            ),
            messages=messages,
            context=context,
            output_schema=schema,
            seed=seed if self.variation == 1 else derived_seed(seed, f"variation {self.variation}"),
            temperature=agent.temperature,
            max_tokens=agent.max_tokens,
            streaming=False,
            deadline=self.deadline,
        )
        if self.recorder is None:
            return await whole(client, request)
        self.recorder.ask()
        with self.recorder.waiting():
            return await whole(client, request)
