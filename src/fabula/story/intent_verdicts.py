"""Verdicts of the feasibility gate: what becomes of something that a player wants to do, and why."""

from __future__ import annotations

from typing import Literal

from fabula.story.values import Value

IntentResult = Literal["deny", "ask", "defer", "analog"]
"""It cannot be done here at all; it can if the player says how; not now or not here; something like it can. What is
allowed has no verdict."""
IntentRule = Literal[
    "axiom", "technology", "magic", "absent_person", "absent_thing", "place", "time", "model", "check_failed"
]


class IntentVerdict(Value):
    """`sentence` says why, `guidance` tells whoever tells the turn what to do with it, `lead` the player what helps.

    `about` is who or what it is about, as the player called it.
    """

    rule: IntentRule
    result: IntentResult
    about: str
    sentence: str
    guidance: str
    lead: str

    @property
    def stops(self) -> bool:
        """Whether the deed is not done, so that nothing is rolled for it and it opens no way."""
        return self.result != "analog" and self.rule not in ("absent_person", "absent_thing", "place")
