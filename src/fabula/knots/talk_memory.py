"""What is remembered of a story and its talks: the last of it whole, what went before in short."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fabula.agents.talks.decisions import Decision
from fabula.knots.names import shown_name
from fabula.language.vocabulary import sentences_of
from fabula.story.ink_stories import Heard, Talk, TalkLine

HISTORY_LINES = 40
HISTORY_CHARS = 6_000
TALK_LINES = 8
SHORT = 120
EARLIER_LINES = 16
LONGEST_LINE = 2_000


def told(history: list[Heard], earlier: list[str], news: Iterable[Heard]) -> tuple[list[Heard], list[str]]:
    """The history with what was just told; what no longer fits is kept by its first words."""
    lines = [*history, *(_bounded(one) for one in news if one.text.strip())]
    first = max(0, len(lines) - HISTORY_LINES)
    size = sum(len(one.text) for one in lines[first:])
    while size > HISTORY_CHARS and first < len(lines) - 1:
        size -= len(lines[first].text)
        first += 1
    # Talks keep what went before by themselves, for who was spoken to.
    gone = [in_short(one.text) for one in lines[:first] if one.kind != "reply" and not one.to]
    return lines[first:], [*earlier, *gone][-EARLIER_LINES:]


def known_history(history: Sequence[Heard], character: str) -> list[Heard]:
    """The story so far without what was said in talks with others; the teller, who is nobody, knows all of it.

    Older plays did not keep to whom a line was said: an answer then has its speaker's name before it.
    """
    if not character:
        return list(history)
    name = f"{shown_name(character)}: "
    known: list[Heard] = []
    for place, one in enumerate(history):
        answer = next(iter(history[place + 1 :]), None)
        is_old_talk = one.kind == "said" and not one.to and answer is not None and answer.kind == "reply"
        said_to = answer if is_old_talk else one
        if said_to is not None and _is_of_another(said_to, character, name):
            continue
        known.append(one)
    return known


def _is_of_another(line: Heard, character: str, name: str) -> bool:
    return line.to != character if line.to else line.kind == "reply" and not line.text.startswith(name)


def exchanged(talk: Talk, said: str, decision: Decision) -> Talk:
    """The talk after one more exchange; the character knows what helped and what did not."""
    line = TalkLine(said=said[:LONGEST_LINE], outcome=decision.outcome, reply=decision.reply[:LONGEST_LINE])
    lines = [*talk.lines, line]
    gone = [in_short(f"{one.said} / {one.reply}") for one in lines[:-TALK_LINES]]
    short = in_short(said)
    return Talk(
        lines=lines[-TALK_LINES:],
        earlier=[*talk.earlier, *gone][-EARLIER_LINES:],
        worked=_noted(talk.worked, short, decision.outcome != "INVALID_INPUT" and bool(short)),
        failed=_noted(talk.failed, short, decision.outcome == "INVALID_INPUT" and bool(short)),
        messages=talk.messages + 1,
    )


def in_short(text: str) -> str:
    """The first sentence of a text, or its beginning."""
    first = next(iter(sentences_of(text)), "")
    return first if len(first) <= SHORT else f"{first[: SHORT - 1].rstrip()}…"


def _bounded(line: Heard) -> Heard:
    return line if len(line.text) <= LONGEST_LINE else line.model_copy(update={"text": line.text[:LONGEST_LINE]})


def _noted(notes: list[str], note: str, wanted: bool) -> list[str]:
    return [*notes, note][-4:] if wanted else notes
