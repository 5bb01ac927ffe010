"""A play as a chat of SillyTavern: a line of JSON about the chat, then one for each message."""

from __future__ import annotations

from collections import Counter

import orjson

from fabula.formats.play_texts.document import PlayDocument, WrittenLine, moment, one_line, printable

NARRATOR = "Narrator"


def write_silly_tavern(play: PlayDocument) -> str:
    head = {
        "user_name": one_line(play.player) or "You",
        "character_name": _main_speaker(play),
        "create_date": _date(play.begun_at_ms),
        "chat_metadata": {},
    }
    lines = [orjson.dumps(head), *(orjson.dumps(_message(play, line)) for _, line in play.lines())]
    return b"\n".join(lines).decode() + "\n"


def _main_speaker(play: PlayDocument) -> str:
    """The chat is named after who speaks most."""
    spoken = Counter(one_line(line.speaker) for _, line in play.lines() if line.kind == "dialogue")
    return spoken.most_common(1)[0][0] if spoken else NARRATOR


def _message(play: PlayDocument, line: WrittenLine) -> dict[str, object]:
    is_player = line.kind == "player_input"
    narrated = line.kind == "narration"
    name = (one_line(play.player) or "You") if is_player else one_line(line.speaker)
    return {
        "name": NARRATOR if narrated or not name else name,
        "is_user": is_player,
        "is_system": False,
        "send_date": _date(line.recorded_at_ms or play.begun_at_ms),
        "mes": _words(line),
        "extra": {},
    }


def _words(line: WrittenLine) -> str:
    words = printable(line.text)
    match line.kind:
        case "action":
            return f"*{words}*"
        case "dialogue":
            return f'"{words}"'
        case "thought":
            return f"*({words})*"
        case "player_input" | "narration":
            return words


def _date(at_ms: int) -> str:
    return moment(at_ms).strftime("%Y-%m-%dT%H:%M:%S.") + f"{at_ms % 1000:03}Z"
