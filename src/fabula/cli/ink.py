"""`fabula ink`: compile, play and check Ink stories on the command line. Needs no server and no model."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fabula.ink.analysis import Analysis
    from fabula.ink.compiler import Builtins, CompileResult
    from fabula.ink.syntax import Problem

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
    result = _compiled(source, count_all_visits=count_all_visits)
    _tell(result.problems)
    if result.story_json is None:
        raise typer.Exit(1)
    target = output or source.with_suffix(".json")
    target.write_text(result.story_json, encoding="utf-8")


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
    from fabula.agents.knots.names import AI_KNOTS
    from fabula.agents.knots.problems import knot_problems
    from fabula.ink.analysis import analyse

    result = _compiled(source, builtins=AI_KNOTS)
    result = replace(result, problems=(*result.problems, *knot_problems(result)))
    analysis = analyse(result)
    if as_json:
        import json

        typer.echo(json.dumps(_report(result, analysis), ensure_ascii=False, indent=2))
    else:
        _tell(result.problems)
        _summary(analysis)
    if result.errors:
        raise typer.Exit(1)


def _compiled(source: Path, *, count_all_visits: bool = False, builtins: Builtins | None = None) -> CompileResult:
    from fabula.ink.compiler import compile_ink

    def include(name: str) -> str | None:
        file = source.parent / name
        return file.read_text(encoding="utf-8-sig") if file.is_file() else None

    text = source.read_text(encoding="utf-8-sig", errors="replace")
    return compile_ink(
        text, include=include, file_name=source.name, count_all_visits=count_all_visits, builtins=builtins
    )


def _story_json(story: Path) -> str:
    if story.suffix == ".json":
        return story.read_text(encoding="utf-8-sig")
    result = _compiled(story)
    _tell(result.problems)
    if result.story_json is None:
        raise typer.Exit(1)
    return result.story_json


def _tell(problems: Iterable[Problem]) -> None:
    for problem in problems:
        typer.echo(str(problem), err=True)


def _write(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()


def _summary(analysis: Analysis) -> None:
    knots = [flow for flow in analysis.flows if flow.name]
    typer.echo(f"{analysis.words} words, {len(knots)} knots and stitches, {analysis.choices} choices")
    _list("Never reached", analysis.unreachable)
    _list("Never seen", (f"line {span.line}: {span.text[:60]}" for span in analysis.never_seen))
    _list("Read but never set", analysis.read_but_never_set)
    _list("Set but never read", analysis.set_but_never_read)
    _list("Endings", (f"{end.word} on line {end.line}" for end in analysis.endings))


def _list(title: str, items: Iterable[str]) -> None:
    lines = [f"  {item}" for item in items]
    if lines:
        typer.echo("\n".join([f"{title}:", *lines]))


def _report(result: CompileResult, analysis: Analysis) -> dict[str, Any]:
    from dataclasses import asdict

    return {
        "problems": [asdict(problem) for problem in result.problems],
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
