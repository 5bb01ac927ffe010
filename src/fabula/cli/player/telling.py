"""Tells a turn while it is played: the frames of its stream become paragraphs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fabula.cli.player.hearing import Teller
from fabula.cli.player.paper import Paper


class Telling(Teller):
    """Shows what happens. `names` knows the cast by id, `titles` the scenes; both may grow while it tells."""

    def __init__(self, paper: Paper, *, names: Mapping[str, str], titles: Mapping[str, str]) -> None:
        super().__init__(paper)
        self.names = dict(names)
        self.titles = dict(titles)
        self.thoughts = False
        self.ended = False
        self._line = ""
        self._speaker = ""

    def heading(self, node_id: str) -> None:
        """The title of a scene."""
        self.paper.gap()
        self.paper.say(f"* {self.titles.get(node_id, node_id)} *", "bold cyan", indent=2)

    def _event(self, body: Mapping[str, Any]) -> None:
        match body["type"]:
            case "director_completed":
                if body["result"]["transitioned"]:
                    self.heading(body["result"]["current_node_id"])
            case "narrator_started":
                self._open("narration", "")
            case "narrator_text_delta":
                self.paper.more(body["delta"])
            case "actor_started":
                self._close()
                self._speaker = body["speaker_id"]
                self.paper.gap()
            case "actor_thought_delta":
                self._thought(body["delta"])
            case "actor_action_complete":
                self._close()
                self.paper.say(body["text"], "italic green")
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
                self.paper.gap()
                self.paper.say("THE END", "bold magenta", indent=2)

    def _aside(self, text: str) -> None:
        self._close()
        self.paper.gap()
        self.paper.say(text, "dim")

    def _thought(self, text: str) -> None:
        if not self.thoughts:
            return
        if self._line != "thought":
            self._close()
            self.paper.begin("dim italic")
            self.paper.more("(")
            self._line = "thought"
        self.paper.more(text)

    def _speech(self, text: str) -> None:
        if self._line != "speech":
            self._close()
            self.paper.begin()
            self.paper.more(f"{self._name(self._speaker)}: “")
            self._line = "speech"
            text = text.lstrip()
        self.paper.more(text)

    def _open(self, line: str, style: str) -> None:
        self._close()
        self.paper.gap()
        self.paper.begin(style)
        self._line = line

    def _close(self) -> None:
        self.paper.more({"thought": ")", "speech": "”"}.get(self._line, ""))
        self.paper.end()
        self._line = ""

    def _name(self, id: str) -> str:
        return self.names.get(id, id)
