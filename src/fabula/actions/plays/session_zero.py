"""Session zero of a world or a play: three questions, and what was answered; it may be revised in play.

It is one way to set boundaries; the other one is `actions/plays/boundaries`.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.plays.amend import Amendment, AtHead, amend
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.play_states import head_state
from fabula.actions.repositories import WORLDS
from fabula.actions.views import Command, View
from fabula.ports.actors import Actor
from fabula.ports.errors import InvalidRequest
from fabula.story.session_zero import (
    LONGEST_ANSWER,
    LONGEST_PREMISE,
    QUESTIONS,
    Question,
    SessionZero,
    boundaries_in,
    themes_in,
)


class AskSessionZero(Command):
    """Of the play in the envelope, or of a world."""

    world_id: str = ""


class AnswerSessionZero(AskSessionZero):
    """Answers in plain words. What is left out stays as it is; an empty answer takes it away."""

    premise: str | None = Field(default=None, max_length=LONGEST_PREMISE)
    themes: str | None = Field(default=None, max_length=LONGEST_ANSWER)
    boundaries: str | None = Field(default=None, max_length=LONGEST_ANSWER)


class SessionZeroView(View):
    """What was agreed upon, and the questions. `lines` are what must not happen, `veils` what is not shown; the
    boundaries of a play's world count beside them."""

    type: Literal["session_zero"] = "session_zero"
    questions: dict[Question, str]
    premise: str
    themes: list[str]
    lines: list[str]
    veils: list[str]


@allowed("player")
async def get_session_zero(
    house: House, actor: Actor, session_id: str | None, command: AskSessionZero
) -> SessionZeroView:
    """Shows what was agreed upon for a play or a world, and the three questions."""
    async with house.store.reading() as unit:
        if session_id is not None:
            return _view((await head_state(unit, actor, session_id))[1].session_zero)
        actor.must_be("author", "To see what was agreed upon for a world")
        return _view((await WORLDS.get(unit, _named(command))).session_zero)


@allowed("player")
async def update_session_zero(
    house: House, actor: Actor, session_id: str | None, command: AnswerSessionZero
) -> SessionZeroView:
    """Sets what was agreed upon: for a play from this turn on, or for a world and the plays that begin in it."""
    if session_id is not None:

        async def change(at: AtHead) -> tuple[Amendment, SessionZero]:
            agreed = answered(at.state.session_zero or SessionZero(), command)
            state = kind_of_play(at.state).agree(at.state, None if agreed.is_empty else agreed)
            return Amendment(state=state), agreed

        return _view((await amend(house, actor, session_id, change))[1])
    actor.must_be("author", "To agree upon something for a world")
    async with house.store.writing() as unit:
        world = await WORLDS.get(unit, _named(command))
        agreed = answered(world.session_zero or SessionZero(), command)
        await WORLDS.put(unit, world.world_id, world.agreeing(agreed, now_ms=house.clock.now_ms()))
    return _view(agreed)


def _named(command: AskSessionZero) -> str:
    if not command.world_id:
        raise InvalidRequest("Say for what: a `session_id` in the envelope, or a `world_id`.")
    return command.world_id


def answered(before: SessionZero, command: AnswerSessionZero) -> SessionZero:
    """What is agreed upon after the answers."""
    update: dict[str, object] = {}
    if command.premise is not None:
        update["premise"] = " ".join(command.premise.split())
    if command.themes is not None:
        update["themes"] = themes_in(command.themes)
    if command.boundaries is not None:
        update["lines"], update["veils"] = boundaries_in(command.boundaries)
    return before.model_copy(update=update)


def _view(agreed: SessionZero | None) -> SessionZeroView:
    known = agreed or SessionZero()
    return SessionZeroView(
        questions=QUESTIONS, premise=known.premise, themes=known.themes, lines=known.lines, veils=known.veils
    )
