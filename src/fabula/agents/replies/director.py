"""The director's reply: a plan of the turn, and the plan that stands in when there is none to use."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pydantic import TypeAdapter

from fabula.agents.replies.json_answers import fitted, json_in
from fabula.story.changes import MOST_PRESENT
from fabula.story.plans import ActorBeat, Beat, CreateAndEnter, LeaveScene, NarratorBeat, ResponsePlan
from fabula.story.values import Json

MOST_BEATS = 8
NO_GUESTS = frozenset({"player", "narrator", "everyone"})
"""Ids that mean somebody else: a guest called `player` would have its variables taken for the player's by the dice."""


def read_response_plan(
    text: str, *, cast: Sequence[str], story_characters: Collection[str] = ()
) -> tuple[ResponsePlan | None, list[str]]:
    """The plan of a turn, and why it cannot be used; `cast` are the ids of those in the scene."""
    value, problems = json_in(text)
    if problems:
        return None, problems
    plan, problems = fitted(_spelled(value), TypeAdapter(ResponsePlan))
    if plan is None:
        return None, problems
    problems = plan_problems(plan, cast=cast, story_characters=story_characters)
    if problems:
        return None, problems
    return plan.model_copy(update={"beats": plan.beats[:MOST_BEATS]}), []


def plan_problems(plan: ResponsePlan, *, cast: Sequence[str], story_characters: Collection[str]) -> list[str]:
    """Who is named in a plan but cannot take part, by name."""
    problems = [] if plan.beats else ["the plan has no beats"]
    present = list(cast)
    if len(plan.role_actions) > MOST_PRESENT:
        return [f"more than {MOST_PRESENT} come and go at once"]
    for action in plan.role_actions:
        match action:
            case CreateAndEnter():
                if action.session_character_id in NO_GUESTS:
                    problems.append(f"'{action.session_character_id}' is no id for a guest; choose a new id")
                if action.session_character_id in story_characters:
                    problems.append(f"'{action.session_character_id}' is a character of the story; choose a new id")
                present.append(action.session_character_id)
            case LeaveScene():
                if action.session_character_id not in present:
                    problems.append(f"'{action.session_character_id}' cannot leave: nobody of that id is in the scene")
                present = [one for one in present if one != action.session_character_id]
    if len(present) > max(len(cast), MOST_PRESENT):
        problems.append(f"the scene holds {MOST_PRESENT} characters; let some leave first")
    speakers = [beat.speaker_id for beat in plan.beats if isinstance(beat, ActorBeat)]
    return problems + [
        f"'{one}' cannot speak: nobody of that id is in the scene" for one in speakers if one not in present
    ]


def fallback_plan(*, transitioned: bool, cast: Sequence[str]) -> ResponsePlan:
    """Narrator if the scene changed or nobody is there, then one beat for each of the cast."""
    beats: list[Beat] = []
    if transitioned:
        beats.append(NarratorBeat(purpose="DescribeTransition"))
    elif not cast:
        beats.append(NarratorBeat(purpose="DescribeResult"))
    beats += [ActorBeat(speaker_id=one, purpose="ReactToPlayer") for one in cast]
    return ResponsePlan(beats=beats)


def _spelled(value: Json) -> Json:
    """The plan with beats spelled as contracted: models often write `describe_scene` or `actor`."""
    if not isinstance(value, dict) or not isinstance(value.get("beats"), list):
        return value
    beats = value["beats"]
    assert isinstance(beats, list)
    return {**value, "beats": [_spelled_beat(beat) for beat in beats]}


def _spelled_beat(beat: Json) -> Json:
    if not isinstance(beat, dict):
        return beat
    return {key: _pascal(value) if key in ("type", "purpose") else value for key, value in beat.items()}


def _pascal(value: Json) -> Json:
    if not isinstance(value, str):
        return value
    return "".join(part[:1].upper() + part[1:] for part in value.replace("-", "_").replace(" ", "_").split("_"))
