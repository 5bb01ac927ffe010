"""An actor: answers what the player said, as the character its author describes."""

from __future__ import annotations

from fabula.story.contexts import ActorContext, ActorPurpose, CastMember, SceneContext
from fabula.understudy.scene_view import heard, last_words, reading_of
from fabula.understudy.speech import answer_to
from fabula.understudy.tones import tone_of
from fabula.understudy.utterance import Reading
from fabula.understudy.voice import Voice


def act(context: ActorContext, seed: int | None) -> str:
    """The actor's answer in tags."""
    said = [*heard(context), *(entry.text for entry in context.private_memory)]
    voice = Voice(seed, "actor", context.actor.id, context.purpose, last_words(context), said=said)
    parts = perform(context, context.actor, context.purpose, reading_of(context), voice)
    return "".join(f"<{kind}>{text}</{kind}>" for kind, text in parts)


def perform(
    context: SceneContext, actor: CastMember, purpose: ActorPurpose, reading: Reading, voice: Voice
) -> list[tuple[str, str]]:
    """Thought, action and dialogue, each as its kind and text; also used where one call writes the whole turn."""
    tone = tone_of(actor)
    thought = [("thought", _plain(voice.pick(tone.thoughts)))] if voice.chance(2) else []
    return [
        *thought,
        ("action", _plain(voice.pick(tone.moves, {"name": actor.name}))),
        ("dialogue", _plain(answer_to(context, actor, purpose, reading, voice))),
    ]


def _plain(text: str) -> str:
    """Text that cannot be taken for a tag."""
    return text.replace("<", "‹").replace(">", "›")
