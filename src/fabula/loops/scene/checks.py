"""The check of a turn: where the play has a game system, a risky deed is rolled for before anybody tells of it.

It follows from the state before the turn, the player's line and the play's seed. A turn that is resumed, told again or
played on the other engine therefore finds the same check with the same dice. Whether there is a check at all the rules
decide; what it is held against a model may propose, from closed lists, and only code rolls.
"""

from __future__ import annotations

from fabula.agents.check_proposals import MOST_TOKENS, read_check_proposal, write_check_prompt
from fabula.loops.scene.audience import heard_at_first
from fabula.loops.scene.beats import Beat, said_in
from fabula.loops.scene.questions import call_seed
from fabula.loops.scene.scene_run import LineCheck, SceneRun
from fabula.ports.models import CallOrigin, ModelError, ModelRequest, whole
from fabula.rules.agreement import correction, roll_sentence
from fabula.rules.check_needs import needed_check
from fabula.rules.draws import play_draws
from fabula.rules.proposals import is_open, offered_difficulties, offered_stats, proposal_problems, proposed_check
from fabula.rules.resolution import resolve
from fabula.story.changes import apply_all, remember
from fabula.story.checks import PLAYER, Check, Resolution
from fabula.story.events import CheckAsked, CheckResolved
from fabula.story.game_systems import GameSystem
from fabula.story.graph import Comparison, Node
from fabula.story.plays import PlayState
from fabula.story.readings import Stay, TakeWay, Understood
from fabula.story.state import MemoryEntry
from fabula.story.templates import NAMELESS_PLAYER
from fabula.story.values import Json


def check_line(run: SceneRun, read: Understood, check: Check | None) -> tuple[Understood, LineCheck | None]:
    """Rolls for a line that needs it. A deed that fails takes no way on, whatever its words would have opened."""
    system = run.setup.system
    if system is None or check is None:
        return read, None
    draws = play_draws(run.turn.tree_id, run.before.dice_seed, run.before.dice_cursor)
    names = _names(run)
    resolved = resolve(system, check, _sheets(run), draws, names)
    if not resolved.resolution.succeeded and isinstance(read.decision, TakeWay):
        read = read.model_copy(update={"decision": Stay()})
    sentence = roll_sentence(resolved.resolution, stat=_stat_name(system, resolved.resolution), names=names)
    return read, LineCheck(resolved=resolved, cursor=draws.cursor, sentence=sentence)


def check_by_rule(run: SceneRun, read: Understood) -> Check | None:
    """The check that a line needs by the rules alone."""
    if run.setup.system is None:
        return None
    return needed_check(
        run.setup.system,
        read,
        check_id=f"check.{run.turn.turn_id}",
        sheets=_sheets(run),
        present=run.before.world.active_characters,
        difficulty=_node(run).difficulty,
        secret_of=_secret_of(run, read),
    )


def _secret_of(run: SceneRun, read: Understood) -> str | None:
    """Who of a free play would tell by this line what they keep to themselves."""
    if run.setup.free is None or not isinstance(read.decision, TakeWay):
        return None
    waits_for = _node(run).transitions[read.decision.way].condition
    kept = run.setup.free.discoveries if isinstance(waits_for, Comparison) else []
    return next((one.knower for one in kept if isinstance(waits_for, Comparison) and one.key == waits_for.key), None)


async def check_with_model(run: SceneRun, check: Check) -> Check:
    """The check with what a model proposes of stat, difficulty and circumstances; what is not on offer changes nothing.

    The swift pace asks nobody before it tells, and neither does a play whose model is the understudy or cannot answer
    in a shape. A turn that is resumed or told again asks the same, and is answered from the memo.
    """
    system, api = run.setup.system, run.setup.api("keeper")
    if system is None or run.setup.swift or api.provider == "understudy" or run.setup.is_weak("keeper"):
        return check
    if not is_open(system, check):
        return check
    node = _node(run)
    offered = offered_difficulties(system, check, of_scene=node.difficulty)
    session = run.setup.session
    request = ModelRequest(
        origin=CallOrigin(
            agent="resolver", session_id=session.session_id, story_id=session.story_id, turn_id=run.turn.turn_id
        ),
        messages=write_check_prompt(offered_stats(system), offered, scene=node.scene, deed=run.turn.player_input),
        # Not the turn's own seed: told again, a turn has another one, and its dice must stay the same.
        seed=call_seed(run.before.dice_cursor, f"{run.turn.tree_id}:resolver"),
        temperature=0.0,
        max_tokens=MOST_TOKENS,
        streaming=False,
        deadline=run.deadline,
    )
    run.stage.recorder.ask()
    try:
        client = await run.models.client_for(api, api_revision=run.setup.revision_of_api("keeper"))
        with run.stage.recorder.waiting():
            proposal = read_check_proposal((await whole(client, request)).text)
    except ModelError:
        # The rules can do without: whoever is asked next says what is wrong with the model.
        return check
    if proposal is None or proposal_problems(system, check, proposal, of_scene=node.difficulty):
        return check
    return proposed_check(system, check, proposal)


def _sheets(run: SceneRun) -> dict[str, dict[str, Json]]:
    world = run.before.world
    return {PLAYER: world.player_state, **world.character_state}


def _node(run: SceneRun) -> Node:
    return run.setup.nodes[run.before.world.current_node]


def apply_check(run: SceneRun, play: PlayState) -> PlayState:
    """The state after the check of this turn; everyone in the scene noticed what came of it."""
    checked = run.handover.check
    if checked is None:
        return play
    resolution = checked.resolved.resolution
    check = resolution.check
    run.stage.tell(
        CheckAsked(
            check_id=check.check_id,
            actor=check.actor,
            stat=check.skill or check.stat or "",
            target=resolution.target,
            modifiers=tuple(check.modifiers),
        )
    )
    run.stage.tell(CheckResolved(check_id=check.check_id, resolution=resolution, sentence=checked.sentence))
    applied = apply_all(checked.resolved.ops, play.world, run.setup.bounds(play))
    world = remember(applied.state, [check_entry(run, checked)], limit=run.setup.shared_window)
    return play.with_world(world).model_copy(update={"dice_cursor": checked.cursor})


def check_entry(run: SceneRun, checked: LineCheck) -> MemoryEntry:
    """The roll as a line of the transcript."""
    entry = MemoryEntry(speaker_id=PLAYER, speaker_name=run.before.player_name, kind="action", text=checked.sentence)
    return heard_at_first(run, entry)


def correction_of(checked: LineCheck | None, beats: list[Beat]) -> str | None:
    """What is told in addition where a telling contradicts the dice."""
    told = " ".join(entry.text for entry in said_in(beats) if entry.kind == "narration")
    return None if checked is None else correction(checked.resolved.resolution, told)


def _names(run: SceneRun) -> dict[str, str]:
    guests = {id: guest.display_name for id, guest in run.before.session_characters.items()}
    cast = {id: one.name for id, one in run.setup.characters.items()}
    player = run.before.player_name
    return {PLAYER: "You" if player == NAMELESS_PLAYER else player, **guests, **cast}


def _stat_name(system: GameSystem, resolution: Resolution) -> str:
    check = resolution.check
    if check.skill is not None:
        return system.skills[check.skill].display_name
    return system.attributes[check.stat].display_name if check.stat is not None else system.display_name
