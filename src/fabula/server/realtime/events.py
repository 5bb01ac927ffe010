"""The events of the Socket.IO door: what a client may send, and what it hears. Written down in the reference."""

from __future__ import annotations

from typing import Annotated, Final, Literal, NotRequired

from pydantic import Field
from typing_extensions import TypedDict

from fabula.actions.turns.turn_keys import KEY, LONGEST_KEY
from fabula.actions.views import Command
from fabula.server.stream.envelope import StreamFrame
from fabula.story.feed_events import FeedEvent
from fabula.story.field_bounds import LONGEST_ID
from fabula.story.turn_results import InkTurnResult, SceneTurnResult
from fabula.story.values import Json

LONGEST_PLACE: Final = 512
ONE_LINE: Final = r"^[^\x00-\x1f]+$"


class StoryBeat(Command):
    """Plays a turn with the player's words, or in an Ink play with a choice. The acknowledgement names the turn.

    Sent again within a minute, the same `request_id` gets the same turn. A `key` does so for ever.
    """

    request_id: str = Field(min_length=1, max_length=LONGEST_ID, pattern=ONE_LINE)
    session_id: str
    input: str | None = None
    choice: int | None = Field(default=None, ge=0)
    key: str | None = Field(default=None, min_length=1, max_length=LONGEST_KEY, pattern=KEY)


class Cancel(Command):
    """Stops the turn in flight; with `keep`, what was told so far becomes the turn."""

    session_id: str
    keep: bool = False


class Watch(Command):
    """Hears all that happens to a session, whoever does it; on from the id of what was heard last, if one is named."""

    session_id: str
    after: str = Field(default="", max_length=LONGEST_PLACE)


class Unwatch(Command):
    """Hears no more of a session."""

    session_id: str


CLIENT_EVENTS: Final[dict[str, type[Command]]] = {
    "storybeat": StoryBeat,
    "cancel": Cancel,
    "watch": Watch,
    "unwatch": Unwatch,
}


class Processing(TypedDict):
    """The turn has begun; comes again, and its tokens with it, when another server had to take the turn up."""

    request_id: str
    session_id: str
    turn_id: str


class NewToken(TypedDict):
    """A piece of the text. `speaker_id` is who says or does it; without, it is told."""

    token: str
    request_id: str
    speaker_id: NotRequired[str]


class Metadata(TypedDict):
    """`result` is what the turn stream ends with."""

    session_id: str
    turn_id: str
    result: SceneTurnResult | InkTurnResult


class Done(TypedDict):
    """Last: the turn is committed. All tokens joined are the text."""

    full_text: str
    request_id: str
    success: Literal[True]
    metadata: Metadata


class Problem(TypedDict):
    """Last, or instead of all others: nothing of the turn is kept but the player's words. Codes are those of errors."""

    code: int
    message: str
    request_id: NotRequired[str]
    session_id: NotRequired[str]
    data: NotRequired[Json]


class TurnMessage(TypedDict):
    """To who watches: a frame of a turn, as in the turn stream. `id` is the place from which to watch on."""

    id: str
    session_id: str
    turn_id: str
    request_id: str
    sequence: int
    frame: StreamFrame


class FeedMessage(TypedDict):
    """To who watches: an event of the session's feed."""

    id: str
    session_id: str
    event: Annotated[FeedEvent, Field(discriminator="type")]


class WatchEnded(TypedDict):
    """The session is gone, or may not be watched any longer; with `error` it may be watched again."""

    session_id: str
    error: NotRequired[Problem]


class Accepted(TypedDict):
    """The acknowledgement of what was done; `turn_id` of the turn that was begun or stopped, `kept` of one stopped."""

    ok: Literal[True]
    turn_id: NotRequired[str]
    kept: NotRequired[bool]


class Refused(TypedDict):
    """The acknowledgement of what was not done."""

    ok: Literal[False]
    error: Problem


SERVER_EVENTS: Final[dict[str, type]] = {
    "processing": Processing,
    "new_token": NewToken,
    "done": Done,
    "error": Problem,
    "turn": TurnMessage,
    "feed": FeedMessage,
    "watch_ended": WatchEnded,
}
