"""Plays: the tree of turns, the heads that point into it, and the words that were said on the way.

A turn is begun (its input is safe), then committed with its state and messages, or failed. Going back is moving a
head; nothing is deleted while its tree is played.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

from fabula.ports.work import NewWork
from fabula.story.canon import Change
from fabula.story.error_values import ErrorValue
from fabula.story.scenes import SceneRecord
from fabula.story.turn_tree import TurnPlace
from fabula.story.values import JsonObject

TurnKind = Literal["start", "play", "amend"]
TurnStatus = Literal["running", "committed", "failed", "cancelled"]
PlayStatus = Literal["open", "ended"]


@dataclass(frozen=True, kw_only=True)
class Play:
    """A session's place in its tree. `active_turn_id` names the turn in flight.

    `owner_token_id` names the token whose play it is; without one it belongs to the house.
    """

    session_id: str
    tree_id: str
    head_turn_id: str
    active_turn_id: str | None = None
    turn_index: int = 0
    status: PlayStatus = "open"
    token_budget: int | None = None
    updated_at_ms: int = 0
    owner_token_id: str | None = None


@dataclass(frozen=True, kw_only=True)
class Turn:
    """A node of the tree. `amend` turns are changes by hand: they have the turn index of their parent.

    `jump_id` points to an older ancestor, so that any ancestor is found in a logarithmic number of steps.
    `wish` is how the player wants it told, when it is told again.
    One that was `cut` ended early, with what had been told by then; it is committed like any other.
    `key` is the client's own name for what it asked for, `asked` a fingerprint of that; both are empty without a key.
    """

    turn_id: str
    tree_id: str
    session_id: str
    parent_id: str | None
    jump_id: str | None
    depth: int
    turn_index: int
    kind: TurnKind
    status: TurnStatus
    player_input: str
    request_id: str
    seed: int
    key: str = ""
    asked: str = ""
    wish: str | None = None
    cut: bool = False
    state_hash: str | None = None
    error: ErrorValue | None = None
    created_at_ms: int
    finished_at_ms: int | None = None

    @property
    def shown_status(self) -> str:
        """How clients are told that it ended."""
        return "cut" if self.cut else self.status


@dataclass(frozen=True, kw_only=True)
class NewTurn:
    """A turn to be begun under a parent; the store finds its place in the tree."""

    turn_id: str
    session_id: str
    parent_id: str | None
    turn_index: int
    kind: TurnKind
    player_input: str = ""
    request_id: str = ""
    seed: int = 0
    key: str = ""
    asked: str = ""
    wish: str | None = None


MessageKind = Literal["player_input", "narration", "dialogue", "action"]


@dataclass(frozen=True, kw_only=True)
class SpokenMessage:
    """One line of a transcript, as it reads at some head. `edited` says that it was worded differently at first.

    `heard_by` are the characters who noticed it; None where that was not kept.
    """

    message_id: str
    turn_id: str
    turn_index: int
    sequence: int
    kind: MessageKind
    speaker_id: str
    speaker_name: str
    text: str
    recorded_at_ms: int
    created_at_ms: int
    updated_at_ms: int
    edited: bool = False
    heard_by: tuple[str, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class TurnMark:
    """What somebody wrote beside a turn: a name, a bookmark, or both. Going back does not undo it."""

    turn_id: str
    name: str = ""
    bookmarked: bool = False


@dataclass(frozen=True, kw_only=True)
class NamedTurn:
    """A turn that somebody named, with the session in which it was played."""

    turn_id: str
    session_id: str
    name: str
    created_at_ms: int


@dataclass(frozen=True, kw_only=True)
class MessageChange:
    """What a turn says about a message: it is said, reads differently from now on, or is struck out."""

    op: Literal["say", "edit", "strike"]
    message: SpokenMessage


@dataclass(frozen=True, kw_only=True)
class Finished:
    """What a turn leaves behind when it is committed. `follow` is the work on what follows it, one row for all.

    `staged` are changes of canon that it proposes, which hang on this turn; `scene` is one that it ended.
    """

    turn_id: str
    state: JsonObject
    state_hash: str
    result: JsonObject | None = None
    messages: Sequence[MessageChange] = ()
    ended: bool = False
    cut: bool = False
    follow: NewWork | None = None
    staged: Sequence[Change] = ()
    scene: SceneRecord | None = None


class Plays(Protocol):
    """Law:

    - `begin` is refused with Conflict naming the active turn while the session has one in flight; so is `amend`,
      which is begun and committed at once.
    - A key names one turn of a session for ever: `begin` with a key that a turn of the session has, however that turn
      ended, is refused with Conflict naming the turn, and `by_key` finds it. Without a key nothing is a repeat.
    - `largest_seed` is that of the turns below a turn in which these words were said, however they ended; 0 if none.
    - `commit` makes turn, state, messages and head true together; of a turn that is no longer running it answers
      False and changes nothing.
    - `fail` ends a running turn, keeps its input, and moves no head.
    - `move_head` to a turn of another tree, or one that is not committed, is refused with InvalidRequest.
    - A play is `ended` where it stands at a turn that ended it, also after `move_head` and `fork`.
    - `profiles` finds the player profile that the state at a head names; plays whose state names none are left out.
    - `keep_summary` keeps the story so far after a turn, over one that was kept before; `nearest_summary` finds the one
      of the nearest turn at or above a turn, at most so many steps up, and never that of another branch.
    - `keep_world` keeps what followers made of the world after a turn; what was kept first stays. `nearest_world` finds
      it like `nearest_summary`; within 0 steps it is that of the turn itself. Both go with their turn.
    - `ancestor` finds the nearest turn at or above a turn whose turn index is at most the one asked for, in a
      logarithmic number of reads.
    - `transcript` reads a head's own line only: what other branches say or change is not in it. Each line says who
      noticed it, if it said so when it was kept.
    - `lines_before` and `lines_after` read the lines next to a message, in order and as they read at the head; after no
      message is from the beginning on. None says that this line never had the message; a line that was struck out
      still has its place.
    - `message` finds a line by its id; `wordings` are all that it said, the first one first, and none when it was
      struck out.
    - `on_line` names those of the wanted turns that are on the line which ends at a turn, itself included.
    - None of these reads more of a transcript than it answers; each finds its place in a logarithmic number of reads.
    - `named_turns` lists the turns that have a name, newest first, while the session that played them is there; of a
      token only those of sessions that it reaches.
    - `last_lines` finds the last line before each of these heads, as it reads there, in one read: no more than its
      first letters, and none where the last turns say nothing.
    - `touch` makes a play the one that changed last.
    - `shape` lists the finished turns of a tree in short, by id; `turns` finds those among the named that exist.
    - `tellings` are the completed turns of play directly below some turns, by id.
    - `beginnings` are the first words that were told in a turn, of those that told anything.
    - `messages_of` names the messages that a turn said, changed or struck out, in order.
    - `mark` writes a name or a bookmark beside a turn, in place of what stood there; neither of both removes the mark.
      `marks` lists those of a tree by turn; `marks_of` finds those of some turns. They go with the tree.
    - `remove` of a play keeps the tree while another play stands on it, and removes it with the last one; its turn
      in flight is cancelled.
    - `recent` lists the plays that changed last, newest first; of a token only those that it reaches.
    - A token reaches the plays that it owns and those it was invited to: `reached_by` lists them by id, once each.
    - `invite` twice is one invitation; it ends with `uninvite`, or with the play. A fork has its own owner, and
      nobody is invited to it.
    - `running` lists the turns in flight of all sessions. Who plays them, their work says.
    """

    async def add(
        self, session_id: str, start: NewTurn, finished: Finished, *, owner_token_id: str | None = None
    ) -> Play: ...

    async def fork(
        self, session_id: str, turn_id: str, *, owner_token_id: str | None = None, ended: bool = False
    ) -> Play: ...

    async def get(self, session_id: str) -> Play | None: ...

    async def get_many(self, session_ids: Sequence[str]) -> dict[str, Play]: ...

    async def recent(self, *, limit: int, token_id: str | None = None) -> list[Play]: ...

    async def reached_by(self, token_id: str, *, after: str | None = None, limit: int | None = None) -> list[str]: ...

    async def count_reached(self, token_id: str) -> int: ...

    async def is_invited(self, session_id: str, token_id: str) -> bool: ...

    async def invite(self, session_id: str, token_id: str) -> None: ...

    async def uninvite(self, session_id: str, token_id: str) -> None: ...

    async def remove(self, session_id: str) -> None: ...

    async def set_budget(self, session_id: str, token_budget: int | None) -> None: ...

    async def touch(self, session_id: str) -> None: ...

    async def turn(self, turn_id: str) -> Turn | None: ...

    async def begin(self, turn: NewTurn) -> Turn: ...

    async def commit(self, finished: Finished) -> bool: ...

    async def amend(self, turn: NewTurn, finished: Finished) -> Turn: ...

    async def fail(self, turn_id: str, *, status: TurnStatus, error: ErrorValue) -> bool: ...

    async def move_head(self, session_id: str, turn_id: str, *, ended: bool = False) -> Play: ...

    async def profiles(self, session_ids: Sequence[str]) -> dict[str, str]: ...

    async def state(self, turn_id: str) -> JsonObject | None: ...

    async def result(self, turn_id: str) -> JsonObject | None: ...

    async def keep_summary(self, turn_id: str, summary: JsonObject) -> None: ...

    async def nearest_summary(self, turn_id: str, *, within: int) -> JsonObject | None: ...

    async def keep_world(self, turn_id: str, record: JsonObject) -> None: ...

    async def nearest_world(self, turn_id: str, *, within: int) -> JsonObject | None: ...

    async def ancestor(self, turn_id: str, turn_index: int) -> Turn: ...

    async def tree(self, tree_id: str, *, after: str | None = None, limit: int | None = None) -> list[Turn]: ...

    async def shape(self, tree_id: str) -> list[TurnPlace]: ...

    async def turns(self, turn_ids: Sequence[str]) -> dict[str, Turn]: ...

    async def tellings(self, parent_ids: Sequence[str]) -> list[Turn]: ...

    async def beginnings(self, turn_ids: Sequence[str], *, letters: int) -> dict[str, str]: ...

    async def messages_of(self, turn_id: str) -> list[str]: ...

    async def mark(self, mark: TurnMark) -> None: ...

    async def marks(self, tree_id: str, *, after: str | None = None, limit: int | None = None) -> list[TurnMark]: ...

    async def marks_of(self, turn_ids: Sequence[str]) -> dict[str, TurnMark]: ...

    async def heads(self, tree_id: str) -> list[Play]: ...

    async def last_failed(self, session_id: str, parent_id: str) -> Turn | None: ...

    async def by_request(self, session_id: str, request_id: str) -> Turn | None: ...

    async def largest_seed(self, parent_id: str, player_input: str) -> int: ...

    async def by_key(self, session_id: str, key: str) -> Turn | None: ...

    async def transcript(self, turn_id: str, *, last: int | None = None) -> list[SpokenMessage]: ...

    async def past(self, turn_id: str, *, most: int) -> Sequence[SpokenMessage]:
        """The last lines of the transcript, as far as a turn sets out with them (`newest_lines`)."""
        ...

    async def lines_before(self, turn_id: str, message_id: str, *, limit: int) -> list[SpokenMessage] | None: ...

    async def lines_after(self, turn_id: str, message_id: str | None, *, limit: int) -> list[SpokenMessage] | None: ...

    async def message(self, turn_id: str, message_id: str) -> SpokenMessage | None: ...

    async def wordings(self, turn_id: str, message_id: str) -> list[SpokenMessage]: ...

    async def on_line(self, turn_id: str, wanted: Sequence[str]) -> frozenset[str]: ...

    async def named_turns(self, *, limit: int, token_id: str | None = None) -> list[NamedTurn]: ...

    async def last_lines(self, head_turn_ids: Sequence[str]) -> dict[str, SpokenMessage]: ...

    async def running(self) -> list[Turn]: ...
