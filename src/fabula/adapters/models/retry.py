"""When a failed call is worth another try, and how long to wait before it."""

from __future__ import annotations

from fabula.ports.models import ModelBusy, ModelCutOff, ModelError, ModelUnreachable

FIRST_WAIT_S = 0.25
LONGEST_WAIT_S = 20.0


def wait_before_next(error: ModelError, *, tried: int, attempts: int, remaining: float, chance: float) -> float | None:
    """Seconds to wait before the next try, or None when there should be none.

    Waits double from try to try; `chance` (0 to 1) spreads them, so that many callers do not come back at once.
    A wait that the server asked for is kept, and no wait passes the deadline.
    """
    if not isinstance(error, (ModelBusy, ModelUnreachable, ModelCutOff)) or tried >= attempts:
        return None
    wait = min(LONGEST_WAIT_S, FIRST_WAIT_S * 2 ** (tried - 1)) * (0.5 + chance / 2)
    asked = error.data.get("retry_after_s")
    if isinstance(asked, (int, float)):
        wait = max(wait, float(asked))
    return wait if wait < remaining else None
