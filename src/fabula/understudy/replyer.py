"""The replyer: suggests what the player might say or do next, each suggestion of another kind."""

from __future__ import annotations

import re

from fabula.language.english import bare, closed
from fabula.story.contexts import ReplyerContext
from fabula.story.values import JsonObject
from fabula.understudy.scene_view import details, goal_line, player_name
from fabula.understudy.voice import Voice

TALK = (
    "{who}, what do you know about this?",
    "Tell me, {who}: what happened here?",
    "Who are you, {who}?",
    "What would you do in my place, {who}?",
    "{who}, can I trust you?",
    "What are you not telling me, {who}?",
)
LOOK = (
    "I take a closer look at {detail}.",
    "I examine {detail}.",
    "I search around {detail}.",
    "I walk over to {detail}.",
)
LOOK_BARE = ("I look around carefully.", "I listen for a moment.", "I search the place.", "I walk on a little way.")
CAREFUL = ("I wait and watch for a moment.", "I say nothing and listen.", "I keep my distance for now.")
BOLD = ("I am ready. Let us go on.", "Enough talk. Let us do it.", "Let us not wait any longer.")


def suggest(context: ReplyerContext, seed: int | None) -> JsonObject:
    """Replies up to the limit, none of which the player has just given."""
    history = [*context.session_history, *context.shared_history]
    given = [entry.text for entry in history if entry.kind == "player_input"]
    voice = Voice(seed, "replyer", context.current_node.id, len(given), *given[-1:], said=given)
    spare = [voice.pick(CAREFUL), voice.pick(BOLD), *LOOK_BARE]
    candidates = [_goal(context), *_talk(context, voice), _look(context, voice), *spare]
    texts = [text for text in dict.fromkeys(candidates) if text and text not in given]
    return {"replies": [{"id": f"reply_{n}", "text": text} for n, text in enumerate(texts[: context.reply_limit], 1)]}


def _goal(context: ReplyerContext) -> str:
    """The scene's goal in the player's mouth."""
    goal = bare(goal_line(context.current_node, player_name(context)))
    if not goal or not context.current_node.transitions:
        return ""
    if re.match(r"you\b", goal, re.I):
        mine = re.sub(r"^[Yy]ou\b", "I", goal)
        return closed(re.sub(r"^I are\b", "I am", re.sub(r"\byour\b", "my", mine)))
    if re.match(r"(the|a|an|it|there|this|that|he|she|they)\b", goal, re.I):
        return "I want to see this through."
    mine = re.sub(r"\byour\b", "my", goal[1:])
    return closed(f"I want to {goal[0].lower()}{mine}")


def _talk(context: ReplyerContext, voice: Voice) -> list[str]:
    return [voice.pick(TALK, {"who": member.name}) for member in context.current_cast[:2]]


def _look(context: ReplyerContext, voice: Voice) -> str:
    things = details(context.current_node)
    return voice.pick([line.format(detail=thing) for thing in things for line in LOOK] if things else LOOK_BARE)
