"""How people stand to each other in a play, with what moved it. A session names the play."""

from __future__ import annotations

from typing import Literal

from fabula.actions.authority import allowed
from fabula.actions.house import House
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.play_states import head_state
from fabula.actions.views import Command, View
from fabula.loops.scene.play_setup import PlaySetup
from fabula.ports.actors import Actor
from fabula.recall.social_beats import stands_in_words
from fabula.story.checks import PLAYER
from fabula.story.people import Stance, goals_now
from fabula.story.plays import PlayState
from fabula.story.relations import AXES, Axis, Relation, RelationStep
from fabula.story.values import Value


class ListRelations(Command):
    """`of` is who feels it, by id; without it everybody's are listed."""

    of: str | None = None


class RelationView(Value):
    """How `character_id` stands to somebody. `stands` is the same in words, empty while there is nothing to tell.

    `steps` are the last changes with their turns and reasons, oldest first; `collected` is what was too small to change
    anything yet.
    """

    character_id: str
    name: str
    towards: str
    towards_name: str
    trust: float
    respect: float
    affinity: float
    fear: float
    stands: str
    reason: str
    collected: dict[Axis, float]
    steps: list[RelationStep]


class GoalView(Value):
    """What somebody is after: how strong that is now, and why it is stronger or weaker than at the beginning."""

    character_id: str
    goal_id: str
    text: str
    strength: float
    stance: Stance
    reasons: list[str]


class RelationsListed(View):
    """Relations at the head of a session, by who feels them; for authors also what everybody is after."""

    may_be_large = True
    optional = frozenset({"goals"})
    type: Literal["relations_listed"] = "relations_listed"
    relations: list[RelationView]
    goals: list[GoalView] | None = None


@allowed("player")
async def list_relations(house: House, actor: Actor, session_id: str, command: ListRelations) -> RelationsListed:
    """Lists how people stand to each other, and why. Players are told how others stand to them, and nothing of those
    who wear a mask."""
    async with house.store.reading() as unit:
        _, state = await head_state(unit, actor, session_id)
        setup = await kind_of_play(state).setup(house, unit, session_id, state)
    if setup is None:
        return RelationsListed(relations=[])
    is_author = actor.may_act_as("author")
    found = [
        (who, whom, one)
        for who, mine in state.relations.items()
        for whom, one in mine.items()
        if command.of in (None, who) and (is_author or (whom == PLAYER and not _is_masked(setup, who)))
    ]
    names = setup.names_of({id for who, whom, _ in found for id in (who, whom)}, state)
    names = {PLAYER: state.player_name, **names}
    views = [_view(who, whom, one, names) for who, whom, one in found if who in names]
    return RelationsListed(relations=views, goals=_goals(setup, state, command.of) or None if is_author else None)


def _goals(setup: PlaySetup, state: PlayState, of: str | None) -> list[GoalView]:
    people = {} if setup.world is None else setup.world.people
    return [
        GoalView(
            character_id=id,
            goal_id=one.goal.goal_id,
            text=one.goal.text,
            strength=one.strength,
            stance=one.stance,
            reasons=one.reasons,
        )
        for id, person in people.items()
        if of in (None, id)
        for one in goals_now(person, state.world, state.relations)
    ]


def _is_masked(setup: PlaySetup, id: str) -> bool:
    found = setup.characters.get(id)
    return found is not None and found.mask is not None


def _view(who: str, whom: str, one: Relation, names: dict[str, str]) -> RelationView:
    towards = names.get(whom, whom)
    return RelationView(
        character_id=who,
        name=names[who],
        towards=whom,
        towards_name=towards,
        **{axis: one.of(axis) for axis in AXES},
        stands=_listed(stands_in_words(one, towards)),
        reason=one.reason,
        collected=one.collected,
        steps=one.steps,
    )


def _listed(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""
