"""An actor: answers the player's line, as the character its author describes."""

from __future__ import annotations

from fabula.story.contexts import ActorContext, ActorPurpose, CastMember, SceneContext
from fabula.understudy.line import Line, line_of
from fabula.understudy.minds import mind_of, shown_move
from fabula.understudy.outcomes import refusal
from fabula.understudy.relations import fearful, shown_standing, taken
from fabula.understudy.scene_view import heard, last_words
from fabula.understudy.speech import answer_to
from fabula.understudy.tones import tone_of
from fabula.understudy.voice import FreshVoice
from fabula.understudy.wishes import parts_as_wished


def act(context: ActorContext, seed: int | None) -> str:
    """The actor's answer in tags."""
    said = [*heard(context), *(entry.text for entry in context.private_memory)]
    voice = FreshVoice(seed, "actor", context.actor.id, context.purpose, last_words(context), said=said)
    parts = perform(context, context.actor, context.purpose, line_of(context), voice)
    return "".join(f"<{kind}>{text}</{kind}>" for kind, text in parts)


def perform(
    context: SceneContext, actor: CastMember, purpose: ActorPurpose, line: Line, voice: FreshVoice
) -> list[tuple[str, str]]:
    """Thought, action and dialogue, each as its kind and text; also used where one call writes the whole turn."""
    tone = tone_of(actor)
    speech = refusal(context.resolutions, actor.id, voice) or taken(context, actor, line, voice)
    if not speech:
        answer = answer_to(context, actor, purpose, line, voice)
        speech = f"{fearful(context, actor, voice) if answer else ''} {answer}".strip()
    move = shown_move(mind_of(context, actor), voice) or shown_standing(context, actor, voice)
    move = move or voice.pick(tone.moves, {"name": actor.name})
    if not speech and not move:
        move = voice.pick(REST, {"name": actor.name}) or f"{actor.name} says nothing."
    thought = voice.pick(tone.thoughts) if voice.chance(2) else ""
    parts = (("thought", thought), ("action", move), ("dialogue", speech))
    return parts_as_wished([(kind, _plain(text)) for kind, text in parts if text], context.wish)


REST = (
    "{name} has nothing to add.",
    "{name} only looks at you.",
    "{name} lets that stand as it is.",
    "{name} is silent.",
    "{name} seems to be elsewhere for a moment.",
    "{name} turns away, and back again.",
)


def _plain(text: str) -> str:
    """Text that cannot be taken for a tag."""
    return text.replace("<", "‹").replace(">", "›")
