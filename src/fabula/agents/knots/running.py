"""Running an Ink story from one stop to the next: lines come out, and the story waits for a choice or the host."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fabula.agents.knots.names import KnotRequest, is_context, request_of, shown_name
from fabula.ink import Story
from fabula.story.ink_stories import Waiting, labelled

MOST_LINES = 1_000


class EndlessStory(Exception):
    """The story went on and on without stopping for the reader."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of a story, without its line break."""

    text: str
    tags: tuple[str, ...] = ()

    @property
    def context(self) -> bool:
        return is_context(list(self.tags))


def lines_of(story: Story, *, most: int = MOST_LINES) -> Iterator[Line]:
    """Lines until the story stops; a line that waits for the host comes when it has its answer."""
    for _ in range(most):
        if not story.can_continue:
            return
        text = story.continue_()
        if story.pending_request is None:
            yield from line_of(story, text)
    raise EndlessStory


def line_of(story: Story, text: str) -> Iterator[Line]:
    """The line that was just run; one with neither text nor tags is not worth telling."""
    if text.strip() or story.current_tags:
        yield Line(text=text.strip(), tags=tuple(story.current_tags))


def waiting_for(story: Story) -> Waiting:
    """What a story that has stopped waits for."""
    request = request_of(story)
    if request is None:
        choices = labelled([(choice.text, list(choice.tags)) for choice in story.current_choices])
        return Waiting(kind="choice", choices=choices) if choices else Waiting(kind="nothing")
    return _waiting(request)


def _waiting(request: KnotRequest) -> Waiting:
    match request.kind:
        case "agent":
            return Waiting(kind="agent", character=shown_name(request.character))
        case "continue":
            return Waiting(kind="continue")
        case "input":
            return Waiting(kind="text", placeholder=request.arguments[0])
        case _:
            return Waiting(kind="nothing")


def goal_passage(story: Story, target: str, *, most_lines: int = 8) -> tuple[str, ...]:
    """The first passage at the target, found by running a copy; what lies behind the target's knot is not in it."""
    copy = story.fork()
    known, inside = copy.visited, target.split(".")[0]
    found: list[str] = []
    text = copy.resume()
    while len(found) < most_lines:
        strangers = {path.split(".")[0] for path in copy.visited - known} - {inside, "agent", "continue"}
        if copy.pending_request is not None or (strangers and found):
            break
        found += [line.text for line in line_of(copy, text) if line.text and not line.context]
        if not copy.can_continue:
            break
        text = copy.continue_()
    return tuple(found)
