"""Embedders: texts to vectors. `open_embedder` makes the one that the settings choose."""

from __future__ import annotations

from fabula.adapters.embedders.wordllama import WordLlamaEmbedder
from fabula.ports.embedder import Embedder
from fabula.settings import Settings


def open_embedder(settings: Settings) -> Embedder | None:
    """The embedder of the settings; its weights are loaded when it is first asked."""
    return WordLlamaEmbedder() if settings.embedder == "wordllama" else None
