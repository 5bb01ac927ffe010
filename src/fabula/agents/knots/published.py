"""A published Ink story: compiled with the AI knots, looked through, and ready to be played by many at once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from fabula.agents.knots.names import AI_KNOTS, bind_knots, request_of
from fabula.agents.knots.spoilers import Spoilers
from fabula.ink import Analysis, CompileResult, InkEditedError, Problem, Severity, Story, analyse, compile_ink
from fabula.ink.syntax.tree import Divert, DivertTarget, Flow, walk

STEP_BUDGET = 100_000


@dataclass(frozen=True, kw_only=True)
class Published:
    """`prototype` is None when the story has errors. `talks` are the (character, target) pairs written in it."""

    digest: str
    problems: tuple[Problem, ...]
    analysis: Analysis
    spoilers: Spoilers
    prototype: Story | None
    talks: tuple[tuple[str, str], ...]

    @property
    def errors(self) -> list[str]:
        return [str(problem) for problem in self.problems if problem.severity is Severity.ERROR]

    def fresh(self, *, seed: int) -> Story:
        """A play of the story from its beginning."""
        assert self.prototype is not None, "a story with errors is not played"
        return self.prototype.fork(seed=seed)

    def at(self, state: str) -> Story:
        """A play at a saved moment; raises InkEditedError when the place is gone."""
        story = self.fresh(seed=0)
        story.load_state(state)
        request = request_of(story)
        if request is not None and request.kind in ("agent", "continue"):
            for knot in (request.character, request.target):
                if knot and self.analysis.flow(knot) is None:
                    raise InkEditedError(f"The story was edited: the knot '{knot}' of this talk is gone.")
        return story


def publish(source: str, files: Mapping[str, str]) -> Published:
    """Compiles and looks a story through; what is wrong with it is in `problems`."""
    result = compile_ink(source, include=files.get, builtins=AI_KNOTS, count_all_visits=True)
    found = tuple(knot_problems(result))
    analysis = analyse(result)
    faulty = result.story_json is None or any(one.severity is Severity.ERROR for one in found)
    return Published(
        digest=source_digest(source, files),
        problems=tuple(sorted((*result.problems, *found), key=lambda one: (one.file or "", one.line))),
        analysis=analysis,
        spoilers=Spoilers.of(analysis),
        prototype=None if faulty or result.story_json is None else _prototype(result.story_json),
        talks=tuple(sorted(set(_talks(result)))),
    )


def source_digest(source: str, files: Mapping[str, str]) -> str:
    """The hash of a story's whole source."""
    whole = json.dumps([source, sorted(files.items())], ensure_ascii=False)
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()


def _prototype(story_json: str) -> Story:
    story = bind_knots(Story(story_json))
    story.step_budget = STEP_BUDGET
    return story


def _calls(result: CompileResult) -> Iterator[tuple[Divert, tuple[Divert, ...]]]:
    """Every divert to an AI knot that the story does not define itself, with the knots it names."""
    own = {flow.name for flow in result.tree.flows}
    bodies = [result.tree.body, *(part.body for flow in result.tree.flows for part in (flow, *flow.stitches))]
    for body in bodies:
        for node in walk(*body):
            if isinstance(node, Divert) and node.name in ("agent", "continue") and node.name not in own:
                yield node, tuple(arg.divert for arg in node.args if isinstance(arg, DivertTarget))


def _talks(result: CompileResult) -> Iterator[tuple[str, str]]:
    for node, named in _calls(result):
        if node.name == "agent" and len(named) == 2:
            yield named[0].name, named[1].name


def knot_problems(result: CompileResult) -> Iterator[Problem]:
    """What the compiler cannot know: a knot that an AI hands back to gets no arguments."""
    flows: dict[str, Flow] = {}
    for flow in result.tree.flows:
        flows[flow.name] = flow
        flows.update({f"{flow.name}.{stitch.name}": stitch for stitch in flow.stitches})
    for node, named in _calls(result):
        for one in named:
            flow_named = flows.get(one.name)
            if flow_named is not None and flow_named.params:
                yield _problem(result, one.at, f"'{one.name}' needs arguments, so {node.name} cannot go to it")


def _problem(result: CompileResult, at: int, message: str) -> Problem:
    place = result.sources.place(at)
    return Problem(severity=Severity.ERROR, message=message, file=place.file, line=place.line, column=place.column)
