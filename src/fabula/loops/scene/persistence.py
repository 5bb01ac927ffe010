"""Persist: the keeper looks at what was played, and everything becomes true in one transaction, or nothing does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from fabula.loops.scene.audience import settle_audience
from fabula.loops.scene.canon import said_of, seen_changes, stage_canon
from fabula.loops.scene.checks import check_entry
from fabula.loops.scene.inner_turns import flashback_of, keep_inner_life
from fabula.loops.scene.keeper import Kept
from fabula.loops.scene.off_screen import keep_conflicts, keep_template, keep_threads
from fabula.loops.scene.people import adapt_people
from fabula.loops.scene.player_line import check_of
from fabula.loops.scene.resolution import player_entry
from fabula.loops.scene.scene_ends import close_free_scene, scene_end
from fabula.loops.scene.scene_run import SceneRun
from fabula.loops.turns.follow import follow_up
from fabula.loops.turns.turn_state_cache import Standing, entry_of, state_bytes
from fabula.ports.plays import Finished, MessageChange, MessageKind, SpokenMessage
from fabula.story.events import KeeperApplied, SceneCompleted, SocialBeat, StoryEnded, event_fields
from fabula.story.plays import PlayState
from fabula.story.state import MemoryEntry
from fabula.story.state_hash import stored_state_hash
from fabula.story.turn_results import SceneTurnResult
from fabula.story.values import JsonObject
from fabula.story.world_records import mark_world

_SPOKEN: dict[str, MessageKind] = {"narration": "narration", "dialogue": "dialogue", "action": "action"}


async def persist(
    run: SceneRun,
    *,
    first: JsonObject,
    director: JsonObject,
    beats: list[JsonObject],
    said: list[MemoryEntry],
    second: Kept,
    cut: bool = False,
    social: Sequence[SocialBeat] = (),
    closing: Callable[[PlayState], PlayState] = lambda play: play,
) -> None:
    """Commits the turn and tells its result. One that has ended meanwhile, elsewhere, is not done again.

    `cut` says that it ended early. In a conversation `social` are its social beats, and `closing` does what is left to
    do to the state.
    """
    run.stage.tell(KeeperApplied(phase="after_turn_outputs", update=second.update, snapshot=second.play.snapshot))
    kept, lines = settle_audience(second.play, [*_first_lines(run), *said])
    messages = spoken(run, kept, lines)
    play = kept.model_copy(update={"message_count": kept.message_count + len(messages), "ended": _ends_here(run, kept)})
    play = adapt_people(run, keep_inner_life(run, play), lines)
    play = close_free_scene(run, closing(play))
    play = mark_world(run.before, play, run.turn.turn_id, run.setup.world)
    play = keep_conflicts(run, play)
    play, staged = stage_canon(run, play, said)
    play = keep_threads(run, play, [(change, said_of(run, change)) for change in staged])
    play = keep_template(run, play, lines)
    scene = scene_end(run, play, lines)
    if scene is not None:
        run.stage.tell(
            SceneCompleted(scene_id=scene.scene_id, title=scene.title, outcome=scene.outcome, summary=scene.summary)
        )
    if play.ended and not run.before.ended:
        node = run.setup.nodes[play.world.current_node]
        run.stage.tell(StoryEnded(node_id=node.id, title=node.title))
    state = play.as_json()
    result: SceneTurnResult = {
        "turn_id": run.turn.turn_id,
        "turn_index": play.snapshot.turn_index,
        "player_input": run.turn.player_input,
        "first_keeper": first,
        "director": director,
        "completed_beats": [*beats],
        "second_keeper": second.view(),
        "snapshot": state["snapshot"],
    }
    if run.stage.notes:
        result["notes"] = run.stage.notes
    if cut:
        result["cut"] = True
    check = check_of(run)
    if check is not None:
        result["resolutions"] = [check.resolved.resolution.as_json()]
    seen = seen_changes(staged)
    if seen:
        result["staged"] = [{"change_id": one.change_id, "sentence": said_of(run, one)} for one in seen]
    came = flashback_of(run)
    if came is not None:
        result["flashback"] = event_fields(came)
    if social:
        result["social_beats"] = [event_fields(beat) for beat in social]
    finished = Finished(
        turn_id=run.turn.turn_id,
        state=state,
        state_hash=stored_state_hash(state),
        result=cast(JsonObject, result),
        messages=messages,
        ended=play.ended,
        cut=cut,
        follow=follow_up(run.ids, run.turn, run.before, play, wants_lore=run.setup.wants_lore),
        staged=staged,
        scene=scene,
    )
    with run.stage.recorder.step("commit"):
        is_committed = await run.store.commit_turn(finished, work=run.held)
    if is_committed:
        now = Standing(
            play=play,
            play_bytes=state_bytes(play, state),
            past=run.past,
            lines=run.setup.past_lines,
            so_far=run.so_far,
        )
        run.turn_states.keep(run.turn, now.with_lines([entry_of(change.message) for change in messages]))
        run.stage.complete(cast(JsonObject, result), follow=finished.follow)


def _first_lines(run: SceneRun) -> list[MemoryEntry]:
    """The player's own words, and what came of the check that they needed."""
    check = check_of(run)
    return [player_entry(run), *([] if check is None else [check_entry(run, check)])]


def spoken(run: SceneRun, play: PlayState, said: list[MemoryEntry]) -> list[MessageChange]:
    """The lines that the turn adds to the transcript: all but thoughts."""
    entries = [entry for entry in said if entry.kind != "thought"]
    now = run.clock.now_ms()
    return [
        MessageChange(
            op="say",
            message=SpokenMessage(
                message_id=run.ids.new("message"),
                turn_id=run.turn.turn_id,
                turn_index=play.snapshot.turn_index,
                sequence=play.message_count + place,
                kind=_SPOKEN.get(entry.kind, "player_input"),
                speaker_id=entry.speaker_id,
                speaker_name=entry.speaker_name,
                text=entry.text,
                heard_by=None if entry.heard_by is None else tuple(entry.heard_by),
                recorded_at_ms=now,
                created_at_ms=now,
                updated_at_ms=now,
            ),
        )
        for place, entry in enumerate(entries)
    ]


def _ends_here(run: SceneRun, play: PlayState) -> bool:
    """A node without a way on is an ending; talking ends nothing, and a free play ends by the story loop."""
    if play.conversation is not None or play.free is not None:
        return run.before.ended
    return not run.setup.nodes[play.world.current_node].transitions
