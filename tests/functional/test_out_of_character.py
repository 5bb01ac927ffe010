"""What a player says to the storyteller, out of character, with nobody but rules to tell the story."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.free_world import free_session
from tests.live import Client, bodies, live_server
from tests.scripted import PACES, theatre

from fabula.loops.scene.wishes import WISH_LEFT


def told(frames: list[dict[str, Any]]) -> str:
    return "".join(one["delta"] for one in bodies(frames) if one["type"] == "narrator_text_delta")


def left(frames: list[dict[str, Any]]) -> list[str]:
    return [one["sentence"] for one in bodies(frames) if one["type"] == "wish_left"]


async def told_again(client: Client, session: str, wish: str) -> list[dict[str, Any]]:
    """The same line from the same place, with a wish."""
    head = (await client.call("session.get", session))["head_turn_id"]
    frames = await client.turn(session, f"I look around. (({wish}))")
    await client.call("session.switch_branch", session, turn_id=head)
    return frames


async def test_a_wish_for_more_or_fewer_words_is_followed(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session = await free_session(client)
        await client.turn(session, "I look around.")
        plain = told(await told_again(client, session, "tell it otherwise"))
        shorter = await told_again(client, session, "shorter")
        longer = await told_again(client, session, "take your time")
        assert len(told(shorter)) < len(plain) < len(told(longer))
        assert left(shorter) == left(longer) == []


async def test_whoever_wishes_what_no_rule_can_follow_is_told_so_and_the_story_goes_on(tmp_path: Path) -> None:
    async with live_server(tmp_path) as client:
        session = await free_session(client)
        frames = await client.turn(session, "((More spiders, please.))")
        assert left(frames) == [WISH_LEFT] and frames[-1]["type"] == "completed"
        history = (await client.call("session.get", session))["history"]
        assert WISH_LEFT not in [line["text"] for line in history], "nobody in the story hears it"


@pytest.mark.parametrize("pace", PACES)
async def test_where_a_model_tells_the_story_the_wish_is_its_own_to_follow(tmp_path: Path, pace: str) -> None:
    async with theatre(tmp_path) as house:
        frames = await house.client.turn(await house.session(pace), "I knock. ((More spiders, please.))")
        assert left(frames) == []
