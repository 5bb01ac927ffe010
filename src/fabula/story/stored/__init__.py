"""The shapes of all JSON that is stored, and the steps that bring documents of older versions up to date; pure.

A document says in `v` which version of its shape it has; one without `v` has version 1. To change a shape:

1. Write the step from its last version, a pure function, in the file that has the shape's name, and list it here.
2. Put a document of the new version into `tests/stored/shapes`. The files of older versions stay as they are.

Documents are brought up to date when they are read (`fabula.ports.stored`), and written as they are now.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal

from fabula.story.stored import error, memo_reply, npc_played, resource, trace_part, turn_result
from fabula.story.values import Json, JsonObject

Shape = Literal[
    "play_state",
    "turn_result",
    "graph",
    "story_so_far",
    "world_record",
    "error",
    # resources, by their kind
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
    # what waits, and what is worked on
    "upload",
    "work_input",
    "work_result",
    "memo_reply",
    "npc_event",
    "npc_played",
    "trace_part",
    "memory",
    "lore_bundle",
    # canon
    "canon_change",
    "canon_verdict",
    "canon_decision",
    "scene",
]

Step = Callable[[Json], JsonObject]
"""Makes a document of one version into one of the next."""

STEPS: Mapping[Shape, tuple[Step, ...]] = {
    "play_state": (),
    "turn_result": (turn_result.from_1_to_2,),
    "graph": (),
    "story_so_far": (),
    "world_record": (),
    "error": (error.from_1_to_2,),
    "api": (resource.from_1_to_2,),
    "api_group": (resource.from_1_to_2,),
    "preset": (resource.from_1_to_2,),
    "schema": (resource.from_1_to_2,),
    "lorebook": (resource.from_1_to_2,),
    "player_profile": (resource.from_1_to_2,),
    "character": (resource.from_1_to_2,),
    "game_system": (),
    "world": (),
    "story_resources": (resource.from_1_to_2,),
    "story": (resource.from_1_to_2,),
    "story_draft": (resource.from_1_to_2,),
    "session": (resource.from_1_to_2,),
    "upload": (),
    "work_input": (),
    "work_result": (),
    "memo_reply": (memo_reply.from_1_to_2,),
    "npc_event": (),
    "npc_played": (npc_played.from_1_to_2,),
    "trace_part": (trace_part.from_1_to_2,),
    "memory": (),
    "lore_bundle": (),
    "canon_change": (),
    "canon_verdict": (),
    "canon_decision": (),
    "scene": (),
}

CURRENT: Mapping[Shape, int] = {shape: len(steps) + 1 for shape, steps in STEPS.items()}
"""The version in which each shape is written now."""


def upcast(shape: Shape, version: int, doc: Json) -> Json:
    """A document of this version, as the current version has it."""
    for step in STEPS[shape][version - 1 :]:
        doc = step(doc)
    return doc
