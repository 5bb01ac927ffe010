"""One player at one play, and the turns they take."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from fabula.actions.campaigns.end_scene import end_scene
from fabula.actions.campaigns.flashback import BeginFlashback, begin_flashback
from fabula.actions.campaigns.story_loop import lead_on
from fabula.actions.house import House
from fabula.actions.library.characters import NameCharacter, get_character
from fabula.actions.library.stories import NameStory, StoryView, get_story
from fabula.actions.library.story_resources import NameStoryResources, get_story_resources
from fabula.actions.plays.session_characters import list_session_characters
from fabula.actions.plays.sessions import SessionView, ShowSession, get_session
from fabula.actions.turns.run_turn import Regenerate, RetryTurn, RunTurn, regenerate, retry_turn, run_turn
from fabula.actions.views import Nothing, Paging
from fabula.cli.player.history import show_history, show_lines
from fabula.cli.player.lines import Lines
from fabula.cli.player.sentences import plain
from fabula.cli.player.teller import Telling
from fabula.cli.player.terminal_writer import TerminalWriter
from fabula.cli.player.turn_listener import hear_turn
from fabula.ports.actors import OPERATOR
from fabula.ports.plays import Turn
from fabula.story.values import Json

REQUEST = "play"


def again(with_understudy: bool) -> RetryTurn:
    """How a failed turn is played again."""
    return RetryTurn.model_validate({"with": "understudy"} if with_understudy else {})


@dataclass(kw_only=True)
class PlayerSession:
    """`seed` makes the turns of a player repeatable; `drawn` counts those that were played with it."""

    house: House
    session_id: str
    story: StoryView
    lines: Lines
    telling: Telling
    seed: int | None = None
    drawn: int = 0
    suggested: list[str] = field(default_factory=list)

    @property
    def writer(self) -> TerminalWriter:
        return self.telling.writer

    async def session(self) -> SessionView:
        return await get_session(self.house, OPERATOR, self.session_id, ShowSession())

    async def say(self, words: str) -> None:
        """Plays the player's words."""
        await self._turn(
            lambda seed: run_turn(
                self.house, OPERATOR, self.session_id, RunTurn(player_input=words), request_id=REQUEST, seed=seed
            )
        )

    async def say_again(self, *, with_understudy: bool = False) -> None:
        """Plays the words of a failed turn again, with the session's models or without."""
        command = again(with_understudy)
        await self._turn(
            lambda seed: retry_turn(self.house, OPERATOR, self.session_id, command, request_id=REQUEST, seed=seed)
        )

    async def play_again(self) -> None:
        """Plays the last turn anew."""
        await self._turn(
            lambda seed: regenerate(self.house, OPERATOR, self.session_id, Regenerate(), request_id=REQUEST, seed=seed)
        )

    def show_status(self, session: SessionView) -> None:
        """Where the play is, who is there, and what the player watches."""
        world = session.snapshot.world_state
        present = ", ".join(self.telling.names.get(id, id) for id in world.active_characters) or "nobody else"
        title = self.telling.titles.get(world.current_node, world.current_node)
        self.writer.say(f"{self.story.display_name}: {title}", "bold")
        self.writer.say(f"Turn {session.turn_index}, {session.status}. Here: {present}.")
        if session.conversation is not None:
            talking = ", ".join(self.telling.names.get(id, id) for id in session.conversation.character_ids)
            self.writer.say(f"You talk with {talking}, apart from the others. /talk ends it.")
        if session.snapshot.time is not None:
            self.writer.say(f"{session.snapshot.time.text}.")
        for variable in self.story.common_variables:
            held: Mapping[str, Json] = {
                "world": world.custom,
                "player": world.player_state,
                "character": world.character_state.get(variable.character_id or "", {}),
            }[variable.scope]
            if variable.pinned and variable.key in held:
                self.writer.say(f"{variable.display_name}: {plain(held[variable.key])}", indent=2)

    async def show_place(self, session: SessionView) -> None:
        """Where the play stands, after going somewhere else in it."""
        self.telling.ended = session.status == "ended"
        self.suggested.clear()
        if session.history:
            show_history(self.writer, session, most=session.turn_index)
        else:
            self.telling.heading(session.snapshot.world_state.current_node)

    async def _turn(self, begin: Callable[[int | None], Awaitable[Turn]]) -> None:
        turn = await begin(self._next_seed())
        self.suggested.clear()
        self.telling.ended = False
        await hear_turn(self.house, turn, self.telling)
        if self.telling.scene_ended:
            await self._lead_on(lambda: lead_on(self.house, self.session_id))

    async def end_scene(self) -> None:
        """Ends the scene, and shows the next one."""
        await self._lead_on(lambda: end_scene(self.house, OPERATOR, self.session_id, Nothing()))

    async def flashback(self, text: str) -> None:
        """Plays a scene of the past."""
        command = BeginFlashback(text=text)
        await self._lead_on(lambda: begin_flashback(self.house, OPERATOR, self.session_id, command))

    async def _lead_on(self, go_on: Callable[[], Awaitable[object]]) -> None:
        """Shows how a free play goes on after a scene."""
        self.telling.scene_ended = False
        seen = {message.message_id for message in (await self.session()).history}
        await go_on()
        session = await self.session()
        if seen.issuperset(message.message_id for message in session.history):
            return
        here = session.snapshot.world_state.current_node
        if here != self.telling.shown:
            self.telling.heading(here)
        show_lines(self.writer, [message for message in session.history if message.message_id not in seen])
        if session.status == "ended":
            self.telling.the_end()

    def _next_seed(self) -> int | None:
        if self.seed is None:
            return None
        self.drawn += 1
        return int.from_bytes(hashlib.sha256(f"{self.seed}:{self.drawn}".encode()).digest()[:4], "big") >> 1


async def player_at(
    house: House, session_id: str, *, seed: int | None, writer: TerminalWriter, lines: Lines
) -> PlayerSession:
    """A player at a play that exists."""
    session = await get_session(house, OPERATOR, session_id, ShowSession(history="none"))
    story = await get_story(house, OPERATOR, NameStory(story_id=session.story_id))
    telling = Telling(
        writer,
        names=await _names(house, session_id, story),
        titles={node.id: node.title for node in story.graph.nodes},
    )
    telling.ended = session.status == "ended"
    return PlayerSession(
        house=house,
        session_id=session_id,
        story=story,
        lines=lines,
        telling=telling,
        seed=seed,
        drawn=session.turn_index,
    )


async def _names(house: House, session_id: str, story: StoryView) -> dict[str, str]:
    resources = await get_story_resources(house, OPERATOR, NameStoryResources(resource_id=story.resource_id))
    cast = [await get_character(house, OPERATOR, NameCharacter(character_id=id)) for id in resources.character_ids]
    guests = await list_session_characters(house, OPERATOR, session_id, Paging())
    return {
        **{one.character_id: one.content.name for one in cast},
        **{one.session_character_id: one.display_name for one in guests.session_characters},
    }
