"""Where a scene takes place: what lore or concept says of it, or one of a few places that suit any story."""

from __future__ import annotations

from fabula.language.english import sentences, told_sentences
from fabula.language.words import stems
from fabula.story.contexts import ArchitectContext
from fabula.understudy.voice import Voice

ANYWHERE = (
    "A narrow room with one window, and one chair too many.",
    "The open air: wind, and a long way to see.",
    "A landing between two flights of stairs, lit from below.",
    "A long table with a single lamp on it, and papers nobody has put away.",
    "A doorway, half in the light and half out of it.",
    "A yard with high walls, and the sky like a lid over it.",
    "A passage that smells of dust and cold metal.",
    "A place by the water, where every sound comes back a moment later.",
    "A small kitchen where the fire has burned low.",
    "A flat roof, with the whole town beneath it.",
    "A back room behind a heavy curtain.",
    "A crossing of two ways, with a stone in the middle to sit on.",
)


def place_for(context: ArchitectContext, text: str, voice: Voice) -> str:
    """One sentence that shows where it is."""
    topic = stems(text)
    known = [
        line
        for note in [*context.lore.matched, *context.lore.base]
        for line in sentences(note.content)[:2]
        if topic & (stems(note.title) | stems(line))
    ]
    if known:
        return known[0]
    concept = told_sentences(context.story_concept, "")
    told = "\n".join(node.scene for node in context.graph_nodes)
    fresh = [line for line in concept if line not in told and line not in text]
    if context.section_index == 0 and fresh:
        return fresh[0]
    return voice.pick([place for place in ANYWHERE if place not in told] or ANYWHERE)
