"""What a kind of play promises, so that no caller needs to know which kind it has before it.

1. `open` tells a new play up to where the player comes in.
2. `prepare_at_hand` and `prepare` turn the player's move into the words of a turn, and gather what it starts from.
3. The `TurnStart` plays the turn with the loop of its kind.
4. `view` shows what only this kind shows.
5. The edits change a play by hand; what makes no sense in a kind is refused with a sentence that says why.

A new kind is a module with one class of this protocol, and one row in `rows.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from fabula.actions.house import House
from fabula.actions.plays.amend import AtHead
from fabula.actions.setups.play_setup import KeptSetup
from fabula.language.spoilers import Guard
from fabula.loops.turns.cut import Cut
from fabula.loops.turns.stage import Stage
from fabula.ports.plays import MessageChange, Play, Turn
from fabula.ports.store import TurnBasis, Unit
from fabula.ports.work import Work
from fabula.story.changes import Bounds
from fabula.story.contexts import ActorPurpose, KeeperPhase, NarratorPurpose, RoleContext
from fabula.story.plays import PlayState, SessionCharacter, SessionSettings
from fabula.story.resources import AgentPreset, AgentRole, Api
from fabula.story.stage import OnStage
from fabula.story.state import MemoryEntry, StateUpdate
from fabula.story.values import JsonObject, Value


@dataclass(frozen=True, kw_only=True)
class Player:
    """Who plays, as prompts and transcripts name them."""

    name: str
    description: str


@dataclass(frozen=True, kw_only=True)
class Opening:
    """A play at its beginning. `cast` are the ids of its characters; `view` is shown beside the snapshot.

    `result` is kept as that of a turn is, where something was told of which the transcript says only the words.

    `documents` are bytes that the state names by their SHA-256; they are kept together with it.
    """

    state: PlayState
    messages: Sequence[MessageChange] = ()
    documents: Sequence[bytes] = ()
    cast: Sequence[str] = ()
    view: Mapping[str, Any]
    result: JsonObject | None = None


class TurnStart(Protocol):
    """What a turn starts from; it plays the turn with the loop of its kind, whose thread is named as the work is."""

    async def play(
        self, house: House, turn: Turn, stage: Stage, saver: Any, *, work: Work, cut: Cut, resumed: bool
    ) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Move:
    """The player's next move. Without a `start` the turn reads it when it runs, and fails there if it cannot.

    `seed` is what the kind itself wants; None leaves the choice to the caller.
    """

    words: str
    seed: int | None = None
    start: TurnStart | None = None


@dataclass(frozen=True, kw_only=True)
class RoleQuestion:
    """What would be asked of a role at a session's head. Fields that the role does not use are ignored."""

    role: AgentRole
    character_id: str | None = None
    actor_purpose: ActorPurpose | None = None
    narrator_purpose: NarratorPurpose | None = None
    keeper_phase: KeeperPhase | None = None
    previous_node_id: str | None = None
    player_input: str = ""
    reply_limit: int


@dataclass(frozen=True, kw_only=True)
class RolePrompt:
    """A role as its preset has it, the model that is asked, all that it is told, and what its answer must not tell."""

    agent: AgentPreset
    api: Api
    context: RoleContext
    guard: Guard | None = None


class PlayKind(Protocol):
    """Law:

    - `is_played_in` is true of a state for one kind only, the first of `KINDS`.
    - `open` writes nothing.
    - `prepare_at_hand` decides from what was read in one go and what is kept; when that is not enough, it answers None,
      and `prepare` reads what is missing. Both refuse a move that cannot be made, before anything is written.
    - `seed_of_repeat` is asked when a turn is played again: after it failed, or (`anew`) to get another one.
      `newest` is the largest seed with which its words were played there.
    - An edit answers the state after the change and writes nothing but what it must keep beside it.
    """

    @property
    def name(self) -> str: ...

    @property
    def story(self) -> type[Value]:
        """The stories that are played so."""
        ...

    @property
    def can_be_cut(self) -> bool:
        """Whether a turn can end in the middle, with what was told by then."""
        ...

    def load(self) -> None:
        """Imports what the first turn needs."""
        ...

    def is_played_in(self, state: PlayState) -> bool: ...

    async def open(
        self, house: House, session: SessionSettings, player: Player, *, turn_id: str, seed: int | None
    ) -> Opening: ...

    def kept_for(self, house: House, session_id: str) -> KeptSetup | None:
        """What is kept of what a session plays, if anything."""
        ...

    def prepare_at_hand(
        self, house: House, basis: TurnBasis, before: PlayState, *, said: str | None, choice: int | None
    ) -> Move | None: ...

    async def prepare(
        self,
        house: House,
        unit: Unit,
        play: Play,
        before: PlayState,
        *,
        said: str | None,
        choice: int | None,
    ) -> Move: ...

    async def read_start(self, house: House, unit: Unit, turn: Turn, before: PlayState) -> TurnStart: ...

    def seed_of_repeat(self, turn: Turn, given: int | None, *, anew: bool, newest: int) -> int | None: ...

    def view(self, state: PlayState) -> Mapping[str, Any]:
        """Fields of the session that only this kind has."""
        ...

    async def on_stage(self, house: House, unit: Unit, session: SessionSettings, state: PlayState) -> OnStage:
        """The scene and the cast, as the player may know them."""
        ...

    def choice_taken(self, before: PlayState, words: str) -> int | None:
        """Which of the choices on offer a player took with these words; None where there were none."""
        ...

    async def scene_titles(self, house: House, unit: Unit, state: PlayState) -> Mapping[str, str]:
        """The titles of its scenes by node; empty where it has none."""
        ...

    def somebody_listens(self, state: PlayState) -> bool:
        """Whether a character of the story waits for the player's words."""
        ...

    async def prompt(
        self, house: House, unit: Unit, session: SessionSettings, play: Play, state: PlayState, asked: RoleQuestion
    ) -> RolePrompt: ...

    async def say(self, at: AtHead, line: MemoryEntry) -> PlayState: ...

    def reword(self, state: PlayState, old: MemoryEntry, new: MemoryEntry | None) -> PlayState:
        """The state in which a line reads differently, or (None) was never said."""
        ...

    def describe_player(self, state: PlayState, description: str) -> PlayState: ...

    def add_guest(self, state: PlayState, guest: SessionCharacter, *, enters: bool) -> PlayState: ...

    async def bounds(self, house: House, unit: Unit, session: SessionSettings, state: PlayState) -> Bounds:
        """What variables are checked against when they are changed by hand; nothing where they cannot be."""
        ...

    async def change_variables(self, at: AtHead, update: StateUpdate) -> PlayState: ...

    async def follow_story(self, at: AtHead) -> PlayState:
        """The play moved on to the story as it is now."""
        ...
