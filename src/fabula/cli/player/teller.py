"""Tells a turn while it is played: the frames of its stream become paragraphs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fabula.cli.player.terminal_writer import TerminalWriter
from fabula.cli.player.turn_listener import Teller


class Telling(Teller):
    """Shows what happens. `names` knows the cast by id, `titles` the scenes; both may grow while it tells."""

    def __init__(self, writer: TerminalWriter, *, names: Mapping[str, str], titles: Mapping[str, str]) -> None:
        super().__init__(writer)
        self.names = dict(names)
        self.titles = dict(titles)
        self.thoughts = False
        self.ended = False
        self._line = ""
        self._speaker = ""

    def heading(self, node_id: str) -> None:
        """The title of a scene."""
        self.writer.gap()
        self.writer.say(f"* {self.titles.get(node_id, node_id)} *", "bold cyan", indent=2)

    def _event(self, body: Mapping[str, Any]) -> None:
        match body["type"]:
            case "director_completed":
                if body["result"]["transitioned"]:
                    self.heading(body["result"]["current_node_id"])
            case "narrator_started":
                self._open("narration", "")
            case "narrator_text_delta":
                self.writer.more(body["delta"])
            case "actor_started":
                self._close()
                self._speaker = body["speaker_id"]
                self.writer.gap()
            case "actor_thought_delta":
                self._thought(body["delta"])
            case "actor_action_complete":
                self._close()
                self.writer.say(body["text"], "italic green")
            case "actor_dialogue_delta":
                self._speech(body["delta"])
            case "narrator_completed" | "actor_completed":
                self._close()
            case _:
                self._rarely(body)

    def _rarely(self, body: Mapping[str, Any]) -> None:
        match body["type"]:
            case "session_character_created":
                guest = body["session_character"]
                self.names[guest["session_character_id"]] = guest["display_name"]
            case "session_character_entered_scene":
                self._aside(f"{self._name(body['session_character_id'])} enters.")
            case "session_character_left_scene":
                self._aside(f"{self._name(body['session_character_id'])} leaves.")
            case "agent_degraded":
                self._aside(f"(The {body['agent']} could not be understood; the story goes on without it.)")
            case "story_ended":
                self.ended = True
                self.writer.gap()
                self.writer.say("THE END", "bold magenta", indent=2)

    def _aside(self, text: str) -> None:
        self._close()
        self.writer.gap()
        self.writer.say(text, "dim")

    def _thought(self, text: str) -> None:
        if not self.thoughts:
            return
        if self._line != "thought":
            self._close()
            self.writer.begin("dim italic")
            self.writer.more("(")
            self._line = "thought"
        self.writer.more(text)

    def _speech(self, text: str) -> None:
        if self._line != "speech":
            self._close()
            self.writer.begin()
            self.writer.more(f"{self._name(self._speaker)}: “")
            self._line = "speech"
            text = text.lstrip()
        self.writer.more(text)

    def _open(self, line: str, style: str) -> None:
        self._close()
        self.writer.gap()
        self.writer.begin(style)
        self._line = line

    def _close(self) -> None:
        self.writer.more({"thought": ")", "speech": "”"}.get(self._line, ""))
        self.writer.end()
        self._line = ""

    def _name(self, id: str) -> str:
        return self.names.get(id, id)
