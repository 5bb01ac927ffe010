"""All benchmarks, one after the other: `make bench`, or `python -m bench NAME ...` for some of them.

What begins with a dash, and all that follows, is for the benchmark itself: `python -m bench turns --story --help`.
"""

from __future__ import annotations

import subprocess
import sys
from itertools import takewhile
from pathlib import Path

NAMES = sorted(
    file.stem
    for file in Path(__file__).parent.glob("*.py")
    if "def main(" in file.read_text("utf-8") and file.stem != "__main__"
)


def main() -> int:
    """Runs each benchmark in a process of its own, so that none warms another's caches."""
    names = list(takewhile(lambda word: not word.startswith("-"), sys.argv[1:]))
    options, wanted = sys.argv[1 + len(names) :], names or NAMES
    unknown = [name for name in wanted if name not in NAMES]
    if unknown:
        print(f"There is no benchmark named {unknown[0]}. Known are: {', '.join(NAMES)}.")
        return 2
    failed = 0
    for name in wanted:
        print(f"== {name}", flush=True)
        failed += subprocess.run([sys.executable, "-m", f"bench.{name}", *options], check=False).returncode != 0
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
