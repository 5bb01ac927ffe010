"""What a typed line means to an Ink story that offers choices; pure."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fabula.actions.turns.run_turn import RunTurn
from fabula.cli.player.lines import typed_number


def meant(line: str, choices: Sequence[dict[str, Any]]) -> RunTurn | str:
    """The turn that a line asks for; a sentence for the player when it asks for none."""
    if not choices:
        return RunTurn(player_input=line)
    number = typed_number(line)
    if number is not None and 1 <= number <= len(choices):
        return RunTurn(choice=number - 1)
    named = [place for place, choice in enumerate(choices) if _alike(choice["text"], line)]
    match named:
        case [place]:
            return RunTurn(choice=place)
        case []:
            return _which(len(choices))
        case _:
            numbers = [str(place + 1) for place in named]
            return f"That stands there more than once: type {', '.join(numbers[:-1])} or {numbers[-1]}."


def _alike(text: str, line: str) -> bool:
    return " ".join(text.split()).casefold() == " ".join(line.split()).casefold()


def _which(offered: int) -> str:
    return "Type 1: it is the only choice." if offered == 1 else f"Type the number of a choice, 1 to {offered}."
