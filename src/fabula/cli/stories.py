"""`fabula stories`: which stories there are, copies to change, and stories to remove."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Table

from fabula.actions.house import House
from fabula.actions.library.copy_story import CopyStory, copy_story
from fabula.actions.library.stories import NameStory, delete_story, list_stories
from fabula.actions.listing import Listing, listed_ids
from fabula.actions.plays.sessions import delete_session
from fabula.actions.repositories import ALL_STORIES, SESSIONS
from fabula.actions.views import Nothing
from fabula.cli.in_house import in_house
from fabula.cli.options import ConfigOption, DataDirOption, JsonOption, confirm, print_json, screen, settings_from
from fabula.cli.player.sentences import counted
from fabula.ports.actors import OPERATOR
from fabula.ports.errors import Conflict

app = typer.Typer(help="List, copy and delete stories.", no_args_is_help=True)

Row = dict[str, object]

StoryArgument = Annotated[str, typer.Argument(help="The story's id, from `fabula stories list`.")]


@app.command("list")
def list_(config: ConfigOption = None, data_dir: DataDirOption = None, json: JsonOption = False) -> None:
    """Show the stories, and how often each is being played."""
    rows = in_house(settings_from(config, data_dir=data_dir), _rows)
    if json:
        print_json(list(rows))
    elif rows:
        table = Table("id", "title", "kind", "plays", box=None)
        for row in rows:
            table.add_row(*(str(value) for value in row.values()))
        screen().print(table)
        screen().print("To play one: fabula play --story ID")
    else:
        screen().print("There is no story yet. `fabula samples install` brings some; `fabula story new` makes one.")


@app.command()
def delete(
    story: StoryArgument,
    with_plays: Annotated[bool, typer.Option("--with-plays", help="Remove its plays, too.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Remove a story. One that is being played stays, unless its plays are removed, too."""

    async def remove(house: House) -> str:
        async with house.store.reading() as unit:
            title = (await ALL_STORIES.get(unit, story)).display_name
            plays, _ = await listed_ids(unit, SESSIONS.kind, Listing(), story_id=story)
        if plays and not with_plays:
            raise Conflict(f"“{title}” has {counted(len(plays), 'play')}. To remove them with it, add --with-plays.")
        also = f" with {counted(len(plays), 'play')}" if plays else ""
        confirm(f"Remove “{title}”{also} for good?", yes=yes)
        for session_id in plays:
            await delete_session(house, OPERATOR, session_id, Nothing())
        await delete_story(house, OPERATOR, NameStory(story_id=story))
        return title

    screen().print(f"“{in_house(settings_from(config, data_dir=data_dir), remove)}” is removed.")


@app.command()
def copy(
    story: StoryArgument,
    name: Annotated[str, typer.Argument(help="The copy's title; else the story's, and `copy`.")] = "",
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    json: JsonOption = False,
) -> None:
    """Make a copy of a story, to change it and keep the first one. Both share their cast and lore."""
    command = CopyStory(story_id=story, display_name=name or None)
    made = in_house(settings_from(config, data_dir=data_dir), lambda house: copy_story(house, OPERATOR, command))
    if json:
        print_json({"story_id": made.story_id, "display_name": made.display_name})
    else:
        screen().print(f"“{made.display_name}” is there. Play it with: fabula play --story {made.story_id}")


async def _rows(house: House) -> list[Row]:
    stories = (await list_stories(house, OPERATOR, Listing())).stories
    return [{"id": one.story_id, "title": one.display_name, "kind": one.kind, "plays": one.plays} for one in stories]
