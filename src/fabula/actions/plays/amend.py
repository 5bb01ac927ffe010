"""Change a play by hand: variables, the player, guests of the scene, and what the transcript says.

Every change is a turn of its own kind in the tree, so that going back undoes it as exactly as anything else.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from fabula.actions.audit_notes import note_crossed, note_objections
from fabula.actions.house import House
from fabula.actions.plays.play_states import head_state
from fabula.actions.plays.table_guardrails import table_guardrails
from fabula.canon.staging import proposals_of, staged_change
from fabula.loops.guardrails import Guardrails
from fabula.loops.turns.follow import follow_with
from fabula.ports.actors import Actor
from fabula.ports.canon_layers import CanonCommit, Ruling
from fabula.ports.errors import Conflict, LineCrossed
from fabula.ports.plays import Finished, MessageChange, NewTurn, Play
from fabula.ports.store import Unit
from fabula.ports.threads import SHORT_TEXTS, run_in_thread
from fabula.ports.work import NewWork
from fabula.rules.guardrails import Objection
from fabula.story.canon import Change
from fabula.story.feed_events import (
    MOST_IDS,
    ConfigChanged,
    HeadMoved,
    MessagesChanged,
    SessionEvent,
    VariablesChanged,
)
from fabula.story.followers import followers_of_change
from fabula.story.plays import PlayState
from fabula.story.scenes import SceneRecord
from fabula.story.state_hash import state_hash
from fabula.story.world_records import mark_world

T = TypeVar("T")
MOST_LOOKS: Final = 3


@dataclass(frozen=True, kw_only=True)
class AtHead:
    """Where a change begins: the session's head, and its state. `turn_id` will be the id of the change itself."""

    house: House
    unit: Unit
    play: Play
    state: PlayState
    turn_id: str

    @property
    def looking(self) -> Unit:
        """For what is only read: plays of one story or world read the same, and need not wait for each other."""
        return self.unit.looking


@dataclass(frozen=True, kw_only=True)
class Amendment:
    """The state after a change, and what the transcript says differently. Of canon: what the change stages, and what
    it decides. `scene` is one that it ends. `label` says in the tree what it was. `objections` are what guardrails left
    out of it; `inputs` are further words of whoever makes it, which must cross no line. `is_checked` says that its
    lines have passed the guardrails: a mark in them may have a word that crosses a line by itself."""

    state: PlayState
    messages: Sequence[MessageChange] = ()
    staged: Sequence[Change] = ()
    record: CanonCommit | None = None
    rulings: Sequence[Ruling] = ()
    scene: SceneRecord | None = None
    label: str = ""
    objections: Sequence[Objection] = ()
    inputs: Sequence[str] = ()
    is_checked: bool = False


async def amend(
    house: House, actor: Actor, session_id: str, change: Callable[[AtHead], Awaitable[tuple[Amendment, T]]]
) -> tuple[PlayState, T]:
    """Makes one change at a session's head in one unit of work; refused while a turn is running.

    What it says in words must cross no line of the table.
    """
    try:
        return await _amend(house, actor, session_id, change)
    except LineCrossed as error:
        await note_crossed(house, actor, session_id, error)
        raise


async def _amend(
    house: House, actor: Actor, session_id: str, change: Callable[[AtHead], Awaitable[tuple[Amendment, T]]]
) -> tuple[PlayState, T]:
    looked: _LongWords | None = None
    for _ in range(MOST_LOOKS):
        try:
            return await _write(house, actor, session_id, change, looked)
        except _LongWords as found:
            await run_in_thread(found.rails.refuse_crossed, *found.words)
            looked = found
    raise Conflict("The table's limits changed while this was held against them. Send it again.")


class _LongWords(Exception):
    """So many words that everybody who writes would wait while they are looked through: that is done before."""

    def __init__(self, rails: Guardrails, words: Sequence[str]) -> None:
        self.rails, self.words = rails, words


async def _refuse_crossed(at: AtHead, amendment: Amendment, looked: _LongWords | None) -> None:
    words = [*amendment.inputs, *_words(at.state, amendment)]
    rails = await table_guardrails(at.looking, at.play.session_id, at.state) if words else Guardrails()
    if sum(map(len, words)) <= SHORT_TEXTS or rails.is_empty:
        rails.refuse_crossed(*words)
    elif looked is None or (looked.rails, looked.words) != (rails, words):
        raise _LongWords(rails, words)


async def _write(
    house: House,
    actor: Actor,
    session_id: str,
    change: Callable[[AtHead], Awaitable[tuple[Amendment, T]]],
    looked: _LongWords | None,
) -> tuple[PlayState, T]:
    async def write(unit: Unit) -> tuple[PlayState, PlayState, Amendment, NewTurn, Finished, T]:
        play, before = await head_state(unit, actor, session_id)
        turn_id = house.ids.new("turn")
        at = AtHead(house=house, unit=unit, play=play, state=before, turn_id=turn_id)
        amendment, told = await change(at)
        await _refuse_crossed(at, amendment, looked)
        turn = NewTurn(
            turn_id=turn_id,
            session_id=session_id,
            parent_id=play.head_turn_id,
            turn_index=play.turn_index,
            kind="amend",
            player_input=amendment.label,
        )
        after = mark_world(before, amendment.state, turn.turn_id)
        spoken = await _spoken(house, unit.looking, before, after, turn)
        finished = Finished(
            turn_id=turn.turn_id,
            state=after.as_json(),
            state_hash=state_hash(after),
            messages=amendment.messages,
            ended=after.ended,
            follow=_follow_up(house, turn, before, after, amendment.messages),
            staged=[*amendment.staged, *spoken],
            scene=amendment.scene,
        )
        await unit.plays.amend(turn, finished)
        if amendment.record is not None:
            await unit.canon_layers.commit(amendment.record, amendment.rulings)
        return before, after, amendment, turn, finished, told

    # Where two that write wait for each other in a circle, one begins again.
    before, after, amendment, turn, finished, told = await house.store.write(write)
    if finished.follow is not None:
        house.work.announce(finished.follow)
    house.feeds.publish(session_id, HeadMoved(turn_id=turn.turn_id, by=actor.token_id))
    for event in _changes(before, amendment):
        house.feeds.publish(session_id, event)
    await note_objections(house, session_id, "narrator", amendment.objections)
    return after, told


def _words(before: PlayState, amendment: Amendment) -> Iterator[str]:
    """What a change says that was not said before: lines, the player, guests."""
    for one in () if amendment.is_checked else amendment.messages:
        if one.op != "strike":
            yield from (one.message.text, one.message.speaker_name)
    after = amendment.state
    if _player(before) != _player(after):
        yield from (after.player_name, after.snapshot.player_description)
    for id, guest in after.session_characters.items():
        if before.session_characters.get(id) != guest:
            yield from (guest.display_name, guest.personality, guest.style, guest.system_prompt)


async def _spoken(house: House, unit: Unit, before: PlayState, after: PlayState, turn: NewTurn) -> list[Change]:
    """What a change of variables by hand says about the world of the story, where it belongs to one."""
    if _variables(before) == _variables(after):
        return []
    setup = await house.play_setups.played_by(unit, turn.session_id, after.graph)
    if setup.world_id is None or setup.spoken.is_empty:
        return []
    proposed = proposals_of(
        before, after, spoken=setup.spoken, story_id=setup.session.story_id, turn_id=turn.turn_id, told=["by hand"]
    )
    return [
        staged_change(
            one,
            change_id=house.ids.new("change"),
            world_id=setup.world_id,
            session_id=turn.session_id,
            turn_id=turn.turn_id,
            proposer="by hand",
        )
        for one in proposed
    ]


def _follow_up(
    house: House, turn: NewTurn, before: PlayState, after: PlayState, messages: Sequence[MessageChange]
) -> NewWork | None:
    """The work on what follows a change."""
    reworded = sorted({change.message.turn_index for change in messages if change.op != "say"})
    kinds = followers_of_change(before, after, reworded=bool(reworded))
    return follow_with(house.ids, turn.turn_id, turn.session_id, kinds, changed_turns=reworded or None)


def _changes(before: PlayState, amendment: Amendment) -> Iterator[SessionEvent]:
    """What others who have the session open are to read anew."""
    if amendment.messages:
        ids = tuple(change.message.message_id for change in amendment.messages)
        yield MessagesChanged(message_ids=ids if len(ids) <= MOST_IDS else ())
    if _variables(before) != _variables(amendment.state):
        yield VariablesChanged()
    if _player(before) != _player(amendment.state):
        yield ConfigChanged()


def _variables(state: PlayState) -> tuple[object, ...]:
    return state.world.custom, state.world.player_state, state.world.character_state


def _player(state: PlayState) -> tuple[object, ...]:
    return state.player_profile_id, state.player_name, state.snapshot.player_description
