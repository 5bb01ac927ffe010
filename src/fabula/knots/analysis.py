"""The analysis of a story before anybody plays it.

1. It is compiled with the AI knots. 2. Its source is read for them. 3. What the compiler found is told in the words of
who writes AI knots, and what only they know is added. 4. When it can be played, the knots that its talks name are run.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from fabula.ink import Analysis, Builtins, CompileResult, InkError, Problem, Severity, Story, analyse, compile_ink
from fabula.ink.compiler.compile import HOST_FILE
from fabula.knots.errors import errors_of, functions_of_no_game
from fabula.knots.hints import hints_of
from fabula.knots.names import AI_KNOTS, AI_KNOTS_ASIDE, bind_knots
from fabula.knots.scan import Scan, scan_story
from fabula.knots.warnings import warnings_of, warnings_of_runs

STEP_BUDGET = 100_000


@dataclass(frozen=True, kw_only=True)
class StoryAnalysis:
    """What was seen of a story. `prototype` is None when it has errors; problems are in reading order. `aside` tells
    whether the names in our own knots stepped aside for names of the story's own."""

    problems: tuple[Problem, ...]
    analysis: Analysis
    talks: tuple[tuple[str, str], ...]
    prototype: Story | None
    aside: bool


def analyse_story(
    source: str, *, include: Callable[[str], str | None], file_name: str | None = None, forgiving: bool = False
) -> StoryAnalysis:
    """Compiles and analyses a story; `file_name` is how its main file is called in problems."""
    result, aside = _compiled(source, include, file_name, forgiving=forgiving)
    scan = scan_story(result)
    problems = [*hints_of(scan), *errors_of(scan), *warnings_of(scan)]
    if not forgiving:
        problems += functions_of_no_game(scan)
    faulty = any(problem.severity is Severity.ERROR for problem in problems)
    prototype = None
    if not faulty and result.story_json is not None:
        try:
            prototype = _prototype(result.story_json)
            problems += warnings_of_runs(scan, prototype)
        except InkError as error:
            message = f"The story cannot begin: {error}"
            problems.append(Problem(severity=Severity.ERROR, message=message, file=file_name, line=1, column=1))
    return StoryAnalysis(
        problems=_in_reading_order(problems, result),
        analysis=_without_characters_endings(analyse(result), scan),
        talks=tuple(sorted(set(_pairs(scan)))),
        prototype=prototype,
        aside=aside,
    )


def _compiled(
    source: str, include: Callable[[str], str | None], file_name: str | None, *, forgiving: bool
) -> tuple[CompileResult, bool]:
    def compiled(knots: Builtins) -> CompileResult:
        return compile_ink(
            source,
            include=include,
            file_name=file_name,
            builtins=knots,
            count_all_visits=True,
            forgiving=forgiving,
        )

    result = compiled(AI_KNOTS)
    clashes = any(problem.file == HOST_FILE for problem in result.problems)
    return (compiled(AI_KNOTS_ASIDE), True) if clashes else (result, False)


def _prototype(story_json: str) -> Story:
    story = bind_knots(Story(story_json))
    story.step_budget = STEP_BUDGET
    return story


def _pairs(scan: Scan) -> list[tuple[str, str]]:
    """Who talks, and where it leads, for every agent that names both."""
    return [(talk.character.name, talk.goal.name) for talk in scan.talks if talk.character and talk.goal]


def _in_reading_order(problems: list[Problem], result: CompileResult) -> tuple[Problem, ...]:
    order = {file.name: number for number, file in reversed(list(enumerate(result.sources.files)))}
    return tuple(sorted(problems, key=lambda problem: (order.get(problem.file, len(order)), problem.line)))


def _without_characters_endings(analysis: Analysis, scan: Scan) -> Analysis:
    """Where a knot stops that is only ever a character's, nothing ends but what the character says."""
    ways = [
        replace(flow, leads_to=tuple(name for name in flow.leads_to if (flow.name, name) not in scan.as_characters))
        for flow in analysis.flows
    ]
    played = replace(analysis, flows=tuple(ways)).reachable_from()
    characters = analysis.reachable_from() - played
    return replace(analysis, endings=tuple(one for one in analysis.endings if one.flow not in characters))
