"""Tells a turn while it is played: the frames of its stream become paragraphs."""

from __future__ import annotations

from collections.abc import Mapping

from fabula.cli.player.terminal_writer import TerminalWriter
from fabula.cli.player.turn_listener import Teller
from fabula.recall.moods import word_for
from fabula.recall.social_beats import MOST_IN_A_TURN
from fabula.story.events import (
    ActorActionComplete,
    ActorCompleted,
    ActorDialogueDelta,
    ActorStarted,
    ActorThoughtDelta,
    AgentDegraded,
    ChangeStaged,
    CheckResolved,
    DirectorCompleted,
    Flashback,
    IntentJudged,
    NarratorCompleted,
    NarratorStarted,
    NarratorTextDelta,
    SceneCompleted,
    SessionCharacterCreated,
    SessionCharacterEnteredScene,
    SessionCharacterLeftScene,
    SocialBeat,
    StoryEnded,
    TurnEvent,
    WishLeft,
)
from fabula.story.relations import Axis


def degraded(event: AgentDegraded) -> str:
    """What a player is told of an agent that could not do its part."""
    if event.stand_in is not None:
        return "(The model did not answer; the understudy plays this turn.)"
    return "(The model could not be understood here; the story goes on by its own rules.)"


NOTICEABLE = 0.03
"""A change of how somebody stands to the player that is worth a word."""
_MOVED: Mapping[Axis, str] = {
    "trust": "trusts you",
    "respect": "respects you",
    "affinity": "likes you",
    "fear": "fears you",
}


def felt(beat: SocialBeat) -> str:
    """What a player is told of a social beat: what shows, and which way somebody's feelings went."""
    moved = [
        f"{words} {'much ' if abs(beat.deltas.of(axis)) > MOST_IN_A_TURN else ''}"
        f"{'more' if beat.deltas.of(axis) > 0 else 'less'}"
        for axis, words in _MOVED.items()
        if abs(beat.deltas.of(axis)) >= NOTICEABLE
    ]
    shows = [f"seems {word_for(beat.surface)}"] if moved and beat.surface is not None else []
    return ", ".join([*shows, *moved])


class Telling(Teller):
    """Shows what happens. `names` knows the cast by id, `titles` the scenes; both may grow while it tells."""

    def __init__(self, writer: TerminalWriter, *, names: Mapping[str, str], titles: Mapping[str, str]) -> None:
        super().__init__(writer)
        self.names = dict(names)
        self.titles = dict(titles)
        self.thoughts = False
        self.ended = self.scene_ended = False
        self.shown = ""
        self._line = ""
        self._speaker = ""

    def heading(self, node_id: str) -> None:
        """The title of a scene."""
        self.shown = node_id
        self.writer.gap()
        self.writer.say(f"* {self.titles.get(node_id, node_id)} *", "bold cyan", indent=2)

    def _event(self, event: TurnEvent) -> None:
        match event:
            case DirectorCompleted():
                if event.result.transitioned and event.result.current_node_id != self.shown:
                    self.heading(event.result.current_node_id)
            case NarratorStarted():
                self._open("narration", "")
            case NarratorTextDelta():
                self.writer.more(event.delta)
            case ActorStarted():
                self._close()
                self._speaker = event.speaker_id
                self.writer.gap()
            case ActorThoughtDelta():
                self._thought(event.delta)
            case ActorActionComplete():
                self._close()
                self.writer.say(event.text, "italic green")
            case ActorDialogueDelta():
                self._speech(event.delta)
            case NarratorCompleted() | ActorCompleted():
                self._close()
            case _:
                self._rarely(event)

    def _rarely(self, event: TurnEvent) -> None:
        match event:
            case SessionCharacterCreated():
                guest = event.session_character
                self.names[guest.session_character_id] = guest.display_name
            case SessionCharacterEnteredScene():
                self._aside(f"{self._name(event.session_character_id)} enters.")
            case SessionCharacterLeftScene():
                self._aside(f"{self._name(event.session_character_id)} leaves.")
            case IntentJudged():
                self._aside(f"[{event.lead}]")
            case WishLeft():
                self._aside(f"({event.sentence})")
            case CheckResolved():
                self._aside(f"[{event.sentence}]")
            case ChangeStaged():
                self._aside(f"[Noted: {event.sentence}]")
            case SceneCompleted():
                self.scene_ended = True
            case Flashback():
                self._close()
                self.writer.gap()
                self.writer.say(event.text, "italic magenta")
            case SocialBeat():
                words = felt(event)
                if words:
                    self._close()
                    self.writer.say(f"[{self._name(event.character_id)} {words}.]", "dim")
            case AgentDegraded():
                self._aside(degraded(event))
            case StoryEnded():
                self.the_end()

    def the_end(self) -> None:
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
