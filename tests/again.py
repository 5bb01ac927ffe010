"""Runs those tests again that failed, one after another: `python -m tests.again [options of pytest]`.

On a busy machine one of nine thousand may fail that has nothing to do with a change. Its failure stays printed above,
and is named here; whoever sees it mends the test, or what it found. More than a few failures are no accident.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

MOST = 3
FAILED = Path(__file__).parents[1] / ".pytest_cache/v/cache/lastfailed"


def failed_tests(file: Path) -> list[str]:
    return sorted(json.loads(file.read_text())) if file.exists() else []


def main(options: list[str], file: Path = FAILED) -> int:
    tests = failed_tests(file)
    if not 0 < len(tests) <= MOST:
        print(f"{len(tests)} tests failed; up to {MOST} would be run again.")
        return 1
    print("These tests failed among all others, and are run again alone:", *tests, sep="\n  ", flush=True)
    code = subprocess.run([sys.executable, "-m", "pytest", "-n", "0", *options, *tests]).returncode
    print("They failed again." if code else "They passed alone. Look at why they failed above.")
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
