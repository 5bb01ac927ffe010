"""Write the audit: what was refused or left out, to whom, and why.

Nobody fills it by knocking: of one caller a few refusals a minute are written, the rest is only counted in the metrics.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Final

from fabula.actions.house import House
from fabula.ports.actors import Actor
from fabula.ports.audit import Violation, Why
from fabula.ports.errors import FabulaError, LineCrossed
from fabula.ports.meters import VIOLATIONS
from fabula.rules.guardrails import Objection
from fabula.story.values import JsonObject

log = logging.getLogger("fabula.audit")

LONGEST: Final = 200
VIOLATIONS_A_MINUTE: Final = 20
"""So many refusals of one caller are written into the audit, so that nobody fills it by knocking."""
_JUDGED: Final[dict[str, tuple[str, Why]]] = {"cut": ("output", "boundary"), "refuse": ("input", "boundary")}
"""What a verdict was about, by its result; all others are of the feasibility gate."""


async def note_violation(
    house: House, *, caller: str, token_id: str | None, what: str, why: Why, about: str = "", sentence: str
) -> None:
    """Writes a refusal down. Whatever goes wrong here, the refusal stands."""
    house.meters.add(VIOLATIONS, why)
    now = house.clock.now_ms()
    if not house.violations.allows(token_id or caller):
        return
    violation = Violation(
        at_ms=now,
        caller=caller,
        token_id=token_id,
        what=what[:LONGEST],
        why=why,
        about=about[:LONGEST],
        sentence=sentence[:LONGEST],
    )
    try:
        await house.store.write(lambda unit: unit.audit.note(violation), durable=False)
    except FabulaError as error:
        log.warning("a violation could not be written down", extra={"facts": {"why": error.message}})


async def note_crossed(house: House, actor: Actor, session_id: str, error: LineCrossed) -> None:
    """Writes down that somebody said what crosses a line of their table."""
    await note_violation(
        house,
        caller="player",
        token_id=actor.token_id,
        what=f"input: {error.data['check']}",
        why="boundary",
        about=session_id,
        sentence=error.message,
    )


async def note_verdicts(house: House, session_id: str, verdicts: Sequence[JsonObject]) -> None:
    """Writes down what of a turn was refused, changed or cut, as its recorder has it."""
    for one in verdicts:
        if one["result"] == "allow":
            continue
        what, why = _JUDGED.get(str(one["result"]), ("intent", "feasibility"))
        await note_violation(
            house,
            caller=str(one["who"]),
            token_id=None,
            what=f"{what}: {one['rule']}",
            why=why,
            about=session_id,
            sentence=str(one["sentence"]),
        )


async def note_objections(house: House, about: str, who: str, objections: Iterable[Objection]) -> None:
    """Writes down what guardrails objected to outside of turns. `about` is the play, world or game it was said in."""
    for one in objections:
        await note_violation(
            house,
            caller=who,
            token_id=None,
            what=f"output: {one.check}: {one.rule}",
            why="boundary",
            about=about,
            sentence=one.sentence,
        )
