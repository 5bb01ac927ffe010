"""A published Ink story: compiled with the AI knots, looked through, and ready to be played by many at once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass

from fabula.agents.knots.names import AI_KNOTS, bind_knots, request_of
from fabula.agents.knots.problems import knot_problems, talks_of
from fabula.agents.knots.spoilers import Spoilers
from fabula.ink import Analysis, InkEditedError, Problem, Severity, Story, analyse, compile_ink

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
        talks=tuple(sorted(set(talks_of(result)))),
    )


def source_digest(source: str, files: Mapping[str, str]) -> str:
    """The hash of a story's whole source."""
    whole = json.dumps([source, sorted(files.items())], ensure_ascii=False)
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()


def _prototype(story_json: str) -> Story:
    story = bind_knots(Story(story_json))
    story.step_budget = STEP_BUDGET
    return story
