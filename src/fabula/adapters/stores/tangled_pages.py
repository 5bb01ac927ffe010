"""Pages of a SQLite file that stand in two places, as no program writes them: a file of few pages has rows without end.

SQLite reads what the pages say and walks on: who adds the rows up never comes to an end, and who lists them fills the
memory.
"""

from __future__ import annotations

import sqlite3
from typing import Final

LARGEST_LOOKED_THROUGH: Final = 256 * 2**20
"""So many bytes take some tenths of a second. What is hidden among many more cannot be small any more."""
_MOST_FINDINGS: Final = 100


def is_tangled(database: sqlite3.Connection) -> bool:
    """Whether a page stands in two places; of a very large file that is not asked."""
    (pages,), (size,) = (database.execute(f"PRAGMA page_{what}").fetchone() for what in ("count", "size"))
    if pages * size > LARGEST_LOOKED_THROUGH:
        return False
    # It looks at all pages first, and answers what it found there before it begins with the rows.
    found = str(database.execute(f"PRAGMA quick_check({_MOST_FINDINGS})").fetchone()[0])
    return "2nd reference to page" in found or found.count("\n") >= _MOST_FINDINGS
