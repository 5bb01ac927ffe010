"""Persist: the keeper looks at what was played, and everything becomes true in one transaction, or nothing does."""

from __future__ import annotations

from fabula.loops.scene.beats import Beat
from fabula.loops.scene.contexts import Scene
from fabula.loops.scene.desk import Desk
from fabula.loops.scene.keeping import Kept
from fabula.loops.scene.resolve import player_entry
from fabula.loops.scene.standings import Standing, entry_of
from fabula.ports.plays import Finished, MessageChange, MessageKind, SpokenMessage
from fabula.story.hashing import json_hash
from fabula.story.plays import PlayState
from fabula.story.values import JsonObject

_SPOKEN: dict[str, MessageKind] = {"narration": "narration", "dialogue": "dialogue", "action": "action"}


async def persist(
    desk: Desk,
    *,
    scene: Scene,
    first: JsonObject,
    director: JsonObject,
    beats: list[Beat],
    second: Kept,
) -> None:
    """Commits the turn and tells its result. One that has ended meanwhile, elsewhere, is not done again."""
    desk.stage.tell(
        "keeper_applied",
        phase="after_turn_outputs",
        update=second.update.as_json(),
        snapshot=second.play.snapshot.as_json(),
    )
    messages = spoken(desk, second.play, beats)
    play = second.play.model_copy(
        update={"message_count": second.play.message_count + len(messages), "ended": _ends_here(desk, second.play)}
    )
    if play.ended and not desk.before.ended:
        node = desk.bundle.nodes[play.world.current_node]
        desk.stage.tell("story_ended", node_id=node.id, title=node.title)
    state = play.as_json()
    result: JsonObject = {
        "turn_id": desk.turn.turn_id,
        "turn_index": play.snapshot.turn_index,
        "player_input": desk.turn.player_input,
        "first_keeper": first,
        "director": director,
        "completed_beats": [beat.view for beat in beats],
        "second_keeper": second.view(),
        "snapshot": state["snapshot"],
    }
    finished = Finished(
        turn_id=desk.turn.turn_id,
        state=state,
        state_hash=json_hash(state),
        result=result,
        messages=messages,
        ended=play.ended,
    )
    if await desk.store.write(lambda unit: unit.plays.commit(finished)):
        now = Standing(play=desk.before, past=desk.past, lines=desk.bundle.told_history)
        desk.standings.keep(desk.turn.turn_id, now.after(play, [entry_of(change.message) for change in messages]))
        desk.stage.complete(result)


def spoken(desk: Desk, play: PlayState, beats: list[Beat]) -> list[MessageChange]:
    """The lines that the turn adds to the transcript: the player's own, then what was told, said and done."""
    entries = [player_entry(desk), *(entry for beat in beats for entry in beat.entries if entry.kind in _SPOKEN)]
    now = desk.clock.now_ms()
    return [
        MessageChange(
            op="say",
            message=SpokenMessage(
                message_id=desk.ids.new("message"),
                turn_id=desk.turn.turn_id,
                turn_index=play.snapshot.turn_index,
                sequence=play.message_count + place,
                kind=_SPOKEN.get(entry.kind, "player_input"),
                speaker_id=entry.speaker_id,
                speaker_name=entry.speaker_name,
                text=entry.text,
                recorded_at_ms=now,
                created_at_ms=now,
                updated_at_ms=now,
            ),
        )
        for place, entry in enumerate(entries)
    ]


def _ends_here(desk: Desk, play: PlayState) -> bool:
    """A node without a way on is an ending."""
    return not desk.bundle.nodes[play.world.current_node].transitions
