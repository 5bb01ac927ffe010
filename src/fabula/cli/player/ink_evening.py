"""An evening with an Ink story: lines are told, choices are numbered, and characters are talked to in plain words."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from fabula.actions.house import House
from fabula.actions.run_turn import RunTurn, regenerate, retry_turn, run_turn
from fabula.actions.sessions import SessionView, get_session
from fabula.actions.shelves import INK_STORIES
from fabula.actions.start_session import StartSession, start_session
from fabula.actions.views import Nothing
from fabula.agents.knots.published import source_digest
from fabula.cli.player.commands import INK_COMMANDS, is_command, run_command
from fabula.cli.player.history import show_history
from fabula.cli.player.lines import Lines
from fabula.cli.player.paper import Paper
from fabula.ink import compile_ink
from fabula.ports.errors import FabulaError, InvalidRequest
from fabula.ports.gate import off_loop
from fabula.ports.plays import Turn
from fabula.story.ink_stories import InkStory

REQUEST = "play"


def read_ink(file: Path) -> tuple[str, dict[str, str]]:
    """A story's source and the files that it includes, from beside it."""
    files: dict[str, str] = {}

    def include(name: str) -> str | None:
        found = file.parent / name
        if found.is_file():
            files[name] = found.read_text("utf-8-sig")
        return files.get(name)

    source = file.read_text("utf-8-sig")
    compile_ink(source, include=include)
    return source, files


async def publish_file(house: House, file: Path) -> str:
    """The story of a file, published under the hash of its source, so that playing it again makes no second one."""
    source, files = await off_loop(read_ink, file)
    work = await house.works.of(source, files)
    if work.published.errors:
        raise InvalidRequest("The story has errors: " + "; ".join(work.published.errors[:5]))
    story_id = f"ink-{source_digest(source, files)[:16]}"
    story = InkStory(story_id=story_id, display_name=file.stem.replace("-", " ").title(), source=source, files=files)
    async with house.store.writing() as unit:
        if await INK_STORIES.find(unit, story_id) is None:
            await INK_STORIES.add(unit, story_id, story)
    return story_id


async def new_ink_play(house: House, story_id: str, *, profile: str | None, seed: int | None) -> str:
    """A new play of an Ink story; answers its session."""
    command = StartSession(story_id=story_id, player_profile_id=profile, seed=seed)
    return (await start_session(house, command)).session_id


@dataclass(kw_only=True)
class InkSitting:
    """One player at one Ink play. `speaks` tells whether somebody answers, or only the story."""

    house: House
    session_id: str
    paper: Paper
    lines: Lines
    speaks: bool = False

    async def play(self) -> None:
        """Plays until the player leaves or the lines end."""
        session = await self.session()
        self.paper.say(session.display_name.upper(), "bold magenta")
        for message in session.history:
            self._paragraphs(message.text)
        self._waiting(session)
        while (line := await self._next()) is not None:
            try:
                if not await self._heard(line.strip()):
                    return
            except FabulaError as error:
                self.paper.say(error.message, "red")

    async def _next(self) -> str | None:
        self.paper.gap()
        try:
            return await self.lines.next()
        except KeyboardInterrupt:
            return None

    async def session(self) -> SessionView:
        return await get_session(self.house, self.session_id, Nothing())

    async def play_again(self) -> None:
        """Plays the last turn anew."""
        await self._told(await regenerate(self.house, self.session_id, Nothing(), request_id=REQUEST))

    async def say_again(self) -> None:
        """Plays the words of a failed turn again."""
        await self._told(await retry_turn(self.house, self.session_id, Nothing(), request_id=REQUEST))

    def show_status(self, session: SessionView) -> None:
        """How far the story is, and whom one talks to."""
        ink: Any = session.ink or {}
        listener = (ink.get("input") or {}).get("character")
        who = f" {listener} is listening." if listener else ""
        self.paper.say(f"Turn {session.turn_index}, {session.status}.{who}")

    def show_place(self, session: SessionView) -> None:
        """Where the story stands, after going somewhere else in it."""
        show_history(self.paper, session, most=session.turn_index)
        self._waiting(session)

    async def _heard(self, line: str) -> bool:
        if is_command(line):
            return await run_command(self, line, INK_COMMANDS) == "go_on"
        await self._say(line)
        return True

    async def _say(self, line: str) -> None:
        session = await self.session()
        ink: Any = session.ink or {}
        if ink.get("ended"):
            self.paper.say("The story has ended. /backtrack goes back a turn, /quit leaves.", "dim")
            return
        command = self._meant(line, ink.get("choices") or [])
        if command is not None:
            await self._told(await run_turn(self.house, self.session_id, command, request_id=REQUEST))

    def _meant(self, line: str, choices: list[dict[str, Any]]) -> RunTurn | None:
        """What a line means now; None when it is none of the choices, which is said."""
        if not choices:
            return RunTurn(player_input=line)
        if line.isdecimal() and 1 <= int(line) <= len(choices):
            return RunTurn(choice=int(line) - 1)
        if any(choice["text"].casefold() == line.casefold() for choice in choices):
            return RunTurn(player_input=line)
        self.paper.say(f"Type the number of a choice, 1 to {len(choices)}.", "dim")
        return None

    async def _told(self, turn: Turn) -> None:
        frames = self.house.bus.listen(turn.stream)
        assert frames is not None, "a turn that has just begun can be heard"
        async for frame in frames:
            self._frame(orjson.loads(frame.data)["frame"])

    def _frame(self, frame: dict[str, Any]) -> None:
        if frame["type"] == "failed":
            self.paper.say(f"{frame['error']['message']} (/retry says it again.)", "red")
        elif frame["type"] == "event":
            self._event(frame["body"])

    def _event(self, body: dict[str, Any]) -> None:
        match body["type"]:
            case "ink_text":
                self._paragraphs(body["text"])
            case "agent_outcome":
                self._replied(body["reply"], "" if self.speaks else body.get("guidance", ""))
                self._paragraphs(body.get("bridge_text", ""))
            case "ink_choices":
                self._choices(body["choices"])
            case "ink_input_requested":
                self._asked(body)
            case "story_ended":
                self._ended()

    def _replied(self, reply: str, guidance: str) -> None:
        self._paragraphs(f"“{reply}”" if reply and self.speaks else reply, "green" if self.speaks else "")
        self._paragraphs(guidance, "dim")

    def _paragraphs(self, text: str, style: str = "") -> None:
        for paragraph in text.split("\n\n"):
            if paragraph:
                self.paper.gap()
                self.paper.say(paragraph, style)

    def _choices(self, choices: list[dict[str, Any]]) -> None:
        self.paper.gap()
        for choice in choices:
            self.paper.say(f"{choice['index'] + 1}: {choice['text']}", "cyan")

    def _asked(self, asked: dict[str, Any]) -> None:
        self.speaks = asked["kind"] == "agent"
        match asked["kind"]:
            case "text":
                self.paper.gap()
                self.paper.say(f"[{asked['placeholder']}]", "dim")
            case "agent":
                self.paper.gap()
                self.paper.say(f"[{asked['character']} is listening]", "dim")
            case "continue":
                self.paper.gap()
                self.paper.say("[What do you do?]", "dim")

    def _ended(self) -> None:
        self.paper.gap()
        self.paper.say("THE END", "bold magenta", indent=2)

    def _waiting(self, session: SessionView) -> None:
        ink: Any = session.ink or {}
        if ink["ended"]:
            self._ended()
            return
        if ink["choices"]:
            self._choices(ink["choices"])
        self._asked(ink["input"])
