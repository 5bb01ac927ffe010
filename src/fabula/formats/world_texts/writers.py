"""In which formats a world is written, and how."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Final, Literal

import orjson

from fabula.formats.world_texts.cypher import write_cypher
from fabula.formats.world_texts.document import WorldDocument
from fabula.formats.world_texts.graphml import write_graphml
from fabula.formats.world_texts.markdown import write_markdown

WorldFormat = Literal["json", "graphml", "cypher", "markdown"]


@dataclass(frozen=True, kw_only=True)
class WorldWriter:
    """How a world becomes a text, and what that is called."""

    write: Callable[[WorldDocument], str]
    media_type: str
    suffix: str


def write_json(world: WorldDocument) -> str:
    """The world as one JSON object."""
    return orjson.dumps(asdict(world), option=orjson.OPT_INDENT_2).decode() + "\n"


WORLD_WRITERS: Final[Mapping[WorldFormat, WorldWriter]] = {
    "json": WorldWriter(write=write_json, media_type="application/json", suffix=".json"),
    "graphml": WorldWriter(write=write_graphml, media_type="application/graphml+xml", suffix=".graphml"),
    "cypher": WorldWriter(write=write_cypher, media_type="text/plain", suffix=".cypher"),
    "markdown": WorldWriter(write=write_markdown, media_type="text/markdown", suffix=".md"),
}
