"""What a turn proposes as canon of its play, where the story belongs to a world. Whether it becomes canon is judged
after the turn, by the canon keeper."""

from __future__ import annotations

from collections.abc import Iterable

from fabula.canon.sentences import sentence_of
from fabula.canon.staging import AGENDAS, WORLD, mark_canon, proposals_of, staged_change
from fabula.loops.scene.off_screen import off_screen_proposals
from fabula.loops.scene.player_line import check_of
from fabula.loops.scene.scene_run import SceneRun
from fabula.story.canon import Change
from fabula.story.checks import PLAYER
from fabula.story.events import ChangeStaged
from fabula.story.plays import PlayState
from fabula.story.state import (
    MemoryEntry,
    RemoveCharacterState,
    RemovePlayerState,
    SetCharacterState,
    SetPlayerState,
    SetState,
    StateOp,
)

RULES, KEEPER = "rules", "keeper"


def stage_canon(run: SceneRun, play: PlayState, said: list[MemoryEntry]) -> tuple[PlayState, list[Change]]:
    """The state with its mark, and the changes that the turn proposes; a play without a world has neither."""
    world_id = run.setup.world_id
    if world_id is None:
        return play, []
    check = check_of(run)
    from_model = frozenset(
        place
        for one in run.stage.recorder.operations
        if one.by == KEEPER and one.refused is None and (place := _place(one.op)) is not None
    )
    proposed = proposals_of(
        run.before,
        play,
        spoken=run.setup.spoken,
        story_id=run.setup.session.story_id,
        turn_id=run.turn.turn_id,
        resolutions=[] if check is None else [check.resolved.resolution],
        told=[entry.text for entry in said if entry.kind in ("narration", "action", "dialogue")],
        from_model=from_model,
    )
    sources = [(RULES, proposed), (AGENDAS, off_screen_proposals(run, play))]
    changes = [
        staged_change(
            one,
            change_id=run.ids.new("change"),
            world_id=world_id,
            session_id=run.turn.session_id,
            turn_id=run.turn.turn_id,
            proposer=proposer,
        )
        for proposer, some in sources
        for one in some
    ]
    for change in seen_changes(changes):
        run.stage.tell(ChangeStaged(change_id=change.change_id, sentence=said_of(run, change)))
    return mark_canon(run.before, play, run.turn.turn_id, [one.content for one in changes]), changes


def seen_changes(changes: Iterable[Change]) -> list[Change]:
    """Those that happened before the player's eyes; what comes to pass off-screen is told when it is noticed."""
    return [change for change in changes if change.proposer != AGENDAS]


def said_of(run: SceneRun, change: Change) -> str:
    """A change in words, with the names of the play."""
    guests = {id: guest.display_name for id, guest in run.before.session_characters.items()}
    cast = {id: one.name for id, one in run.setup.characters.items()}
    places = {id: node.title for id, node in run.setup.nodes.items()}
    known = {**places, **run.setup.entity_names, PLAYER: run.before.player_name, **guests, **cast}
    return sentence_of(change.content, known)


def _place(op: StateOp) -> tuple[str, str] | None:
    """Whose variable an operation changes, and which."""
    match op:
        case SetState():
            return WORLD, op.key
        case SetPlayerState() | RemovePlayerState():
            return PLAYER, op.key
        case SetCharacterState() | RemoveCharacterState():
            return op.character, op.key
        case _:
            return None
