"""Who moves the story: the rules where the player's line is plain, a model behind the gate where it is not.

1. What the rules read as a way taken is brought about, also when the model forgot it.
2. What the model proposes passes the gate (`story/gate`), or is refused and told.
3. A model that cannot write JSON is asked one closed question instead, and only where the rules are not sure.
"""

from __future__ import annotations

from fabula.agents.closed_question import MOST_TOKENS, closed_question, read_letter
from fabula.loops.scene.questions import call_seed
from fabula.loops.scene.scene_run import SceneRun
from fabula.ports.models import CallOrigin, ModelError, ModelRequest, whole
from fabula.story.changes import place_of
from fabula.story.contexts import StateView
from fabula.story.events import StateOpRefused
from fabula.story.gate import Heard, decided, gate
from fabula.story.plays import PlayState
from fabula.story.readings import AskBack, Understood
from fabula.story.state import SetCharacterState, SetPlayerState, SetState, StateOp, StateUpdate
from fabula.understudy.keeper import progress

CLOSED_CALL = "closed"


def ops_by_rule(run: SceneRun, play: PlayState, read: Understood | None) -> list[StateOp]:
    """What the player's line has brought about, as the rules read it."""
    if read is None:
        return []
    world, node = play.world, run.setup.nodes[play.world.current_node]
    state = StateView(custom=world.custom, player_state=world.player_state, character_state=world.character_state)
    ops = progress(node, read, state, run.setup.world_schema.fields, world.active_characters)
    return StateUpdate.model_validate({"ops": ops}).ops


def judged(
    run: SceneRun,
    play: PlayState,
    update: StateUpdate,
    read: Understood | None,
    heard: Heard,
    *,
    by_rule: list[StateOp],
) -> list[StateOp]:
    """The operations of an update that may be applied, and those of the rules; the others are told with reasons."""
    passed = gate(
        update,
        heard=heard,
        read=read,
        node=run.setup.nodes[play.world.current_node],
        world=play.world,
        bounds=run.setup.bounds(play),
        moving=run.setup.moving_places,
        by_rule=by_rule,
    )
    for refused in passed.refused:
        run.stage.tell(StateOpRefused(op=refused.op, reason=refused.reason))
        run.stage.recorder.refuse(refused.op, refused.reason)
    return [*passed.ops, *_forgotten(by_rule, passed.ops)]


def _forgotten(by_rule: list[StateOp], passed: tuple[StateOp, ...]) -> list[StateOp]:
    """What the rules bring about and the model did not; a count that it moved is not moved twice."""
    touched = {place_of(op) for op in passed}
    return [op for op in by_rule if op not in passed and not (place_of(op) in touched and _is_count(op))]


def _is_count(op: StateOp) -> bool:
    if not isinstance(op, SetState | SetPlayerState | SetCharacterState):
        return False
    return isinstance(op.value, int | float) and not isinstance(op.value, bool)


async def settle(run: SceneRun, play: PlayState, read: Understood) -> Understood:
    """The reading after the model was asked which way is meant; without a letter for an answer it stays as it is."""
    node = run.setup.nodes[play.world.current_node]
    if not node.transitions:
        return read
    api = run.setup.api("keeper")
    client = await run.models.client_for(api, api_revision=run.setup.revision_of_api("keeper"))
    session = run.setup.session
    titles = {id: one.title for id, one in run.setup.nodes.items()}
    request = ModelRequest(
        origin=CallOrigin(
            agent="keeper", session_id=session.session_id, story_id=session.story_id, turn_id=run.turn.turn_id
        ),
        messages=closed_question(node, titles, run.turn.player_input),
        seed=call_seed(run.turn.seed, CLOSED_CALL),
        temperature=0.0,
        max_tokens=MOST_TOKENS,
        streaming=False,
        deadline=run.deadline,
        first_asked=run.first_played,
    )
    run.stage.recorder.ask()
    try:
        with run.stage.recorder.waiting():
            reply = await whole(client, request)
    except ModelError:
        # The turn can do without: whoever is asked next says what is wrong with the model.
        return read
    way = read_letter(reply.text, len(node.transitions))
    if isinstance(read.decision, AskBack) and way not in read.decision.ways:
        way = None
    return decided(read, way)
