"""What a turn of a conversation leaves behind: its lines, how everybody stands now, and the end of its work."""

from __future__ import annotations

from fabula.loops.conversations.conversation_run import ConversationRun
from fabula.loops.conversations.replies import Answered
from fabula.loops.scene.keeper import Kept
from fabula.loops.scene.persistence import persist
from fabula.loops.scene.resolution import player_entry
from fabula.loops.scene.scene_run import SceneRun
from fabula.recall.social_beats import after_beat, held
from fabula.story.changes import remember, remember_privately
from fabula.story.conversations import Conversation, FeltBeat
from fabula.story.events import SocialBeat
from fabula.story.plans import ActorBeat, DirectorResult, ResponsePlan
from fabula.story.plays import PlayState
from fabula.story.relations import Relation, RelationStep, kept_step
from fabula.story.state import MemoryEntry, StateUpdate
from fabula.story.values import JsonObject, Value


class Played(Value):
    """The replies of a turn, as they are checkpointed. `cut` says that the turn ended early."""

    beats: list[JsonObject]
    said: list[MemoryEntry]
    social: list[FeltBeat]
    cut: bool = False


def played(talk: ConversationRun, answered: Answered) -> Played:
    """The replies; each social beat is told."""
    run = talk.turn
    for beat in answered.social:
        run.stage.tell(told_beat(beat))
    run.stage.recorder.rows["social_beats"] = [beat.as_json() for beat in answered.social]
    beats = [beat.view for beat in answered.beats]
    return Played(beats=beats, said=answered.said, social=answered.social, cut=run.cut.asked)


def told_beat(beat: FeltBeat) -> SocialBeat:
    """A social beat as it is told."""
    return SocialBeat(
        character_id=beat.character_id,
        towards=beat.towards,
        surface=beat.surface,
        inner=beat.inner,
        deltas=beat.deltas,
        reason=beat.reason,
    )


async def persist_conversation(talk: ConversationRun, turn: Played) -> None:
    """Commits the turn and tells its result."""
    run = talk.turn
    here = run.before.world.current_node
    speakers = list(dict.fromkeys(entry.speaker_id for entry in turn.said))
    plan = ResponsePlan(beats=[ActorBeat(speaker_id=id, purpose="ReactToPlayer") for id in speakers])
    director = DirectorResult(previous_node_id=here, current_node_id=here, transitioned=False, response_plan=plan)
    kept = Kept(play=_after(run, turn), update=StateUpdate(), output=None)

    def closing(play: PlayState) -> PlayState:
        world = play.world.model_copy(update={"active_characters": list(talk.there)})
        return play.with_world(world)

    await persist(
        run,
        first=kept.view(),
        director=director.as_json(),
        beats=turn.beats,
        said=turn.said,
        second=kept,
        cut=turn.cut,
        social=[told_beat(beat) for beat in turn.social],
        closing=closing,
    )


def _after(run: SceneRun, turn: Played) -> PlayState:
    """The state after the turn: everybody remembers what was said, and stands as the beats left them."""
    before, setup = run.before, run.setup
    said = [player_entry(run), *(entry for entry in turn.said if entry.kind != "thought")]
    world = remember(before.world, said, limit=setup.shared_window)
    for entry in turn.said:
        if entry.kind == "thought":
            world = remember_privately(world, entry, limit=setup.private_window)
    snapshot = before.snapshot.model_copy(update={"turn_index": before.snapshot.turn_index + 1, "world_state": world})
    conversation = before.conversation
    assert conversation is not None, "only a conversation has such turns"
    return before.model_copy(
        update={
            "snapshot": snapshot,
            "turns_in_scene": before.turns_in_scene + 1,
            "conversation": conversation.model_copy(update={"turns": conversation.turns + 1}),
            "relations": _relations(run, conversation, turn.social),
        }
    )


def _relations(run: SceneRun, conversation: Conversation, beats: list[FeltBeat]) -> dict[str, dict[str, Relation]]:
    """How everybody stands after the beats. An interview is no part of the story, and moves nobody."""
    before = run.before
    if conversation.mode == "interview":
        return before.relations
    index = before.snapshot.turn_index + 1
    found = {id: dict(towards) for id, towards in before.relations.items()}
    for beat in beats:
        mine = found.setdefault(beat.character_id, {})
        now = mine.get(beat.towards, Relation())
        after = after_beat(now, beat)
        if after is not now:
            deltas = held(beat, now).deltas
            step = RelationStep(turn_index=index, deltas=deltas, reason=beat.reason)
            mine[beat.towards] = kept_step(after, step)
    return {id: towards for id, towards in found.items() if towards}
