"""Telling on: the story runs from stop to stop, texts that it asks for are written in, and everyone watches."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace

from fabula.ink import InkEditedError, InkError, Story
from fabula.knots.evaluation import text_evaluator
from fabula.knots.names import KnotRequest, request_of
from fabula.knots.story_steps import MOST_KEPT, EndlessStory, HeavyStory, Line, line_of, lines_of, waiting_for
from fabula.knots.talk_memory import told
from fabula.language.spoilers import Spoilers
from fabula.loops.ink.ink_run import Room
from fabula.loops.ink.questions import Asker
from fabula.loops.turns.stage import Tell
from fabula.ports.errors import BackendError, Conflict
from fabula.ports.threads import run_in_thread
from fabula.story.contexts import InkGenerateContext
from fabula.story.error_values import Hint
from fabula.story.events import GeneratedText, InkChoices, InkInputRequested, InkText, StoryEnded
from fabula.story.ink_stories import Heard, InkPlay, Waiting, labelled
from fabula.story.seeds import derived_seed
from fabula.story.turn_results import InkChoiceView

MOST_TEXTS = 20
LARGEST_SAVE = 1_000_000
"""Every turn keeps the save of the story whole."""
SHORT_SAVE = 20_000
FEW_CHOICES = 50
"""Saves of this size are written faster than a thread is reached."""


@dataclass(kw_only=True)
class Telling:
    """A story being told: what was heard of it, and the lines of this turn.

    `written` are the texts that were written into the story and that no reader has seen yet. `room` is entered while a
    thread runs the story.
    """

    story: Story
    spoilers: Spoilers
    ink: InkPlay
    asker: Asker
    tell: Tell
    lines: list[Line] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    room: Room = nullcontext

    def heard(self, news: Iterable[Heard]) -> None:
        """Joins the history that characters know."""
        history, earlier = told(self.ink.history, self.ink.earlier, news)
        self.ink = self.ink.model_copy(update={"history": history, "earlier": earlier})

    async def take(self, step: Callable[[], str]) -> None:
        """Does one thing to the story, which may finish a line."""
        with story_errors():
            async with self.room():
                text = await run_in_thread(step)
            if self.story.pending_request is None:
                self._show(line_of(self.story, text))

    async def go_on(self) -> InkPlay:
        """Runs until the story waits for the player or ends; answers the play as it then stands."""
        for _ in range(MOST_TEXTS):
            with story_errors():
                async with self.room():
                    lines = await run_in_thread(self._run_on)
                self._show(lines)
            request = request_of(self.story)
            if request is None or request.kind in ("agent", "continue", "input"):
                return await self._stopped()
            await self._answer(request)
        raise BackendError(
            f"The story asks for more than {MOST_TEXTS} texts in one turn. Let the reader choose between."
        )

    def _run_on(self) -> list[Line]:
        return list(lines_of(self.story, most_kept=max(MOST_KEPT, 2 * len(self.ink.state))))

    async def _answer(self, request: KnotRequest) -> None:
        if request.kind == "seed":
            self.ink = self.ink.model_copy(update={"ai_seed": _seed(request.arguments[0])})
            await self.take(lambda: self.story.resume())
            return
        context = InkGenerateContext(
            prompt=request.arguments[0], story_so_far=self.ink.history, earlier=self.ink.earlier
        )
        watch = text_evaluator(self.spoilers, visited=self.story.visited, context=context)
        text = await self.asker.generate(context, self.ink.ai_seed, watch)
        self.written.append(text)
        await self.take(lambda: self.story.resume(text))

    def _show(self, lines: Iterable[Line]) -> None:
        for line in map(self._keep_to_limits, lines):
            self.lines.append(line)
            self.heard([Heard(kind="context" if line.context else "text", text=line.text)])
            if not line.context:
                self._tell_written(line.text)
                self.tell(InkText(text=line.text, tags=tuple(line.tags)))

    def _keep_to_limits(self, line: Line) -> Line:
        """A line as it may be told at this table, whoever wrote it."""
        text = self.asker.keep_to_limits("story", line.text)
        return line if text == line.text else replace(line, text=text)

    def _offer(self, waiting: Waiting) -> Waiting:
        """What the story waits for, as it may be shown at this table; a choice can be made all the same."""
        offered = [(self.asker.keep_to_limits("story", one.text), one.tags) for one in waiting.choices]
        if [text for text, _ in offered] == [one.text for one in waiting.choices]:
            return waiting
        return waiting.model_copy(update={"choices": labelled(offered)})

    def _tell_written(self, shown: str) -> None:
        """Tells the written texts that the reader is about to see; a context line or a variable keeps them quiet."""
        seen = [text for text in self.written if text and text.strip() in shown]
        self.written = [text for text in self.written if text not in seen]
        for text in seen:
            self.tell(GeneratedText(text=text))

    async def _stopped(self) -> InkPlay:
        # What an older play holds beyond the limit may stay, as long as it does not grow.
        most = max(LARGEST_SAVE, len(self.ink.state))
        # Before anything is made of it: a save that is far too long takes seconds to write, and gigabytes.
        letters = self.story.saved_letters(most)
        _refuse_beyond(most, letters)
        many = len(self.story.current_choices) > FEW_CHOICES
        waiting = self._offer(await run_in_thread(waiting_for, self.story) if many else waiting_for(self.story))
        for choice in waiting.choices:
            self._tell_written(choice.text)
        tell_waiting(self.tell, waiting)
        with story_errors():
            is_long = many or letters > SHORT_SAVE or len(self.ink.state) > SHORT_SAVE
            state = await run_in_thread(self.story.state_json) if is_long else self.story.state_json()
        _refuse_beyond(most, len(state))
        return self.ink.model_copy(update={"state": state, "waiting": waiting})


def _refuse_beyond(most: int, letters: int) -> None:
    if letters > most:
        raise BackendError(
            f"What the story keeps of this play has grown to {letters} letters or more; {LARGEST_SAVE} is the most. "
            "Its author can let it keep less, or offer fewer choices at once."
        )


def tell_waiting(tell: Tell, waiting: Waiting) -> None:
    """Says what the story waits for."""
    if waiting.kind == "nothing":
        tell(StoryEnded())
        return
    if waiting.kind == "choice":
        tell(InkChoices(choices=choices_view(waiting)))
    tell(input_asked(waiting))


def choices_view(waiting: Waiting) -> tuple[InkChoiceView, ...]:
    return tuple({"index": one.index, "text": one.text, "tags": [*one.tags]} for one in waiting.choices)


def input_asked(waiting: Waiting) -> InkInputRequested:
    """What is asked of the player."""
    return InkInputRequested(kind=waiting.kind, placeholder=waiting.placeholder, character=waiting.character)


@contextmanager
def story_errors() -> Iterator[None]:
    """What goes wrong inside the story is told as the story's own failing, with where it was."""
    try:
        yield
    except InkEditedError as error:
        raise edited(error) from error
    except InkError as error:
        raise BackendError(f"The story itself failed: {error}. Its author can repair it.") from error
    except HeavyStory:
        raise BackendError(
            "The story keeps more and more while it runs. "
            "Its author can let it keep less, or offer fewer choices at once."
        ) from None
    except EndlessStory:
        raise BackendError("The story runs on without ever waiting for the reader. Its author can repair it.") from None


def edited(error: InkEditedError) -> Conflict:
    """The story was edited away from under a play: why, and where play can go on."""
    return Conflict(
        f"{error.reason.rstrip('.')}.",
        hint=Hint.BACKTRACK,
        reason=error.reason,
        resume_story_turn=error.resume_turn,
        resume_knot=error.resume_knot,
    )


def _seed(text: str) -> int:
    try:
        number = float(text)
    except ValueError:
        return derived_seed(text, "SEED_AI")
    return int(number) & 0x7FFFFFFF if math.isfinite(number) else 0
