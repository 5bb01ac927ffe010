"""The one way in which stored JSON is read and written: with the version of its shape, which nobody else sees.

Adapters that keep documents, and whoever keeps one in a blob, pass through here. `fabula.story.stored` says which
shapes there are.
"""

from __future__ import annotations

from fabula.ports.errors import StoreError
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
    except (AssertionError, AttributeError, LookupError, TypeError, ValueError):
        # Steps rely on what their version wrote; what somebody else wrote may be anything.
        doc = None
    if not isinstance(doc, dict):
        raise StoreError(f"A stored {name} is damaged: it is no document of version {version}. Restore a backup.")
    return doc
