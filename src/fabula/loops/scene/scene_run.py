"""The run of one turn: what its steps work with. It is passed to the loop and never stored."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from fabula.loops.scene.contexts import Scene, SceneTeller
from fabula.loops.scene.play_setup import PlaySetup
from fabula.loops.turns.cut import Cut
from fabula.loops.turns.stage import Stage
from fabula.loops.turns.turn_recorder import TurnRecorder
from fabula.loops.turns.turn_state_cache import PastSummary, TurnStateCache
from fabula.ports.errors import BackendError, FabulaError
from fabula.ports.models import GuardedModel, ModelClients, ModelReply, ModelRequest, Piece
from fabula.ports.plays import Turn
from fabula.ports.store import Store
from fabula.ports.traces import trace_task
from fabula.ports.work import Work
from fabula.ports.world import Clock, Ids
from fabula.recall.inner_life import InnerTurn
from fabula.rules.resolution import Resolved
from fabula.story.contexts import CanonNote, RecalledLine
from fabula.story.intent_verdicts import IntentVerdict
from fabula.story.plays import PlayState
from fabula.story.readings import Understood
from fabula.story.scene_lore import PlaceLore
from fabula.story.state import MemoryEntry

PIECES_AT_ONCE = 16
"""So many pieces that came before are told in one turn of the event loop."""


class PendingAnswer:
    """The answer to a question that was sent. It comes in the background until its one reader takes it from there."""

    def __init__(
        self, call: str, client: GuardedModel, request: ModelRequest, cut: Cut, recorder: TurnRecorder
    ) -> None:
        self.call = call
        self._cut, self._recorder = cut, recorder
        self._came: list[str] = []
        self._tell: Callable[[str], None] = self._came.append
        name = trace_task(request.origin.turn_id or call)
        self._task = asyncio.create_task(client.stream_to(request, self._take), name=name)

    async def read(self, tell: Callable[[str], None] | None = None) -> ModelReply:
        """The reply. `tell` hears every piece of it, those that came already at once.

        In a turn that is cut short, `CutShort` is raised instead, and nothing more is heard.
        """
        tell = tell or _ignore
        # More may come meanwhile; it is told from the same list, in its order.
        for number, text in enumerate(self._came, 1):
            if self._cut.asked:
                break
            tell(text)
            if number % PIECES_AT_ONCE == 0:
                await asyncio.sleep(0)
        self._tell = tell
        try:
            with self._recorder.waiting():
                return await self._cut.read(self._task)
        finally:
            # Who was told knows the turn, and the turn this answer: all of it would wait for the garbage collector.
            self._tell = _ignore

    async def close(self) -> None:
        """Lets go of an answer that was not read to its end."""
        if not self._task.done():
            self._task.cancel()
        await asyncio.wait([self._task])
        if not self._task.cancelled():
            self._task.exception()

    def _take(self, piece: Piece) -> None:
        self._tell(piece.text)


def _ignore(text: str) -> None:
    """For readers of whole replies."""


@dataclass(frozen=True, kw_only=True)
class LineCheck:
    """What came of the check that a line needed, and where the play's dice stand after it."""

    resolved: Resolved
    cursor: int
    sentence: str


@dataclass(kw_only=True)
class Handover:
    """What a step hands to the next one as it is: where the play stands, what was said, and the question it sent;
    and the player's line, as it was noticed and as it was understood, with what came of the check that it needed.

    The graph has all but the question, too, as JSON; a turn that is resumed finds only that.
    """

    play: PlayState | None = None
    scene: Scene | None = None
    said: list[MemoryEntry] | None = None
    asked: PendingAnswer | None = None
    entry: MemoryEntry | None = None
    understood: Understood | None = None
    check: LineCheck | None = None
    verdicts: list[IntentVerdict] = field(default_factory=list)

    def put(
        self,
        play: PlayState,
        scene: Scene | None = None,
        said: list[MemoryEntry] | None = None,
        *,
        asked: PendingAnswer | None,
    ) -> None:
        self.play, self.scene, self.said, self.asked = play, scene, said, asked

    def standing(self) -> tuple[PlayState, Scene]:
        """Where the play stands, for who has just had it put here."""
        assert self.play is not None and self.scene is not None
        return self.play, self.scene

    def answer_to(self, call: str) -> PendingAnswer | None:
        """The answer that the step before asked for, if it was to this call."""
        return self.asked if self.asked is not None and self.asked.call == call else None

    async def close(self) -> None:
        if self.asked is not None:
            await self.asked.close()


@dataclass(frozen=True, kw_only=True)
class SceneRun:
    """`before` is the state that the turn starts from, `past` the end of the transcript up to there;
    `deadline` is the end of the whole turn; `cut` says when it is to end early with what was told;
    `first_played` says that no model can have been asked for it before;
    `so_far` sums up what happened before `past`, `own_past` does for each character what it lived through itself,
    `recalled` are single things from there by who remembers them;
    `canon` is what is true in the story's world around those in the scene;
    `inner` is what goes on in the minds of the cast, where anything does;
    `places` is what may be said at the places that the scene leads to;
    `read` is what the player's words mean, where they were read ahead (see `player_line`);
    `handover` is what the step before left for the next one.
    """

    turn: Turn
    held: Work
    before: PlayState
    setup: PlaySetup
    past: Sequence[MemoryEntry]
    turn_states: TurnStateCache
    store: Store
    models: ModelClients
    clock: Clock
    ids: Ids
    stage: Stage
    deadline: float
    cut: Cut = field(default_factory=Cut)
    first_played: bool = False
    so_far: PastSummary | None = None
    recalled: Mapping[str, Sequence[RecalledLine]] = field(default_factory=dict)
    own_past: Mapping[str, str] = field(default_factory=dict)
    canon: Sequence[CanonNote] = ()
    inner: InnerTurn | None = None
    places: Mapping[str, PlaceLore] = field(default_factory=dict)
    read: Understood | None = None
    handover: Handover = field(default_factory=Handover)

    def inner_name(self, id: str) -> str:
        """What somebody is called whose mind is known."""
        return self.inner.minds[id].name if self.inner is not None else id

    def teller(self, play: PlayState, scene: Scene) -> SceneTeller:
        """Who builds the contexts of this turn for a state of it."""
        return SceneTeller(
            self.setup,
            play,
            scene,
            self.turn.player_input,
            self.past,
            turn_index=self.turn.turn_index,
            wish=self.turn.wish,
            so_far="" if self.so_far is None else self.so_far.text,
            recalled=self.recalled,
            own_past=self.own_past,
            canon=self.canon,
            inner=self.inner,
        )


@contextmanager
def during(step: str) -> Iterator[None]:
    """A failure inside names for programs the step at which the turn failed, and the kind of its cause."""
    try:
        yield
    except FabulaError as error:
        raise BackendError(
            f"The turn failed: {error.message}", hint=error.hint, step=step, cause=error.name, **error.data
        ) from error
