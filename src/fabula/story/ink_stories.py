"""Ink stories, and where a play of one stands: the story's own state, what it waits for, and what was told so far."""

from __future__ import annotations

from typing import Literal

from fabula.story.values import Id, Value

WaitingKind = Literal["choice", "text", "agent", "continue", "nothing"]
HeardKind = Literal["text", "context", "choice", "said", "reply"]
Outcome = Literal["DIRECT_CONTINUE", "BRIDGE_AND_CONTINUE", "NEEDS_INPUT", "INVALID_INPUT"]


class InkStory(Value):
    """A story written in Ink. `files` are what it includes, by the names in its INCLUDE lines."""

    kind: Literal["ink"] = "ink"
    story_id: Id
    display_name: str
    source: str
    files: dict[str, str] = {}
    introduction: str = ""


class InkChoice(Value):
    """A choice on offer. `label` is its text, made unique where two choices read alike."""

    index: int
    text: str
    label: str
    tags: list[str] = []


class Waiting(Value):
    """What the story waits for; `nothing` means that it has ended."""

    kind: WaitingKind
    choices: list[InkChoice] = []
    placeholder: str | None = None
    character: str | None = None


class Heard(Value):
    """A line of the story so far, as a character may know it."""

    kind: HeardKind
    text: str


class TalkLine(Value):
    """One exchange with a character: what the player said, what came of it, what was answered."""

    said: str
    outcome: Outcome
    reply: str


class Talk(Value):
    """The conversation with one character: the last exchanges whole, what went before in short."""

    lines: list[TalkLine] = []
    earlier: list[str] = []
    worked: list[str] = []
    failed: list[str] = []
    messages: int = 0


class InkPlay(Value):
    """Everything volatile of an Ink play. `state` is the runtime's own save; `talks` are by character."""

    state: str
    ai_seed: int
    waiting: Waiting
    history: list[Heard] = []
    earlier: list[str] = []
    talks: dict[str, Talk] = {}


def labelled(texts: list[tuple[str, list[str]]]) -> list[InkChoice]:
    """The choices with labels that tell them apart."""
    words = [text for text, _ in texts]
    return [
        InkChoice(
            index=index,
            text=text,
            tags=tags,
            label=text if text and words.count(text) == 1 else f"{text} ({index + 1})".strip(),
        )
        for index, (text, tags) in enumerate(texts)
    ]
