"""The commands of the terminal player that talk beside the scene: with the cast, and about the world."""

from __future__ import annotations

from collections.abc import Mapping

from fabula.actions.conversations.close_conversation import close_conversation
from fabula.actions.conversations.open_conversation import OpenConversation, open_conversation
from fabula.actions.repositories import STORIES
from fabula.actions.setups.seen_canon import keep_private_world, world_id_of
from fabula.actions.views import Nothing
from fabula.cli.player.player_session import PlayerSession
from fabula.cli.player.world_talk import build_by_talking
from fabula.language.words import words_of
from fabula.ports.actors import OPERATOR
from fabula.story.conversations import MOST_CHARACTERS

HOW = "Say with whom: /talk NAME, or up to four names. /talk alone ends a conversation."


async def talk(player_session: PlayerSession, rest: str) -> None:
    """Opens a conversation with those who are named; with nobody named, ends the one that is under way."""
    session = await player_session.session()
    if not rest:
        if session.conversation is None:
            player_session.writer.say(HOW, "yellow")
            return
        await _leave(player_session)
        return
    names = player_session.telling.names
    here = {id: names.get(id, id) for id in session.snapshot.world_state.active_characters}
    ids = named_in(rest, {**names, **here})
    if not ids or len(ids) > MOST_CHARACTERS:
        present = ", ".join(here.values()) or "nobody"
        player_session.writer.say(f"{HOW} Here: {present}.", "yellow")
        return
    command = OpenConversation(character_ids=ids)
    opened = await open_conversation(player_session.house, OPERATOR, player_session.session_id, command)
    player_session.writer.say(f"You talk with {listed([names.get(id, id) for id in opened.character_ids])}.", "dim")
    player_session.writer.say("What you say now is said to them alone. /talk ends it.", "dim")


async def build(player_session: PlayerSession, _: str) -> None:
    """Builds the world of this play by talking, until the author is done."""
    house = player_session.house
    async with house.store.writing() as unit:
        story = await STORIES.get(unit, player_session.story.story_id)
        await keep_private_world(unit, story)
    await build_by_talking(house, world_id_of(story), writer=player_session.writer, lines=player_session.lines)


async def _leave(player_session: PlayerSession) -> None:
    closed = await close_conversation(player_session.house, OPERATOR, player_session.session_id, Nothing())
    writer = player_session.writer
    writer.say("The conversation is over.", "dim")
    if closed.summary:
        writer.say(closed.summary, "italic")
    for change in closed.staged:
        writer.say(f"[Noted: {change.sentence}]", "dim")


def named_in(text: str, names: Mapping[str, str]) -> list[str]:
    """Who is named in a text, by id, in the order of the text: by id, or by a word of their name."""
    words = words_of(text)
    places = {
        id: min(words.index(word) for word in {*words_of(name), *words_of(id)} if word in words and len(word) > 1)
        for id, name in names.items()
        if any(word in words and len(word) > 1 for word in {*words_of(name), *words_of(id)})
    }
    return sorted(places, key=lambda id: places[id])


def listed(names: list[str]) -> str:
    """Names as one says them: Mara, Orr and Tobias."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
