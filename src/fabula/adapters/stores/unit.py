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
from fabula.adapters.stores.tables import Access
from fabula.adapters.stores.tokens import SqlTokens


class SqlUnit:
    def __init__(self, access: Access) -> None:
        self.resources = SqlResources(access)
        self.blobs = SqlBlobs(access)
        self.secrets = SqlSecrets(access)
        self.tokens = SqlTokens(access)
        self.slots = SqlSlots(access)
        self.memo = SqlMemo(access)
        self.calls = SqlCalls(access)
        self.plays = SqlPlays(access)
        self.npcs = SqlNpcs(access)
