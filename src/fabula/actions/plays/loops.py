"""The loops: their pictures, and where the one stands that a play is in."""

from __future__ import annotations

from typing import Literal

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.left_talks import talk_being_left
from fabula.actions.plays.play_states import known_state, play_of
from fabula.actions.views import Command, Nothing, View
from fabula.loops.drawings import LOOPS, drawing, nodes_of
from fabula.ports.actors import Actor
from fabula.ports.errors import NotFound
from fabula.ports.plays import Play, TurnStatus
from fabula.ports.store import Unit
from fabula.ports.threads import run_in_thread
from fabula.ports.work import Work
from fabula.story.plays import PlayState
from fabula.story.values import Value


class LoopLine(Value):
    """A loop. `nodes` are the steps at which it can be resumed, `drawing` is Mermaid."""

    name: str
    sentence: str
    nodes: list[str]
    drawing: str


class LoopsListed(View):
    may_be_large = True
    type: Literal["loops_listed"] = "loops_listed"
    loops: list[LoopLine]


class AskLoop(Command):
    """`turn_id` names a turn of the session; without it the one is meant that is being played."""

    turn_id: str | None = None


class LoopPlace(Value):
    """A loop that runs, sleeps until the scene ends, or did run.

    `node` is the step it goes on at if it is resumed now, as its last checkpoint says; none where it is over. `attempt`
    counts the processes that held it.
    """

    loop: str
    thread_id: str
    status: TurnStatus | Literal["sleeping"]
    node: str | None
    attempt: int


class LoopState(View):
    """Where the loops of a play stand; none where nothing is being played."""

    type: Literal["loop_state"] = "loop_state"
    loops: list[LoopPlace]


@allowed("player")
async def list_loops(house: House, actor: Actor, command: Nothing) -> LoopsListed:
    """Lists the loops with their pictures, as Mermaid."""
    return LoopsListed(loops=await run_in_thread(loop_lines))


def loop_lines() -> list[LoopLine]:
    """All loops. The first time takes a second, in which LangGraph is loaded."""
    return [
        LoopLine(name=name, sentence=loop.sentence, nodes=nodes_of(loop), drawing=drawing(name))
        for name, loop in LOOPS.items()
    ]


@allowed("player")
async def get_loop_state(house: House, actor: Actor, session_id: str, command: AskLoop) -> LoopState:
    """Tells at which step a turn of a play stands."""
    async with house.store.reading() as unit:
        play = await play_of(unit, actor, session_id)
        turn_id = command.turn_id or play.active_turn_id
        story = await _between_turns(house, unit, play) if command.turn_id is None else []
        if turn_id is None:
            return LoopState(loops=story)
        turn = await unit.plays.turn(turn_id)
        if turn is None or turn.session_id != session_id or turn.parent_id is None:
            raise NotFound(f"There is no turn '{turn_id}' in this session that a loop plays.")
        work = await unit.work.get(turn_id)
        before = await known_state(house, unit, turn.parent_id)
    loop = kind_of_play(before).loop(before)
    place = LoopPlace(
        loop=loop,
        thread_id=turn_id,
        status=turn.status,
        node=await _next_node(house, loop, turn_id) if turn.status == "running" else None,
        attempt=0 if work is None else work.attempt,
    )
    return LoopState(loops=[place, *story])


async def _between_turns(house: House, unit: Unit, play: Play) -> list[LoopPlace]:
    """Where the loops stand that no turn plays: the one that leads a free play on, and a talk that is being left."""
    state = await known_state(house, unit, play.head_turn_id)
    left = await talk_being_left(unit, play, state)
    talk = [] if left is None else [await _left_talk(house, left)]
    return [*talk, *await _story_loop(house, play, state)]


async def _left_talk(house: House, work: Work) -> LoopPlace:
    node = await _next_node(house, "conversation", work.work_id)
    return LoopPlace(loop="conversation", thread_id=work.work_id, status="running", node=node, attempt=work.attempt)


async def _story_loop(house: House, play: Play, state: PlayState) -> list[LoopPlace]:
    """Where the loop stands that leads a free play from scene to scene, until the story is over."""
    if state.free is None or state.ended:
        return []
    node = await _next_node(house, "story", play.session_id)
    status: Literal["sleeping", "running"] = "sleeping" if state.free.phase == "open" else "running"
    return [LoopPlace(loop="story", thread_id=play.session_id, status=status, node=node, attempt=0)]


async def _next_node(house: House, loop: str, thread_id: str) -> str:
    """The step that a loop takes next: its first, if it has no checkpoint yet."""
    saver = await house.checkpoints.saver()
    graph = await run_in_thread(LOOPS[loop].graph, saver)
    found = await graph.aget_state({"configurable": {"thread_id": thread_id}})
    return next(iter(found.next), nodes_of(LOOPS[loop])[0])
