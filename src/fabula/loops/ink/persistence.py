"""Keeping: what a turn of an Ink play leaves behind becomes true in one transaction, or nothing does."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import cast

from fabula.ink import Story
from fabula.ink.runtime.arithmetic import print_float
from fabula.knots.story_steps import Line
from fabula.loops.ink.ink_run import InkRun
from fabula.loops.ink.teller import Telling, choices_view, input_asked
from fabula.loops.ink.turn_record import Kept, Spoken
from fabula.loops.turns.follow import follow_up
from fabula.loops.turns.turn_state_cache import Standing, state_bytes
from fabula.ports.plays import Finished, MessageChange, SpokenMessage
from fabula.ports.world import Ids
from fabula.story.events import event_fields
from fabula.story.ink_stories import InkPlay
from fabula.story.plays import PlayState
from fabula.story.state import Snapshot
from fabula.story.state_hash import json_hash
from fabula.story.turn_results import InkTurnResult
from fabula.story.values import Json, JsonObject

OPENING_NODE = "start"


def moved_on(run: InkRun, telling: Telling, ink: InkPlay, spoken: list[Spoken], outcome: JsonObject | None) -> Kept:
    """Everything that the turn changes, before anything is written."""
    before = run.before
    player = Spoken(
        kind="player_input", speaker_id="player", speaker_name=before.player_name, text=run.turn.player_input
    )
    said = [*([player] if player.text.strip() else []), *spoken, *narrated(telling.lines)]
    play = stood(before, telling.story, ink, turn_index=before.snapshot.turn_index + 1, said=len(said))
    return Kept(play=play, spoken=said, ink={**ink_view(ink, telling.lines), "outcome": outcome})


def narrated(lines: Iterable[Line]) -> list[Spoken]:
    """The lines of a turn as one telling."""
    text = "\n\n".join(line.text for line in lines if line.text and not line.context)
    return [Spoken(kind="narration", text=text)] if text else []


def stood(before: PlayState, story: Story, ink: InkPlay, *, turn_index: int, said: int) -> PlayState:
    """The state in which a story now stands; its variables are shown where clients look for variables."""
    # Who talks to somebody is where they were: the knot of the talk itself is none of the author's.
    talks = ink.waiting.kind in ("agent", "continue")
    node = before.world.current_node if talks else story.current_knot or OPENING_NODE
    world = before.world.model_copy(update={"current_node": node, "custom": _variables(story)})
    snapshot: Snapshot = before.snapshot.model_copy(update={"world_state": world, "turn_index": turn_index})
    return before.model_copy(
        update={
            "snapshot": snapshot,
            "ink": ink,
            "message_count": before.message_count + said,
            "ended": ink.waiting.kind == "nothing",
        }
    )


def _variables(story: Story) -> JsonObject:
    return {name: _shown(value) for name, value in story.variables.items()}


def _shown(value: object) -> Json:
    """A variable as JSON can say it; what it cannot say is shown as Ink prints it."""
    if isinstance(value, float) and not math.isfinite(value):
        return print_float(value)
    return value if isinstance(value, bool | int | float | str) else str(value)


def ink_view(ink: InkPlay, lines: Iterable[Line] = ()) -> JsonObject:
    """Where an Ink play stands, as clients see it."""
    shown: list[Json] = [{"text": line.text, "tags": list[Json](line.tags)} for line in lines if not line.context]
    return {
        "lines": shown,
        "choices": cast(list[Json], [*choices_view(ink.waiting)]),
        "input": None if ink.waiting.kind == "nothing" else event_fields(input_asked(ink.waiting)),
        "ended": ink.waiting.kind == "nothing",
    }


def messages_of(
    spoken: Iterable[Spoken], *, ids: Ids, now: int, turn_id: str, turn_index: int, first: int
) -> list[MessageChange]:
    """What is said, as lines of the transcript."""
    return [
        MessageChange(
            op="say",
            message=SpokenMessage(
                message_id=ids.new("message"),
                turn_id=turn_id,
                turn_index=turn_index,
                sequence=first + place,
                kind=one.kind,
                speaker_id=one.speaker_id,
                speaker_name=one.speaker_name,
                text=one.text,
                recorded_at_ms=now,
                created_at_ms=now,
                updated_at_ms=now,
            ),
        )
        for place, one in enumerate(spoken)
    ]


async def persist(run: InkRun, kept: Kept) -> None:
    """Commits the turn and tells its result."""
    play = kept.play
    index = play.snapshot.turn_index
    state = play.as_json()
    result: InkTurnResult = {
        "turn_id": run.turn.turn_id,
        "turn_index": index,
        "player_input": run.turn.player_input,
        "completed_beats": [],
        "ink": kept.ink,
        "snapshot": state["snapshot"],
    }
    if run.stage.notes:
        result["notes"] = run.stage.notes
    finished = Finished(
        turn_id=run.turn.turn_id,
        state=state,
        state_hash=json_hash(state),
        result=cast(JsonObject, result),
        messages=messages_of(
            kept.spoken,
            ids=run.ids,
            now=run.clock.now_ms(),
            turn_id=run.turn.turn_id,
            turn_index=index,
            first=run.before.message_count,
        ),
        ended=play.ended,
        follow=follow_up(run.ids, run.turn, run.before, play),
    )
    with run.stage.recorder.step("commit"):
        is_committed = await run.store.commit_turn(finished, work=run.held)
    if is_committed:
        run.turn_states.keep(run.turn, Standing(play=play, play_bytes=state_bytes(play, state), past=(), lines=0))
        run.stage.complete(cast(JsonObject, result), follow=finished.follow)
