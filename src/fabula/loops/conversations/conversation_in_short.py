"""A conversation in short, by rule: the answers in it that say most, in the words of those who talked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fabula.language.english import closed, sentences
from fabula.language.words import stems
from fabula.story.state import MemoryEntry

MOST_TOLD: Final = 3
MOST_SENTENCES: Final = 2
LEAST_SAID: Final = 4
"""So many different words a sentence has that says something."""


def conversation_in_short(lines: Sequence[MemoryEntry]) -> str:
    """Who talked, and the few answers that say most, in their order."""
    answers = [line for line in lines if line.kind == "dialogue"]
    if not answers:
        return ""
    player = next((line.speaker_name for line in lines if line.kind == "player_input"), "The player")
    names = list(dict.fromkeys(line.speaker_name for line in answers))
    with_whom = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    weighty = sorted(range(len(answers)), key=lambda at: -len(stems(_told(answers[at].text))))[:MOST_TOLD]
    told = [answers[at] for at in sorted(weighty) if len(stems(_told(answers[at].text))) >= LEAST_SAID]
    quoted = [f"{line.speaker_name} said: “{closed(_told(line.text))}”" for line in told]
    return " ".join([f"{player} talked with {with_whom}.", *quoted])


def _told(text: str) -> str:
    """The sentences of an answer that say something, the first ones."""
    return " ".join([one for one in sentences(text) if len(stems(one)) >= LEAST_SAID][:MOST_SENTENCES])
