"""Kills a process again and again while it writes, and checks that it kept its word each time.

1. A *victim* is started on a data folder, and writes.
2. At a random moment it gets SIGKILL.
3. What the folder holds now is read: every acknowledged write must be there, and none may be half there.
4. Again, on the same folder.

The driver knows neither the store nor the server; see `fabula.testing.server_victim` for the server under load.
"""

from __future__ import annotations

import random
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

Witness = Callable[[], set[str]]
"""The names of all writes that are there, each checked to be whole; raises when one is half there."""


class Victim(Protocol):
    """A process that writes."""

    @property
    def process(self) -> subprocess.Popen[bytes]: ...

    def acknowledged(self) -> set[str]:
        """The names of all writes that were acknowledged before the kill; called once, after it."""
        ...


@dataclass(kw_only=True)
class Tally:
    """What came of it."""

    kills: int = 0
    acknowledged: set[str] = field(default_factory=set)
    lost: set[str] = field(default_factory=set)
    unacknowledged_but_there: int = 0


def kill_again_and_again(
    *, start: Callable[[int], Victim], witness: Witness, kills: int, seed: int, longest_s: float = 0.3
) -> Tally:
    """Runs the rounds; the same seed kills at the same moments, as far as the machine allows."""
    chance = random.Random(seed)
    tally = Tally()
    for number in range(kills):
        tally.acknowledged |= _one_life(start(number), chance.uniform(0, longest_s))
        found = witness()
        tally.kills += 1
        tally.lost |= tally.acknowledged - found
        tally.unacknowledged_but_there = len(found - tally.acknowledged)
    return tally


def _one_life(victim: Victim, lives_s: float) -> set[str]:
    """Lets a victim write for a moment, kills it; the names of the writes that it acknowledged."""
    try:
        time.sleep(lives_s)
    finally:
        victim.process.send_signal(signal.SIGKILL)
        victim.process.wait()
    return victim.acknowledged()


class TalkingVictim:
    """A process that prints `ready`, then the name of each write that was acknowledged, a line each."""

    def __init__(self, command: Sequence[str]) -> None:
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        self._lines = self.process.stdout
        if self._lines.readline() != b"ready\n":
            raise RuntimeError("The writer did not start.")

    def acknowledged(self) -> set[str]:
        with self._lines:
            lines = self._lines.read().split(b"\n")
        # The last piece is empty, or a line that was cut by the kill and acknowledges nothing.
        return {line.decode() for line in lines[:-1]}
