"""Checkpoints as bytes: plain values and nothing else.

Our loops hand plain JSON from step to step. LangGraph's own serialiser reads more: bytes that name any callable of any
module, which is called when they are read. Whoever can write to the database, or has a backup restored, could so run
code. Here bytes name no type at all; both serialisers write plain values alike, so that what older versions wrote is
read.
"""

from __future__ import annotations

import json
from typing import Any, cast

import ormsgpack
from langgraph.checkpoint.base import Checkpoint, CheckpointMetadata
from langgraph.checkpoint.serde.base import SerializerProtocol

ENCODING = "msgpack"

# What msgpack would write as a text or a map of its own, and so read back as something else, is refused.
_WRITTEN = (
    ormsgpack.OPT_NON_STR_KEYS
    | ormsgpack.OPT_PASSTHROUGH_DATACLASS
    | ormsgpack.OPT_PASSTHROUGH_DATETIME
    | ormsgpack.OPT_PASSTHROUGH_ENUM
    | ormsgpack.OPT_PASSTHROUGH_UUID
    | ormsgpack.OPT_REPLACE_SURROGATES
)


class Unreadable(ValueError):
    """Bytes that are no checkpoint of ours."""


class PlainSerializer(SerializerProtocol):
    """Plain values as msgpack. A value of any other type is an error for who writes it, and for who reads it."""

    def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
        return ENCODING, ormsgpack.packb(obj, option=_WRITTEN)

    def loads_typed(self, data: tuple[str, bytes]) -> Any:
        encoding, packed = data
        if encoding != ENCODING:
            raise Unreadable(f"it is packed as {encoding[:40]!r}")
        # Without a hook for extensions, in which types are named, one of them is an error.
        return ormsgpack.unpackb(packed, option=ormsgpack.OPT_NON_STR_KEYS)


def read_checkpoint(packed: Any) -> Checkpoint:
    """What was unpacked, if it has the parts by which LangGraph goes on."""
    if not isinstance(packed, dict):
        raise Unreadable("it is no checkpoint")
    versions, seen = packed.get("channel_versions"), packed.get("versions_seen")
    is_whole = (
        isinstance(packed.get("v"), int)
        and isinstance(packed.get("id"), str)
        and isinstance(packed.get("ts"), str)
        and isinstance(packed.get("channel_values"), dict)
        and _are_versions(versions)
        and isinstance(seen, dict)
        and all(_are_versions(one) for one in seen.values())
    )
    if not is_whole:
        raise Unreadable("it is no checkpoint")
    return cast(Checkpoint, packed)


def _are_versions(found: Any) -> bool:
    return isinstance(found, dict) and all(isinstance(one, int) for one in found.values())


def read_metadata(written: str) -> CheckpointMetadata:
    found = json.loads(written)
    if not isinstance(found, dict) or not isinstance(found.get("step", 0), int):
        raise Unreadable("its notes are none")
    return cast(CheckpointMetadata, found)
