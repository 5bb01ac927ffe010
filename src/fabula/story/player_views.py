"""What players are shown of a play: not what the director plans, nor what characters only think.

Whoever plays would read there how the story is meant to go on. Shapes and numbers stay as they are, so that one client
reads both: a plan is empty, a piece of a thought has no text, and what a model said word for word is left out, because
its thoughts stand in it.
"""

from __future__ import annotations

from dataclasses import replace

from fabula.story.events import (
    ActorCompleted,
    ActorThoughtDelta,
    Completed,
    ConflictChanged,
    Delta,
    DirectorCompleted,
    KeeperApplied,
    NarratorCompleted,
    PlayerInputRecorded,
    SessionCharacterCreated,
    SessionCharacterEnteredScene,
    SessionCharacterLeftScene,
    SocialBeat,
    ThreadChanged,
    Told,
    WorldAdvanced,
)
from fabula.story.plans import ResponsePlan
from fabula.story.state import Snapshot
from fabula.story.turn_results import ActorResponse
from fabula.story.values import Json, JsonObject


def snapshot_for_players(snapshot: Snapshot) -> Snapshot:
    """A snapshot without thoughts."""
    if not snapshot.world_state.actor_private_memory:
        return snapshot
    world = snapshot.world_state.model_copy(update={"actor_private_memory": {}})
    return snapshot.model_copy(update={"world_state": world})


def event_for_players(event: Told) -> Told:
    """An event without plans and thoughts."""
    match event:
        case ActorThoughtDelta():
            return replace(event, delta="")
        case Delta():
            return event
        case DirectorCompleted():
            result = event.result.model_copy(update={"response_plan": ResponsePlan()})
            return replace(event, result=result, snapshot=snapshot_for_players(event.snapshot))
        case (
            PlayerInputRecorded()
            | KeeperApplied()
            | SessionCharacterCreated()
            | SessionCharacterEnteredScene()
            | SessionCharacterLeftScene()
        ):
            return replace(event, snapshot=snapshot_for_players(event.snapshot))
        case NarratorCompleted():
            return replace(event, response=event.response.model_copy(update={"raw_output": ""}))
        case ActorCompleted():
            return replace(event, response=_response_for_players(event.response))
        case ThreadChanged():
            return replace(event, thread_id="", title="", why="")
        case ConflictChanged():
            return replace(event, conflict_id="", title="", why="")
        case WorldAdvanced():
            return replace(event, events=tuple(one for one in event.events if not one.known_to and one.where is None))
        case SocialBeat():
            return replace(event, inner=None)
        case Completed():
            return replace(event, result=result_for_players(event.result))
        case _:
            return event


def _response_for_players(response: ActorResponse) -> ActorResponse:
    heard = [segment for segment in response.segments if segment.kind != "thought"]
    return response.model_copy(update={"segments": heard, "raw_output": ""})


def result_for_players(result: JsonObject) -> JsonObject:
    """The result of a turn without plans and thoughts; it is plain JSON, and may be of an old version."""
    shown = dict(result)
    for name, hide in (
        ("snapshot", _snapshot),
        ("director", _director),
        ("completed_beats", _beats),
        ("social_beats", _felt),
    ):
        if name in shown:
            shown[name] = hide(shown[name])
    for name in ("first_keeper", "second_keeper"):
        if name in shown:
            shown[name] = _keeper(shown[name])
    return shown


def _snapshot(snapshot: Json) -> Json:
    if not isinstance(snapshot, dict) or not isinstance(world := snapshot.get("world_state"), dict):
        return None
    return {**snapshot, "world_state": {**world, "actor_private_memory": {}}}


def _director(director: Json) -> Json:
    return {**director, "response_plan": ResponsePlan().as_json()} if isinstance(director, dict) else None


def _beats(beats: Json) -> Json:
    return [_beat(beat) for beat in beats if isinstance(beat, dict)] if isinstance(beats, list) else []


def _felt(beats: Json) -> Json:
    """Social beats without what is felt and not shown."""
    told = [beat for beat in beats if isinstance(beat, dict)] if isinstance(beats, list) else []
    return [{name: value for name, value in beat.items() if name != "inner"} for beat in told]


def _beat(beat: JsonObject) -> JsonObject:
    response = beat.get("response")
    if not isinstance(response, dict):
        return beat
    shown: JsonObject = {**response, "raw_output": ""}
    if isinstance(segments := response.get("segments"), list):
        shown["segments"] = [one for one in segments if isinstance(one, dict) and one.get("kind") != "thought"]
    return {**beat, "response": shown}


def _keeper(keeper: Json) -> Json:
    """In the swift pace the keeper's words are those of the whole turn."""
    if not isinstance(keeper, dict) or not isinstance(output := keeper.get("output"), dict):
        return keeper
    message: JsonObject = {"role": "assistant", "content": ""}
    return {**keeper, "output": {**output, "message": message, "structured_output": None}}
