"""The architect of worlds: what a model is told that helps an author to build one, and how its answer is read."""

from __future__ import annotations

from importlib.resources import files
from typing import Final

from fabula.agents.phrases import listed, titled
from fabula.ports.models import Message
from fabula.story.worldbuilding import WorldContext

# Read once while the module is imported: a running server must not touch files on its event loop.
_ROLE: Final = files("fabula.agents").joinpath("texts", "world_architect.txt").read_text("utf-8").strip()
LONGEST_REPLY: Final = 1_500
MOST_KNOWN: Final = 80


def world_messages(context: WorldContext) -> tuple[Message, ...]:
    """What the architect is told."""
    counts = ", ".join(f"{aspect}: {count}" for aspect, count in context.coverage.counts.items())
    parts = [
        titled("The world", f"{context.name}\n{context.description}".strip()),
        listed("What is true in it", context.known[:MOST_KNOWN]),
        titled("How much there is", counts),
        titled("What is missing most", ", ".join(context.coverage.gaps)),
        titled("Named, and nothing more", ", ".join(context.coverage.bare)),
        listed("What you asked lately", context.asked[-5:]),
        titled("What the author has just said", f"<<<{context.text}>>>" if context.text else "(nothing yet)"),
    ]
    return (
        Message(role="system", content=_ROLE),
        Message(role="user", content="\n\n".join(part for part in parts if part)),
    )


def read_reply(text: str) -> str:
    """The architect's words, in one paragraph."""
    return " ".join(text.split())[:LONGEST_REPLY]
