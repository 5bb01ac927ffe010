"""The titles of a graph's scenes, kept by the version of the graph: a version never changes."""

from __future__ import annotations

from collections.abc import Mapping

from cachetools import LRUCache

from fabula.actions.setups.play_setup import read_graph
from fabula.ports.store import Unit

VERSIONS_KEPT = 128


class SceneTitles:
    """Titles by node, so that showing a session does not read its whole graph again."""

    def __init__(self) -> None:
        self._kept: LRUCache[str, Mapping[str, str]] = LRUCache(VERSIONS_KEPT)

    async def of(self, unit: Unit, graph_blob: str) -> Mapping[str, str]:
        kept = self._kept.get(graph_blob)
        if kept is None:
            graph = await read_graph(unit, graph_blob)
            kept = self._kept[graph_blob] = {node.id: node.title for node in graph.nodes}
        return kept
