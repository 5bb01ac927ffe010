"""One unit of work: all subjects on one connection, inside one transaction."""

from __future__ import annotations

from fabula.adapters.stores.blobs import SqlBlobs
from fabula.adapters.stores.calls import SqlCalls
from fabula.adapters.stores.memo import SqlMemo
from fabula.adapters.stores.npcs import SqlNpcs
from fabula.adapters.stores.plays import SqlPlays
from fabula.adapters.stores.resources import SqlResources
from fabula.adapters.stores.secrets import SqlSecrets
from fabula.adapters.stores.slots import SqlSlots
from fabula.adapters.stores.tables import Desk
from fabula.adapters.stores.tokens import SqlTokens


class SqlUnit:
    def __init__(self, desk: Desk) -> None:
        self.resources = SqlResources(desk)
        self.blobs = SqlBlobs(desk)
        self.secrets = SqlSecrets(desk)
        self.tokens = SqlTokens(desk)
        self.slots = SqlSlots(desk)
        self.memo = SqlMemo(desk)
        self.calls = SqlCalls(desk)
        self.plays = SqlPlays(desk)
        self.npcs = SqlNpcs(desk)
