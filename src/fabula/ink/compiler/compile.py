"""Ink source to runtime JSON and problems, in five steps.

1. Parse the story and all files that it includes.
2. Add what the host declares: external functions, and knots in a prelude; the story's own names win.
3. Collect every name.
4. Write each flow into its container, looking names up on the way.
5. When no error was met, write the containers as JSON.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from fabula.ink.compiler.checks import check_flows, check_names
from fabula.ink.compiler.json_writer import story_json
from fabula.ink.compiler.objects import Container
from fabula.ink.compiler.symbols import Symbols, collect, names_given
from fabula.ink.compiler.weave import WeaveWriter
from fabula.ink.syntax.includes import IncludeReader, parse_story
from fabula.ink.syntax.problems import Problem, Severity
from fabula.ink.syntax.sources import ProblemLog, Sources
from fabula.ink.syntax.tree import Divert, Gather, ListDeclaration, StoryTree

HOST_FILE = "<host>"


@dataclass(frozen=True, kw_only=True, slots=True)
class Builtins:
    """Names that the host gives to every story, without the story declaring them.

    `externals` maps a function to the argument counts that it takes; `prelude` is Ink source with knots. The value of
    a function that is `shown` is text of the story where `~ name()` stands on a line of its own.
    """

    externals: Mapping[str, frozenset[int]] = field(default_factory=dict)
    shown: frozenset[str] = frozenset()
    prelude: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class CompileResult:
    """What came of a source: the compiled story (None after errors), the problems, and the tree for a closer look."""

    story_json: str | None
    problems: tuple[Problem, ...]
    tree: StoryTree
    sources: Sources

    @property
    def errors(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.severity is Severity.ERROR)

    @property
    def warnings(self) -> tuple[Problem, ...]:
        return tuple(problem for problem in self.problems if problem.severity is Severity.WARNING)


def compile_ink(
    source: str,
    *,
    include: IncludeReader | None = None,
    file_name: str | None = None,
    builtins: Builtins | None = None,
    count_all_visits: bool = False,
    forgiving: bool = False,
) -> CompileResult:
    """Compile a story. Bad source is never an exception: it is a problem in the result.

    `include` gives the text of a file by the name in the INCLUDE line, or None. `count_all_visits` counts the visits
    of every knot, stitch, choice and gather, not only of those that the story asks about. `forgiving` takes what
    earlier versions of this compiler took, though the reference refuses it.
    """
    sources, log = Sources(), ProblemLog(forgiving=forgiving)
    tree = parse_story(source, file_name=file_name, include=include, sources=sources, log=log)
    host = builtins or Builtins()
    whole = _with_host(tree, host, sources, log)
    own = {flow.name for flow in tree.flows}
    externals = {name: counts for name, counts in host.externals.items() if name not in own}
    symbols = collect(whole, externals, log)
    check_names(symbols, log)
    check_flows(whole, log)
    shown = host.shown & externals.keys()
    root = _write(whole, symbols, log, shown=shown, count_all_visits=count_all_visits)
    text = None if log.errors else story_json(root, _list_definitions(symbols))
    return CompileResult(story_json=text, problems=log.problems(sources), tree=tree, sources=sources)


def _with_host(tree: StoryTree, host: Builtins, sources: Sources, log: ProblemLog) -> StoryTree:
    """The story with the host's knots; where both have a name, the story's own is kept, with a warning."""
    prelude = parse_story(host.prelude, file_name=HOST_FILE, include=None, sources=sources, log=log)
    knots = {flow.name for flow in prelude.flows}
    own = {name: at for name, at in names_given(tree) if name in knots}
    own |= {flow.name: flow.at for flow in tree.flows if flow.name in host.externals}
    for name, at in own.items():
        log.warning(at, f"'{name}' is built in here, but the story's own '{name}' is used")
    added = tuple(flow for flow in prelude.flows if flow.name not in own)
    return replace(tree, body=(*prelude.body, *tree.body), flows=(*tree.flows, *added))


def _write(
    tree: StoryTree, symbols: Symbols, log: ProblemLog, *, shown: frozenset[str], count_all_visits: bool
) -> Container:
    writer = WeaveWriter(symbols, log, count_all_visits=count_all_visits)
    writer.shown = shown
    end = len(tree.body)
    last = tree.body[end - 1].at if end else 0
    # The story's opening ends without a warning, wherever it ends.
    body = (
        *tree.body,
        Gather(at=-1, depth=1, label=None),
        Divert(at=last, target=("DONE",)),
    )
    root = symbols.story.container
    writer.flow(symbols.story, body)
    root.add("done")
    declarations = _declarations(symbols, writer)
    if symbols.variables or symbols.story.temporaries:
        root.keep(declarations)
    return root


def _declarations(symbols: Symbols, writer: WeaveWriter) -> Container:
    """Sets every global variable to its first value."""
    container = Container(name="global decl")
    container.add("ev")
    for name, variable in symbols.variables.items():
        if isinstance(variable, ListDeclaration):
            items = {f"{name}.{item.name}": item.value for item in variable.items if item.initial}
            container.add({"list": {**items}} if items else {"list": {}, "origins": [name]})
        else:
            # A target is looked for from the flow in which its variable is declared.
            writer.scope = symbols.declared_in.get(name, symbols.story)
            writer.value(variable.value, container)
        container.add({"VAR=": name})
    container.content.extend(("/ev", "end"))
    return container


def _list_definitions(symbols: Symbols) -> dict[str, dict[str, int]]:
    return {name: {item.name: item.value for item in one.items} for name, one in symbols.lists.items()}
