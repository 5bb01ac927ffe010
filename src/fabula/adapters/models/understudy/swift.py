"""The whole turn in one answer: narration, what the characters do and say, and what has changed, as tags."""

from __future__ import annotations

import json

from fabula.adapters.models.understudy.actor import perform
from fabula.adapters.models.understudy.director import narration_for, speakers_for
from fabula.adapters.models.understudy.keeper import progress
from fabula.adapters.models.understudy.narrator import tell
from fabula.adapters.models.understudy.reading import read
from fabula.adapters.models.understudy.stage import heard
from fabula.adapters.models.understudy.voice import Voice
from fabula.story.contexts import SwiftContext


def play(context: SwiftContext, seed: int | None) -> str:
    """One turn in tags, the update last: players read while it is still being worked out."""
    reading = read(context.player_input)
    voice = Voice(seed, "swift", context.current_node.id, context.player_input, said=heard(context))
    parts: list[str] = []
    purpose = narration_for(context, reading)
    if purpose is not None:
        parts.append(f"<narration>{tell(context, purpose, reading, voice)}</narration>")
    for member, part in speakers_for(context, reading, voice):
        for kind, text in perform(context, member, part, reading, voice):
            parts.append(f'<{kind} who="{member.id}">{text}</{kind}>')
    ops = progress(
        context.progression_hints, context.current_node, reading, context.world_state, context.turns_in_scene,
        context.world_fields,
    )  # fmt: skip
    parts.append(f"<update>{json.dumps({'ops': ops}, ensure_ascii=False)}</update>")
    return "\n".join(parts)
