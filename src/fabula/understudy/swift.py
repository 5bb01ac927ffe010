"""The whole turn in one answer: narration, what the characters do and say, and what has changed, as tags."""

from __future__ import annotations

import json

from fabula.story.contexts import SwiftContext
from fabula.story.values import JsonObject
from fabula.understudy.actor import perform
from fabula.understudy.director import plan_of
from fabula.understudy.keeper import progress, understood_in
from fabula.understudy.line import line_of
from fabula.understudy.narrator import tell_as_wished
from fabula.understudy.scene_view import heard
from fabula.understudy.voice import FreshVoice


def play(context: SwiftContext, seed: int | None) -> str:
    """One turn in tags, the update last: players read while it is still being worked out."""
    line = line_of(context)
    voice = FreshVoice(seed, "swift", context.current_node.id, context.player_input, said=heard(context))
    parts: list[str] = []
    for part in plan_of(context, line, voice):
        if isinstance(part, str):
            parts.append(f"<narration>{tell_as_wished(context, part, line, voice)}</narration>")
            continue
        member, purpose = part
        for kind, text in perform(context, member, purpose, line, voice):
            parts.append(f'<{kind} who="{member.id}">{text}</{kind}>')
    parts.append(f"<update>{json.dumps({'ops': _ops(context)}, ensure_ascii=False)}</update>")
    return "\n".join(parts)


def _ops(context: SwiftContext) -> list[JsonObject]:
    """What has changed, unless that was decided before the turn was told."""
    if context.understood is not None:
        return []
    read = understood_in(context, context.player_input, context.turns_in_scene)
    here = (one.id for one in context.current_cast)
    return progress(context.current_node, read, context.world_state, context.world_fields, here)
