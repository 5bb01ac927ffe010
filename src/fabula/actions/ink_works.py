"""Ink stories ready to be played: compiled once, and kept while they are in use."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping

from fabula.agents.knots.names import default_ai_seed
from fabula.agents.knots.published import publish, source_digest
from fabula.loops.conversation.desk import InkWork
from fabula.ports.errors import InvalidRequest
from fabula.ports.gate import off_loop

WORKS_KEPT = 32
LONGEST_SOURCE = 4_000_000


class InkWorks:
    """Published stories by the hash of their source. An edit is another source, so nothing is ever stale."""

    def __init__(self) -> None:
        self._works: OrderedDict[str, InkWork] = OrderedDict()

    async def of(self, source: str, files: Mapping[str, str]) -> InkWork:
        """The story, compiled now unless it was lately."""
        size = len(source) + sum(len(text) for text in files.values())
        if size > LONGEST_SOURCE:
            raise InvalidRequest(f"The story has {size} characters; {LONGEST_SOURCE} is the most that can be taken.")
        digest = source_digest(source, files)
        work = self._works.get(digest)
        if work is None:
            work = InkWork(published=await off_loop(publish, source, files))
            self._works[digest] = work
        self._works.move_to_end(digest)
        while len(self._works) > WORKS_KEPT:
            self._works.popitem(last=False)
        return work

    async def prepare(self, work: InkWork) -> None:
        """Learns the characters that the story names, so that no player waits for it."""
        for character in sorted({character for character, _ in work.published.talks}):
            await work.grounding(character, default_ai_seed())
