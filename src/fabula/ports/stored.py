"""The one way in which stored JSON is read and written: with the version of its shape, which nobody else sees.

Adapters that keep documents, and whoever keeps one in a blob, pass through here. `fabula.story.stored` says which
shapes there are.
"""

from __future__ import annotations

import orjson
from pydantic import ValidationError

from fabula.ports.errors import StoreError
from fabula.story.misfits import misfits, sentence_of
from fabula.story.stored import CURRENT, Shape, upcast
from fabula.story.values import Json, JsonObject


def versioned(shape: Shape, doc: JsonObject) -> JsonObject:
    """A document as it is stored."""
    assert "v" not in doc, f"a document of the shape {shape} has a field `v` of its own"
    return {"v": CURRENT[shape], **doc}


def read_stored(shape: Shape, stored: Json) -> JsonObject:
    """A stored document as it is now, without its version. It takes the given object over.

    Raises StoreError for a version that is not known here, and for what is no document of its version.
    """
    version = stored.pop("v", 1) if isinstance(stored, dict) else 1
    # Nearly always: what is read on the way to a turn's first word was written by this version.
    if version == CURRENT[shape] and isinstance(stored, dict):
        return stored
    return _brought_up_to_date(shape, version, stored)


def decode_stored(shape: Shape, text: str | bytes) -> JsonObject:
    """The same of a document as it was written down."""
    try:
        found: Json = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        name = shape.replace("_", " ")
        raise StoreError(f"A stored {name} is damaged: it is no JSON. Restore a backup.") from error
    return read_stored(shape, found)


UNREADABLE = (AssertionError, AttributeError, LookupError, TypeError, ValueError, OverflowError)
"""What it ends in where something stored, which may be anything, is taken for what this program wrote."""


NOT_READ = (StoreError, *UNREADABLE)
"""The same where a document is a part of it, which says by itself that it cannot be read."""


def damaged(what: str, error: Exception) -> StoreError:
    """The sentence about something stored that became no value: raised in place of what it ended in."""
    if isinstance(error, StoreError):
        return StoreError(f"{what} cannot be read. {error.message}")
    why = f": {sentence_of(misfits(error)[0])}" if isinstance(error, ValidationError) else ""
    return StoreError(f"{what} is damaged{why}. Restore a backup.")


def _brought_up_to_date(shape: Shape, version: Json, stored: Json) -> JsonObject:
    name = shape.replace("_", " ")
    if not isinstance(version, int) or version < 1:
        raise StoreError(f"A stored {name} has the version {version!r}, which no version has. Restore a backup.")
    if version > CURRENT[shape]:
        raise StoreError(
            f"A stored {name} was written by a newer version of Fabula: it has version {version}, and only those up to"
            f" {CURRENT[shape]} are known here. Update this server, or restore a backup.",
            shape=shape,
            version=version,
        )
    try:
        doc = upcast(shape, version, stored)
    except UNREADABLE:
        # Steps rely on what their version wrote; what somebody else wrote may be anything.
        doc = None
    if not isinstance(doc, dict):
        raise StoreError(f"A stored {name} is damaged: it is no document of version {version}. Restore a backup.")
    return doc
