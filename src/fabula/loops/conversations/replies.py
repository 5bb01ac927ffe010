"""Replies: those who are spoken to are asked at once, and answer one by one; each reply has its social beat."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from fabula.agents.conversations import read_feels
from fabula.loops.conversations.conversation_run import ConversationRun
from fabula.loops.scene.audience import heard_beat
from fabula.loops.scene.beats import Beat, act_whole, actor_stage, hear_actor, instead, told_again
from fabula.loops.scene.contexts import SceneTeller
from fabula.loops.scene.player_line import understand
from fabula.loops.scene.questions import Question, ask
from fabula.loops.scene.resolution import PLAYER, record_input, scene_here
from fabula.loops.scene.scene_run import PendingAnswer, SceneRun
from fabula.loops.turns.cut import CutShort
from fabula.ports.errors import FabulaError
from fabula.ports.models import ModelError
from fabula.recall.social_beats import Listener, Spoken, beat_by_rule, held, in_words
from fabula.story.contexts import ActorContext, ConversationNote
from fabula.story.conversations import Conversation, FeltBeat
from fabula.story.events import AgentDegraded
from fabula.story.plans import ActorBeat
from fabula.story.plays import PlayState
from fabula.story.relations import Relation
from fabula.story.state import MemoryEntry
from fabula.story.tags import TALK_TAGS, Closed


@dataclass(kw_only=True)
class Reply:
    """One character's part of a turn: what it is asked, its answer on the way, and what it says that it feels."""

    beat: ActorBeat
    question: Question
    answer: PendingAnswer | None
    feels: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Answered:
    """The replies of a turn."""

    beats: list[Beat]
    social: list[FeltBeat]

    @property
    def said(self) -> list[MemoryEntry]:
        return [entry for beat in self.beats for entry in beat.entries]


async def answer_player(talk: ConversationRun) -> Answered:
    """What those who are spoken to answer. Who cannot be asked, or fails, has a line by rule."""
    run = talk.turn
    play = record_input(run)
    await understand(run, play)
    teller = run.teller(play, scene_here(run, play))
    replies = [await _asked(talk, teller, id, index) for index, id in enumerate(_spoken_to(talk, play))]
    beats: list[Beat] = []
    social: list[FeltBeat] = []
    try:
        for index, reply in enumerate(replies):
            beat = await _told(run, teller, reply, index)
            if beat is not None:
                beats.append(heard_beat(run, play, beat))
                social.append(_social_beat(run, reply))
            if run.cut.asked:
                break
    finally:
        for reply in replies:
            if reply.answer is not None:
                await reply.answer.close()
    return Answered(beats=beats, social=social)


def _spoken_to(talk: ConversationRun, play: PlayState) -> Sequence[str]:
    """Who answers: whom the line addresses, else everybody in the conversation."""
    read = talk.turn.handover.understood
    talking = talk.conversation.character_ids
    named = None if read is None else read.addressed
    return [named] if named in talking else talking


async def _asked(talk: ConversationRun, teller: SceneTeller, id: str, index: int) -> Reply:
    """Sends a character's question; all of them leave before the first answer is read."""
    run = talk.turn
    beat = ActorBeat(speaker_id=id, purpose="ReactToPlayer")
    question = Question(call=f"actor:{index}", context=conversation_context(run.before, teller, talk.conversation, id))
    try:
        answer: PendingAnswer | None = await ask(run, question)
    except FabulaError:
        answer = None
    return Reply(beat=beat, question=question, answer=answer)


def conversation_context(play: PlayState, teller: SceneTeller, conversation: Conversation, id: str) -> ActorContext:
    """What somebody in a conversation is told."""
    relation = relation_of(play, id)
    note = ConversationNote(mode=conversation.mode, relation=relation, stands=in_words(relation, play.player_name))
    return teller.actor(id, "react_to_player").model_copy(update={"conversation": note})


def relation_of(play: PlayState, id: str) -> Relation:
    """How a character stands to the player."""
    return play.relations.get(id, {}).get(PLAYER) or Relation()


async def _told(run: SceneRun, teller: SceneTeller, reply: Reply, index: int) -> Beat | None:
    told = actor_stage(run, teller, reply.beat, index)

    def aside(tag: Closed) -> None:
        reply.feels.append(tag.text)

    told.start()
    try:
        if reply.answer is not None:
            await hear_actor(told, reply.answer, tags=TALK_TAGS, aside=aside)
            if (crossed := told.crossed) is not None:
                again = await ask(run, told_again(reply.question, told.resume(), crossed))
                await hear_actor(told, again, tags=TALK_TAGS, aside=aside)
    except CutShort:
        return told.cut()
    except ModelError as error:
        # What was said before it failed stands, and nobody else falls silent for it.
        begun = told.cut()
        if begun is not None:
            run.stage.tell(AgentDegraded(agent="actor", reason=error.message))
            return begun
    if not told.segments and not told.held:
        act_whole(told, instead(run, reply.question))
    return told.end()


def _social_beat(run: SceneRun, reply: Reply) -> FeltBeat:
    """What a reply does to how its speaker stands to the player: as its model says, or by rule."""
    id, said = reply.beat.speaker_id, run.turn.player_input
    relation = relation_of(run.before, id)
    mind = None if run.inner is None else run.inner.minds.get(id)
    name = run.setup.names_of([id], run.before).get(id, id)
    listener = Listener(
        id=id,
        name=name,
        valence=0.0 if mind is None else mind.valence,
        composed=mind is not None and bool(mind.presented) and mind.slip is None,
    )
    line = Spoken(by=PLAYER, name=run.before.player_name, words=said)
    by_rule = beat_by_rule(line, listener, relation)
    proposed = read_feels(reply.feels[-1], character_id=id, towards=PLAYER, said=said) if reply.feels else None
    if proposed is None:
        return by_rule
    return held(proposed.model_copy(update={"reason": proposed.reason or by_rule.reason}), relation)
