"""The summariser's prompt and its answer: some lines of a play become a few sentences."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.resources import files

from fabula.agents.phrases import history_text, titled
from fabula.language.english import sentences
from fabula.ports.models import Message
from fabula.story.changes import newest_within
from fabula.story.state import MemoryEntry
from fabula.story.summaries import words_counted

MOST_LETTERS = 40_000
FEWEST_WORDS = 4
ROOM = 1.5
"""A model may need so many times the words that it was given."""

# Read once while the module is imported: a running server must not touch files on its event loop.
_ROLE = files("fabula.agents").joinpath("texts", "summariser.txt").read_text("utf-8").strip()


def write_summary_prompt(lines: Sequence[MemoryEntry], *, words: int, before: str) -> tuple[Message, ...]:
    """What the summariser is told: what happened earlier, then the lines."""
    told = [line for line in newest_within(lines, MOST_LETTERS) if line.kind != "thought"]
    parts = [titled("What happened earlier", before), history_text("Sum up these lines", told)]
    return (
        Message(role="system", content=_ROLE.format(words=words)),
        Message(role="user", content="\n\n".join(part for part in parts if part)),
    )


def read_summary(reply: str, *, words: int) -> str:
    """The summary in a reply, cut after the last sentence that fits; empty if there is none of any use."""
    kept: list[str] = []
    left = round(words * ROOM)
    # One word more than fits tells whether the last sentence ends there; the rest of a reply without end is not read.
    told = reply.replace("*", "").replace("#", "").split(maxsplit=left + 1)[: left + 1]
    for sentence in sentences(" ".join(told)):
        left -= words_counted(sentence)
        if left < 0:
            break
        kept.append(sentence)
    text = " ".join(kept)
    return text if len(text.split()) >= FEWEST_WORDS else ""
