"""What the storyteller says when a line leaves it in doubt: it asks back, admits, or points to the ways on."""

from __future__ import annotations

from fabula.story.contexts import SceneContext
from fabula.story.graph import Node
from fabula.story.readings import AskBack, Unclear, Understood
from fabula.understudy.reading.scenes import scene_text_of
from fabula.understudy.reading.ways import ways_of
from fabula.understudy.voice import Voice

WHICH = (
    "You pause, for it could be either. Do you mean {ways}?",
    "For a moment you are of two minds. Do you mean {ways}?",
    "There is more than one way to take that. Do you mean {ways}?",
    "Which is it to be? Do you mean {ways}?",
    "One thing or the other: do you mean {ways}?",
)
WHETHER = (
    "You hesitate, with the thought half finished. Do you mean {ways}?",
    "Your hand stops halfway. Do you mean {ways}?",
    "Before it is done it should be said plainly. Do you mean {ways}?",
    "Nobody stirs until you have made up your mind. Do you mean {ways}?",
    "It would be easy to mistake that. Do you mean {ways}?",
)
NOT_UNDERSTOOD = (
    "The words hang in the air, and nobody knows what to do with them.",
    "You hear yourself say it, and it means nothing here.",
    "Whatever that was, the place has no answer to it.",
    "It makes no sense to anyone, and perhaps not to you.",
    "The sounds go by like wind. Nobody could tell what you want.",
    "A silence follows, the kind that asks you to say it another way.",
)
OTHER_LANGUAGE = (
    "The words are in a tongue that nobody here reads. Say it in English, and they will listen.",
    "It has the sound of a language from elsewhere. Here only English is understood.",
    "They look at you kindly, but only English is spoken in this story.",
    "Nobody here has learned that language. In English it might be answered.",
)
HINTS = (
    "A thought comes to you and stays: {way}.",
    "There would be something to do here: {way}.",
    "If you wanted to go on from here, one thing would do it: {way}.",
    "Nothing holds you. You could always decide {way}.",
    "It still waits for somebody {way}.",
    "You catch yourself thinking of it again: {way}.",
    "Sooner or later somebody will have {way}.",
    "What is left is plain enough: {way}.",
)
WAYS = (
    "As far as you can see, there is this to do: {ways}.",
    "You look about for what could be done. It comes down to this: {ways}.",
    "You take stock. What is open to you is {ways}.",
    "The ways on from here are few: {ways}.",
    "Turn it over as you like, it comes to this: {ways}.",
)


def doubt(context: SceneContext, read: Understood, voice: Voice) -> str:
    """What is told where a line leaves the storyteller in doubt or asks for the ways on; or nothing."""
    if context.transitioned_this_turn or read.node_id != context.current_node.id:
        return ""
    if read.has("hint"):
        return ways_on(context, voice)
    match read.decision:
        case AskBack():
            names = read.decision.names or [_names(context)[way] for way in read.decision.ways]
            return voice.pick([line.format(ways=_either(names)) for line in (WHICH if len(names) > 1 else WHETHER)])
        case Unclear():
            return voice.pick(OTHER_LANGUAGE if read.decision.reason == "language" else NOT_UNDERSTOOD)
        case _:
            return ""


def hint(context: SceneContext, read: Understood, voice: Voice) -> str:
    """The hint that is due, from the goal; each way in turn, and no sentence twice."""
    if context.transitioned_this_turn or not read.hint or read.node_id != context.current_node.id:
        return ""
    names = _names(context)
    if not names:
        return ""
    way = names[(read.hint - 1) % len(names)]
    fresh = voice.fresh([line.format(way=way) for line in HINTS])
    return fresh[(read.hint - 1) % len(fresh)] if fresh and read.hint <= len(HINTS) else ""


def ways_on(context: SceneContext, voice: Voice) -> str:
    """All ways on, as the goal of the scene has them."""
    names = _names(context)
    return voice.pick([line.format(ways=_either(names)) for line in WAYS]) if names else ""


def _names(context: SceneContext) -> list[str]:
    return ways_named(context.current_node, context)


def ways_named(node: Node, context: SceneContext) -> list[str]:
    """What the ways of a node are called, each once."""
    here = ways_of(scene_text_of(context))
    return list(
        dict.fromkeys(way.label for way, told in zip(here.ways, node.transitions, strict=False) if told.condition)
    )


_GO_TO = "to go to "


def _either(names: list[str]) -> str:
    """Ways as a choice: `to open the gate, or to go to the mill or the ford`."""
    places = [name.removeprefix(_GO_TO) for name in names if name.startswith(_GO_TO)]
    if len(places) > 1:
        others = [name for name in names if not name.startswith(_GO_TO)]
        names = [*others, f"{_GO_TO}{', '.join(places[:-1])} or {places[-1]}"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])}, or {names[-1]}"
