"""Owners: which process holds a piece of work, and whether that process is gone."""

from __future__ import annotations

import os
import secrets
import socket
from functools import cache


def owner_name(house: str) -> str:
    """The name of this process, and of a house in it, as an owner of work: `machine/pid/token/house`."""
    return f"{socket.gethostname()}/{os.getpid()}/{_token(os.getpid())}/{house}"


@cache
def _token(_pid: int) -> str:
    """Tells a process from earlier ones that had its number; by the number, because a fork is another process."""
    return secrets.token_hex(4)


def is_dead(owner: str, *, seen_by: str) -> bool:
    """Whether a process of this machine that held work is gone; of other machines only the lease can tell."""
    host, _, rest = owner.partition("/")
    pid, _, rest = rest.partition("/")
    if owner == seen_by or host != socket.gethostname() or not pid.isdecimal():
        return False
    if int(pid) == os.getpid():
        return rest.partition("/")[0] != _token(os.getpid())
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False
