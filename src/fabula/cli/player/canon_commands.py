"""The commands of the terminal player about canon: who there is, what is true, what was proposed, what you carry."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from fabula.actions.canon.changes import ChangeView, ListChanges
from fabula.actions.canon.play_canon import list_canon_changes, list_known_entities, list_known_facts
from fabula.actions.canon.questions import EntityView, FactsAsked, InWorld
from fabula.actions.plays.sessions import ShowVariables, get_variables
from fabula.canon.sentences import sentence_of
from fabula.cli.player.player_session import PlayerSession
from fabula.language.words import words_of
from fabula.ports.actors import OPERATOR
from fabula.story.canon import FactContent
from fabula.story.checks import PLAYER
from fabula.story.values import Json

SHOWN: Final = 30
MOST_READ: Final = 200
CARRYING: Final = frozenset(["inventory", "items", "belongings", "carries", "equipment", "bag", "pack", "purse"])
"""Names of variables in which stories keep what somebody carries."""
OWNING: Final = frozenset(["owns", "carries", "has", "holds", "wears"])


async def facts(player_session: PlayerSession, rest: str) -> None:
    """What is true, as far as the player may know it: all of it, or what is about somebody, by name or id."""
    writer, there = player_session.writer, await _entities(player_session)
    asked = FactsAsked(about=one_named(rest, there) if rest else None, limit=MOST_READ)
    listed = await list_known_facts(player_session.house, OPERATOR, player_session.session_id, asked)
    # What only others know is told to those who read thoughts as well.
    known = [one for one in listed.changes if player_session.telling.thoughts or _may_know(one)]
    if not known:
        writer.say(f"You know nothing about {rest} that is canon." if rest else "Nothing is canon in this play yet.")
    names = {one.entity_id: one.name for one in there}
    for change in known[:SHOWN]:
        writer.say(sentence_of(change.content, names), indent=2)
    if len(known) > SHOWN:
        writer.say(f"These are the first {SHOWN}. /facts NAME shows what is about somebody.", "dim")


async def entities(player_session: PlayerSession, _: str) -> None:
    """Who and what canon knows."""
    writer, house = player_session.writer, player_session.house
    listed = await list_known_entities(house, OPERATOR, player_session.session_id, InWorld(limit=SHOWN))
    if not listed.entities:
        writer.say("Canon knows nobody and nothing in this play yet.")
    for one in listed.entities:
        also = f", also {', '.join(one.aliases)}" if one.aliases else ""
        writer.say(f"{one.name} ({one.kind}, {one.entity_id}{also})", indent=2)
    if listed.next_cursor is not None:
        writer.say(f"These are the first {SHOWN}.", "dim")


async def canon(player_session: PlayerSession, _: str) -> None:
    """What was proposed in this play, what became of it, and why."""
    writer, house = player_session.writer, player_session.house
    listed = await list_canon_changes(house, OPERATOR, player_session.session_id, ListChanges(limit=SHOWN))
    if not listed.changes:
        writer.say("Nothing was proposed in this play yet.")
    names = await _names(player_session)
    for change in listed.changes:
        writer.say(f"{change.status}: {sentence_of(change.content, names)}", indent=2)
        if change.verdict is not None and change.status != "committed":
            writer.say(change.verdict.sentence, "dim", indent=4)


async def inventory(player_session: PlayerSession, _: str) -> None:
    """What the player carries: what the story keeps of it, and what canon says."""
    writer, house, session = player_session.writer, player_session.house, player_session.session_id
    variables = await get_variables(house, OPERATOR, session, ShowVariables())
    kept = [*variables.player_state.items(), *variables.custom.items()]
    things = [thing for key, value in kept if key.lower() in CARRYING for thing in _things(value)]
    known = await list_known_facts(house, OPERATOR, session, FactsAsked(about="player", limit=SHOWN))
    things += [
        one.content.object
        for one in known.changes
        if isinstance(one.content, FactContent) and one.content.predicate in OWNING
    ]
    if not things:
        writer.say("Nothing is written down of what you carry.")
    for thing in dict.fromkeys(things):
        writer.say(thing, indent=2)


def _things(value: Json) -> list[str]:
    match value:
        case list():
            return [thing for one in value for thing in _things(one)]
        case dict():
            return [f"{name} ({count})" if isinstance(count, int) else name for name, count in value.items() if count]
        case str():
            return [value] if value.strip() else []
        case _:
            return []


async def _names(player_session: PlayerSession) -> dict[str, str]:
    """What canon calls those of whom it speaks, by id."""
    return {one.entity_id: one.name for one in await _entities(player_session)}


async def _entities(player_session: PlayerSession) -> list[EntityView]:
    asked = InWorld(limit=MOST_READ)
    listed = await list_known_entities(player_session.house, OPERATOR, player_session.session_id, asked)
    return listed.entities


def one_named(text: str, entities: Sequence[EntityView]) -> str:
    """The id of who or what is meant: by its id, its name or another name, or by words that only one has in its name.
    A text that names nobody may be an id that is not among these, and stays as it is."""
    said = _without_article(words_of(text))
    names = {one.entity_id: [_without_article(words_of(name)) for name in (one.name, *one.aliases)] for one in entities}
    if text in names:
        return text
    whole = [id for id, called in names.items() if said in called]
    part = [id for id, called in names.items() if said and any(set(said) <= set(words) for words in called)]
    return whole[0] if whole else part[0] if len(part) == 1 else text


def _without_article(words: list[str]) -> list[str]:
    return words[1:] if words[:1] in (["the"], ["a"], ["an"]) else words


def _may_know(change: ChangeView) -> bool:
    known_to = getattr(change.content, "known_to", [])
    return not known_to or PLAYER in known_to
