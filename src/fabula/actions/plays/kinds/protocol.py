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
from fabula.loops.scene.play_setup import PlaySetup
from fabula.loops.turns.cut import Cut
from fabula.loops.turns.stage import Stage
from fabula.ports.plays import MessageChange, Play, Turn
from fabula.ports.store import TurnBasis, Unit
from fabula.ports.work import Work
from fabula.story.changes import Bounds
from fabula.story.contexts import ActorPurpose, KeeperPhase, NarratorPurpose, RoleContext
from fabula.story.directives import Directive
from fabula.story.free_plays import FreePlay
from fabula.story.plays import PlayState, SessionCharacter, SessionSettings
from fabula.story.resources import AgentPreset, AgentRole, Api
from fabula.story.seeds import derived_seed
from fabula.story.session_zero import SessionZero
from fabula.story.stage import OnStage
from fabula.story.state import MemoryEntry, StateUpdate
from fabula.story.story_templates import TemplateNow
from fabula.story.values import JsonObject, Value


@dataclass(frozen=True, kw_only=True)
class Player:
    """Who plays, as prompts and transcripts name them, and with which token."""

    name: str
    description: str
    token_id: str | None = None


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
    """What a turn starts from; it plays the turn with the loop of its kind, whose thread is named as the work is.

    `refuse_crossed` refuses words and a wish that cross a line of the table. It is asked before a turn is begun, and by
    the turn itself: words that are played again may cross a line that was drawn since.
    `read_ahead` reads the words before the turn needs that, if it takes no longer than a millisecond or two.
    """

    def read_ahead(self, words: str) -> None: ...

    def refuse_crossed(self, words: str, wish: str | None) -> None: ...

    @property
    def before(self) -> PlayState: ...

    async def play(
        self, house: House, turn: Turn, stage: Stage, saver: Any, *, work: Work, cut: Cut, resumed: bool
    ) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Move:
    """The player's next move. Without a `start` the turn reads it when it runs, and fails there if it cannot.

    `seed` is what the kind itself wants; None leaves the choice to the caller. `play_seed` is the seed with which the
    play was begun: where nobody chooses, that of the turn follows from it.
    """

    words: str
    seed: int | None = None
    play_seed: int | None = None
    start: TurnStart | None = None

    def seed_of_turn(self, given: int | None, turn_index: int) -> int | None:
        """The seed of the turn, for which a caller may have given one; None where lots are to be drawn."""
        chosen = given if self.seed is None else self.seed
        if chosen is not None or self.play_seed is None:
            return chosen
        return derived_seed(self.play_seed, f"turn:{turn_index}")


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

    def plays(self, story: Value) -> bool:
        """Whether a story is played so; true of one kind only, the first of `KINDS`."""
        ...

    @property
    def can_be_cut(self) -> bool:
        """Whether a turn can end in the middle, with what was told by then."""
        ...

    @property
    def has_scenes(self) -> bool:
        """Whether it is told scene by scene, by roles that know who is there. Without, its author's words are told, and
        only who speaks is known to be there."""
        ...

    def load(self) -> None:
        """Imports what the first turn needs."""
        ...

    def is_played_in(self, state: PlayState) -> bool: ...

    def loop(self, state: PlayState) -> str:
        """The name of the loop that plays the turn after this state."""
        ...

    async def open(
        self, house: House, session: SessionSettings, player: Player, *, turn_id: str, seed: int | None
    ) -> Opening: ...

    def kept_for(self, house: House, session_id: str) -> KeptSetup | None:
        """What is kept of what a session plays, if anything."""
        ...

    async def setup(self, house: House, unit: Unit, session_id: str, state: PlayState) -> PlaySetup | None:
        """The graph, cast and lore that a session plays after a state; None where the story holds them itself."""
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

    def refuse_conversation(self) -> None:
        """Refuses to open a conversation beside the story, where the story itself says who can be talked with."""
        ...

    def free_play(self, state: PlayState) -> FreePlay:
        """What a free play keeps of its scenes; refused where scenes end as the story says."""
        ...

    def agree(self, state: PlayState, agreed: SessionZero | None) -> PlayState:
        """The play with what was agreed upon in session zero."""
        ...

    def direct(self, state: PlayState, directives: list[Directive]) -> PlayState:
        """The play with the directives of its own."""
        ...

    async def world_directives(
        self, house: House, unit: Unit, session_id: str, state: PlayState
    ) -> Sequence[Directive]:
        """The directives that a play has from its world."""
        ...

    def follow_template(self, state: PlayState, now: TemplateNow | None) -> PlayState:
        """The play that follows a story template from now on, or none."""
        ...

    async def template_setup(self, house: House, unit: Unit, session_id: str, state: PlayState) -> PlaySetup:
        """What a play plays, with the templates of its world; refused where no template can be followed."""
        ...

    async def follow_story(self, at: AtHead) -> PlayState:
        """The play moved on to the story as it is now."""
        ...
