"""A published Ink story: compiled with the AI knots, analysed, and ready to be played by many at once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, replace

from fabula.ink import Analysis, InkEditedError, Problem, Severity, Story
from fabula.knots.analysis import analyse_story
from fabula.knots.names import written_name
from fabula.knots.saves import saved_request, with_names_of_now
from fabula.language.spoilers import Spoilers


@dataclass(frozen=True, kw_only=True)
class Published:
    """`prototype` is None when the story has errors. `talks` are the (character, target) pairs written in it. `aside`
    is true where names of the story's own made those in our knots step aside."""

    digest: str
    problems: tuple[Problem, ...]
    analysis: Analysis
    spoilers: Spoilers
    prototype: Story | None
    talks: tuple[tuple[str, str], ...]
    aside: bool

    @property
    def errors(self) -> list[str]:
        return self.errors_in(None)

    def errors_in(self, file_name: str | None) -> list[str]:
        """The errors, each with its file and line; `file_name` is how the main file is called."""
        errors = [problem for problem in self.problems if problem.severity is Severity.ERROR]
        return [str(replace(error, file=error.file or file_name)) for error in errors]

    @property
    def playable(self) -> Story:
        """The story that all plays are copies of."""
        assert self.prototype is not None, "a story with errors is not played"
        return self.prototype

    def fresh(self, *, seed: int) -> Story:
        """A play of the story from its beginning."""
        return self.playable.fork(seed=seed)

    def at(self, state: str) -> Story:
        """A play at a saved place; raises InkEditedError when the place is gone."""
        story = self.fresh(seed=0)
        try:
            story.load_state(with_names_of_now(state, aside=self.aside))
        except InkEditedError as error:
            raise _of_the_talk(error, state) from None
        return story


def publish(source: str, files: Mapping[str, str], *, forgiving: bool = False) -> Published:
    """Compiles and looks a story through; what is wrong with it is in `problems`.

    `forgiving` takes what an earlier version published, though it would be refused now.
    """
    too_large = None if forgiving else _size_problem(source, files)
    analysed = analyse_story("" if too_large else source, include=files.get, forgiving=forgiving)
    if too_large:
        analysed = replace(analysed, problems=(too_large,), prototype=None)
    if analysed.prototype is not None:
        analysed.prototype.prepare_saves()
    return Published(
        digest=source_digest(source, files),
        problems=analysed.problems,
        analysis=analysed.analysis,
        spoilers=spoilers_of(analysed.analysis),
        prototype=analysed.prototype,
        talks=analysed.talks,
        aside=analysed.aside,
    )


def spoilers_of(analysis: Analysis) -> Spoilers:
    """What an Ink story must not give away before its time: the texts of all flows."""
    return Spoilers.of([(flow.name, span.text) for flow in analysis.flows for span in flow.spans])


_MARKS = "{|*+~=<>()[!&%#\n"
_COMMON_MARKS = (",", "-", "/", " and ", " or ", " mod ", " has ")
LONGEST_LINE = 50_000
MOST_MARKS = 100_000
"""Every mark becomes about a kilobyte of story. Those of the second kind stand in prose, too, and count half."""
_BEGINNINGS = ("*", "+", "-")
_OF_A_CHOICE = 12
_OF_A_BRANCH = 4
"""What a line that is a choice (thirteen kilobytes), a gather or a branch (four) counts beyond its signs."""
_OF_ALTERNATIVES = {"{": 3, "|": 3}
"""What begins a condition or another alternative (four kilobytes) counts beyond being a sign."""


def _size_problem(source: str, files: Mapping[str, str]) -> Problem | None:
    """What is too large cannot even be compiled: a source of all braces takes a thousand times its letters."""
    marks = marks_in(source, files)
    if marks > MOST_MARKS:
        message = (
            f"The story is too large: its lines, choices, braces and signs come to {marks}; {MOST_MARKS} are the most. "
            "Divide it into several stories"
        )
        return Problem(severity=Severity.ERROR, message=message, file=None, line=1, column=1)
    return _long_line(source, None) or next(
        filter(None, (_long_line(text, name) for name, text in files.items())), None
    )


def _long_line(text: str, file: str | None) -> Problem | None:
    """A line is looked through in one go, and nobody else has a turn meanwhile."""
    if len(text) <= LONGEST_LINE:
        return None
    for number, line in enumerate(text.split("\n"), 1):
        if len(line) > LONGEST_LINE:
            message = f"This line has {len(line)} letters; {LONGEST_LINE} are the most. Break it into several"
            return Problem(severity=Severity.ERROR, message=message, file=file, line=number, column=1)
    return None


def marks_in(source: str, files: Mapping[str, str]) -> int:
    """How large a story becomes when it is compiled, in marks."""
    return sum(map(_count_marks, (source, *files.values())))


def _count_marks(text: str) -> int:
    spaced = text.replace("\t", " ")
    signs = sum(map(spaced.count, _MARKS)) + sum(map(spaced.count, _COMMON_MARKS)) // 2
    signs += sum(more * spaced.count(sign) for sign, more in _OF_ALTERNATIVES.items())
    # What is too large anyhow may have millions of lines.
    return signs if signs > MOST_MARKS else signs + sum(map(_beyond_signs, spaced.split("\n")))


def _beyond_signs(line: str) -> int:
    begins = line.lstrip(" ")
    if not begins.startswith(_BEGINNINGS):
        return 0
    # A choice may stand in the line of its gather, behind the label.
    within = begins.lstrip(" -")
    if within.startswith("("):
        within = within.partition(")")[2].lstrip(" -")
    if within.startswith(("*", "+")):
        return _OF_A_CHOICE
    return 0 if begins.startswith("->") else _OF_A_BRANCH


def source_digest(source: str, files: Mapping[str, str]) -> str:
    """The hash of a story's whole source."""
    whole = json.dumps([source, sorted(files.items())], ensure_ascii=False)
    return hashlib.sha256(whole.encode("utf-8", "surrogatepass")).hexdigest()


def _of_the_talk(error: InkEditedError, state: str) -> InkEditedError:
    """The same error; a place that our own knots hold is called what it is to the author, not by our variable."""
    request = saved_request(state)
    if request is None or request.kind not in ("agent", "continue"):
        return error
    for role, path in (("character", request.character), ("goal", request.target)):
        if path and f"({path})" in error.reason:
            reason = f"The story was edited: the {role} ({written_name(path)}) of this talk does not exist any more."
            return InkEditedError(reason, error.resume_turn, error.resume_knot)
    return error
