"""The keeper: proposes operations on the state; the schemas decide which of them are applied."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from fabula.agents.replies.keeper import read_state_update
from fabula.loops.guardrails import note_objections
from fabula.loops.scene.contexts import Scene
from fabula.loops.scene.judgement import judged, ops_by_rule, settle
from fabula.loops.scene.player_line import check_of
from fabula.loops.scene.questions import Question, attempt, propose, shown_output
from fabula.loops.scene.scene_run import SceneRun, during
from fabula.ports.threads import run_on_texts
from fabula.rules.guardrails import Objection
from fabula.story.changes import apply_all, progression_ops
from fabula.story.contexts import KeeperContext, KeeperPhase
from fabula.story.events import AgentDegraded, StateOpRefused
from fabula.story.gate import Heard, ProposedUpdate, is_unsure
from fabula.story.graph import Transition
from fabula.story.plays import PlayState
from fabula.story.readings import Understood
from fabula.story.resources import AgentRole
from fabula.story.state import MemoryEntry, SetState, StateOp, StateUpdate
from fabula.story.values import JsonObject, texts_in

T = TypeVar("T")

# Clients read the output's fields unasked, so a keeper who was not asked, or was of no use, has an empty one.
NOTHING_SAID: JsonObject = {
    "message": {"role": "assistant", "content": ""},
    "model": "",
    "finish_reason": "stop",
    "usage": {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0},
    "structured_output": None,
}


@dataclass(frozen=True, kw_only=True)
class Kept:
    """The state after the keeper's operations, those that were applied, and the keeper's own words."""

    play: PlayState
    update: StateUpdate
    output: JsonObject | None

    def view(self) -> JsonObject:
        return {"update": self.update.as_json(), "output": self.output or NOTHING_SAID}


def keeper_call(phase: KeeperPhase) -> str:
    """The name of the keeper's call."""
    return f"keeper:{phase}"


def after_beats(run: SceneRun, play: PlayState, scene: Scene, said: list[MemoryEntry]) -> KeeperContext:
    """What the keeper is told of what was played; nobody heard the thoughts."""
    heard = [entry for entry in said if entry.kind != "thought"]
    return run.teller(play, scene.after(said)).keeper("after_turn_outputs", heard)


def keeper_question(context: KeeperContext) -> Question:
    """The keeper's first question in a phase, for the step before to send."""
    return Question(call=attempt(keeper_call(context.phase), 0), context=context)


async def ask_keeper(
    run: SceneRun,
    play: PlayState,
    phase: KeeperPhase,
    context: Callable[[], KeeperContext],
    *,
    read: Understood | None,
    heard: Heard,
    way: Transition | None = None,
) -> Kept:
    """Asks the keeper what changed, and applies what may be applied.

    One whose model cannot write JSON is asked the closed question instead, where the rules are not sure.
    """
    update, output = ProposedUpdate(), None
    with during(f"keeper_{phase}"):
        if not run.setup.is_weak("keeper"):
            proposal = await propose(run, keeper_call(phase), context, read=read_state_update, fallback=ProposedUpdate)
            note_shape(run, "keeper", proposal.reply is not None)
            update, output = proposal.value, await shown_output(run, "keeper", proposal.reply)
        if output is None and phase == "after_player_input" and read is not None and is_unsure(read):
            read = run.handover.understood = await settle(run, play, read)
    first = phase == "after_player_input"
    return await applied(run, play, update, output=output, read=read, heard=heard, first=first, way=way)


def note_shape(run: SceneRun, role: AgentRole, could: bool) -> None:
    """Remembers whether a role's model could answer in the asked shape."""
    known = run.setup.shapeless
    known[role] = 0 if could else known.get(role, 0) + 1


def heard_in(run: SceneRun, said: list[MemoryEntry]) -> Heard:
    """The words of the turn that an operation may be founded on; nobody heard the thoughts."""
    return Heard(line=run.turn.player_input, beats=[entry.text for entry in said if entry.kind != "thought"])


async def applied(
    run: SceneRun,
    play: PlayState,
    update: StateUpdate,
    *,
    output: JsonObject | None,
    read: Understood | None,
    heard: Heard,
    first: bool = False,
    way: Transition | None = None,
) -> Kept:
    """Applies what of an update passes the gate; what it or the schemas refuse is told, and does not fail the turn.

    What the line itself brings about by rule is applied with the `first` update of a turn.
    """
    update = await _kept_to_limits(run, update)
    by_rule = ops_by_rule(run, play, read) if first else []
    by_story = [] if way is None else progression_ops(way, update)
    wanted = [*judged(run, play, update, read, heard, by_rule=by_rule), *by_story]
    ops = [op for op in wanted if not _is_lost(run, op)]
    done = apply_all(ops, play.world, run.setup.bounds(play))
    for op in wanted:
        if op not in ops:
            run.stage.tell(StateOpRefused(op=op, reason=DICE_AGAINST))
            run.stage.recorder.refuse(op, DICE_AGAINST)
    for refused in done.refused:
        run.stage.tell(StateOpRefused(op=refused.op, reason=refused.reason))
        run.stage.recorder.refuse(refused.op, refused.reason)
    run.stage.recorder.accept(done.ops, by_rule=by_rule, by_story=by_story)
    return Kept(play=play.with_world(done.state), update=StateUpdate(ops=list(done.ops)), output=output)


CROSSES = "It would cross a line of this table."
DICE_AGAINST = "The dice were against it: what somebody keeps to themselves was not told."


async def _kept_to_limits(run: SceneRun, update: StateUpdate) -> StateUpdate:
    """The proposed operations that say nothing which may not be told at this table: players see what variables say."""
    rails = run.setup.guardrails(run.before, "keeper")
    if rails.is_empty:
        return update
    crossed = [await run_on_texts(rails.objection_to, *texts_in(op.as_json())) for op in update.ops]
    if not any(crossed):
        return update
    # Whoever drew the line is not told what crosses it: only that something was refused.
    note_objections(run.stage.recorder, "keeper", [one for one in crossed if one is not None])
    run.stage.tell(AgentDegraded(agent="keeper", reason=CROSSES))
    kept: dict[str, object] = {"ops": _left(update.ops, crossed)}
    if isinstance(update, ProposedUpdate):
        kept["because"] = _left(update.because, crossed)
    return update.model_copy(update=kept)


def _left(values: Sequence[T], crossed: Sequence[Objection | None]) -> list[T]:
    """The values of those operations to which nothing was objected; reasons stand beside them, or are missing."""
    return [one for one, found in zip(values, crossed, strict=False) if found is None]


def _is_lost(run: SceneRun, op: StateOp) -> bool:
    """Whether an operation would have somebody of a free play tell what the dice of this turn say they did not."""
    if run.setup.free is None or not isinstance(op, SetState):
        return False
    check = check_of(run)
    failed = check is not None and not check.resolved.resolution.succeeded
    return failed and any(one.key == op.key for one in run.setup.free.discoveries)
