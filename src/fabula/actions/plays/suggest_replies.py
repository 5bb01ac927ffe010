"""Suggest replies: what the player might say or do next. Nothing of it is kept."""

from __future__ import annotations

from typing import Final, Literal

from fabula.actions.audit_notes import note_objections
from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.plays.budgets import check_budget
from fabula.actions.plays.kinds.protocol import RoleQuestion
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.play_states import head_state
from fabula.actions.plays.table_guardrails import table_guardrails
from fabula.actions.repositories import SESSIONS
from fabula.actions.views import Command, View
from fabula.agents.replies.replyer import read_replies
from fabula.agents.replies.shapes import output_schema
from fabula.language.spoilers import Guard
from fabula.loops.guardrails import Guardrails
from fabula.loops.model_questions import Question, ask
from fabula.ports.actors import Actor
from fabula.ports.errors import InvalidRequest
from fabula.ports.models import CallOrigin
from fabula.rules.guardrails import Objection
from fabula.story.contexts import ReplyerContext
from fabula.story.plans import SuggestedReply

FEWEST, DEFAULT, MOST = 2, 3, 5
REPAIRS = 1
REPLYER: Final = "replyer"


class SuggestReplies(Command):
    limit: int | None = None


class SuggestedReplies(View):
    type: Literal["suggested_replies"] = "suggested_replies"
    replies: list[SuggestedReply]


@allowed("player")
async def suggest_replies(house: House, actor: Actor, session_id: str, command: SuggestReplies) -> SuggestedReplies:
    """Suggests what the player might say or do next; nothing of it is kept."""
    limit = checked_limit(command.limit)
    async with house.store.reading() as unit:
        play, state = await head_state(unit, actor, session_id)
        await check_budget(house, unit, play)
        session = await SESSIONS.get(unit, session_id)
        asked = RoleQuestion(role="replyer", reply_limit=limit)
        prompt = await kind_of_play(state).prompt(house, unit, session, play, state, asked)
        rails = await table_guardrails(unit, session_id, state, REPLYER)

    assert isinstance(prompt.context, ReplyerContext), "a replyer is told what a replyer needs"

    objections: list[Objection] = []

    def read(text: str) -> tuple[list[SuggestedReply] | None, list[str]]:
        replies, problems = read_replies(text, limit=limit)
        return _kept(_harmless(replies, prompt.guard), rails, objections) or None, problems

    question = Question(
        agent=prompt.agent,
        context=prompt.context,
        origin=CallOrigin(agent=REPLYER, session_id=session_id, story_id=session.story_id),
        read=read,
        schema=output_schema("replyer"),
        deadline=house.clock.monotonic() + house.settings.turn_deadline_s,
    )
    answer = await ask(await house.models.client_for(prompt.api), question, repairs=REPAIRS)
    replies = answer.value or _kept(plain_replies(prompt.context), rails, objections)
    await note_objections(house, session_id, REPLYER, objections)
    return SuggestedReplies(replies=replies)


def _harmless(replies: list[SuggestedReply] | None, guard: Guard | None) -> list[SuggestedReply]:
    """The replies that give nothing away of the story."""
    return [reply for reply in replies or [] if guard is None or not guard.leaks(reply.text)]


def _kept(replies: list[SuggestedReply], rails: Guardrails, objections: list[Objection]) -> list[SuggestedReply]:
    """The replies that may be said at this table: what nobody may play is not suggested either."""
    kept: list[SuggestedReply] = []
    for reply in replies:
        found = rails.objection_to(reply.text)
        if found is None:
            kept.append(reply)
        else:
            objections.append(found)
    return kept


def checked_limit(limit: int | None) -> int:
    """How many replies are wanted; raises InvalidRequest beyond 2 to 5."""
    if limit is not None and not FEWEST <= limit <= MOST:
        raise InvalidRequest(f"Ask for {FEWEST} to {MOST} replies: `limit` is {limit}.")
    return DEFAULT if limit is None else limit


def plain_replies(context: ReplyerContext) -> list[SuggestedReply]:
    """What can always be said or done, for a replyer whose answers cannot be used."""
    names = [member.name for member in context.current_cast]
    talk = [f"What do you think, {names[0]}?", f"{names[-1]}, tell me what is going on here."] if names else []
    texts = dict.fromkeys(
        ["I look around.", *talk, "I wait and listen.", "I go on.", "Let us move on.", "I step back."]
    )
    return [SuggestedReply(reply_id=f"r{n}", text=text) for n, text in enumerate(list(texts)[: context.reply_limit], 1)]
