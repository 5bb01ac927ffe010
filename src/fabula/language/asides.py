"""What a player says out of character, in double brackets: `((shorter, please))`; pure."""

from __future__ import annotations

import re
from typing import Final

GO_ON: Final = "[The story goes on.]"
"""In place of the words of a line that has none but those out of character."""
_ASIDE: Final = re.compile(r"\(\(([^()]{1,500})\)\)")


def split_asides(line: str) -> tuple[str, str]:
    """What of a line is said in the story, and what out of character; where all of it is, the story goes on."""
    asides = [" ".join(found.split()) for found in _ASIDE.findall(line)]
    if not any(asides):
        return line, ""
    return " ".join(_ASIDE.sub(" ", line).split()) or GO_ON, " ".join(one for one in asides if one)
