"""Every method and every route, tried by everybody. A new one without an entry in these tables fails here.

`session` means: who owns the session reaches it, and an admin; to everybody else it is not there.
"""

from __future__ import annotations

from typing import Any

import pytest
from tests.doors import PEOPLE, STRANGERS, Doors, Person, code_of, doors

from fabula.server.rpc.catalogue import build_catalogue
from fabula.server.rpc.routes import with_discovery

TOKEN_NEEDED, DENIED, NOT_FOUND = 40101, 40303, 40404

METHODS = {
    "admin": """
        api.create api.list_models api.test api.update api.delete model.detect model.use model.remove
        api_group.create api_group.update api_group.delete outbox.list outbox.retry outbox.drop
        server.status usage.summary work.list work.cancel token.list token.create token.revoke
        backup.create backup.list audit.list
    """,
    "author": """
        api.get api_group.get
        preset.create preset.get preset.update preset.delete
        preset_entry.create preset_entry.update preset_entry.delete preset_preview.template preset_preview.runtime
        schema.create schema.update schema.delete
        game_system.create game_system.update game_system.delete
        world.create world.get world.list world.update world.delete world.export world.advance
        directive.list directive.create directive.delete
        story_template.list story_template.update story_template.delete story_template.follow story_template.check
        clock.list clock.create clock.update conflict.list session.scene_lore
        conflict.get conflict.create conflict.update thread.list thread.update canon.policy.get canon.policy.update
        canon.propose canon.list canon.get canon.decide canon.review canon.undo canon.since canon.graph canon.path
        entity.list entity.get entity.update entity.merge fact.list relationship.list canon.who_knows timeline.list
        canon.commits canon.promote building.open building.say building.undo building.close
        lorebook.create lorebook.get lorebook.list lorebook.update lorebook.delete
        lorebook_entry.create lorebook_entry.get lorebook_entry.list lorebook_entry.update lorebook_entry.delete
        character.create character.get character.update character.delete
        story_resources.create story_resources.get story_resources.list story_resources.update story_resources.delete
        story.create story.get story.update story.update_graph story.copy story.delete
        calendar.get calendar.update schedule.get schedule.update mask.get mask.update
        story.create_ink story.update_ink ink.check
        story.generate_plan story.generate story_draft.start story_draft.continue story_draft.get story_draft.list
        story_draft.update_graph story_draft.finalize story_draft.delete
        data_package.export_prepare data_package.import_prepare data_package.import_commit
    """,
    "player": """
        api.list api_group.list preset.list schema.get schema.list
        game_system.get game_system.list character.list story.list story.summary search.find loop.list
        player_profile.create player_profile.get player_profile.list player_profile.update player_profile.delete
        access.whoami config.get_global dashboard.get rpc.discover story.start_session session.list
    """,
    "session": """
        session.get session.update session.delete relation.list session.get_runtime_snapshot session.get_variables
        session.update_variables session.get_config session.update_config session.suggest_replies
        session.set_player_profile session.update_player_description session.backtrack session.fork session.branches
        session.switch_branch session.follow_story session.cancel_turn session.run_turn session.retry_turn
        session.regenerate session.replay session_character.create session_character.get session_character.list
        session_character.update session_character.delete session_character.enter_scene session_character.leave_scene
        session_message.create session_message.get session_message.list session_message.update session_message.delete
        session_turn.get session_turn.list session_turn.notes session_turn.siblings session_turn.update
        session.roll sheet.get sheet.update session.find journal.list session.recap session.export_prepare
        usage.list session.explain_turn session.explain_context loop.state scene.list session.end_scene
        session.flashback boundary.get boundary.update
        session_zero.get session_zero.update conversation.open conversation.say conversation.close
        memory.list memory.search memory.get memory.add memory.update memory.pin memory.delete memory.knows belief.list
        canon.known
    """,
}
ROW = {name: row for row, names in METHODS.items() for name in names.split()}

WORDS = {"display_name": "Dog", "personality": "kind", "style": "dry", "system_prompt": "Bark."}
LINE = {"kind": "narration", "speaker_id": "narrator", "speaker_name": "Narrator", "text": "It rains."}
GUEST, MESSAGE = {"session_character_id": "dog"}, {"message_id": "m"}
PARAMS: dict[str, dict[str, Any]] = {
    "session.update": {"display_name": "Renamed"},
    "session.update_variables": {"update": {"ops": [{"type": "SetState", "key": "gate_open", "value": True}]}},
    "session.update_config": {"preset_id": "builtin"},
    "session.set_player_profile": {"player_profile_id": None},
    "session.update_player_description": {"player_description": "Tall."},
    "session.switch_branch": {"turn_id": "turn_x"},
    "session.run_turn": {"player_input": "Hello."},
    "session.find": {"query": "gate"},
    "conversation.open": {"character_ids": ["mara"]},
    "conversation.say": {"text": "Hello."},
    "session_zero.update": {"premise": "A gate."},
    "boundary.update": {"lines": ["fog"]},
    "memory.search": {"query": "gate"},
    "memory.get": {"memory_id": "m"},
    "memory.add": {"text": "It rained."},
    "memory.update": {"memory_id": "m", "importance": 2},
    "memory.pin": {"memory_id": "m"},
    "memory.delete": {"memory_id": "m"},
    "memory.knows": {"about": "rain"},
    "session.roll": {"formula": "2d6"},
    "session.flashback": {"text": "Yesterday."},
    "sheet.update": {"stats": {}},
    "game_system.get": {"system_id": "d20"},
    "session.export_prepare": {"format": "markdown"},
    "session.replay": {"turn_id": "turn_x", "player_input": "Hello."},
    "session.explain_turn": {"turn_id": "turn_x"},
    "session_turn.get": {"turn_index": 0},
    "session_turn.notes": {"turn_ids": ["turn_x"]},
    "session_turn.siblings": {"turn_ids": ["turn_x"]},
    "session_turn.update": {"turn_id": "turn_x", "bookmarked": True},
    "session_character.create": WORDS,
    "session_character.get": GUEST,
    "session_character.update": {**GUEST, **WORDS},
    "session_character.delete": GUEST,
    "session_character.enter_scene": GUEST,
    "session_character.leave_scene": GUEST,
    "session_message.create": LINE,
    "session_message.get": MESSAGE,
    "session_message.update": {**MESSAGE, **LINE},
    "session_message.delete": MESSAGE,
    "schema.get": {"schema_id": "gate-world"},
    "player_profile.create": {"player_profile_id": "NEW", "display_name": "Ada", "description": ""},
    "player_profile.get": {"player_profile_id": "HOUSE"},
    "player_profile.update": {"player_profile_id": "OWN", "display_name": "Bea"},
    "player_profile.delete": {"player_profile_id": "OWN"},
    "story.start_session": {"story_id": "STORY"},
    "story.summary": {"story_id": "STORY"},
    "search.find": {"query": "gate"},
}

ROUTES = {
    ("GET", "/"): "open",
    ("GET", "/index.html"): "open",
    ("GET", "/app"): "open",
    ("GET", "/app/{place:path}"): "open",
    ("GET", "/favicon.svg"): "open",
    ("GET", "/manifest.webmanifest"): "open",
    ("MOUNT", "/assets"): "open",
    ("GET", "/play/npc"): "open",
    ("POST", "/enter"): "door",
    ("POST", "/leave"): "door",
    ("GET", "/healthz"): "open",
    ("GET", "/readyz"): "open",
    ("GET", "/metrics"): "admin",
    ("GET", "/openrpc.json"): "player",
    ("POST", "/mcp"): "player",
    ("POST", "/rpc"): "player",
    ("POST", "/upload/{resource_id}/{file_id}"): "author",
    ("GET", "/download/{resource_id}/{file_id}"): "author",
    ("GET", "/sessions/{session_id}/events"): "session",
    ("GET", "/sessions/{session_id}/feed"): "session",
    ("POST", "/api/plays/{session_id}/agent/decision"): "session",
    ("SOCKET", "/ws"): "socket",
    ("MOUNT", "/socket.io"): "socket",
}


def reached(row: str, name: str) -> bool:
    """Whether somebody with a token may do what stands in a row."""
    if row == "session":
        return name in ("owner", "admin")
    ranks = ["player", "author", "admin"]
    return ranks.index(PEOPLE[name]) >= ranks.index(row)


def test_every_method_stands_in_the_table() -> None:
    assert sorted(ROW) == sorted(method.name for method in with_discovery(build_catalogue()))
    assert len(ROW) == sum(len(names.split()) for names in METHODS.values())


async def test_every_route_stands_in_the_table() -> None:
    async with doors() as house:
        assert house.routes() == sorted(ROUTES)


async def test_nobody_calls_any_method_without_a_token_that_works() -> None:
    async with doors() as house:
        session = await house["owner"].play(house.story_id)
        for name in STRANGERS:
            refused = {method: await house[name].error_code(method, session) for method in ROW}
            assert refused == dict.fromkeys(ROW, TOKEN_NEEDED)


@pytest.mark.parametrize("row", ["player", "author", "admin"])
async def test_methods_are_for_their_role_and_those_above_it(row: str) -> None:
    async with doors() as house:
        wrong = []
        for name in PEOPLE:
            for method in METHODS[row].split():
                answer = await called(house, house[name], method)
                if (answer == DENIED) is reached(row, name) or answer == TOKEN_NEEDED:
                    wrong.append((name, method, answer))
                if row == "player" and answer is not None:
                    wrong.append((name, method, answer))
        assert wrong == []


async def called(house: Doors, person: Person, method: str) -> int | None:
    """Calls a method with parameters that fit, as far as its row needs them."""
    names = {"STORY": house.story_id, "NEW": f"new-{person.name}", "HOUSE": "of-the-house", "OWN": f"own-{person.name}"}
    if method.startswith("player_profile."):
        await profile(house["admin"], "of-the-house")
        await profile(person, names["OWN"])
    params = {key: names.get(value, value) for key, value in PARAMS.get(method, {}).items() if isinstance(value, str)}
    return await person.error_code(method, **params)


async def profile(person: Person, id: str) -> None:
    """Makes a profile, unless it is there."""
    await person.post("player_profile.create", player_profile_id=id, display_name=id, description="")


async def test_a_session_is_there_for_its_owner_and_admins_and_for_nobody_else() -> None:
    async with doors() as house:
        wrong = []
        for method in METHODS["session"].split():
            session = await house["owner"].play(house.story_id)
            before = await house["owner"].client.call("session.get", session)
            for name in ("other", "author"):
                answer = (await on_session(house[name], method, session)).json()
                missing = (await on_session(house[name], method, "session_none")).json()
                if (answer["error"]["code"], answer["error"]["message"]) != (
                    NOT_FOUND,
                    missing["error"]["message"].replace("session_none", session),
                ):
                    wrong.append((name, method, answer))
            assert await house["owner"].client.call("session.get", session) == before
            for name in ("owner", "admin"):
                own = await house["owner"].play(house.story_id)
                answered = await on_session(house[name], method, own)
                if code_of(answered) == DENIED or f"named '{own}'" in answered.text:
                    wrong.append((name, method, answered.text))
        assert wrong == []


async def on_session(person: Person, method: str, session: str) -> Any:
    params = {"session_id": session} if method == "usage.list" else PARAMS.get(method, {})
    return await person.post(method, session, **params)


async def test_routes_are_for_those_whom_the_table_names() -> None:
    async with doors() as house:
        session = await house["owner"].play(house.story_id)
        wrong = []
        for (verb, path), row in ROUTES.items():
            if row == "socket":
                continue
            for name in (*PEOPLE, *STRANGERS):
                status = await status_of(house, house[name], verb, path, session)
                wrong += [] if status in _expected(row, name) else [(name, path, status)]
        assert wrong == []


def _expected(row: str, name: str) -> tuple[int, ...]:
    if row == "open":
        return (200, 308, 404)
    if row == "door":
        return (204, 400)
    if name in STRANGERS:
        return (401,)
    if row == "session":
        return (200, 204, 409) if reached(row, name) else (404,)
    return (200, 400, 404, 409) if reached(row, name) else (403,)


async def fetch(person: Person, verb: str, path: str, session: str) -> Any:
    address = path.replace("{session_id}", session).replace("{place:path}", "x").replace("{file_id}", "archive")
    address = address.replace("{resource_id}", "character:mara")
    if verb == "POST":
        return await person.client.http.post(address, content=b'{"id": "1", "input": "Hello."}')
    return await person.client.http.get(address if verb == "GET" else f"{address}/x.js")


async def status_of(house: Doors, person: Person, verb: str, path: str, session: str) -> int:
    if not path.endswith("/feed"):
        return int((await fetch(person, verb, path, session)).status_code)
    # The feed does not end by itself: the caller leaves when it has begun.
    return await house.status_of_stream(path.replace("{session_id}", session), person.headers)


async def test_the_game_socket_listens_to_nobody_without_a_token() -> None:
    async with doors() as house:
        async with house.socket({}) as socket:
            assert (await socket.ask(type="ping", id="1"))["code"] == "unauthorized"
            shown = house["revoked"].headers["authorization"].removeprefix("Bearer ")
            assert (await socket.ask(type="hello", token=shown))["code"] == "unauthorized"
        async with house.socket(house["revoked"].headers) as socket:
            assert (await socket.ask(type="ping", id="1"))["status"] == 401
        for name in PEOPLE:
            async with house.socket(house[name].headers) as socket:
                assert (await socket.ask(type="ping", id="1"))["type"] == "pong"


async def test_everybody_lists_their_own_sessions_and_an_admin_all() -> None:
    async with doors() as house:
        owned = {name: await house[name].play(house.story_id) for name in PEOPLE}
        for name in ("owner", "other", "author"):
            assert await listed(house[name]) == [owned[name]]
        assert await listed(house["admin"]) == sorted(owned.values())
        page = await house["admin"].client.call("session.list", limit=3)
        rest = await house["admin"].client.call("session.list", cursor=page["next_cursor"])
        shown = [one["session_id"] for one in [*page["sessions"], *rest["sessions"]]]
        assert shown == sorted(owned.values()) and len(page["sessions"]) == 3


async def test_a_page_of_profiles_is_whole_and_its_cursor_names_nobody_elses() -> None:
    async with doors() as house:
        for name, ids in (("other", ("a1", "a3", "a5")), ("owner", ("a2", "a4", "a6"))):
            for id in ids:
                profile = {"player_profile_id": id, "display_name": id, "description": ""}
                await house[name].client.call("player_profile.create", **profile)
        first = await house["owner"].client.call("player_profile.list", limit=2)
        rest = await house["owner"].client.call("player_profile.list", limit=2, cursor=first["next_cursor"])
        pages = [[one["player_profile_id"] for one in page["player_profiles"]] for page in (first, rest)]
        assert pages[0] == ["a2", "a4"] and pages[1][0] == "a6" and "a5" not in first["next_cursor"]


async def listed(person: Person) -> list[str]:
    """The sessions that somebody sees, which the dashboard shows, too."""
    sessions = (await person.client.call("session.list"))["sessions"]
    board = await person.client.call("dashboard.get")
    shown = {one["session_id"] for one in board["recent_sessions"]}
    assert shown == {one["session_id"] for one in sessions}
    assert board["counts"]["sessions_total"] == len(sessions)
    return [one["session_id"] for one in sessions]


async def test_a_session_made_without_a_token_belongs_to_the_house() -> None:
    async with doors() as house:
        session = await house["owner"].play(house.story_id)
        async with house.house.store.writing() as unit:
            play = await unit.plays.get(session)
            assert play is not None
            await unit.plays.fork("session_old", play.head_turn_id)
            settings = await unit.resources.get("session", session)
            assert settings is not None
            doc = {**settings.doc, "session_id": "session_old"}
            await unit.resources.add("session", "session_old", doc, references=())
        for name in ("owner", "author"):
            assert await house[name].error_code("session.get", "session_old") == NOT_FOUND
        assert await house["admin"].error_code("session.get", "session_old") is None


async def test_who_was_invited_plays_but_does_not_rule() -> None:
    async with doors() as house:
        session, other = await house["owner"].play(house.story_id), house["other"]
        await invite(house, session, "other")
        assert await listed(other) == [session]
        assert await other.error_code("session.run_turn", session, player_input="Hello.") is None
        for method in ("session.delete", "session.update", "session.update_config"):
            assert await other.error_code(method, session, **PARAMS.get(method, {})) == DENIED
        async with house.house.store.writing() as unit:
            await unit.plays.uninvite(session, other.token_id or "")
        assert await other.error_code("session.get", session) == NOT_FOUND


async def invite(house: Doors, session: str, name: str) -> None:
    async with house.house.store.writing() as unit:
        await unit.plays.invite(session, house[name].token_id or "")


async def test_a_fork_belongs_to_who_forks_and_what_is_played_there_stays_there() -> None:
    async with doors() as house:
        owner, other = house["owner"], house["other"]
        session = await owner.play(house.story_id)
        await owner.client.turn(session, "Good evening.")
        await invite(house, session, "other")
        forked = (await other.client.raw("session.fork", session))["session_id"]
        await other.client.turn(forked, "My secret.")
        secret = (await other.client.call("session.get", forked))["head_turn_id"]
        assert await owner.error_code("session.get", forked) == NOT_FOUND
        tree = await owner.client.call("session.branches", session)
        assert secret not in {turn["turn_id"] for turn in tree["turns"]}
        assert [head["session_id"] for head in tree["heads"]] == [session]
        for method in ("session.switch_branch", "session.backtrack", "session.fork"):
            assert await owner.error_code(method, session, turn_id=secret) == NOT_FOUND
        last_seen = {"last-event-id": f"{secret}:0"}
        answer = await owner.client.http.get(f"/sessions/{session}/events", headers=last_seen)
        assert answer.status_code == 400 and "My secret" not in answer.text
        seen = await other.client.call("session.branches", forked)
        assert {"Good evening.", "My secret."} <= {turn["label"] for turn in seen["turns"]}


async def test_only_authors_and_admins_change_a_budget() -> None:
    async with doors() as house:
        session = await house["owner"].play(house.story_id)
        await house["admin"].client.call("session.update_config", session, token_budget=1)
        assert await house["owner"].error_code("session.update_config", session, token_budget=0) == DENIED
        config = await house["owner"].client.call("session.get_config", session)
        assert config["token_budget"] == 1
        own = await house["author"].play(house.story_id)
        assert await house["author"].error_code("session.update_config", own, token_budget=9) is None


async def test_the_usage_of_everybody_is_for_admins() -> None:
    async with doors() as house:
        for name in ("owner", "author"):
            assert await house[name].error_code("usage.list") == DENIED
            assert await house[name].error_code("usage.list", story_id=house.story_id) == DENIED
        assert await house["admin"].error_code("usage.list") is None


async def test_players_see_no_letter_of_a_key() -> None:
    api = {"api_id": "mine", "display_name": "Mine", "provider": "open_ai", "base_url": "http://127.0.0.1:9/v1"}
    async with doors() as house:
        await house["admin"].client.call("api.create", **api, model="m", api_key="sk-1234567890abcdef")
        shown = {}
        for name in ("owner", "author"):
            listed = await house[name].client.call("api.list")
            shown[name] = next(one for one in listed["apis"] if one["api_id"] == "mine")
        assert shown["author"]["api_key_masked"] == "sk-1...cdef"
        assert shown["owner"]["has_api_key"] is True and "api_key_masked" not in shown["owner"]


async def test_a_preview_shows_no_session_of_others() -> None:
    async with doors() as house:
        session, own = await house["owner"].play(house.story_id), await house["author"].play(house.story_id)
        asked = {"preset_id": "builtin", "agent": "director"}
        assert await house["author"].error_code("preset_preview.runtime", session, **asked) == NOT_FOUND
        assert await house["author"].error_code("preset_preview.runtime", own, **asked) is None


async def test_a_profile_is_its_owners() -> None:
    async with doors() as house:
        ada = {"player_profile_id": "ada", "display_name": "Ada", "description": "Lost her brother."}
        await house["owner"].client.call("player_profile.create", **ada)
        for method in ("player_profile.get", "player_profile.update", "player_profile.delete"):
            assert await house["other"].error_code(method, player_profile_id="ada") == NOT_FOUND
        assert (await house["other"].client.call("player_profile.list"))["player_profiles"] == []
        played = {"story_id": house.story_id, "player_profile_id": "ada"}
        assert await house["other"].error_code("story.start_session", **played) == NOT_FOUND
        assert await house["owner"].error_code("story.start_session", **played) is None
        everyone = {"player_profile_id": "hero", "display_name": "Hero", "description": ""}
        await house["author"].client.call("player_profile.create", **everyone)
        assert await house["other"].error_code("player_profile.get", player_profile_id="hero") is None
        assert await house["other"].error_code("player_profile.delete", player_profile_id="hero") == DENIED
