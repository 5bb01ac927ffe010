"""Owners: which process holds a piece of work, and whether that process is gone."""

from __future__ import annotations

import os
import socket


def is_dead(owner: str, *, seen_by: str) -> bool:
    """Whether a process of this machine that held work is gone; of other machines only the lease can tell."""
    host, _, rest = owner.partition("/")
    pid = rest.partition("/")[0]
    if owner == seen_by or host != socket.gethostname() or not pid.isdecimal():
        return False
    if int(pid) == os.getpid():
        return True
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
