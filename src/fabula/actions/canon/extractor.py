"""The extractor: finds in the lines of a play what they say to be true. It is asked after turns, never in one.

By rule where no model is to be asked, or where the model fails; else in a model's words, of which only what it quotes
exactly is kept. Its model is that of the session's keeper.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass

from fabula.actions.house import House
from fabula.actions.plays.follower_models import follower_api
from fabula.actions.repositories import SESSIONS
from fabula.agents.canon_extraction import read_extraction, write_extraction_prompt
from fabula.canon.extraction import Found, ToldLine, extract
from fabula.loops.model_questions import derived_seed
from fabula.ports.errors import FabulaError
from fabula.ports.models import CallOrigin, ModelRequest, whole
from fabula.ports.threads import run_in_thread
from fabula.story.canon import Evidence
from fabula.story.checks import PLAYER
from fabula.story.plays import SessionSettings
from fabula.story.resources import Api

log = logging.getLogger("fabula.followers")

DEADLINE_S = 60.0
MOST_TOKENS = 1500
BY_MODEL = 0.85
"""How sure a claim is that a model found and quoted."""
Place = Callable[[Sequence[str]], Awaitable[list[ToldLine]]]
"""Finds lines by their ids, each with its time and its witnesses."""


@dataclass(frozen=True, kw_only=True)
class Extractor:
    """Looks through the lines of one session up to one turn. Without an `api` it does so by rule."""

    house: House
    session: SessionSettings
    turn_id: str
    place: Place
    api: Api | None

    @staticmethod
    async def of(house: House, session_id: str, turn_id: str, place: Place) -> Extractor | None:
        """The extractor of a session; None for one that is gone."""
        async with house.store.reading() as unit:
            session = await SESSIONS.find(unit, session_id)
            if session is None:
                return None
            api = await follower_api(house, unit, session)
        return Extractor(house=house, session=session, turn_id=turn_id, place=place, api=api)

    async def find(self, lines: Sequence[ToldLine], names: Mapping[str, str]) -> list[Found]:
        """What the lines say. `names` leads from what somebody is called to their id."""
        if not lines:
            return []
        by_rule = await run_in_thread(lambda: extract(lines, names, player=PLAYER))
        by_rule = await self._placed(by_rule, lines, names)
        if self.api is None:
            return by_rule
        # Promises are the player's own words, which no model has to interpret.
        return [
            *(one for one in by_rule if one.authority == "player"),
            *await self._ask(self.api, lines, names, by_rule),
        ]

    async def _placed(self, found: Sequence[Found], lines: Sequence[ToldLine], names: Mapping[str, str]) -> list[Found]:
        """The same with the time and the witnesses of each line: only of those that say something are they read."""
        if not found:
            return []
        refs = {one.evidence.ref for one in found}
        placed = await self.place([line.ref for line in lines if line.ref in refs])
        return await run_in_thread(lambda: extract(placed, names, player=PLAYER))

    async def _ask(
        self, api: Api, lines: Sequence[ToldLine], names: Mapping[str, str], by_rule: list[Found]
    ) -> list[Found]:
        known: dict[str, str] = {}
        for name, id in names.items():
            known.setdefault(id, name)
        told = [line.text for line in lines if line.kind != "player_input"]
        request = ModelRequest(
            origin=CallOrigin(
                agent="extractor",
                session_id=self.session.session_id,
                story_id=self.session.story_id,
                turn_id=self.turn_id,
            ),
            messages=write_extraction_prompt(told, known),
            # With the same seed an extraction that was interrupted is answered from the memo.
            seed=derived_seed(self.turn_id, f"extraction:{len(told)}"),
            temperature=0.0,
            max_tokens=MOST_TOKENS,
            streaming=False,
            deadline=self.house.clock.monotonic() + DEADLINE_S,
        )
        try:
            client = await self.house.models.client_for(api)
            reply = (await whole(client, request)).text
        except FabulaError as error:
            log.info("Changes of canon are found by rule, because the model failed: %s", error.message)
            return [one for one in by_rule if one.authority != "player"]
        minute = lines[-1].minute
        return [
            Found(content=content, evidence=_evidence(quote, lines), confidence=BY_MODEL)
            for content, quote in read_extraction(reply, told, known, minute=minute)
        ]


def _evidence(quote: str, lines: Sequence[ToldLine]) -> Evidence:
    words = " ".join(quote.split()).casefold()
    ref = next((line.ref for line in lines if words in " ".join(line.text.split()).casefold()), lines[-1].ref)
    return Evidence(type="message", ref=ref, quote=quote)
