"""The commands of the terminal player about people: how they stand to you and to each other, and their conflicts."""

from __future__ import annotations

from fabula.actions.canon.conflicts import ListConflicts, list_conflicts
from fabula.actions.plays.relations import ListRelations, list_relations
from fabula.cli.player.player_session import PlayerSession
from fabula.ports.actors import OPERATOR
from fabula.story.checks import PLAYER


async def relations(player_session: PlayerSession, rest: str) -> None:
    """How others stand to the player, or how somebody stands to all, with what moved it last."""
    writer, house = player_session.writer, player_session.house
    listed = await list_relations(house, OPERATOR, player_session.session_id, ListRelations(of=rest.strip() or None))
    shown = [one for one in listed.relations if rest or one.towards == PLAYER]
    if not shown:
        writer.say("Nobody thinks anything of anybody here yet." if not rest else f"{rest} is indifferent to all.")
    for one in shown:
        writer.say(f"{one.name} {one.stands or f'has no fixed opinion of {one.towards_name} yet'}.", indent=2)
        if one.steps:
            last = one.steps[-1]
            writer.say(f"Turn {last.turn_index}: {last.reason}.", "dim", indent=4)


async def conflicts(player_session: PlayerSession, _: str) -> None:
    """What people are at odds about, how far it has come, and what moved it last."""
    writer, house = player_session.writer, player_session.house
    listed = await list_conflicts(house, OPERATOR, player_session.session_id, ListConflicts())
    # What nobody speaks of yet is told to those who read thoughts.
    shown = [one for one in listed.conflicts if player_session.telling.thoughts or one.phase != "seed"]
    if not shown:
        writer.say("Nobody is openly at odds about anything here.")
    for one in shown:
        writer.say(f"{one.title} ({one.phase}, {one.intensity:.0%})", "bold")
        writer.say(one.outcome or one.stakes, indent=2)
        if one.steps:
            writer.say(f"Turn {one.steps[-1].turn_index}: {one.steps[-1].why}", "dim", indent=4)
