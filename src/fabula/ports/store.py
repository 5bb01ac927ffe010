"""The store: where the truth is kept. One unit of work commits whole or not at all.

Resources are JSON documents with a revision number and declared references to other resources.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol, TypeVar

from fabula.ports.audit import AuditTable
from fabula.ports.canon import CanonTable
from fabula.ports.canon_graph import Graph
from fabula.ports.canon_layers import CanonLayers
from fabula.ports.index import Index
from fabula.ports.lore_bundles import LoreBundles
from fabula.ports.memories import Memories
from fabula.ports.models import CallGroup, CallRecord, CallTotals
from fabula.ports.npcs import Npcs
from fabula.ports.plays import Finished, NewTurn, Play, Plays, SpokenMessage, Turn
from fabula.ports.scenes import Scenes
from fabula.ports.traces import TraceTable
from fabula.ports.work import NewWork, Work, WorkTable
from fabula.story.error_values import ErrorValue
from fabula.story.values import JsonObject

T = TypeVar("T")

Kind = Literal[
    "api",
    "api_group",
    "preset",
    "schema",
    "lorebook",
    "player_profile",
    "character",
    "game_system",
    "world",
    "story_resources",
    "story",
    "story_draft",
    "session",
]


@dataclass(frozen=True, kw_only=True, order=True)
class Reference:
    """The name of a resource."""

    kind: Kind
    id: str


@dataclass(frozen=True, kw_only=True)
class Stored:
    """A resource as it is kept. `built_in` ones came with Fabula and are listed after the user's own by `first`.

    `damage` says why the document cannot be read; then it is empty.
    """

    kind: Kind
    id: str
    revision: int
    doc: JsonObject
    built_in: bool
    created_at_ms: int
    updated_at_ms: int
    damage: ErrorValue | None = None


@dataclass(frozen=True, kw_only=True)
class PartName:
    """An object in `list`, the one list of objects that a document has: that whose field `key` is `name`."""

    list: str
    key: str
    name: str


class Resources(Protocol):
    """The table of resources, inside one unit of work.

    Law:
    - `add` refuses an id that exists with Conflict; `get` answers None for a missing one.
    - `put` raises NotFound for a missing id, and adds one to the revision; `created_at_ms` stays.
    - `put` with `expected_revision` raises Conflict when another change came first.
    - `change_part` changes one object in a list of a document, as `put` of the whole would, and answers it; None where
      it is not there, where the whole would be longer than before and not one that `fits` (it is asked for the text),
      or where the whole has to be read to tell: then nothing is changed.
    - A reference to something missing raises NotFound naming it.
    - `remove` of something that is referred to raises InUse naming the users, sorted; of a missing one NotFound.
    - `page` is sorted by id (byte order); `after` starts behind that id; `limit` bounds the answer.
    - `recent` lists by last change, newest first.
    - What cannot be read is answered with its `damage`, and may be replaced and removed: one such row keeps nobody from
      the others.
    """

    async def add(
        self,
        kind: Kind,
        id: str,
        doc: JsonObject,
        *,
        references: Sequence[Reference] = (),
        built_in: bool = False,
    ) -> Stored: ...

    async def get(self, kind: Kind, id: str) -> Stored | None: ...

    async def get_many(self, kind: Kind, ids: Sequence[str]) -> dict[str, Stored]: ...

    async def put(
        self,
        kind: Kind,
        id: str,
        doc: JsonObject,
        *,
        references: Sequence[Reference] = (),
        expected_revision: int | None = None,
    ) -> Stored: ...

    async def change_part(
        self,
        kind: Kind,
        id: str,
        name: PartName,
        change: Callable[[JsonObject], JsonObject],
        *,
        fits: Callable[[str], bool],
    ) -> JsonObject | None: ...

    async def remove(self, kind: Kind, id: str) -> None: ...

    async def page(self, kind: Kind, *, after: str | None = None, limit: int | None = None) -> list[Stored]: ...

    async def page_sizes(self, kind: Kind, *, after: str | None = None, limit: int | None = None) -> list[int]:
        """How many letters each document of a page has."""
        ...

    async def sizes(self, kind: Kind, ids: Sequence[str]) -> dict[str, int]:
        """How many letters these documents have, those that exist."""
        ...

    async def recent(self, kind: Kind, *, limit: int) -> list[Stored]: ...

    async def first(self, kind: Kind) -> str | None:
        """The id that stands for "first available": the user's own before built-ins, each sorted by id."""
        ...

    async def count(self, kind: Kind, *, having: str | None = None) -> int:
        """How many there are; with `having`, those that hold an object in this field of their document."""
        ...

    async def revisions(self, names: Sequence[Reference]) -> dict[Reference, int]:
        """The revisions of those among the named resources that exist, in one read."""
        ...

    async def users(self, kind: Kind, id: str) -> list[Reference]: ...


class Blobs(Protocol):
    """Bytes by the SHA-256 of their content.

    Law:
    - `put` of the same bytes twice keeps one copy and answers the same hash.
    - Each `put` is one use and `remove` gives one use back; the bytes go with the last use.
    - `get` of an unknown hash is None; `remove` of an unknown hash does nothing.
    """

    async def put(self, data: bytes) -> str: ...

    async def get(self, hash: str) -> bytes | None: ...

    async def remove(self, hash: str) -> None: ...


class Secrets(Protocol):
    """Secrets by name, encrypted at rest.

    Law:
    - What `put` took, `get` answers; a second `put` under a name replaces the first.
    - `get` of an unknown name is None; `remove` of an unknown name does nothing.
    - `has` says whether a secret is kept under a name, also when the key to read it is missing.
    - No byte of a secret stands in the database in the clear.
    - A key that does not fit raises StoreError that says which key is missing.
    """

    async def put(self, name: str, secret: str) -> None: ...

    async def get(self, name: str) -> str | None: ...

    async def has(self, name: str) -> bool: ...

    async def remove(self, name: str) -> None: ...


TokenRole = Literal["admin", "author", "player"]


@dataclass(frozen=True, kw_only=True)
class Token:
    """An access token as it is kept: never the token itself, only its hash."""

    token_id: str
    label: str
    role: TokenRole
    hash: str
    created_at_ms: int
    last_used_at_ms: int | None = None
    revoked_at_ms: int | None = None


class Tokens(Protocol):
    """Access tokens.

    Law:
    - `add` of an id or hash that exists raises Conflict.
    - `by_hash` never answers a revoked token; `every` lists those too, oldest first.
    - `get` finds a token by its id, a revoked one too; `is_valid` is false for one that was revoked or is not known.
    - `revoke` of an unknown token raises NotFound; a second `revoke` keeps the time of the first.
    - `touch` records the last use.
    """

    async def add(self, token: Token) -> None: ...

    async def by_hash(self, hash: str) -> Token | None: ...

    async def get(self, token_id: str) -> Token | None: ...

    async def is_valid(self, token_id: str) -> bool: ...

    async def every(self) -> list[Token]: ...

    async def revoke(self, token_id: str) -> Token: ...

    async def touch(self, token_id: str) -> None: ...


UploadPurpose = Literal["package_import", "package_export", "session_export"]


@dataclass(frozen=True, kw_only=True)
class Upload:
    """A place where a file waits between two calls; it expires. `note` is what whoever made it has to know later."""

    upload_id: str
    purpose: UploadPurpose
    blob: str | None
    expires_at_ms: int
    note: JsonObject = field(default_factory=dict)


class Uploads(Protocol):
    """Files on their way in or out.

    Law:
    - `put` under an id that exists replaces the upload; `get` never answers an expired one.
    - An upload owns its blob: the blob goes when the upload is removed, swept, or given another blob.
    - `sweep` removes expired uploads and says how many.
    """

    async def put(self, upload: Upload) -> None: ...

    async def get(self, upload_id: str) -> Upload | None: ...

    async def remove(self, upload_id: str) -> None: ...

    async def sweep(self) -> int: ...


class Memo(Protocol):
    """Finished model answers by key. Law: the first answer under a key stays; a repeat answers the same bytes."""

    async def get(self, key: str) -> JsonObject | None: ...

    async def put(self, key: str, reply: JsonObject) -> None: ...


class MemoTable(Memo, Protocol):
    """The memo inside one unit of work. `put_all` puts several at once; if one cannot be kept, it raises InvalidParams
    and keeps none."""

    async def put_all(self, replies: Mapping[str, JsonObject]) -> None: ...


class Calls(Protocol):
    """Recorded model calls.

    Law:
    - `page` lists in the order of recording, newest last, filtered by session or story; `after` starts behind a number.
    - `tokens_used` adds up what a session's calls cost; answers from the memo cost nothing.
    - `totals` adds up all calls of a session or story, or of everyone; `totals_of_turn` those of one turn.
    - `grouped` adds up the calls from one time up to another: all of them, and apart by what is asked for, the newest
      days or else what cost most first, at most `limit`; calls without a session or story have the name "".
    - `latest` lists the newest first.
    """

    async def add(self, *records: CallRecord) -> None: ...

    async def page(
        self, *, session_id: str | None = None, story_id: str | None = None, after: int = 0, limit: int = 500
    ) -> list[tuple[int, CallRecord]]: ...

    async def tokens_used(self, session_id: str) -> int: ...

    async def totals(self, *, session_id: str | None = None, story_id: str | None = None) -> CallTotals: ...

    async def totals_of_turn(self, turn_id: str) -> CallTotals: ...

    async def grouped(
        self, by: CallGroup, *, from_ms: int, to_ms: int, limit: int
    ) -> tuple[CallTotals, list[tuple[str, CallTotals]]]: ...

    async def latest(self, *, limit: int) -> list[CallRecord]: ...


class Unit(Protocol):
    """One unit of work: everything in it is committed together, or nothing is.

    Who locks several things that others lock as well takes them in one order: a play first, then the world, changes of
    canon, other resources, uploads, and blobs last. What is only read is looked at.
    """

    @property
    def looking(self) -> Unit:
        """The same unit for what is only read. Others may change that before the unit ends."""

    @property
    def resources(self) -> Resources: ...

    @property
    def blobs(self) -> Blobs: ...

    @property
    def secrets(self) -> Secrets: ...

    @property
    def tokens(self) -> Tokens: ...

    @property
    def uploads(self) -> Uploads: ...

    @property
    def memo(self) -> MemoTable: ...

    @property
    def calls(self) -> Calls: ...

    @property
    def plays(self) -> Plays: ...

    @property
    def index(self) -> Index: ...

    @property
    def memories(self) -> Memories: ...

    @property
    def npcs(self) -> Npcs: ...

    @property
    def canon(self) -> CanonTable: ...

    @property
    def graph(self) -> Graph: ...

    @property
    def audit(self) -> AuditTable: ...

    @property
    def canon_layers(self) -> CanonLayers: ...

    @property
    def scenes(self) -> Scenes: ...

    @property
    def work(self) -> WorkTable: ...

    @property
    def traces(self) -> TraceTable: ...

    @property
    def lore_bundles(self) -> LoreBundles: ...


@dataclass(frozen=True, kw_only=True)
class TurnQuestion:
    """What a turn has to ask the store before it starts. `token_id` is who asks.

    `known_turn_id` is a turn after which state and transcript are at hand; `lines` is how many lines of the transcript
    are wanted otherwise; `names` are the resources whose revisions tell whether what is at hand is still as it is.
    """

    session_id: str
    token_id: str | None = None
    known_turn_id: str | None = None
    lines: int = 0
    names: Sequence[Reference] = ()


@dataclass(frozen=True, kw_only=True)
class TurnBasis:
    """What a turn starts from. Without a state the play stands at the known turn, or its state is missing.

    `past` are the last lines that were asked for, as far as a turn sets out with them (`newest_lines`).
    `tokens_used` is counted only for a play with a budget; `invited` is asked only for a play of somebody else.
    """

    play: Play
    invited: bool
    tokens_used: int
    revisions: dict[Reference, int]
    state: JsonObject | None = None
    past: Sequence[SpokenMessage] = ()


@dataclass(frozen=True, kw_only=True)
class StoreStatus:
    """What `doctor` and `/readyz` tell about the store."""

    engine: Literal["sqlite", "postgres", "memory"]
    place: str
    revision: str
    newest_revision: str


class Store(Protocol):
    """The truth.

    Law:
    - `open` brings the database to the newest revision under a lock; a database from a newer version of Fabula raises
      StoreError; opening twice at once from two processes migrates once.
    - `writing` commits when its block ends and rolls back when it raises. Once it has returned, the change survives
      SIGKILL and loss of power.
    - Two writers of one play, or of one resource, never interleave: the second sees all that the first committed. What
      a writing unit reads by its name (`resources.get`, `plays.get`, `uploads.get`) is its own until it ends, whether
      it is there or not. Writers of different things need not wait for each other; with SQLite they do.
    - What is looked at in a writing unit (`unit.looking`) keeps no other writer waiting.
    - Writers that wait for each other in a circle are told apart by a WriteConflict, which changed nothing; `write`
      then runs its function again, and raises only if that does not help.
    - `reading` sees one consistent state and cannot change it.
    - `write` and `read` do the same for a function of the unit. Derived data may be written with `durable=False`: it
      survives a kill, not a power cut.
    - A turn needs three questions, each of which is a unit of work of its own, with a single wait where the engine can.
      `read_turn_basis` answers what a turn starts from as of one moment, or None for an unknown session. `begin_turn`
      begins it as `plays.begin` does, and is refused with PlayMoved when the play's head is not `expected_head`.
      `commit_turn` is `plays.commit`. The work on the turn is begun and finished in the same transactions; a turn whose
      work is another's by now is not committed.
    - `put_replies` puts answers into the memo as `memo.put_all` does, in a unit of its own that is not durable, with a
      single wait where the engine can.
    - If the caller is cancelled, the work may or may not have been committed; it is never partial.
    """

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    def writing(self) -> AbstractAsyncContextManager[Unit]: ...

    def reading(self) -> AbstractAsyncContextManager[Unit]: ...

    async def write(self, work: Callable[[Unit], Awaitable[T]], *, durable: bool = True) -> T: ...

    async def read(self, work: Callable[[Unit], Awaitable[T]]) -> T: ...

    async def read_turn_basis(self, question: TurnQuestion) -> TurnBasis | None: ...

    async def begin_turn(self, turn: NewTurn, *, expected_head: str, work: NewWork) -> tuple[Turn, Work]: ...

    async def commit_turn(self, finished: Finished, *, work: Work) -> bool: ...

    async def put_replies(self, replies: Mapping[str, JsonObject]) -> None: ...

    async def status(self) -> StoreStatus: ...

    async def backup(self, target: Path) -> None: ...
