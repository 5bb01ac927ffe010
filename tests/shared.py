"""Stories and suites that are not ours to ship: they lie in ../shared, or the tests that read them are skipped.

How many were skipped stands in one line at the end of the run.
"""

from __future__ import annotations

from pathlib import Path

import pytest

SHARED = Path(__file__).parents[2] / "shared"
INK_PROOF = SHARED / "data/ink-proof/ink"
INTERCEPT = SHARED / "data/stories/TheIntercept.ink"
STORYTELLER_LINES = SHARED / "data/storyteller"

needs_intercept = pytest.mark.skipif(not INTERCEPT.is_file(), reason="The Intercept is not in ../shared/data/stories")
needs_ink_proof = pytest.mark.skipif(not INK_PROOF.is_dir(), reason="ink-proof is not in ../shared/data/ink-proof")
needs_lines = pytest.mark.skipif(
    not STORYTELLER_LINES.is_dir(), reason="the storyteller's lines are not in ../shared/data/storyteller"
)
