"""Warnings: what can be played with AI knots and would disappoint its author, each told with what to do about it."""

from __future__ import annotations

from collections.abc import Iterator
from difflib import get_close_matches
from itertools import islice, takewhile

from fabula.ink import InkError, Problem, Severity, Story
from fabula.ink.syntax.tree import (
    Choice,
    Conditional,
    DivertKind,
    Flow,
    Output,
    Sequence,
    String,
    Text,
    VariableDeclaration,
    walk,
)
from fabula.knots.names import CONTEXT_TAG, default_ai_seed
from fabula.knots.sample_runs import spoken_lines
from fabula.knots.scan import Scan
from fabula.knots.story_steps import opening_passage

MOST_RUN = 100
MOST_SILENT = 20
"""So many characters and goals are run for a check, until so many were silent: each of those takes its time."""

_OTHER_WORDS = frozenset({"content", "contents", "contest"})


def warnings_of(scan: Scan) -> Iterator[Problem]:
    """What the source alone shows."""
    yield from _goals_that_are_characters(scan)
    yield from _talks_inside_characters(scan)
    yield from _talks_as_threads(scan)
    yield from _tags_that_are_nearly_context(scan)
    yield from _empty_prompts(scan)
    yield from _answers_that_are_kept_nowhere(scan)


def warnings_of_runs(scan: Scan, story: Story) -> Iterator[Problem]:
    """What shows when the knots that talks name are run from the story's beginning."""
    yield from islice(_silent_characters(scan, story), MOST_SILENT)
    yield from islice(_silent_goals(scan, story), MOST_SILENT)


def _goals_that_are_characters(scan: Scan) -> Iterator[Problem]:
    for talk in scan.talks:
        if talk.character and talk.goal and talk.character.name == talk.goal.name:
            yield _warning(
                scan,
                talk.goal.at,
                f"'{talk.goal.name}' is both the character and the goal of this agent, so the talk leads to the "
                "character's own lines: name the knot where the story goes on as the goal",
            )


def _talks_inside_characters(scan: Scan) -> Iterator[Problem]:
    characters = {talk.character.name for talk in scan.talks if talk.character}
    for talk in scan.talks:
        if talk.within in characters:
            yield _warning(
                scan,
                talk.at,
                f"'{talk.within}' is a character, and of its knot only what stands before this {talk.word} is known "
                "to it: put this talk into a knot of its own",
            )


def _talks_as_threads(scan: Scan) -> Iterator[Problem]:
    for talk in scan.talks:
        if talk.kind is DivertKind.THREAD:
            yield _warning(
                scan,
                talk.at,
                "A talk cannot go on beside choices: lines and choices after this thread wait until it has led to its "
                f"goal. Write -> {talk.word}(...) behind a choice to offer the talk among others",
            )


def _tags_that_are_nearly_context(scan: Scan) -> Iterator[Problem]:
    for tag in scan.tags:
        if _is_nearly_context(tag.text):
            yield _warning(
                scan,
                tag.at,
                f"The tag '# {tag.text}' is not '# {CONTEXT_TAG}', so this line is shown to the reader: "
                f"write '# {CONTEXT_TAG}' if only the characters may know it",
            )


def _is_nearly_context(text: str) -> bool:
    whole = text.casefold()
    if whole == CONTEXT_TAG:
        return False
    word = whole.partition(":")[0].strip()
    return word not in _OTHER_WORDS and bool(get_close_matches(word, [CONTEXT_TAG], cutoff=0.8))


def _empty_prompts(scan: Scan) -> Iterator[Problem]:
    for call in scan.calls:
        prompt = call.args[0] if call.name == "generate" and call.args else None
        if isinstance(prompt, String) and all(
            isinstance(part, Text) and not part.text.strip() for part in prompt.parts
        ):
            yield _warning(
                scan,
                call.at,
                "The prompt of this generate is empty, so anything may be written here: "
                "say in the quotes what to write",
            )


def _answers_that_are_kept_nowhere(scan: Scan) -> Iterator[Problem]:
    declared = {node.name for node in walk(*scan.result.tree.nodes) if isinstance(node, VariableDeclaration)}
    for call in scan.calls:
        kept_in = call.args[1] if call.name == "input" and len(call.args) == 2 else None
        if isinstance(kept_in, String) and all(isinstance(part, Text) for part in kept_in.parts):
            name = "".join(part.text for part in kept_in.parts if isinstance(part, Text))
            if name not in declared:
                yield _warning(
                    scan,
                    call.at,
                    f"There is no variable '{name}' to keep the answer in, so the story fails here: declare it with "
                    f'VAR {name or "answer"} = ""',
                )


def _silent_characters(scan: Scan, story: Story) -> Iterator[Problem]:
    characters = {
        talk.character.name: talk.character.flow for talk in scan.talks if talk.character and talk.character.flow
    }
    for name, flow in islice(characters.items(), MOST_RUN):
        if next(spoken_lines(story, name, seed=default_ai_seed()), None) is None:
            yield _warning(
                scan,
                flow.at,
                f"The character '{name}' has no line to speak from, in no run of its knot: "
                "write there what the character says",
            )


def _silent_goals(scan: Scan, story: Story) -> Iterator[Problem]:
    goals = {talk.goal.name: talk.goal.flow for talk in scan.talks if talk.goal and talk.goal.flow}
    flows = _flows(scan)
    for name, flow in islice(goals.items(), MOST_RUN):
        if _is_silent(story, name, flows):
            yield _warning(
                scan,
                flow.at,
                f"Nothing is written at '{name}' before the story stops or asks the player, so nobody can steer to it "
                "as a goal: begin it with a line of text",
            )


def _is_silent(story: Story, knot: str, flows: dict[str, Flow]) -> bool:
    """Whether nothing is told at a knot, now or later: where that hangs on the story so far, it may be told."""
    try:
        passage, visited = opening_passage(story, knot)
    except InkError:
        return False
    return not passage and not any(_may_change(flows[name]) for name in visited if name in flows)


def _may_change(flow: Flow) -> bool:
    first = takewhile(lambda node: not isinstance(node, Choice), flow.body)
    return any(isinstance(node, Conditional | Sequence | Output) for node in walk(*first))


def _flows(scan: Scan) -> dict[str, Flow]:
    found: dict[str, Flow] = {}
    for knot in scan.result.tree.flows:
        found[knot.name] = knot
        found.update({f"{knot.name}.{stitch.name}": stitch for stitch in knot.stitches})
    return found


def _warning(scan: Scan, at: int, message: str) -> Problem:
    return scan.problem(Severity.WARNING, at, message)
