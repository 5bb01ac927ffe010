"""Suggest replies: what the player might say or do next. Nothing of it is kept."""

from __future__ import annotations

from typing import Literal

from fabula.actions.house import House
from fabula.actions.library.repositories import SESSIONS
from fabula.actions.plays.messages import past_of
from fabula.actions.plays.sessions import head_state
from fabula.actions.views import Command, View
from fabula.agents.replies.replyer import read_replies
from fabula.agents.replies.shapes import output_schema
from fabula.agents.windows import windows_of
from fabula.loops.model_questions import Question, ask
from fabula.loops.scene.contexts import Scene, SceneTeller
from fabula.loops.scene.play_setup import PlaySetup
from fabula.loops.turns.turn_state_cache import entry_of
from fabula.ports.errors import InvalidRequest
from fabula.ports.models import CallOrigin
from fabula.ports.plays import SpokenMessage
from fabula.ports.store import Unit
from fabula.story.contexts import ReplyerContext
from fabula.story.plans import SuggestedReply
from fabula.story.plays import PlayState
from fabula.story.state import MemoryEntry

FEWEST, DEFAULT, MOST = 2, 3, 5
REPAIRS = 1
NARRATION_SHARE = 4
"""Older narration is left out, so more messages are read than are shown."""


class SuggestReplies(Command):
    limit: int | None = None


class SuggestedReplies(View):
    type: Literal["suggested_replies"] = "suggested_replies"
    replies: list[SuggestedReply]


async def suggest_replies(house: House, session_id: str, command: SuggestReplies) -> SuggestedReplies:
    """Suggests what the player might say or do next; nothing of it is kept."""
    limit = checked_limit(command.limit)
    async with house.store.reading() as unit:
        session = await SESSIONS.get(unit, session_id)
        play, state = await head_state(unit, session_id)
        setup = await house.play_setups.of(unit, session, state.graph)
        context = await replyer_context(unit, setup, state, play.head_turn_id, limit)

    def read(text: str) -> tuple[list[SuggestedReply] | None, list[str]]:
        replies, problems = read_replies(text, limit=limit)
        return replies or None, problems

    question = Question(
        agent=setup.agent("replyer"),
        context=context,
        origin=CallOrigin(agent="replyer", session_id=session_id, story_id=session.story_id),
        read=read,
        schema=output_schema("replyer"),
        deadline=house.clock.monotonic() + house.settings.turn_deadline_s,
    )
    answer = await ask(await house.models.client_for(setup.api("replyer")), question, repairs=REPAIRS)
    return SuggestedReplies(replies=answer.value or plain_replies(context))


def checked_limit(limit: int | None) -> int:
    """How many replies are wanted; raises InvalidRequest beyond 2 to 5."""
    if limit is not None and not FEWEST <= limit <= MOST:
        raise InvalidRequest(f"Ask for {FEWEST} to {MOST} replies: `limit` is {limit}.")
    return DEFAULT if limit is None else limit


async def replyer_context(
    unit: Unit, setup: PlaySetup, state: PlayState, head_turn_id: str, limit: int
) -> ReplyerContext:
    """What the replyer is told: the scene, and the last lines of the transcript."""
    shown = windows_of("replyer", setup.agent("replyer")).session
    messages = await unit.plays.transcript(head_turn_id, last=max(shown * NARRATION_SHARE, 1))
    here = Scene(previous_node_id=state.world.current_node, previous_cast=state.world.active_characters)
    past = await past_of(unit, head_turn_id, setup.told_history)
    teller = SceneTeller(setup, state, here, "", past, turn_index=state.snapshot.turn_index)
    return teller.replyer(limit, fresh_lines(messages, shown))


def fresh_lines(messages: list[SpokenMessage], shown: int) -> list[MemoryEntry]:
    """The last lines, oldest first; of the narration only what the latest narrated turn told."""
    narrated = [message.turn_id for message in messages if message.kind == "narration"]
    kept = [message for message in messages if message.kind != "narration" or message.turn_id == narrated[-1]]
    return [entry_of(message) for message in kept[max(len(kept) - shown, 0) :]]


def plain_replies(context: ReplyerContext) -> list[SuggestedReply]:
    """What can always be said or done, for a replyer whose answers cannot be used."""
    names = [member.name for member in context.current_cast]
    talk = [f"What do you think, {names[0]}?", f"{names[-1]}, tell me what is going on here."] if names else []
    texts = dict.fromkeys(
        ["I look around.", *talk, "I wait and listen.", "I go on.", "Let us move on.", "I step back."]
    )
    return [SuggestedReply(reply_id=f"r{n}", text=text) for n, text in enumerate(list(texts)[: context.reply_limit], 1)]
