"""`fabula ink`: compile, play and check Ink stories on the command line. Needs no server and no model."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from fabula.ink.analysis import Analysis, Ending, TextSpan
    from fabula.ink.compiler import CompileResult
    from fabula.ink.syntax import Problem
    from fabula.knots.analysis import StoryAnalysis

app = typer.Typer(
    name="ink",
    help="Compile, play and check Ink stories.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
)

_Source = Annotated[Path, typer.Argument(help="The story's main .ink file.", exists=True, dir_okay=False)]


@app.command("compile")
def compile_story(
    source: _Source,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where the JSON goes; beside the source when left out.")
    ] = None,
    count_all_visits: Annotated[
        bool, typer.Option("--count-all-visits", "-c", help="Count the visits of every knot, choice and gather.")
    ] = False,
) -> None:
    """Compile a story to the runtime JSON that every Ink runtime reads."""
    target = output or source.with_suffix(".json")
    target.write_text(_compiled(source, count_all_visits=count_all_visits), encoding="utf-8")


@app.command("play")
def play_story(
    story: Annotated[Path, typer.Argument(help="A .ink source or a compiled .json.", exists=True, dir_okay=False)],
    seed: Annotated[int, typer.Option("--seed", help="Feeds RANDOM and shuffles.")] = 0,
) -> None:
    """Play a story line by line; choices are typed as numbers."""
    from fabula.ink.runtime import Story, play_transcript

    text = _story_json(story)
    play_transcript(Story(text, seed=seed), iter(sys.stdin), _write)


@app.command("check")
def check_story(
    source: _Source,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Show a story's problems, what is never reached, its endings and its size; AI knots are known."""
    from fabula.ink.syntax import Severity
    from fabula.knots.analysis import analyse_story

    analysed = analyse_story(_text(source), include=_beside(source), file_name=source.name)
    if as_json:
        import json

        typer.echo(json.dumps(_report(analysed), ensure_ascii=False, indent=2))
    else:
        _tell(analysed.problems)
        if not analysed.problems:
            typer.echo("No problems.")
        _summary(analysed.analysis, source.name)
    if any(problem.severity is Severity.ERROR for problem in analysed.problems):
        raise typer.Exit(1)


def _story_json(story: Path) -> str:
    return story.read_text(encoding="utf-8-sig") if story.suffix == ".json" else _compiled(story)


def _compiled(source: Path, *, count_all_visits: bool = False) -> str:
    """The runtime JSON of a source; what is wrong with it is told, and errors end the command."""
    from fabula.ink.compiler import compile_ink

    result = compile_ink(
        _text(source), include=_beside(source), file_name=source.name, count_all_visits=count_all_visits
    )
    _tell(result.problems)
    if result.story_json is None:
        _tell_of_knots(result, source)
        raise typer.Exit(1)
    return result.story_json


def _text(source: Path) -> str:
    return source.read_text(encoding="utf-8-sig", errors="replace")


def _beside(source: Path) -> Callable[[str], str | None]:
    """Reads the files that a story includes, from where it lies itself."""

    def include(name: str) -> str | None:
        file = source.parent / name
        return file.read_text(encoding="utf-8-sig") if file.is_file() else None

    return include


def _tell_of_knots(result: CompileResult, source: Path) -> None:
    """Plain Ink knows no AI knots: says where a story is played that stumbled over them."""
    from fabula.knots.hints import missing_words

    words = missing_words(result)
    if words:
        where = f"play it with `fabula play --ink {shlex.quote(str(source))}`"
        typer.echo(f"This story uses AI knots ({', '.join(words)}): {where}.", err=True)


def _tell(problems: Iterable[Problem]) -> None:
    for problem in problems:
        typer.echo(str(problem), err=True)


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _summary(analysis: Analysis, main: str) -> None:
    knots = sum(1 for flow in analysis.flows if flow.name)
    counts = (
        _counted(analysis.words, "word", "words"),
        _counted(knots, "knot or stitch", "knots and stitches"),
        _counted(analysis.choices, "choice", "choices"),
    )
    typer.echo(", ".join(counts))
    _list("Never reached", analysis.unreachable)
    _list("Never seen", (f"{_where(span, main)}: {span.text[:60]}" for span in analysis.never_seen))
    _list("Read but never set", analysis.read_but_never_set)
    _list("Set but never read", analysis.set_but_never_read)
    _list("Endings", (f"{ending.word} on {_where(ending, main)}" for ending in analysis.endings))


def _counted(count: int, one: str, many: str) -> str:
    return f"{count} {one if count == 1 else many}"


def _where(thing: Ending | TextSpan, main: str) -> str:
    """A line, with its file when it is not the main one."""
    return f"line {thing.line}" if thing.file == main else f"line {thing.line} of '{thing.file}'"


def _list(title: str, items: Iterable[str]) -> None:
    lines = [f"  {item}" for item in items]
    if lines:
        typer.echo("\n".join([f"{title}:", *lines]))


def _report(analysed: StoryAnalysis) -> dict[str, Any]:
    from dataclasses import asdict

    analysis = analysed.analysis
    return {
        "problems": [asdict(problem) for problem in analysed.problems],
        "words": analysis.words,
        "choices": analysis.choices,
        "flows": [
            {
                "name": flow.name,
                "function": flow.is_function,
                "file": flow.file,
                "line": flow.line,
                "words": flow.words,
                "choices": flow.choices,
                "leads_to": flow.leads_to,
            }
            for flow in analysis.flows
        ],
        "unreachable": analysis.unreachable,
        "never_seen": [asdict(span) for span in analysis.never_seen],
        "endings": [asdict(ending) for ending in analysis.endings],
        "variables": [asdict(variable) for variable in analysis.variables],
        "read_but_never_set": analysis.read_but_never_set,
        "set_but_never_read": analysis.set_but_never_read,
    }
