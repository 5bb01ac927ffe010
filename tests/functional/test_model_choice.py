"""Choosing a model, tried against servers that are dead, refuse, answer garbage, are slow, or list the wrong models."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from fabula.actions.care.overview import get_global_config
from fabula.actions.house import House
from fabula.actions.library.api_groups import NameApiGroup, get_api_group
from fabula.actions.library.api_trials import ApiTested, TryApi, try_api
from fabula.actions.library.model_choice import (
    NameModel,
    UseModel,
    detect_models,
    group_of_model,
    remove_model,
    use_model,
)
from fabula.actions.views import Nothing
from fabula.adapters.models.chat_models import talks
from fabula.adapters.world import SystemClock
from fabula.ports.actors import OPERATOR
from fabula.ports.errors import FabulaError, NotFound
from fabula.ports.models import ModelError
from fabula.story.values import JsonObject
from fabula.testing.memory_store import memory_place
from fabula.testing.model_script import (
    Behaviour,
    CutMidStream,
    Endless,
    ErrorInStream,
    Fail,
    Garbage,
    Pace,
    Redirect,
    Refuse,
    Say,
    Script,
    Silence,
    sound_model,
)
from fabula.testing.model_server import ModelServer
from fabula.wiring import open_house

NOWHERE = "http://127.0.0.1:1/v1"


@asynccontextmanager
async def a_house(**changes: object) -> AsyncIterator[House]:
    with memory_place() as place:
        settings = place.settings.model_copy(update={"samples": False, "model_attempts": 1, **changes})
        async with open_house(settings, store=place.store(SystemClock())) as house:
            yield house


async def in_use(house: House) -> set[str]:
    """The apis that a new play would use."""
    group_id = (await get_global_config(house, OPERATOR, Nothing())).api_group_id
    assert group_id is not None
    group = await get_api_group(house, OPERATOR, NameApiGroup(api_group_id=group_id))
    return set(group.bindings.model_dump().values())


async def outcome_at(house: House, address: str, *, seconds: float = 5.0) -> ApiTested:
    command = TryApi(provider="open_ai", base_url=address, api_key="sk-secret", model="m", seconds=seconds)
    return await try_api(house, OPERATOR, command)


BROKEN: dict[str, tuple[Script, str]] = {
    "refuses the key": ([Fail(status=401)], "key"),
    "is broken": ([Fail(status=500)], "busy or failing"),
    "knows no such model": ([Fail(status=404)], ""),
    "answers garbage": ([Garbage()], ""),
    "answers nothing": ([Silence()], "nothing"),
    "breaks off": ([CutMidStream()], ""),
    "fails in the middle": ([ErrorInStream()], "middle"),
    "declines": ([Refuse()], "declined"),
    "never ends": ([Endless()], ""),
    "sends us elsewhere": ([Redirect(to="http://example.org/")], ""),
}


@pytest.mark.parametrize("fault", BROKEN)
async def test_a_server_that_cannot_answer_is_told_in_a_sentence_and_changes_nothing(fault: str) -> None:
    script, word = BROKEN[fault]
    async with a_house() as house, ModelServer(script) as server:
        command = UseModel(base_url=server.base_url, model="m", api_key="sk-secret", seconds=5)
        used = await use_model(house, OPERATOR, command)
        assert used.test is not None and not used.switched
        assert word in used.test.problem and used.test.problem.endswith((".", "?"))
        assert "sk-secret" not in used.model_dump_json()
        assert await in_use(house) == {"understudy"}


async def test_a_server_that_is_not_there_changes_nothing_either() -> None:
    async with a_house() as house:
        used = await use_model(house, OPERATOR, UseModel(base_url=NOWHERE, model="m"))
        assert not used.switched and used.test is not None
        assert [check.name for check in used.test.checks] == ["stream"]
        assert "cannot be reached" in used.test.problem
        assert await in_use(house) == {"understudy"}


async def test_a_model_that_answers_prose_where_json_was_asked_is_named_as_such() -> None:
    async with a_house() as house, ModelServer(["Once upon a time there was a lamp."]) as server:
        outcome = await outcome_at(house, server.base_url)
        assert [(check.name, check.ok) for check in outcome.checks] == [
            ("stream", True),
            ("json", False),
            ("system_role", False),
        ]
        assert "JSON" in outcome.problem


async def test_a_slow_model_passes_and_is_called_slow_with_its_measured_pace() -> None:
    def slowly(body: JsonObject) -> Behaviour:
        answer = sound_model(body)
        is_tale = isinstance(answer, Say) and answer.text.startswith("The lamp")
        return Say(text="The lamp turns.", pace=Pace(tokens_per_second=5)) if is_tale else answer

    async with a_house() as house, ModelServer(slowly) as server:
        outcome = await outcome_at(house, server.base_url)
        assert outcome.ok and outcome.slow
        assert outcome.tokens_per_second is not None and outcome.tokens_per_second < 8


async def test_a_model_that_is_too_slow_to_answer_in_time_fails() -> None:
    async with a_house() as house, ModelServer(pace=Pace(first_token_ms=30_000)) as server:
        outcome = await outcome_at(house, server.base_url, seconds=1)
        assert not outcome.ok and "in time" in outcome.problem


async def test_a_server_that_lists_only_models_that_do_not_talk_offers_none() -> None:
    async with (
        ModelServer(models=("nomic-embed-text", "whisper-1")) as server,
        a_house(openai_api_base=server.base_url) as house,
    ):
        (found,) = (await detect_models(house, OPERATOR, Nothing())).found[:1]
        assert (found.usable, found.models) == (False, []) and "no model that talks" in found.problem
        with pytest.raises(NotFound, match="no model that talks"):
            await use_model(house, OPERATOR, UseModel(name="environment"))


async def test_a_model_is_used_by_its_own_name_and_removed_again() -> None:
    async with (
        ModelServer(sound_model, models=("bge-m3", "llama3", "qwen")) as server,
        a_house(openai_api_base=server.base_url) as house,
    ):
        used = await use_model(house, OPERATOR, UseModel(name="qwen", api_id="q"))
        assert used.switched and used.model == "qwen" and await in_use(house) == {"q"}
        assert (await remove_model(house, OPERATOR, NameModel(api_id="q"))).rebound == ["default"]
        assert await in_use(house) == {"understudy"}
        with pytest.raises(FabulaError, match="built in"):
            await remove_model(house, OPERATOR, NameModel(api_id="understudy"))


async def test_one_play_may_take_a_model_of_its_own() -> None:
    async with (
        ModelServer(sound_model, models=("llama3",)) as server,
        a_house(openai_api_base=server.base_url) as house,
    ):
        assert await group_of_model(house, OPERATOR, "understudy") == "builtin"
        assert await group_of_model(house, OPERATOR, "llama3") == "llama3"
        with pytest.raises(NotFound, match="There are: understudy"):
            await group_of_model(house, OPERATOR, "mixtral")
        server.script = [Garbage()]
        with pytest.raises(ModelError, match="cannot be used"):
            await group_of_model(house, OPERATOR, "environment")


async def test_model_files_are_found_and_what_is_none_says_why(tmp_path: Path) -> None:
    (tmp_path / "tiny.gguf").write_bytes(b"GGUF....")
    (tmp_path / "broken.gguf").write_bytes(b"<html>")
    (tmp_path / "nomic-embed-text.gguf").write_bytes(b"GGUF....")
    async with a_house(models_dir=tmp_path) as house:
        files = {one.use: one for one in (await detect_models(house, OPERATOR, Nothing())).found if one.base_url == ""}
        assert set(files) == {"tiny.gguf", "broken.gguf"}
        assert files["tiny.gguf"].provider == "local"
        assert "not a GGUF file" in files["broken.gguf"].problem or "pip install" in files["broken.gguf"].problem
        with pytest.raises(NotFound, match=r"broken\.gguf cannot be used"):
            await use_model(house, OPERATOR, UseModel(name="broken"))


async def test_a_kept_key_is_not_sent_to_another_address() -> None:
    async with a_house() as house:
        with pytest.raises(FabulaError, match="alone"):
            await try_api(house, OPERATOR, TryApi(api_id="understudy", base_url=NOWHERE))


@pytest.mark.parametrize(
    ("name", "chat"),
    [
        ("llama3:8b", True),
        ("gpt-4o-mini", True),
        ("qwen2.5-1.5b-instruct-q4_k_m.gguf", True),
        ("yi-1.5-9b", True),
        ("nomic-embed-text", False),
        ("text-embedding-3-small", False),
        ("whisper-1", False),
        ("tts-1-hd", False),
        ("dall-e-3", False),
        ("gpt-image-1", False),
        ("bge-m3", False),
        ("mmproj-model-f16.gguf", False),
        ("omni-moderation-latest", False),
    ],
)
def test_models_that_do_not_talk_are_known_by_their_names(name: str, chat: bool) -> None:
    assert talks(name) is chat
