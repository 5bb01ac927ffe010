"""The law of secrets and of access tokens."""

from __future__ import annotations

import dataclasses

import pytest

from fabula.ports.errors import Conflict, NotFound, StoreError
from fabula.ports.store import Store, Token
from fabula.testing.store_kit.places import StorePlace
from fabula.testing.world import FixedClock


class SecretsLaw:
    async def test_what_put_took_get_answers_and_a_second_put_replaces_the_first(self, store: Store) -> None:
        async with store.writing() as unit:
            await unit.secrets.put("api:one", "sk-first")
            await unit.secrets.put("api:one", "sk-ünïcode-\U0001f511")
        async with store.reading() as unit:
            assert await unit.secrets.get("api:one") == "sk-ünïcode-\U0001f511"

    async def test_get_of_an_unknown_name_is_none_and_remove_of_it_does_nothing(self, store: Store) -> None:
        async with store.writing() as unit:
            await unit.secrets.remove("api:nobody")
            assert await unit.secrets.get("api:nobody") is None
            await unit.secrets.put("api:one", "sk-first")
            await unit.secrets.remove("api:one")
            assert await unit.secrets.get("api:one") is None

    async def test_no_byte_of_a_secret_stands_in_the_database_in_the_clear(
        self, store: Store, place: StorePlace
    ) -> None:
        async with store.writing() as unit:
            await unit.resources.add("schema", "visible-witness", {})
            await unit.secrets.put("api:one", "sk-very-secret-indeed")
        at_rest = await place.bytes_at_rest()
        assert b"visible-witness" in at_rest
        assert b"very-secret" not in at_rest

    async def test_a_key_that_does_not_fit_raises_store_error_that_says_which_key_is_missing(
        self, place: StorePlace, clock: FixedClock
    ) -> None:
        mine, thine = place.store_with_key(clock, "correct horse"), place.store_with_key(clock, "battery staple")
        await mine.open()
        await thine.open()
        try:
            async with mine.writing() as unit:
                await unit.secrets.put("api:one", "sk-mine")
            async with thine.reading() as unit:
                assert await unit.secrets.has("api:one") and not await unit.secrets.has("api:two")
                with pytest.raises(StoreError, match=r"secret 'api:one' needs key [0-9a-f]{8}") as caught:
                    await unit.secrets.get("api:one")
            async with mine.reading() as unit:
                assert await unit.secrets.get("api:one") == "sk-mine"
        finally:
            await mine.close()
            await thine.close()
        assert "correct horse" not in str(caught.value) and "battery staple" not in str(caught.value)

    async def test_another_process_finds_the_same_key(self, store: Store, place: StorePlace, clock: FixedClock) -> None:
        async with store.writing() as unit:
            await unit.secrets.put("api:one", "sk-first")
        again = place.store(clock)
        await again.open()
        try:
            async with again.reading() as unit:
                assert await unit.secrets.get("api:one") == "sk-first"
        finally:
            await again.close()


def _token(id: str, created_at_ms: int = 1) -> Token:
    return Token(token_id=id, label=f"label {id}", role="author", hash=f"hash-{id}", created_at_ms=created_at_ms)


class TokensLaw:
    async def test_a_token_is_found_by_its_hash(self, store: Store) -> None:
        async with store.writing() as unit:
            await unit.tokens.add(_token("a"))
        async with store.reading() as unit:
            assert await unit.tokens.by_hash("hash-a") == _token("a")
            assert await unit.tokens.by_hash("hash-b") is None

    async def test_add_of_an_id_or_hash_that_exists_raises_conflict(self, store: Store) -> None:
        async with store.writing() as unit:
            await unit.tokens.add(_token("a"))
            for clash in (_token("a"), dataclasses.replace(_token("b"), hash="hash-a")):
                with pytest.raises(Conflict):
                    await unit.tokens.add(clash)
            assert await unit.tokens.every() == [_token("a")]

    async def test_by_hash_never_answers_a_revoked_token_and_every_lists_those_too_oldest_first(
        self, store: Store, clock: FixedClock
    ) -> None:
        async with store.writing() as unit:
            await unit.tokens.add(_token("a", created_at_ms=2))
            await unit.tokens.add(_token("b", created_at_ms=1))
            revoked = await unit.tokens.revoke("a")
        async with store.reading() as unit:
            assert await unit.tokens.by_hash("hash-a") is None
            assert await unit.tokens.every() == [_token("b", created_at_ms=1), revoked]
        assert revoked.revoked_at_ms == clock.now_ms()

    async def test_get_finds_a_token_by_its_id_and_is_valid_is_false_for_one_that_was_revoked_or_is_not_known(
        self, store: Store
    ) -> None:
        async with store.writing() as unit:
            await unit.tokens.add(_token("a"))
            await unit.tokens.add(_token("b"))
            await unit.tokens.revoke("a")
            assert [await unit.tokens.is_valid(id) for id in ("a", "b", "nobody")] == [False, True, False]
            assert await unit.tokens.get("b") == _token("b")
            assert (revoked := await unit.tokens.get("a")) is not None and revoked.revoked_at_ms is not None
            assert await unit.tokens.get("nobody") is None

    async def test_revoke_of_an_unknown_token_raises_not_found(self, store: Store) -> None:
        async with store.writing() as unit:
            with pytest.raises(NotFound):
                await unit.tokens.revoke("nobody")

    async def test_a_second_revoke_keeps_the_time_of_the_first(self, store: Store, clock: FixedClock) -> None:
        async with store.writing() as unit:
            await unit.tokens.add(_token("a"))
            first = await unit.tokens.revoke("a")
            clock.advance(1000)
            assert await unit.tokens.revoke("a") == first

    async def test_touch_records_the_last_use(self, store: Store, clock: FixedClock) -> None:
        async with store.writing() as unit:
            await unit.tokens.add(_token("a"))
            await unit.tokens.touch("a")
            await unit.tokens.touch("nobody")
            touched = await unit.tokens.by_hash("hash-a")
        assert touched is not None and touched.last_used_at_ms == clock.now_ms()
