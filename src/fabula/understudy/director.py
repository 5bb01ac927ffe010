"""The director: decides who is heard this turn, and what for."""

from __future__ import annotations

from fabula.story.contexts import ActorPurpose, CastMember, DirectorContext, NarratorPurpose, SceneContext
from fabula.story.readings import AskBack, Unclear
from fabula.story.values import Json, JsonObject
from fabula.understudy.scene_view import addressed, heard, last_words, reading_of, scene_sentences
from fabula.understudy.utterance import Reading
from fabula.understudy.voice import Voice

WIRE: dict[NarratorPurpose | ActorPurpose, str] = {
    "describe_transition": "DescribeTransition",
    "describe_scene": "DescribeScene",
    "describe_result": "DescribeResult",
    "advance_goal": "AdvanceGoal",
    "react_to_player": "ReactToPlayer",
    "comment_on_scene": "CommentOnScene",
}


def direct(context: DirectorContext, seed: int | None) -> JsonObject:
    """The plan of the turn in its wire shape."""
    reading = reading_of(context)
    if is_in_doubt(context):
        beats_of_doubt: list[Json] = [{"type": "Narrator", "purpose": WIRE["describe_result"]}]
        return {"role_actions": [], "beats": beats_of_doubt}
    voice = Voice(seed, "director", context.current_node.id, last_words(context))
    beats: list[Json] = []
    narrated = narration_for(context, reading)
    if narrated is not None:
        beats.append({"type": "Narrator", "purpose": WIRE[narrated]})
    for member, purpose in speakers_for(context, reading, voice):
        beats.append({"type": "Actor", "speaker_id": member.id, "purpose": WIRE[purpose]})
    return {"role_actions": [], "beats": beats or [{"type": "Narrator", "purpose": WIRE["describe_result"]}]}


def is_in_doubt(context: SceneContext) -> bool:
    """Whether the storyteller has to ask back, or was asked about the ways on: then nobody else speaks."""
    read = context.understood
    if read is None or context.transitioned_this_turn or read.node_id != context.current_node.id:
        return False
    return isinstance(read.decision, (AskBack, Unclear)) or read.has("hint")


def narration_for(context: SceneContext, reading: Reading) -> NarratorPurpose | None:
    """What the narrator tells first, or None when the characters carry the turn alone."""
    if context.transitioned_this_turn:
        return "describe_transition"
    if not _was_shown(context):
        return "describe_scene"
    hinted = context.understood is not None and context.understood.hint > 0
    if reading.kind in ("deed", "silence", "threat") or not context.current_cast or hinted or is_in_doubt(context):
        return "describe_result"
    return None


def speakers_for(context: SceneContext, reading: Reading, voice: Voice) -> list[tuple[CastMember, ActorPurpose]]:
    """Who speaks: the one spoken to, and now and then one more."""
    cast = context.current_cast
    if not cast or is_in_doubt(context):
        return []
    first = addressed(context, reading.text) or _least_heard(context)
    chosen: list[tuple[CastMember, ActorPurpose]] = [(first, _purpose(context, reading))]
    others = [member for member in cast if member.id != first.id]
    if others and voice.chance(2):
        quiet = min(others, key=lambda member: (_times_heard(context, member), member.id))
        chosen.append((quiet, "advance_goal" if voice.chance(2) else "comment_on_scene"))
    return chosen


def _purpose(context: SceneContext, reading: Reading) -> ActorPurpose:
    if context.transitioned_this_turn:
        return "comment_on_scene" if reading.kind != "question" else "react_to_player"
    return "advance_goal" if reading.kind in ("silence", "ready", "agreement") else "react_to_player"


def _was_shown(context: SceneContext) -> bool:
    """Whether the place was described lately; when too long ago to be remembered, somebody has spoken since."""
    told = "\n".join(heard(context))
    return bool(told) or not scene_sentences(context.current_node, "")


def _least_heard(context: SceneContext) -> CastMember:
    return min(context.current_cast, key=lambda member: _times_heard(context, member))


def _times_heard(context: SceneContext, member: CastMember) -> int:
    return sum(entry.speaker_id == member.id for entry in context.shared_history)
