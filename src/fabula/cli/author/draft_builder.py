"""Building: the plan is shown, edited and kept; then the story grows section by section, and its flaws are shown."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from fabula.actions.drafts.build_story import (
    ContinueDraft,
    GeneratePlan,
    StartDraft,
    continue_draft,
    generate_plan,
    start_draft,
)
from fabula.actions.drafts.story_drafts import NameDraft, StoryDraftView, finalize_draft
from fabula.actions.house import House
from fabula.actions.library.stories import StoryGenerated
from fabula.actions.library.story_resources import UpdateStoryResources, update_story_resources
from fabula.cli.author.questions import Author
from fabula.ports.actors import OPERATOR
from fabula.ports.progress import TellProgress


async def agree_on_plan(house: House, author: Author, resource_id: str) -> None:
    """Shows a plan until the author keeps one; kept is what the author has read."""
    plan = ""
    while True:
        if not plan:
            plan = (await generate_plan(house, OPERATOR, GeneratePlan(resource_id=resource_id))).story_script
        _show_plan(author, plan)
        said = (await author.answer("Keep this plan, edit it, or write another (keep/edit/again)", default="keep"))[0]
        match said.lower():
            case "k":
                break
            case "e":
                plan = await author.edit("Write the plan as you want it.", plan)
            case "a":
                plan = ""
            case _:
                author.writer.say("Answer keep, edit or again.", "yellow")
    await update_story_resources(house, OPERATOR, UpdateStoryResources(resource_id=resource_id, planned_story=plan))


def _show_plan(author: Author, plan: str) -> None:
    author.writer.gap()
    for line in plan.splitlines():
        if line.strip():
            author.writer.say(line.strip(), indent=2 if line.lstrip().startswith("-") else 0)
        else:
            author.writer.gap()
    author.writer.gap()


async def build_draft(house: House, author: Author, resource_id: str, console: Console) -> StoryDraftView:
    """Builds every section; what was built is kept, also when a later section fails."""
    with _progress(console, author) as told:
        draft = await start_draft(house, OPERATOR, StartDraft(resource_id=resource_id), told)
        while draft.status == "building":
            draft = await continue_draft(house, OPERATOR, ContinueDraft(draft_id=draft.draft_id), told)
    return draft


@contextmanager
def _progress(console: Console, author: Author) -> Iterator[TellProgress]:
    """A bar at a terminal, lines in a pipe."""
    if not console.is_terminal:
        yield lambda told: author.writer.row(f"[{told.done}/{told.total}] {told.label}")
        return
    columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("Building", total=None)
        yield lambda told: bar.update(task, completed=told.done, total=told.total, description=told.label)


def show_draft(author: Author, draft: StoryDraftView) -> None:
    """The scenes in short, and what an author should look at."""
    writer = author.writer
    count = len(draft.partial_graph.nodes)
    writer.say(f"{draft.display_name}: {count} {'scene' if count == 1 else 'scenes'}", "bold")
    titles = {node.id: node.title for node in draft.partial_graph.nodes}
    for node in draft.partial_graph.nodes:
        ways = ", ".join(titles.get(way.to, way.to) for way in node.transitions) or "an ending"
        writer.row(f"{node.title} -> {ways}", indent=2)
    if not draft.lint:
        writer.say("Nothing looks wrong with it.", "green")
    for finding in draft.lint:
        writer.say(f"Look at this: {finding.message}.", "yellow")


async def finish(house: House, draft: StoryDraftView) -> StoryGenerated:
    return await finalize_draft(house, OPERATOR, NameDraft(draft_id=draft.draft_id))
