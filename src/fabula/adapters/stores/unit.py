"""One unit of work: all subjects on one connection, inside one transaction. Each is made when it is asked for."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

from fabula.adapters.stores.audit import SqlAudit
from fabula.adapters.stores.blobs import SqlBlobs
from fabula.adapters.stores.calls import SqlCalls
from fabula.adapters.stores.canon import SqlCanon
from fabula.adapters.stores.canon_graph import SqlGraph
from fabula.adapters.stores.canon_layers import SqlCanonLayers
from fabula.adapters.stores.index import SqlIndex
from fabula.adapters.stores.loop_checkpoints import SqlLoopCheckpoints
from fabula.adapters.stores.lore_bundles import SqlLoreBundles
from fabula.adapters.stores.memo import SqlMemo
from fabula.adapters.stores.memories import SqlMemories
from fabula.adapters.stores.npcs import SqlNpcs
from fabula.adapters.stores.plays import SqlPlays
from fabula.adapters.stores.resources import SqlResources
from fabula.adapters.stores.scenes import SqlScenes
from fabula.adapters.stores.secrets import SqlSecrets
from fabula.adapters.stores.tables import Access
from fabula.adapters.stores.tokens import SqlTokens
from fabula.adapters.stores.traces import SqlTraces
from fabula.adapters.stores.uploads import SqlUploads
from fabula.adapters.stores.work import SqlWork


class SqlUnit:
    def __init__(self, access: Access) -> None:
        self._access = access

    @cached_property
    def looking(self) -> SqlUnit:
        return SqlUnit(replace(self._access, locks=False)) if self._access.locks else self

    @cached_property
    def resources(self) -> SqlResources:
        return SqlResources(self._access)

    @cached_property
    def blobs(self) -> SqlBlobs:
        return SqlBlobs(self._access)

    @cached_property
    def secrets(self) -> SqlSecrets:
        return SqlSecrets(self._access)

    @cached_property
    def tokens(self) -> SqlTokens:
        return SqlTokens(self._access)

    @cached_property
    def uploads(self) -> SqlUploads:
        return SqlUploads(self._access)

    @cached_property
    def memo(self) -> SqlMemo:
        return SqlMemo(self._access)

    @cached_property
    def calls(self) -> SqlCalls:
        return SqlCalls(self._access)

    @cached_property
    def plays(self) -> SqlPlays:
        return SqlPlays(self._access)

    @cached_property
    def index(self) -> SqlIndex:
        return SqlIndex(self._access)

    @cached_property
    def memories(self) -> SqlMemories:
        return SqlMemories(self._access)

    @cached_property
    def npcs(self) -> SqlNpcs:
        return SqlNpcs(self._access)

    @cached_property
    def canon(self) -> SqlCanon:
        return SqlCanon(self._access)

    @cached_property
    def graph(self) -> SqlGraph:
        return SqlGraph(self._access)

    @cached_property
    def audit(self) -> SqlAudit:
        return SqlAudit(self._access)

    @cached_property
    def canon_layers(self) -> SqlCanonLayers:
        return SqlCanonLayers(self._access)

    @cached_property
    def scenes(self) -> SqlScenes:
        return SqlScenes(self._access)

    @cached_property
    def work(self) -> SqlWork:
        return SqlWork(self._access)

    @cached_property
    def traces(self) -> SqlTraces:
        return SqlTraces(self._access)

    @cached_property
    def lore_bundles(self) -> SqlLoreBundles:
        return SqlLoreBundles(self._access)

    @cached_property
    def loop_checkpoints(self) -> SqlLoopCheckpoints:
        """For the saver of the loops alone."""
        return SqlLoopCheckpoints(self._access)
