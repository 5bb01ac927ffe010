"""The embedder kit on wordllama."""

from __future__ import annotations

import pytest

from fabula.adapters.embedders.wordllama import WordLlamaEmbedder
from fabula.testing.embedder_kit import CHECKS, Check


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
async def test_the_law_of_embedders_holds_for_wordllama(check: Check) -> None:
    await check(WordLlamaEmbedder())
