"""Embedders: texts to vectors. `open_embedder` makes the one that the settings choose."""

from __future__ import annotations

import os

from fabula.adapters.embedders.wordllama import WordLlamaEmbedder
from fabula.ports.embedder import Embedder
from fabula.ports.world import Clock
from fabula.settings import Settings

OPEN_AI = "https://api.openai.com/v1"


def open_embedder(settings: Settings, clock: Clock) -> Embedder | None:
    """The embedder of the settings; its weights are loaded when it is first asked."""
    # The matrices are small: threads that wait for each other in a busy loop cost more than the sums themselves. It is
    # read when numpy and the tokenizer are loaded, and whoever chose otherwise keeps it.
    for name, value in (("OPENBLAS_NUM_THREADS", "1"), ("TOKENIZERS_PARALLELISM", "false")):
        os.environ.setdefault(name, value)
    match settings.embedder:
        case "wordllama":
            return WordLlamaEmbedder()
        case "api":
            from fabula.adapters.embedders.api import ApiEmbedder

            return ApiEmbedder(
                base_url=settings.embedder_base or settings.openai_api_base or OPEN_AI,
                model=settings.embedder_model,
                api_key=settings.embedder_key or settings.openai_api_key,
                dimension=settings.embedder_dimension,
                clock=clock,
            )
        case "off":
            return None
