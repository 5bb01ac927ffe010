"""Ink stories, and where a play of one stands: the story's own state, what it waits for, and what was told so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import Field

from fabula.story.graph import Graph, Node
from fabula.story.stories import CommonVariable
from fabula.story.values import Id, Value

WaitingKind = Literal["choice", "text", "agent", "continue", "nothing"]
HeardKind = Literal["text", "context", "choice", "said", "reply"]
STORY_NODE = "start"
Outcome = Literal["DIRECT_CONTINUE", "BRIDGE_AND_CONTINUE", "NEEDS_INPUT", "INVALID_INPUT"]


class InkStory(Value):
    """A story written in Ink. `files` are what it includes, by the names in its INCLUDE lines.

    It has neither resource nor schemas nor pinned variables: who asks for them finds them empty.
    """

    kind: Literal["ink"] = "ink"
    story_id: Id
    display_name: str
    source: str
    files: dict[str, str] = {}
    introduction: str = ""

    @property
    def graph(self) -> Graph:
        """One node, for those who look for a graph in every story."""
        node = Node(
            id=STORY_NODE, title=self.display_name, scene=self.introduction, goal="", characters=[], transitions=[]
        )
        return Graph(start_node=STORY_NODE, nodes=[node])

    @property
    def resource_id(self) -> str:
        return ""

    @property
    def world_schema_id(self) -> str:
        return ""

    @property
    def player_schema_id(self) -> str:
        return ""

    @property
    def common_variables(self) -> list[CommonVariable]:
        return []

    @property
    def free(self) -> None:
        """Its plot was written."""
        return None

    @property
    def world_id(self) -> None:
        """What happens in an Ink story is no canon."""

    @property
    def rules(self) -> None:
        """An Ink story has its own rules."""
        return None

    @property
    def world(self) -> None:
        """No time passes in an Ink story but what it counts itself."""


class InkChoice(Value):
    """A choice on offer. `label` is its text, made unique where two choices read alike; older plays hold labels that
    are not."""

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


def _is_to_nobody(value: object) -> bool:
    return value == ""


class Heard(Value):
    """A line of the story so far, as a character may know it. `to` is the character in whose talk it was said."""

    kind: HeardKind
    text: str
    to: str = Field(default="", exclude_if=_is_to_nobody)


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
    labels = labels_of([text for text, _ in texts])
    return [
        InkChoice(index=index, text=text, tags=tags, label=label)
        for index, ((text, tags), label) in enumerate(zip(texts, labels, strict=True))
    ]


def labels_of(texts: Sequence[str]) -> list[str]:
    """A label for each choice: its text, numbered where the text is nothing or another's, too. No two are the same."""
    words = [text.strip() for text in texts]
    return list(_labels(words, Counter(words)))


def _labels(words: Sequence[str], count: Counter[str]) -> Iterator[str]:
    for number, text in enumerate(words, start=1):
        label = text if text and count[text] == 1 else f"{text} ({number})".strip()
        # Another choice may read like a numbered one; the number at the end belongs to this choice alone.
        while label != text and label in count:
            label = f"{label} ({number})"
        yield label
