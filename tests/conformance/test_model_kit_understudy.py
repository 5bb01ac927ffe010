"""The model kit on the understudy, bare and as the house hands it out."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from fabula.adapters.models.clients import open_models
from fabula.adapters.models.structure import schema_problem
from fabula.adapters.models.understudy import Understudy
from fabula.ports.models import CallOrigin, Message, ModelClient, ModelRequest
from fabula.settings import Settings
from fabula.story.contexts import CastMember, KnownFact, NarratorContext, PlannerContext, PlayerCard, StateView
from fabula.story.graph import Comparison, Node, Transition
from fabula.story.resources import Api
from fabula.testing.model_kit import CHECKS, Check, RunningClock, Subject
from fabula.understudy import answer

PLAN = PlannerContext(
    story_concept="A bell rings at night although the tower burned down.",
    available_characters=[CastMember(id="ilse", name="Ilse", personality="A warm innkeeper.", style="Chatty.")],
)
SCENE = NarratorContext(
    player=PlayerCard(name="Robin", description=""),
    current_cast=[],
    current_node=Node(id="a", title="A room", scene="A room with one window.", goal="Leave."),
    world_state=StateView(),
    purpose="describe_scene",
)
SHAPE = {"type": "object", "properties": {"ops": {"type": "array"}}, "required": ["ops"]}


def asking(context: NarratorContext | PlannerContext | None, schema: dict[str, Any] | None = None) -> ModelRequest:
    return ModelRequest(
        origin=CallOrigin(agent="kit"),
        messages=(Message(role="user", content="Tell."),),
        context=context,
        output_schema=schema,
        seed=1,
        deadline=RunningClock().monotonic() + 30,
    )


def subject_of(client: ModelClient) -> Subject:
    return Subject(
        client=client,
        prose=asking(SCENE),
        long=asking(PLAN),
        structured=asking(None, SHAPE),
        fits=lambda value, schema: schema_problem(value, schema) is None,
        unfit=asking(SCENE, SHAPE),
        failing=asking(SCENE, SHAPE),
    )


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
async def test_the_law_of_models_holds_for_the_understudy(check: Check) -> None:
    await check(subject_of(Understudy()))


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
async def test_the_law_of_models_holds_for_the_guarded_understudy(check: Check) -> None:
    async def no_key(api_id: str) -> None:
        return None

    models = open_models(Settings(), RunningClock(), no_key)
    api = Api(api_id="u", display_name="u", provider="understudy", base_url="", model="")
    await check(subject_of(await models.client_for(api)))
    await models.close()


async def test_a_scene_of_which_very_much_is_known_is_looked_through_beside_the_event_loop(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    threads: list[int] = []

    def noted(request: ModelRequest) -> str:
        threads.append(threading.get_ident())
        return answer(request)

    monkeypatch.setattr("fabula.adapters.models.understudy.answer", noted)
    known = [KnownFact(text=f"{number} " + "word " * 80) for number in range(60)]
    crowd = [CastMember(id=f"c{n}", name=f"C{n}", personality="x", style="x", facts=known) for n in range(2)]
    ways = [Transition(to=f"m{n}", condition=Comparison(key="k", op="eq", value=f"v{n}")) for n in range(90)]
    crowded = SCENE.model_copy(update={"current_cast": crowd})
    wide = SCENE.model_copy(update={"current_node": SCENE.current_node.model_copy(update={"transitions": ways})})
    for context in (SCENE, crowded, wide):
        assert [part async for part in Understudy().stream(asking(context))]
    here, *others = threads
    assert here == threading.get_ident() and here not in others
