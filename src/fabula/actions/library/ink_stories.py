"""Keep Ink stories: publish a source, change it, and look one through before it is published."""

from __future__ import annotations

from typing import Literal

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.library.boundary_warnings import BoundaryWarning, boundary_warnings
from fabula.actions.library.stories import InkStoryView, story_view
from fabula.actions.repositories import INK_STORIES
from fabula.actions.views import Command, View
from fabula.ink import Problem
from fabula.knots.published import Published
from fabula.knots.talk_context import introduction_of
from fabula.loops.ink.ink_run import CompiledStory
from fabula.ports.actors import Actor
from fabula.ports.errors import InvalidRequest
from fabula.ports.threads import run_in_thread
from fabula.story.ink_stories import InkStory
from fabula.story.values import Json, Value


class CreateInk(Command):
    display_name: str
    source: str
    files: dict[str, str] = {}


class UpdateInk(Command):
    story_id: str
    display_name: str | None = None
    source: str | None = None
    files: dict[str, str] | None = None


class CheckInk(Command):
    source: str
    files: dict[str, str] = {}


class InkProblem(Value):
    severity: str
    message: str
    file: str | None
    line: int
    column: int


class InkKnot(Value):
    """A knot or stitch; the text before the first knot has the empty name."""

    name: str
    function: bool
    file: str | None
    line: int
    words: int
    choices: int
    leads_to: list[str]
    reachable: bool


class InkVariable(Value):
    name: str
    file: str | None
    line: int
    reads: int
    writes: int


class InkTalk(Value):
    """An `agent` that the story names: who talks, and where it leads."""

    character: str
    target: str


class InkStatistics(Value):
    words: int
    choices: int
    knots: int
    endings: int


class InkChecked(View):
    may_be_large = True
    type: Literal["ink_checked"] = "ink_checked"
    ok: bool
    problems: list[InkProblem]
    knots: list[InkKnot]
    variables: list[InkVariable]
    unreachable: list[str]
    read_but_never_set: list[str]
    set_but_never_read: list[str]
    talks: list[InkTalk]
    statistics: InkStatistics


class InkStoryPublished(InkStoryView):
    """A story that was published, with what its author may want to look at. `warnings` are what of it would cross a
    line of a world: a table that draws the same line is not told it."""

    optional = frozenset({*InkStoryView.optional, "warnings"})
    problems: list[InkProblem]
    warnings: list[BoundaryWarning] = []


@allowed("author")
async def create_ink(house: House, actor: Actor, command: CreateInk) -> InkStoryPublished:
    """Publishes a story written in Ink; errors in its source refuse it, each with its line."""
    name = command.display_name.strip()
    if not name:
        raise InvalidRequest("Give the story a name: `display_name` is empty.")
    work = await _sound(house, command.source, command.files)
    story = InkStory(
        story_id=house.ids.new("story"),
        display_name=name,
        source=command.source,
        files=command.files,
        introduction=await run_in_thread(introduction_of, work.published),
    )
    async with house.store.writing() as unit:
        await INK_STORIES.add(unit, story.story_id, story)
    return _published(story, work.published, await _warnings(house, story))


@allowed("author")
async def update_ink(house: House, actor: Actor, command: UpdateInk) -> InkStoryPublished:
    """Publishes another version of an Ink story; plays go on where their place still exists unchanged."""
    async with house.store.reading() as unit:
        before = await INK_STORIES.get(unit, command.story_id)
    source = before.source if command.source is None else command.source
    files = before.files if command.files is None else command.files
    work = await _sound(house, source, files)
    changes = {
        "display_name": (command.display_name or "").strip() or before.display_name,
        "source": source,
        "files": files,
        "introduction": await run_in_thread(introduction_of, work.published),
    }
    async with house.store.writing() as unit:
        after = (await INK_STORIES.get(unit, command.story_id)).model_copy(update=changes)
        await INK_STORIES.put(unit, after.story_id, after)
    return _published(after, work.published, await _warnings(house, after))


async def _warnings(house: House, story: InkStory) -> list[BoundaryWarning]:
    return await boundary_warnings(house, {f"stories/{story.story_id}": [story.source, *story.files.values()]})


@allowed("author")
async def check_ink(house: House, actor: Actor, command: CheckInk) -> InkChecked:
    """Looks an Ink source through: problems, knots, variables, what is never reached, and its size."""
    return checked((await house.compiled_stories.of(command.source, command.files)).published)


def checked(published: Published) -> InkChecked:
    """What an author wants to know of a source."""
    analysis = published.analysis
    unreachable = set(analysis.unreachable)
    knots = [
        InkKnot(
            name=flow.name,
            function=flow.is_function,
            file=flow.file,
            line=flow.line,
            words=flow.words,
            choices=flow.choices,
            leads_to=list(flow.leads_to),
            reachable=flow.name not in unreachable,
        )
        for flow in analysis.flows
    ]
    return InkChecked(
        ok=not published.errors,
        problems=_problems(published.problems),
        knots=knots,
        variables=[
            InkVariable(name=one.name, file=one.file, line=one.line, reads=one.reads, writes=one.writes)
            for one in analysis.variables
        ],
        unreachable=list(analysis.unreachable),
        read_but_never_set=list(analysis.read_but_never_set),
        set_but_never_read=list(analysis.set_but_never_read),
        talks=[InkTalk(character=character, target=target) for character, target in published.talks],
        statistics=InkStatistics(
            words=analysis.words,
            choices=analysis.choices,
            knots=sum(1 for flow in analysis.flows if flow.name and not flow.is_function),
            endings=len(analysis.endings),
        ),
    )


async def _sound(house: House, source: str, files: dict[str, str]) -> CompiledStory:
    """The story, ready to be played; one with errors is refused."""
    work = await house.compiled_stories.of(source, files)
    if work.published.errors:
        problems: list[Json] = [one.as_json() for one in _problems(work.published.problems)]
        raise InvalidRequest(_refusal(work.published.errors), problems=problems)
    await house.compiled_stories.prepare(work)
    return work


def _refusal(errors: list[str]) -> str:
    """The first error, with its place, and where the others are told."""
    first, *others = (error.removeprefix("ERROR: ") for error in errors)
    sentence = f"The story cannot be published: {first}{'' if first.endswith(('.', '?', '!')) else '.'}"
    if not others:
        return sentence
    more = "1 more error stands" if len(others) == 1 else f"{len(others)} more errors stand"
    return f"{sentence} {more} in `problems`."


def _problems(problems: tuple[Problem, ...]) -> list[InkProblem]:
    return [
        InkProblem(severity=str(one.severity), message=one.message, file=one.file, line=one.line, column=one.column)
        for one in problems
    ]


def _published(story: InkStory, published: Published, warnings: list[BoundaryWarning]) -> InkStoryPublished:
    problems = _problems(published.problems)
    return InkStoryPublished(**dict(story_view(story)), problems=problems, warnings=warnings)
