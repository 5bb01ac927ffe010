"""Kills a process again and again while it writes, and checks that it kept its word each time.

1. A *writer* process is started on a data folder. It acknowledges each finished write with one line on its output.
2. At a random moment it gets SIGKILL.
3. What the folder holds now is read: every acknowledged write must be there, and none may be half there.
4. Again, on the same folder.

The driver knows neither the store nor the server: a `Victim` says how to start a writer, a `Witness` what is there.
"""

from __future__ import annotations

import random
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

Victim = Callable[[int], Sequence[str]]
"""The command of the writer for a round; it prints `ready`, then the name of each write that was acknowledged."""

Witness = Callable[[], set[str]]
"""The names of all writes that are there, each checked to be whole; raises when one is half there."""


@dataclass(kw_only=True)
class Tally:
    """What came of it."""

    kills: int = 0
    acknowledged: set[str] = field(default_factory=set)
    lost: set[str] = field(default_factory=set)
    unacknowledged_but_there: int = 0


def kill_again_and_again(*, victim: Victim, witness: Witness, kills: int, seed: int, longest_s: float = 0.3) -> Tally:
    """Runs the rounds; the same seed kills at the same moments, as far as the machine allows."""
    chance = random.Random(seed)
    tally = Tally()
    for number in range(kills):
        tally.acknowledged |= _one_life(victim(number), chance.uniform(0, longest_s))
        found = witness()
        tally.kills += 1
        tally.lost |= tally.acknowledged - found
        tally.unacknowledged_but_there = len(found - tally.acknowledged)
    return tally


def _one_life(command: Sequence[str], lives_s: float) -> set[str]:
    """Starts the writer, lets it write for a moment, kills it; the names of the writes that it acknowledged."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None and process.stderr is not None
        try:
            first = process.stdout.readline()
            if first != b"ready\n":
                raise RuntimeError(f"The writer did not start: {process.stderr.read().decode(errors='replace')}")
            time.sleep(lives_s)
        finally:
            process.send_signal(signal.SIGKILL)
        lines = process.stdout.read().split(b"\n")
    # The last piece is empty, or a line that was cut by the kill and acknowledges nothing.
    return {line.decode() for line in lines[:-1]}
