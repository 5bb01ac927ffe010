"""Keep the directives of a world, or of a play: what agents and characters are told to do and to leave.

A session in the envelope stands for its play; what is changed there is a turn, so going back undoes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.outside_values import outside_value
from fabula.actions.plays.amend import Amendment, AtHead, amend
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.play_states import head_state
from fabula.actions.repositories import WORLDS, checked_new_name
from fabula.actions.tools.authority_table import AUTHORITY
from fabula.actions.views import Command, View, refuse
from fabula.ports.actors import Actor
from fabula.ports.errors import InvalidRequest, NotFound
from fabula.story.canon import Moment
from fabula.story.directives import (
    AGENTS,
    EVERYONE,
    MOST_PRIORITY,
    Directive,
    DirectiveKind,
    Phrase,
    Words,
    directive_problems,
)
from fabula.story.values import Id


class ListDirectives(Command):
    """`world_id` is left out where the envelope names a session. `for` keeps those of one agent or character."""

    world_id: str = ""
    target: str | None = Field(default=None, alias="for")


class CreateDirective(Command):
    """`for` is an agent, a character by id, or `everyone`. `expires` is the minute of story time from which it holds no
    more. A prohibition may name `phrases` that are not told, and `tools` that are not called."""

    world_id: str = ""
    directive_id: str | None = None
    kind: DirectiveKind
    target: Id = Field(default=EVERYONE, alias="for")
    text: Words = ""
    priority: int = Field(default=5, ge=1, le=MOST_PRIORITY)
    expires: Moment | None = None
    phrases: list[Phrase] = Field(default=[], max_length=20)
    tools: list[Id] = Field(default=[], max_length=20)


class NameDirective(Command):
    world_id: str = ""
    directive_id: str


class DirectiveView(View):
    """A directive. `own` says that the play has it itself, and not its world; `over` that its time is over."""

    optional = frozenset({"expires", "own", "over"})
    type: Literal["directive"] = "directive"
    directive_id: str
    kind: DirectiveKind
    target: str = Field(alias="for")
    text: str
    priority: int
    expires: int | None = None
    phrases: list[str]
    tools: list[str]
    own: bool = False
    over: bool = False


class DirectivesListed(View):
    """Directives, those of the highest priority first. `minute` is when it is in the story."""

    may_be_large = True
    type: Literal["directives_listed"] = "directives_listed"
    minute: int
    directives: list[DirectiveView]


class DirectiveDeleted(View):
    type: Literal["directive_deleted"] = "directive_deleted"
    directive_id: str


@allowed("author")
async def list_directives(
    house: House, actor: Actor, session_id: str | None, command: ListDirectives
) -> DirectivesListed:
    """Lists what agents and characters are told to do and to leave, in a world or a play."""
    async with house.store.reading() as unit:
        if session_id is None:
            world = await WORLDS.get(unit, command.world_id)
            return _listed(world.directives, (), world.minute, command)
        _, state = await head_state(unit, actor, session_id)
        common = await kind_of_play(state).world_directives(house, unit, session_id, state)
        return _listed(common, state.directives, state.minute, command)


@allowed("author")
async def create_directive(
    house: House, actor: Actor, session_id: str | None, command: CreateDirective
) -> DirectiveView:
    """Tells an agent, a character or everyone to do or to leave something, in a world or in a play alone."""
    name = checked_new_name(command.directive_id or house.ids.new("directive"), "directive")
    fields = {key: value for key, value in command.model_dump(by_alias=True).items() if key != "world_id"}
    directive = outside_value(Directive, {**fields, "directive_id": name}, "The directive")
    refuse([f"there is no tool '{tool}'" for tool in directive.tools if tool not in AUTHORITY], "directive")
    if session_id is None:
        async with house.store.writing() as unit:
            world = await WORLDS.get(unit, command.world_id)
            kept = [*world.directives, directive]
            refuse(directive_problems(kept), "directive")
            await WORLDS.put(unit, world.world_id, world.model_copy(update={"directives": kept}))
        return _view(directive, minute=world.minute, own=False)

    async def change(at: AtHead) -> tuple[Amendment, int]:
        kind = kind_of_play(at.state)
        common = await kind.world_directives(house, at.looking, session_id, at.state)
        _check_target(directive, at)
        refuse(directive_problems([*common, *at.state.directives, directive]), "directive")
        return Amendment(state=kind.direct(at.state, [*at.state.directives, directive])), at.state.minute

    _, minute = await amend(house, actor, session_id, change)
    return _view(directive, minute=minute, own=True)


@allowed("author")
async def delete_directive(
    house: House, actor: Actor, session_id: str | None, command: NameDirective
) -> DirectiveDeleted:
    """Takes a directive back: from a world, or from the play that has it."""
    if session_id is None:
        async with house.store.writing() as unit:
            world = await WORLDS.get(unit, command.world_id)
            kept = _without(world.directives, command.directive_id, "this world")
            await WORLDS.put(unit, world.world_id, world.model_copy(update={"directives": kept}))
        return DirectiveDeleted(directive_id=command.directive_id)

    async def change(at: AtHead) -> tuple[Amendment, None]:
        kept = _without(at.state.directives, command.directive_id, "this play itself; those of its world are there")
        return Amendment(state=kind_of_play(at.state).direct(at.state, kept)), None

    await amend(house, actor, session_id, change)
    return DirectiveDeleted(directive_id=command.directive_id)


def _check_target(directive: Directive, at: AtHead) -> None:
    """What is said to nobody would be kept and never heard."""
    known = {EVERYONE, *AGENTS, *at.state.world.character_state, *at.state.world.active_characters}
    known |= set(at.state.session_characters)
    if directive.target not in known:
        raise InvalidRequest(
            f"There is neither an agent nor a character '{directive.target}' in this play. "
            f"Agents are {', '.join(AGENTS)}; `everyone` means all of them."
        )


def _without(directives: Sequence[Directive], id: str, where: str) -> list[Directive]:
    kept = [one for one in directives if one.directive_id != id]
    if len(kept) == len(directives):
        raise NotFound(f"There is no directive named '{id}' in {where}.", id=id)
    return kept


def _listed(
    common: Sequence[Directive], own: Sequence[Directive], minute: int, command: ListDirectives
) -> DirectivesListed:
    both = ((common, False), (own, True))
    views = [_view(one, minute=minute, own=is_own) for kept, is_own in both for one in kept]
    shown = [one for one in views if command.target in (None, one.target)]
    return DirectivesListed(minute=minute, directives=sorted(shown, key=lambda one: -one.priority))


def _view(one: Directive, *, minute: int, own: bool) -> DirectiveView:
    over = one.expires is not None and minute >= one.expires
    fields = {"for": one.target, **{name: getattr(one, name) for name in Directive.model_fields if name != "target"}}
    return DirectiveView.model_validate({**fields, "own": own, "over": over})
