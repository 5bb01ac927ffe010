"""The text of a turn alone, for clients that show nothing else: pieces as they are told, and the whole from its result.

A turn is told in parts: a beat of the narrator, something that a character says or does, a line of Ink. The parts stand
in paragraphs of their own. All pieces joined are the whole text, to the letter.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from fabula.story.events import (
    ActorActionComplete,
    ActorDialogueDelta,
    ActorStarted,
    ActorThoughtDelta,
    AgentOutcome,
    AgentReplyDelta,
    Flashback,
    InkText,
    NarratorStarted,
    NarratorTextDelta,
    Started,
    Told,
)
from fabula.story.values import Json, JsonObject

BETWEEN_PARTS: Final = "\n\n"


@dataclass(frozen=True, kw_only=True, slots=True)
class Piece:
    """Some letters of the text; `speaker_id` is who says or does it, None for whoever tells."""

    text: str
    speaker_id: str | None = None


@dataclass(kw_only=True)
class TextFlow:
    """Makes pieces of the events of one turn, in their order."""

    _any: bool = False
    _in_part: bool = False
    _space: str = ""
    _whole: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All pieces so far."""
        return "".join(self._whole)

    def take(self, event: Told) -> Piece | None:
        """What an event adds to the text, if anything. Thoughts are no part of it."""
        match event:
            case Started():
                # A turn that another process took up is told anew.
                self._any, self._whole = False, []
                self._end_part()
                return None
            case NarratorStarted() | ActorStarted() | ActorThoughtDelta():
                self._end_part()
                return None
            case Flashback():
                return self._add_part(event.text)
            case NarratorTextDelta():
                return self._add(event.delta)
            case ActorDialogueDelta():
                return self._add(event.delta, event.speaker_id)
            case ActorActionComplete():
                return self._add_part(event.text, event.speaker_id)
            case AgentReplyDelta():
                return self._add(event.delta, event.character or None)
            case AgentOutcome():
                self._end_part()
                return self._add_part(event.bridge_text or "")
            case InkText():
                return self._add_part(event.text)
            case _:
                return None

    def _add_part(self, text: str, speaker_id: str | None = None) -> Piece | None:
        self._end_part()
        piece = self._add(text, speaker_id)
        self._end_part()
        return piece

    def _end_part(self) -> None:
        self._in_part, self._space = False, ""

    def _add(self, text: str, speaker_id: str | None = None) -> Piece | None:
        """Space at the ends of a part is not told, so what may be its end is held back."""
        text = self._space + text
        shown = text.rstrip()
        self._space = text[len(shown) :] if shown or self._in_part else ""
        if not self._in_part:
            shown = shown.lstrip()
        if not shown:
            return None
        if self._any and not self._in_part:
            shown = BETWEEN_PARTS + shown
        self._any = self._in_part = True
        self._whole.append(shown)
        return Piece(text=shown, speaker_id=speaker_id)


def text_of_result(result: JsonObject) -> str:
    """The whole text of a completed turn. The result is plain JSON, and may be of an old version."""
    ink = result.get("ink")
    parts = _ink_parts(ink) if isinstance(ink, dict) else _scene_parts(result)
    return BETWEEN_PARTS.join(text for part in parts if (text := part.strip()))


def _scene_parts(result: JsonObject) -> list[str]:
    flashback = result.get("flashback")
    came = [str(flashback.get("text", ""))] if isinstance(flashback, dict) else []
    return [*came, *_beat_parts(result.get("completed_beats"))]


def _beat_parts(beats: Json) -> list[str]:
    parts: list[str] = []
    for beat in beats if isinstance(beats, list) else []:
        response = beat.get("response") if isinstance(beat, dict) else None
        if not isinstance(response, dict):
            continue
        segments = response.get("segments")
        if isinstance(segments, list):
            told = [one for one in segments if isinstance(one, dict) and one.get("kind") != "thought"]
            parts += [str(one.get("text", "")) for one in told]
        else:
            parts.append(str(response.get("text", "")))
    return parts


def _ink_parts(ink: JsonObject) -> list[str]:
    outcome, lines = ink.get("outcome"), ink.get("lines")
    spoken = [outcome.get("reply"), outcome.get("bridge_text")] if isinstance(outcome, dict) else []
    written = [line.get("text") for line in lines if isinstance(line, dict)] if isinstance(lines, list) else []
    return [part for part in (*spoken, *written) if isinstance(part, str)]
