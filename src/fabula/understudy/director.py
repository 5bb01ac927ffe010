"""The director: decides who is heard this turn, and what for."""

from __future__ import annotations

from fabula.story.contexts import ActorPurpose, CastMember, DirectorContext, NarratorPurpose, SceneContext
from fabula.story.readings import AskBack, IntentKind
from fabula.story.values import Json, JsonObject
from fabula.understudy.line import Line, absent_person, line_of
from fabula.understudy.outcomes import said_by_the_world
from fabula.understudy.scene_view import last_words, was_shown
from fabula.understudy.topics import find_subjects
from fabula.understudy.voice import Voice

WIRE: dict[NarratorPurpose | ActorPurpose, str] = {
    "describe_transition": "DescribeTransition",
    "describe_scene": "DescribeScene",
    "describe_result": "DescribeResult",
    "advance_goal": "AdvanceGoal",
    "react_to_player": "ReactToPlayer",
    "comment_on_scene": "CommentOnScene",
}
SPOKEN: frozenset[IntentKind] = frozenset(
    {"talk", "ask", "tell", "greet", "farewell", "thank", "apologise", "agree", "refuse", "promise", "speech"}
)
OF_THE_PLAY: frozenset[IntentKind] = frozenset({"hint", "where", "who_is_here", "unknown", "look", "examine", "read"})
TO_SOMEBODY: frozenset[IntentKind] = frozenset({"give", "attack", "gesture"})


Part = NarratorPurpose | tuple[CastMember, ActorPurpose]
"""What the narrator tells, or who speaks, and what for."""


def direct(context: DirectorContext, seed: int | None) -> JsonObject:
    """The plan of the turn in its wire shape."""
    line = line_of(context)
    voice = Voice(seed, "director", context.current_node.id, last_words(context))
    return {"role_actions": [], "beats": [_beat(part) for part in plan_of(context, line, voice)]}


def _beat(part: Part) -> Json:
    if isinstance(part, str):
        return {"type": "Narrator", "purpose": WIRE[part]}
    member, purpose = part
    return {"type": "Actor", "speaker_id": member.id, "purpose": WIRE[purpose]}


def plan_of(context: SceneContext, line: Line, voice: Voice) -> list[Part]:
    """What is told, and who speaks, in their order. Where somebody has spoken, a hint comes after."""
    narrated = narration_for(context, line)
    if said_by_the_world(context):
        return [narrated or "describe_result"]
    parts: list[Part] = [] if narrated is None else [narrated]
    parts += speakers_for(context, line, voice)
    if narrated is None and context.understood is not None and context.understood.hint > 0:
        parts.append("describe_result")
    return parts or ["describe_result"]


def narration_for(context: SceneContext, line: Line) -> NarratorPurpose | None:
    """What the narrator tells first, or None when the characters carry the turn alone."""
    if context.transitioned_this_turn:
        return "describe_transition"
    if not was_shown(context):
        return "describe_scene"
    return None if is_spoken(context, line) and not context.resolutions else "describe_result"


def is_spoken(context: SceneContext, line: Line) -> bool:
    """Whether somebody in the scene answers the line, and not the narrator."""
    return bool(context.current_cast) and not is_for_the_narrator(context, line) and line.kind in SPOKEN


def is_for_the_narrator(context: SceneContext, line: Line) -> bool:
    """Whether a line is about the play itself, is not understood, is asked back, or is for somebody who is away."""
    asked = context.understood is not None and isinstance(context.understood.decision, AskBack)
    missing = absent_person(context, line) is not None
    hint = context.understood is not None and context.understood.has("hint")
    return bool(line.unclear) or asked or missing or hint or (line.kind in OF_THE_PLAY and not line.is_question)


def speakers_for(context: SceneContext, line: Line, voice: Voice) -> list[tuple[CastMember, ActorPurpose]]:
    """Who speaks: the one spoken to, or the one who knows; where nothing was said, now and then somebody remarks."""
    cast = context.current_cast
    if not cast:
        return []
    if context.transitioned_this_turn:
        return [(_least_heard(context), "comment_on_scene")] if voice.chance(2) else []
    if is_for_the_narrator(context, line):
        return []
    first = _answering(context, line)
    if line.kind in SPOKEN or line.kind in TO_SOMEBODY:
        return [(first, "react_to_player")]
    return [(first, "comment_on_scene")] if voice.chance(3) else []


def _answering(context: SceneContext, line: Line) -> CastMember:
    """The one spoken to, else the one who knows, else the one who was heard least."""
    cast = {member.id: member for member in context.current_cast}
    if line.whom in cast:
        return cast[line.whom]
    if line.is_question:
        for subject in find_subjects(context, line)[:3]:
            known = [subject.owner] if subject.kind == "fact" else list(subject.known_to)
            named = next((cast[id] for id in known if id in cast), None)
            if named is not None:
                return named
    of_name = [one for one in context.current_cast if line.names(one)]
    others = [one for one in context.current_cast if one not in of_name]
    return _least_heard(context, others or context.current_cast)


def _least_heard(context: SceneContext, among: list[CastMember] | None = None) -> CastMember:
    return min(among or context.current_cast, key=lambda member: _times_heard(context, member))


def _times_heard(context: SceneContext, member: CastMember) -> int:
    return sum(entry.speaker_id == member.id for entry in context.shared_history)
