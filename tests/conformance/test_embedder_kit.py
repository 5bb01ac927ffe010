"""The embedder kit on wordllama, and on a server that speaks `/v1/embeddings`."""

from __future__ import annotations

import pytest

from fabula.adapters.embedders.api import ApiEmbedder
from fabula.adapters.embedders.wordllama import WordLlamaEmbedder
from fabula.ports.errors import BackendError
from fabula.testing.embedder_kit import CHECKS, Check, texts_of_like_meaning_are_more_alike
from fabula.testing.model_kit import RunningClock
from fabula.testing.model_server import ModelServer


def embedder_at(base_url: str, *, dimension: int) -> ApiEmbedder:
    return ApiEmbedder(base_url=base_url, model="scripted", api_key="sk-x", dimension=dimension, clock=RunningClock())


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
async def test_the_law_of_embedders_holds_for_wordllama(check: Check) -> None:
    await check(WordLlamaEmbedder())


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
async def test_the_law_of_embedders_holds_for_a_server(check: Check) -> None:
    if check is texts_of_like_meaning_are_more_alike:
        pytest.skip("what a scripted server means by its vectors is nothing")
    async with ModelServer() as server:
        embedder = ApiEmbedder(
            base_url=server.base_url, model="scripted", api_key="sk-x", dimension=16, clock=RunningClock()
        )
        await check(embedder)
        await embedder.close()


async def test_a_server_that_cannot_be_used_is_named_with_the_settings_to_look_at() -> None:
    embedder = embedder_at("http://127.0.0.1:9/v1", dimension=16)
    with pytest.raises(BackendError, match="embedder_base"):
        await embedder.embed(["The sea."])
    await embedder.close()
    async with ModelServer() as server:
        asks_too_much = ApiEmbedder(
            base_url=server.base_url, model="x", api_key="", dimension=4096, clock=RunningClock()
        )
        with pytest.raises(BackendError, match="4096 numbers"):
            await asks_too_much.embed(["The sea."])
        await asks_too_much.close()
