"""What comes to pass off-screen is noticed in the telling of the next scene: once, there, and by those who may know."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.conftest import Place
from tests.live import Client, bodies, live_server

from fabula.actions.library.samples import install_samples, sample_folder
from fabula.agents.renderings import canon_text, news_text
from fabula.story.contexts import CanonNote, CastMember, NewsNote, PlayerCard, SceneContext, StateView
from fabula.story.graph import Node

CAMPAIGN = sample_folder() / "the-drowned-toll"


@pytest.fixture
async def client(place: Place) -> AsyncIterator[Client]:
    place.settings.data_folder.mkdir(exist_ok=True)
    async with live_server(place.settings.data_folder, database_url=place.settings.database_url) as client:
        await install_samples(client.house, CAMPAIGN)
        yield client


async def told_on_the_bridge(client: Client, **fires: Any) -> tuple[str, list[str]]:
    """Goes out on the bridge with an agenda that has come to its end, and says two more things."""
    started = await client.call("story.start_session", story_id="toll-the-drowned-toll", seed=24)
    session = str(started["session_id"])
    news = {"event": "A heron sat down on the warden's chair.", **fires}
    await client.call("clock.create", session, name="The heron", segments=1, pressure=10, every=10, fires=news)
    await client.call("clock.update", session, clock_id="first-bell", status="dropped")
    told = []
    for line in ("I take the lantern from its hook.", "I look around.", "Where am I?"):
        frames = bodies(await client.turn(session, line))
        told.append("".join(one["delta"] for one in frames if one["type"] == "narrator_text_delta"))
    return session, told


async def test_what_everybody_knows_is_told_once_as_the_next_scene_begins(client: Client) -> None:
    notice = "Behind you somebody laughs: there is a heron on the warden's chair."
    session, (bridge, *later) = await told_on_the_bridge(client, notice=notice)
    assert notice in bridge and not any("heron" in one for one in later)
    changes = (await client.call("canon.list", session))["changes"]
    assert "A heron sat down on the warden's chair." in [one["content"].get("what") for one in changes]


async def test_somebody_who_knows_tells_it_and_elsewhere_nobody_does(client: Client) -> None:
    _, (bridge, *_) = await told_on_the_bridge(client, known_to=["toll-garrick"])
    assert "Garrick Oule tells you: “A heron sat down on the warden's chair.”" in bridge
    for hidden in ({"known_to": ["toll-tansy"]}, {"where": "the-reed-market"}):
        _, told = await told_on_the_bridge(client, **hidden)
        assert not any("heron" in one for one in told)


def test_models_are_told_what_is_noticed_and_who_knows_it() -> None:
    garrick = CastMember(id="garrick", name="Garrick Oule", personality="", style="")
    node = Node(
        id="the-long-bridge", title="The Long Bridge", scene="Rain.", goal="", characters=["garrick"], transitions=[]
    )
    context = SceneContext(
        player=PlayerCard(name="Wren", description=""),
        current_cast=[garrick],
        current_node=node,
        world_state=StateView(),
        canon=[CanonNote(text="The river rises.")],
    )
    assert canon_text(context) == "## What is true in this world\n- The river rises."
    news = [NewsNote(text="The bell rang."), NewsNote(text="They searched the house.", known_to=["garrick", "pell"])]
    written = news_text(context.model_copy(update={"news": news}))
    assert "let it be noticed once, as the scene begins\n- The bell rang.\n" in written
    assert written.endswith("- They searched the house. (known to Garrick Oule)")
