"""Running an Ink story from one stop to the next: lines come out, and the story waits for a choice or the host."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice

from fabula.ink import InkBudgetExceeded, Story
from fabula.knots.names import KnotRequest, RequestKind, is_context, request_of, shown_name
from fabula.story.ink_stories import Waiting, labelled

MOST_LINES = 1_000
MOST_BLANK = 20
MOST_LETTERS = 1_000_000
MOST_STEPS = 1_000_000
"""What all lines up to the next stop may take together: some seconds of a processor."""
STEPS_UNWEIGHED = 20_000
MOST_KEPT = 4_000_000
"""Letters of the save that a story would have while it runs. It is weighed when it took so many steps, which make no
more than some megabytes; most turns take far fewer."""
MOST_TRIED = 60
STEPS_PER_LINE = 5_000
"""How far a knot is run to learn what it tells, when nobody plays it."""
FIRST_TRY = 30
"""Most lines take fewer steps."""
OPENING_STEPS = 20_000

Step = Callable[[], str]


class EndlessStory(Exception):
    """The story went on and on without stopping for the reader."""


class HeavyStory(Exception):
    """The story keeps more and more while it runs."""


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of a story, without its line break."""

    text: str
    tags: tuple[str, ...] = ()

    @property
    def context(self) -> bool:
        return is_context(list(self.tags))


def lines_of(story: Story, *, most: int = MOST_LINES, most_kept: int = MOST_KEPT) -> Iterator[Line]:
    """Lines until the story stops; a line that waits for the host comes when it has its answer.

    `most_kept` is how many letters its save may have on the way.
    """
    blank = letters = steps = weighed = 0
    for _ in range(most):
        if not story.can_continue:
            return
        text = story.continue_()
        steps += story.steps_taken
        if steps - weighed > STEPS_UNWEIGHED:
            weighed = steps
            if story.saved_letters(most_kept) > most_kept:
                raise HeavyStory
        if steps > MOST_STEPS:
            break
        if story.pending_request is not None:
            continue
        found = [*line_of(story, text)]
        blank = 0 if found else blank + 1
        letters += len(text)
        if blank > MOST_BLANK or letters > MOST_LETTERS:
            break
        yield from found
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


@dataclass(kw_only=True)
class Ration:
    """The steps that are left for a story which is only tried out.

    The runtime says when a line needs more steps than it may take, and not how many it took. So a line is tried with
    few steps first, then with twice as many, and every try is paid for.
    """

    left: int
    line: int = STEPS_PER_LINE

    def run(self, story: Story, step: Step) -> str:
        """Does one thing to the story; raises InkBudgetExceeded when the line, or everything, has had its steps."""
        most = FIRST_TRY
        while True:
            story.step_budget = min(most, self.line, self.left)
            self.left -= story.step_budget
            try:
                return step()
            except InkBudgetExceeded:
                if most >= self.line or self.left <= 0:
                    raise
            most *= 2


def tried(story: Story, first: Step, ration: Ration, *, answers: Collection[RequestKind]) -> Iterator[str]:
    """What a story tells from here to its next stop, as far as it is worth trying. What it asks for stays empty."""
    step: Step | None = first
    for _ in range(MOST_TRIED):
        if step is None:
            return
        yield ration.run(story, step)
        step = _next_step(story, answers)


def _next_step(story: Story, answers: Collection[RequestKind]) -> Step | None:
    request = request_of(story)
    if request is None:
        return story.continue_ if story.can_continue else None
    return partial(story.resume, "") if request.kind in answers else None


def passage(story: Story, told: Iterator[str], *, home: Collection[str], cut: Callable[[str], str]) -> Iterator[str]:
    """The lines that a reader sees of what is told, up to the first words of knots that are new and not `home`.

    Where such a knot goes on with a line that another one began, `cut` leaves of it what is not the new knot's.
    """
    known, begun = story.visited, False
    for text in told:
        strangers = {path.split(".")[0] for path in story.visited - known}.difference(home)
        if strangers and begun:
            return
        lines = [line.text for line in line_of(story, text) if line.text and not line.context]
        for line in map(cut, lines) if strangers else lines:
            if line:
                begun = True
                yield line


def opening_passage(story: Story, knot: str) -> tuple[tuple[str, ...], frozenset[str]]:
    """The first passage of a knot as it reads before anything has happened, and the flows that were run for it."""
    copy = story.fork()
    copy.choose_path(knot)
    told = tried(copy, copy.continue_, Ration(left=OPENING_STEPS), answers=("generate", "seed"))
    return tuple(islice(passage(copy, told, home={knot.split(".")[0]}, cut=str), 1)), copy.visited
