"""Masks of a play: how what a character presents sits there, and what it hides; for authors only.

What is presented and hidden is the author's data on the character. How firmly the mask sits is part of the play: a
change by hand is a turn like any other, and going back undoes it.
"""

from __future__ import annotations

from typing import Literal

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.memories.story_time import story_minute
from fabula.actions.plays.amend import Amendment, AtHead, amend
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.play_states import head_state
from fabula.actions.views import Command, View
from fabula.ports.actors import Actor
from fabula.ports.errors import NotFound
from fabula.ports.store import Unit
from fabula.recall.moods import mood_of
from fabula.story.minds import InnerLife, Mask, Share, WornMask
from fabula.story.plays import PlayState


class NameMask(Command):
    character_id: str


class UpdateMask(NameMask):
    """How firmly the mask is to sit from now on: 1 shows nothing, below a quarter it may break."""

    integrity: Share


class MaskView(View):
    """A mask as it sits in a play. `shown` are the hidden traits that have come out; `mood` is its wearer's."""

    type: Literal["mask"] = "mask"
    character_id: str
    presented: list[str]
    hidden: list[str]
    shown: list[str]
    integrity: float
    mood: str


@allowed("author")
async def get_mask(house: House, actor: Actor, session_id: str, command: NameMask) -> MaskView:
    """Shows what a character presents and hides, and how firmly its mask sits where the session stands."""
    async with house.store.reading() as unit:
        _, state = await head_state(unit, actor, session_id)
        return _view(command.character_id, await _mask(house, unit, session_id, state, command.character_id), state)


@allowed("author")
async def update_mask(house: House, actor: Actor, session_id: str, command: UpdateMask) -> MaskView:
    """Sets how firmly a mask sits in a play; going back undoes it. Traits are changed with the character."""

    async def change(at: AtHead) -> tuple[Amendment, Mask]:
        mask = await _mask(house, at.looking, session_id, at.state, command.character_id)
        inner = at.state.inner or InnerLife()
        worn = inner.masks.get(command.character_id) or WornMask(minute=story_minute(at.state))
        changed = worn.model_copy(update={"integrity": command.integrity})
        after = inner.model_copy(update={"masks": {**inner.masks, command.character_id: changed}})
        return Amendment(state=at.state.model_copy(update={"inner": after})), mask

    state, mask = await amend(house, actor, session_id, change)
    return _view(command.character_id, mask, state)


async def _mask(house: House, unit: Unit, session_id: str, state: PlayState, character_id: str) -> Mask:
    """The mask of a character of the story that is played; guests, and characters of Ink stories, have none."""
    setup = await kind_of_play(state).setup(house, unit, session_id, state)
    found = None if setup is None else setup.characters.get(character_id)
    if found is None or found.mask is None:
        raise NotFound(f"'{character_id}' wears no mask in this session. Give the character one first.")
    return found.mask


def _view(character_id: str, mask: Mask, state: PlayState) -> MaskView:
    inner = state.inner or InnerLife()
    worn = inner.masks.get(character_id) or WornMask(integrity=mask.integrity)
    return MaskView(
        character_id=character_id,
        presented=mask.presented,
        hidden=mask.hidden,
        shown=mask.hidden[: worn.shown],
        integrity=worn.integrity,
        mood=mood_of(inner.moods.get(character_id)).words,
    )
