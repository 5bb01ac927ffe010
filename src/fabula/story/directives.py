"""Directives: what agents and characters are told to do or to leave, by whoever runs the table; pure.

They stand in a world, for all its plays, or in a play alone. Which of them hold is decided by priority:

1. One whose time is over holds no more.
2. An `override` silences everything of lower priority that is said to the same one, prohibitions included.
3. A prohibition is the only kind that is enforced: phrases that it names are not told, tools that it names not called.
   What is said in words is told to models, which may fail to keep to it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import Annotated, Final, Literal

from pydantic import Field, StringConstraints, model_validator

from fabula.language.terms import terms_problem
from fabula.story.canon import Moment
from fabula.story.values import Id, Sparse

DirectiveKind = Literal["do", "avoid", "override", "prohibit"]
EVERYONE: Final = "everyone"
TELLING_AGENTS: Final = ("director", "narrator", "actor")
AGENTS: Final = (*TELLING_AGENTS, "keeper", "resolver", "extractor", "canon_keeper", "architect")
"""The agents that can be told something; every other name is that of a character."""
MOST_DIRECTIVES: Final = 40
MOST_NAMED: Final = 20
MOST_PRIORITY: Final = 10

Phrase = Annotated[str, StringConstraints(min_length=2, max_length=100, strip_whitespace=True)]
Words = Annotated[str, StringConstraints(max_length=600, strip_whitespace=True)]


class Directive(Sparse):
    """Something that somebody is told. `target` (in JSON `for`) is an agent, a character by id, or `everyone`.

    `expires` is the minute of story time from which it holds no more. `phrases` and `tools` are what a prohibition
    forbids to tell and to call.
    """

    optional = frozenset({"expires", "phrases", "tools", "text"})
    directive_id: Id
    kind: DirectiveKind
    target: Id = Field(default=EVERYONE, alias="for")
    text: Words = ""
    priority: int = Field(default=5, ge=1, le=MOST_PRIORITY)
    expires: Moment | None = None
    phrases: list[Phrase] = Field(default=[], max_length=MOST_NAMED)
    tools: list[Id] = Field(default=[], max_length=MOST_NAMED)

    @model_validator(mode="after")
    def _says_something(self) -> Directive:
        if not (self.text or self.phrases or self.tools):
            raise ValueError("a directive needs a text, or phrases or tools that it forbids")
        if self.kind != "prohibit" and (self.phrases or self.tools):
            raise ValueError("only a prohibition names phrases and tools")
        return self


def directive_problems(directives: Sequence[Directive]) -> list[str]:
    """What is wrong with the directives of a world or a play, in sentences; empty when all is well."""
    ids = [one.directive_id for one in directives]
    problems = [f"the directive '{id}' is there twice" for id in sorted({id for id in ids if ids.count(id) > 1})]
    if len(ids) > MOST_DIRECTIVES:
        problems.append(f"there are {len(ids)} directives, and {MOST_DIRECTIVES} are the most")
    phrases = {phrase for one in directives for phrase in one.phrases}
    if (problem := terms_problem("the phrases of directives", phrases)) is not None:
        problems.append(problem.removesuffix("."))
    return problems


def holding(directives: Iterable[Directive], targets: Collection[str], minute: Moment) -> list[Directive]:
    """The directives that hold for these agents and characters now, those of the highest priority first."""
    said = [one for one in directives if one.target in targets and (one.expires is None or minute < one.expires)]
    loudest: dict[str, int] = {}
    for one in said:
        if one.kind == "override":
            loudest[one.target] = max(one.priority, loudest.get(one.target, 0))
    # What is said to everyone is said to each of them: an override for everyone silences more than its own name.
    over_all = loudest.get(EVERYONE, 0)
    held = [one for one in said if one.priority >= max(over_all, loudest.get(one.target, 0))]
    return sorted(held, key=lambda one: -one.priority)


def forbidden_phrases(directives: Iterable[Directive], targets: Collection[str], minute: Moment) -> list[str]:
    """What these may not tell now."""
    held = holding(directives, targets, minute)
    return list(dict.fromkeys(phrase for one in held if one.kind == "prohibit" for phrase in one.phrases))


def forbidding(directives: Iterable[Directive], agent: str, tool: str, minute: Moment) -> Directive | None:
    """The prohibition by which an agent may not call a tool now."""
    held = holding(directives, (EVERYONE, agent), minute)
    return next((one for one in held if one.kind == "prohibit" and tool in one.tools), None)
