"""Loops that nobody else watches: what happens in one is told on its own stage and nowhere else.

LangGraph sends everything that passes through a loop to a tracing service, when a variable of the environment says so.
Such a variable may be set for another program; a play is nobody's business but its player's. Imported late, as
everything of LangGraph.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

from langsmith.run_helpers import tracing_context


def untraced() -> AbstractContextManager[None]:
    """Inside of it nothing is traced, whatever the environment says."""
    return tracing_context(enabled=False)
