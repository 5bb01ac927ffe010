"""The summariser: sums lines up in a model's words; by rule, in the words of the play, where no model is to be asked.

It is asked after turns, never in one: its model is that of the session's keeper. A summary that says nothing, or does
not come at all, is made by rule instead.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import dataclass

from fabula.actions.audit_notes import note_objections
from fabula.actions.house import House
from fabula.actions.plays.follower_models import follower_api
from fabula.actions.plays.kinds.rows import kind_of_play
from fabula.actions.plays.table_guardrails import table_guardrails
from fabula.agents.summaries import read_summary, write_summary_prompt
from fabula.loops.guardrails import Guardrails
from fabula.loops.model_questions import derived_seed
from fabula.ports.errors import FabulaError
from fabula.ports.models import CallOrigin, ModelRequest, whole
from fabula.ports.plays import Turn
from fabula.ports.store import Unit
from fabula.ports.threads import run_in_thread
from fabula.story.plays import PlayState, SessionSettings
from fabula.story.resources import Api
from fabula.story.state import MemoryEntry
from fabula.story.summaries import SUMMARISER, sum_up

log = logging.getLogger("fabula.followers")

DEADLINE_S = 60.0
MOST_TOKENS = 600
TEMPERATURE = 0.2


@dataclass(frozen=True, kw_only=True)
class Summariser:
    """Sums lines up for one turn. Without an `api` it does so by rule."""

    house: House
    turn: Turn
    session: SessionSettings
    api: Api | None
    guardrails: Guardrails

    @staticmethod
    async def of(house: House, unit: Unit, session: SessionSettings, turn: Turn, state: PlayState) -> Summariser:
        # What is told in its author's words is summed up in them, too.
        api = await follower_api(house, unit, session) if kind_of_play(state).has_scenes else None
        rails = await table_guardrails(unit, session.session_id, state, SUMMARISER)
        return Summariser(house=house, turn=turn, session=session, api=api, guardrails=rails)

    async def sum_up(self, lines: Iterable[MemoryEntry], words: int, *, before: str = "") -> str:
        """The lines in at most so many words. `before` is what happened earlier.

        Prompts have it and players read it, so it passes the guardrails of the table.
        """
        told = list(lines)
        text = await self._ask(self.api, told, words, before) if self.api is not None and told else ""
        if not text:
            text = await run_in_thread(sum_up, told, words)
        checked = await run_in_thread(self.guardrails.cut, text)
        await note_objections(self.house, self.session.session_id, SUMMARISER, checked.objections)
        return checked.text

    async def _ask(self, api: Api, told: list[MemoryEntry], words: int, before: str) -> str:
        request = ModelRequest(
            origin=CallOrigin(
                agent=SUMMARISER,
                session_id=self.session.session_id,
                story_id=self.session.story_id,
                turn_id=self.turn.turn_id,
            ),
            messages=write_summary_prompt(told, words=words, before=before),
            # With the same seed a summary that was interrupted is answered from the memo.
            seed=derived_seed(self.turn.turn_id, f"summary:{len(told)}:{words}"),
            temperature=TEMPERATURE,
            max_tokens=MOST_TOKENS,
            streaming=False,
            deadline=self.house.clock.monotonic() + DEADLINE_S,
        )
        try:
            client = await self.house.models.client_for(api)
            return read_summary((await whole(client, request)).text, words=words)
        except FabulaError as error:
            log.info("A summary is made by rule, because its model failed: %s", error.message)
            return ""
