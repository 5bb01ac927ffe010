"""What the director plans and the replyer suggests: proposals that a turn carries out or shows."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from fabula.story.values import Id, Value

NarratorBeatPurpose = Literal["DescribeTransition", "DescribeScene", "DescribeResult"]
ActorBeatPurpose = Literal["AdvanceGoal", "ReactToPlayer", "CommentOnScene"]


class CreateAndEnter(Value):
    """A new figure comes into the scene."""

    type: Literal["create_and_enter"] = "create_and_enter"
    session_character_id: Id
    display_name: str = Field(min_length=1)
    personality: str
    style: str
    system_prompt: str


class LeaveScene(Value):
    """Someone goes away."""

    type: Literal["leave_scene"] = "leave_scene"
    session_character_id: Id


class NarratorBeat(Value):
    type: Literal["Narrator"] = "Narrator"
    purpose: NarratorBeatPurpose


class ActorBeat(Value):
    type: Literal["Actor"] = "Actor"
    speaker_id: Id
    purpose: ActorBeatPurpose


RoleAction = Annotated[CreateAndEnter | LeaveScene, Field(discriminator="type")]
Beat = Annotated[NarratorBeat | ActorBeat, Field(discriminator="type")]


class ResponsePlan(Value):
    """Who comes and goes in a turn, and who then tells, speaks and acts, in order."""

    role_actions: list[RoleAction] = []
    beats: list[Beat] = []


class DirectorResult(Value):
    """Whether the story moved on, and what the director planned then."""

    previous_node_id: str
    current_node_id: str
    transitioned: bool
    response_plan: ResponsePlan


class SuggestedReply(Value):
    """Something that the player might say or do."""

    reply_id: str
    text: str
