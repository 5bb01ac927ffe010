"""What an author keeps: made, found, changed, refused, and not thrown away while something needs it."""

from __future__ import annotations

import hashlib

import pytest
from tests.unit.actions.conftest import MARA, Stage

from fabula.actions.library.apis import CreateApi, NameApi, UpdateApi, create_api, delete_api, get_api, update_api
from fabula.actions.library.characters import (
    CreateCharacter,
    NameCharacter,
    create_character,
    delete_character,
    get_character,
)
from fabula.actions.library.files import take_file
from fabula.actions.library.ink_stories import CheckInk, check_ink
from fabula.actions.library.packages import _follow
from fabula.actions.library.schemas import CreateSchema, NameSchema, create_schema, delete_schema
from fabula.actions.library.stories import NameStory, UpdateStory, delete_story, get_story, update_story
from fabula.formats.packages import PackagePart
from fabula.formats.portraits import draw_portrait, portrait_for
from fabula.ports.actors import OPERATOR
from fabula.ports.errors import Conflict, FabulaError, InUse, NotFound

PAID = CreateApi(
    api_id="paid",
    display_name="Paid",
    provider="open_ai",
    base_url="https://x.test/v1",
    api_key="sk-1234",
    model="m",
)


async def test_a_character_is_found_as_it_was_made(stage: Stage) -> None:
    await stage.character(tags=["gate"])
    found = await stage.do(get_character, NameCharacter(character_id="mara"))
    assert (found.content.name, found.content.tags) == ("Mara", ["gate"])


async def test_a_character_without_its_schema_is_not_made(stage: Stage) -> None:
    with pytest.raises(FabulaError, match="nobody"):
        await stage.character(schema_id="nobody")
    with pytest.raises(NotFound):
        await stage.do(get_character, NameCharacter(character_id="mara"))


async def test_a_picture_that_two_characters_show_goes_with_the_last_of_them(stage: Stage) -> None:
    picture = draw_portrait(portrait_for("mara"))
    await stage.character()
    finn = {**MARA, "id": "finn", "system_prompt": ""}
    await stage.do(create_character, CreateCharacter.model_validate({"content": finn}))
    for name in ("mara", "mara", "finn"):
        whose = f"character:{name}"
        await take_file(stage.house, OPERATOR, whose, "cover", picture, file_name=None, content_type="image/png")
    blob = hashlib.sha256(picture).hexdigest()
    await stage.do(delete_character, NameCharacter(character_id="mara"))
    async with stage.house.store.reading() as unit:
        assert await unit.blobs.get(blob) == picture
    await stage.do(delete_character, NameCharacter(character_id="finn"))
    async with stage.house.store.reading() as unit:
        assert await unit.blobs.get(blob) is None


async def test_a_name_is_taken_once(stage: Stage) -> None:
    again = CreateSchema(schema_id="world", display_name="World", fields={})
    await stage.do(create_schema, again)
    with pytest.raises(Conflict):
        await stage.do(create_schema, again)


async def test_what_something_needs_is_not_deleted(stage: Stage) -> None:
    await stage.story()
    with pytest.raises(InUse):
        await stage.do(delete_schema, NameSchema(schema_id="keeper"))
    with pytest.raises(InUse):
        await stage.do(delete_character, NameCharacter(character_id="mara"))


async def test_a_world_that_cannot_be_one_is_refused_with_a_sentence(stage: Stage) -> None:
    story_id = await stage.story()
    with pytest.raises(NotFound, match="There is no world"):
        await stage.do(update_story, UpdateStory(story_id=story_id, world_id="../no world"))


def test_ids_of_any_shape_in_a_character_are_followed_or_left_alone() -> None:
    odd = {"id": "mara", "mask": {"id": ["mara"]}, "facts": [{"id": {"mara": 1}, "character_id": "mara"}]}
    names: dict[tuple[PackagePart, str], str] = {("characters", "mara"): "mara-2"}
    followed = _follow("characters", odd, names)
    assert followed == {**odd, "id": "mara-2", "facts": [{"id": {"mara": 1}, "character_id": "mara-2"}]}


async def test_a_story_can_be_deleted_and_is_then_gone(stage: Stage) -> None:
    story = NameStory(story_id=await stage.story())
    await stage.do(delete_story, story)
    with pytest.raises(NotFound):
        await stage.do(get_story, story)


async def test_a_graph_that_leads_nowhere_is_refused_with_the_place(stage: Stage) -> None:
    node = {"id": "gate", "title": "Gate", "scene": "A gate.", "goal": "Pass.", "characters": ["mara"]}
    lost = {"start_node": "gate", "nodes": [{**node, "transitions": [{"to": "nowhere"}]}]}
    with pytest.raises(FabulaError, match="nowhere"):
        await stage.story(graph=lost)


async def test_a_key_is_kept_but_never_shown(stage: Stage) -> None:
    made = await stage.do(create_api, PAID)
    assert made.has_api_key and "sk-1234" not in made.model_dump_json()
    async with stage.house.store.reading() as unit:
        stored = await unit.resources.get("api", "paid")
    assert stored is not None and "sk-1234" not in str(stored.doc)


async def test_an_api_keeps_its_key_when_only_its_model_changes(stage: Stage) -> None:
    await stage.do(create_api, PAID)
    changed = await stage.do(update_api, UpdateApi(api_id="paid", model="larger"))
    assert (changed.model, changed.has_api_key) == ("larger", True)


async def test_an_api_that_was_deleted_leaves_no_key(stage: Stage) -> None:
    await stage.do(create_api, PAID)
    await stage.do(delete_api, NameApi(api_id="paid"))
    await stage.do(create_api, PAID.model_copy(update={"api_key": ""}))
    assert not (await stage.do(get_api, NameApi(api_id="paid"))).has_api_key


async def test_a_slip_in_an_ink_story_is_told_with_its_line(stage: Stage) -> None:
    checked = await stage.do(check_ink, CheckInk(source="Rain.\n-> nowhere\n"))
    assert "nowhere" in checked.model_dump_json() and '"line":2' in checked.model_dump_json()
