"""Leave a conversation: it is summed up, and how far somebody's feelings moved is proposed as canon of the play.

To leave is a piece of work, because the summary may ask a model: one that was left behind goes on at its node. Its one
effect is a turn by hand that ends the work in the same transaction, so it is made once or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

from fabula.actions.authority import allowed
from fabula.actions.conversations.open_conversation import NONE_OPEN
from fabula.actions.followers.summariser import Summariser
from fabula.actions.house import House
from fabula.actions.plays.amend import Amendment, AtHead, amend
from fabula.actions.plays.left_talks import CLOSE_CONVERSATION, leaving_of, talk_being_left
from fabula.actions.plays.play_states import head_state
from fabula.actions.plays.shown_lines import last_lines_told
from fabula.actions.repositories import ALL_STORIES, SESSIONS
from fabula.actions.setups.seen_canon import keep_private_world, world_id_of
from fabula.actions.views import Nothing, View
from fabula.actions.work.work_kind import HeldWork, WorkKind, taken_over
from fabula.canon.sentences import sentence_of
from fabula.loops.conversations import conversation_leaver
from fabula.loops.conversations.conversation_in_short import conversation_in_short
from fabula.loops.conversations.conversation_run import ConversationRun, Noting
from fabula.loops.scene.play_setup import PlaySetup
from fabula.loops.turns.turn_recorder import TurnRecorder
from fabula.loops.turns.turn_state_cache import entry_of
from fabula.ports.actors import OPERATOR, Actor
from fabula.ports.errors import Conflict, StoreError
from fabula.ports.plays import Turn
from fabula.ports.store import Unit
from fabula.ports.threads import run_in_thread
from fabula.ports.work import NewWork, Work
from fabula.recall.social_beats import Shift, proposed, shifts_in
from fabula.story.canon import Change, Evidence, RelationshipContent
from fabula.story.change_labels import change_label
from fabula.story.checks import PLAYER
from fabula.story.conversations import Conversation
from fabula.story.plays import PlayState, SessionSettings
from fabula.story.relations import AXES, Axis, Relation
from fabula.story.state import MemoryEntry
from fabula.story.values import JsonObject, Value

DEADLINE_S: Final = 90.0
"""More than a model has for the summary, which is made by rule when that time is over."""
MOVED: Final = "The session was moved meanwhile. Leave the conversation again."
SUMMARY_WORDS: Final = 60
MOST_LINES: Final = 800
SPOKEN: Final = ("player_input", "dialogue")
"""What a conversation is summed up from: words, not gestures."""
PROPOSER: Final = "conversation"
SURE: Final = 0.8

_PREDICATES: Final[Mapping[tuple[Axis, int, bool], str]] = {
    # the axis, which way it went, and whether it is above zero now
    ("trust", 1, True): "trusts",
    ("trust", 1, False): "less_wary_of",
    ("trust", -1, True): "more_wary_of",
    ("trust", -1, False): "distrusts",
    ("respect", 1, True): "respects",
    ("respect", 1, False): "thinks_better_of",
    ("respect", -1, True): "thinks_less_of",
    ("respect", -1, False): "despises",
    ("affinity", 1, True): "likes",
    ("affinity", 1, False): "warmer_to",
    ("affinity", -1, True): "colder_to",
    ("affinity", -1, False): "dislikes",
    ("fear", 1, True): "fears",
    ("fear", -1, True): "less_afraid_of",
    ("fear", -1, False): "less_afraid_of",
}


class StagedChange(Value):
    """A change that is proposed as canon."""

    change_id: str
    sentence: str


class StandsNow(Value):
    """How somebody stands to the player when a conversation ends."""

    character_id: str
    towards: str
    trust: float
    respect: float = 0.0
    affinity: float
    fear: float


class ConversationClosed(View):
    """What was talked about in short, how everybody stands now, and what is proposed as canon of the play."""

    type: Literal["conversation_closed"] = "conversation_closed"
    conversation_id: str
    summary: str
    relations: list[StandsNow]
    staged: list[StagedChange]


@dataclass(frozen=True, kw_only=True)
class _Standing:
    """The conversation where it is left."""

    conversation: Conversation
    session: SessionSettings
    head: Turn
    state: PlayState
    lines: list[MemoryEntry]


@allowed("player")
async def close_conversation(house: House, actor: Actor, session_id: str, command: Nothing) -> ConversationClosed:
    """Leaves the conversation that is under way: sums it up, and proposes as canon what moved far."""
    async with house.store.writing() as unit:
        work, is_new = await _begin(house, unit, actor, session_id)
    if is_new:
        await house.work.start(work)
    return ConversationClosed.model_validate(await house.work.result_of(work.work_id))


def conversation_kinds(house: House) -> dict[str, WorkKind]:
    """Leaving a conversation, which any process goes on with."""
    does = (
        "sums up a conversation that is left, and proposes what moved far; one that was left behind goes on at its node"
    )
    return {CLOSE_CONVERSATION: WorkKind(run=partial(_run, house), does=does, deadline_s=DEADLINE_S, is_loop=True)}


async def _begin(house: House, unit: Unit, actor: Actor, session_id: str) -> tuple[Work, bool]:
    """The work on leaving the conversation, and whether it was begun now: who asks again waits for what is there."""
    play, state = await head_state(unit, actor, session_id)
    if state.conversation is None:
        raise Conflict(NONE_OPEN)
    under_way = await talk_being_left(unit, play, state)
    if under_way is not None:
        return under_way, False
    new = NewWork(
        work_id=house.ids.new("work"),
        kind=CLOSE_CONVERSATION,
        subject=state.conversation.conversation_id,
        input={**leaving_of(play), "by": actor.token_id},
        held=house.work.lease(),
    )
    return await unit.work.begin(new), True


async def _run(house: House, held: HeldWork) -> JsonObject:
    """Leaves the conversation through the loop; its last step ends the work."""
    work = held.work
    left = await _standing(house, work)
    told: list[ConversationClosed] = []

    async def close() -> None:
        told.append(await _close(house, work, left))

    run = ConversationRun(
        conversation=left.conversation, stage=Noting(recorder=TurnRecorder(house.clock.monotonic)), close=close
    )
    leave_conversation = await run_in_thread(conversation_leaver)
    await leave_conversation(run, await house.checkpoints.saver(), thread_id=work.work_id, resumed=held.is_resumed)
    return told[0].as_json()


async def _standing(house: House, work: Work) -> _Standing:
    session_id = str(work.input["session_id"])
    async with house.store.reading() as unit:
        play, state = await head_state(unit, OPERATOR, session_id)
        if play.head_turn_id != work.input["head"]:
            raise Conflict(MOVED)
        head = await unit.plays.turn(play.head_turn_id)
        if head is None or state.conversation is None:
            raise StoreError(f"The turn '{play.head_turn_id}' is missing. Restore a backup.")
        return _Standing(
            conversation=state.conversation,
            session=await SESSIONS.get(unit, session_id),
            head=head,
            state=state,
            lines=await _lines(unit, head.turn_id, state.conversation),
        )


async def _lines(unit: Unit, turn_id: str, conversation: Conversation) -> list[MemoryEntry]:
    told = await last_lines_told(unit, turn_id, MOST_LINES)
    spoken = [line for line in told if line.turn_index > conversation.began and line.kind in SPOKEN]
    return [entry_of(line) for line in spoken]


async def _close(house: House, work: Work, left: _Standing) -> ConversationClosed:
    session_id = left.session.session_id
    async with house.store.reading() as unit:
        summariser = await Summariser.of(house, unit, left.session, left.head, left.state)
    summary = await _summary(summariser, left)

    async def change(at: AtHead) -> tuple[Amendment, ConversationClosed]:
        if at.play.head_turn_id != left.head.turn_id:
            raise Conflict(MOVED)
        setup = await house.play_setups.played_by(at.looking, session_id, at.state.graph)
        story = await ALL_STORIES.get(at.looking, left.session.story_id)
        staged = _staged(at, world_id_of(story), left.conversation, summary)
        if staged:
            await keep_private_world(at.unit, story)
        talked = {change.content.subject for change in staged if isinstance(change.content, RelationshipContent)}
        relations = {
            id: {whom: proposed(one) for whom, one in mine.items()} if id in talked else mine
            for id, mine in at.state.relations.items()
        }
        state = at.state.model_copy(update={"conversation": None, "relations": relations})
        names = _names(setup, at.state)
        sentences = [StagedChange(change_id=one.change_id, sentence=sentence_of(one.content, names)) for one in staged]
        stands = [_stands(id, left.state.relations.get(id, {})) for id in left.conversation.character_ids]
        told = ConversationClosed(
            conversation_id=left.conversation.conversation_id, summary=summary, relations=stands, staged=sentences
        )
        if not await at.unit.work.finish(work, told.as_json()):
            raise taken_over(work)
        return Amendment(state=state, staged=staged, label=change_label("talk_left")), told

    # Who may leave was asked when the work began; `by` tells those who have the session open who did.
    by = work.input.get("by")
    actor = Actor(role=OPERATOR.role, token_id=None if by is None else str(by))
    _, told = await amend(house, actor, session_id, change)
    return told


async def _summary(summariser: Summariser, left: _Standing) -> str:
    """The conversation in a few sentences: a model's, or by rule what was said in it that says most."""
    if summariser.api is None:
        return await run_in_thread(conversation_in_short, left.lines)
    return await summariser.sum_up(left.lines, SUMMARY_WORDS)


def _stands(id: str, towards: Mapping[str, Relation]) -> StandsNow:
    one = towards.get(PLAYER, Relation())
    return StandsNow(character_id=id, towards=PLAYER, **{axis: one.of(axis) for axis in AXES})


def _staged(at: AtHead, world_id: str, conversation: Conversation, summary: str) -> list[Change]:
    """What moved far in those who talked, as changes of the play's layer."""
    if conversation.mode == "interview":
        return []
    knowing = sorted([PLAYER, *conversation.character_ids])
    evidence = [Evidence(type="conversation", ref=conversation.conversation_id, quote=summary[:1000])]
    return [
        Change(
            change_id=at.house.ids.new("change"),
            world_id=world_id,
            session_id=at.play.session_id,
            turn_id=at.turn_id,
            content=_content(id, shift, at.state.minute, knowing),
            evidence=evidence,
            confidence=SURE,
            authority="system",
            proposer=PROPOSER,
        )
        for id in conversation.character_ids
        for shift in shifts_in(at.state.relations.get(id, {}).get(PLAYER, Relation()))
    ]


def _content(id: str, shift: Shift, minute: int, knowing: list[str]) -> RelationshipContent:
    return RelationshipContent(
        subject=id,
        predicate=_PREDICATES[shift.axis, shift.way, shift.value > 0],
        object=PLAYER,
        strength=shift.value,
        reason=shift.reason,
        since=minute,
        known_to=knowing,
    )


def _names(setup: PlaySetup, state: PlayState) -> dict[str, str]:
    cast = {id: one.name for id, one in setup.characters.items()}
    guests = {id: guest.display_name for id, guest in state.session_characters.items()}
    return {PLAYER: state.player_name, **guests, **cast}
