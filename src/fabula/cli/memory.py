"""`fabula memory`: what is remembered in a play, what a question brings back, and why."""

from __future__ import annotations

from typing import Annotated

import typer

from fabula.actions.house import House
from fabula.actions.memories.embed_memories import embed_all
from fabula.actions.plays.play_memories import (
    AskKnowledge,
    BeliefsListed,
    Knowledge,
    ListBeliefs,
    ListMemories,
    MemoriesFound,
    MemoriesListed,
    MemoryView,
    SearchMemories,
    ask_knowledge,
    list_beliefs,
    list_memories,
    search_memories,
)
from fabula.cli.in_house import in_house
from fabula.cli.options import ConfigOption, DataDirOption, JsonOption, print_json, screen, settings_from
from fabula.ports.actors import OPERATOR
from fabula.recall.perception import PLAYER_OWNER
from fabula.story.events import Progress

app = typer.Typer(help="See what is remembered in a play, and why it comes up.", no_args_is_help=True)

SessionArgument = Annotated[str, typer.Argument(help="The session, from `fabula sessions list`.")]
QueryArgument = Annotated[str, typer.Argument(help="What is asked.")]
OwnerOption = Annotated[str, typer.Option("--owner", help="Who remembers: the id of a character, or `player`.")]
LimitOption = Annotated[int, typer.Option(help="How many to show.", min=1, max=50)]


@app.command("list")
def list_(
    session: SessionArgument,
    owner: OwnerOption = PLAYER_OWNER,
    limit: LimitOption = 20,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    json: JsonOption = False,
) -> None:
    """Show what somebody remembers where the session stands, the newest first."""

    async def read(house: House) -> MemoriesListed:
        return await list_memories(house, OPERATOR, session, ListMemories(owner_id=owner, limit=limit))

    listed = in_house(settings_from(config, data_dir=data_dir), read)
    if json:
        print_json([one.as_json() for one in listed.memories])
        return
    for one in listed.memories:
        screen().print(_line(one), markup=False, highlight=False)
    if not listed.memories:
        screen().print("Nothing is remembered yet: what happened is written down every few turns.")


@app.command()
def search(
    session: SessionArgument,
    query: QueryArgument,
    owner: OwnerOption = PLAYER_OWNER,
    limit: LimitOption = 10,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    json: JsonOption = False,
) -> None:
    """Show what a question brings back, the strongest first."""
    found = _found(session, query, owner, limit, config, data_dir)
    if json:
        print_json(found.as_json())
        return
    for one in found.found:
        screen().print(_line(one.memory), markup=False, highlight=False)
    if not found.found:
        screen().print("Nothing comes to mind.")


@app.command()
def why(
    session: SessionArgument,
    query: QueryArgument,
    owner: OwnerOption = PLAYER_OWNER,
    limit: LimitOption = 5,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
) -> None:
    """Show what a question brings back, each with the parts of its score."""
    found = _found(session, query, owner, limit, config, data_dir)
    for one in found.found:
        screen().print(_line(one.memory), markup=False, highlight=False)
        parts = ", ".join(f"{reason.part} {reason.score:.2f}" for reason in one.reasons)
        screen().print(f"    {one.score:.2f} = {parts}", markup=False, highlight=False)
    if not found.found:
        screen().print("Nothing comes to mind.")


@app.command()
def beliefs(
    session: SessionArgument,
    owner: OwnerOption = PLAYER_OWNER,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    json: JsonOption = False,
) -> None:
    """Show what somebody takes to be true where the session stands, and how sure they are."""

    async def read(house: House) -> BeliefsListed:
        return await list_beliefs(house, OPERATOR, session, ListBeliefs(owner_id=owner))

    listed = in_house(settings_from(config, data_dir=data_dir), read)
    if json:
        print_json([one.as_json() for one in listed.beliefs])
        return
    for one in listed.beliefs:
        source = f", from {one.from_whom}" if one.from_whom else ""
        screen().print(f"{one.text} ({one.sureness}{source})", markup=False, highlight=False)
    if not listed.beliefs:
        screen().print("Nothing is believed yet.")


@app.command()
def knows(
    session: SessionArgument,
    about: QueryArgument,
    owner: OwnerOption = PLAYER_OWNER,
    config: ConfigOption = None,
    data_dir: DataDirOption = None,
    json: JsonOption = False,
) -> None:
    """Show what somebody knows about something: what they saw, were told, or concluded, and how sure they are."""

    async def read(house: House) -> Knowledge:
        return await ask_knowledge(house, OPERATOR, session, AskKnowledge(owner_id=owner, about=about))

    found = in_house(settings_from(config, data_dir=data_dir), read)
    if json:
        print_json(found.as_json())
        return
    for one in found.known:
        source = f" by {one.from_whom}" if one.from_whom and one.how == "told" else ""
        screen().print(f"{one.how}{source} ({one.certainty:.0%}): {one.text}", markup=False, highlight=False)
    if not found.known:
        screen().print("Nothing is known about that.")


@app.command()
def reembed(config: ConfigOption = None, data_dir: DataDirOption = None) -> None:
    """Make the vectors of all memories that have none, or those of another embedder.

    A server does this by itself, a few minutes at a time. Stop it when you like: the next run goes on where it stood.
    """

    async def embed(house: House) -> int | None:
        return None if house.embedder is None else await embed_all(house, tell)

    def tell(event: Progress) -> None:
        screen().print(f"{event.done} of {event.total} memories", highlight=False)

    done = in_house(settings_from(config, data_dir=data_dir), embed)
    if done is None:
        screen().print("There is no embedder: the setting `embedder` is off.")
    else:
        screen().print(f"Made {done} vectors." if done else "Every memory has its vector.", highlight=False)


def _found(
    session: str, query: str, owner: str, limit: int, config: ConfigOption, data_dir: DataDirOption
) -> MemoriesFound:
    asked = SearchMemories(owner_id=owner, query=query, limit=limit)

    async def read(house: House) -> MemoriesFound:
        return await search_memories(house, OPERATOR, session, asked)

    return in_house(settings_from(config, data_dir=data_dir), read)


def _line(one: MemoryView) -> str:
    return f"{one.speaker}: {one.text}" if one.speaker else one.text
