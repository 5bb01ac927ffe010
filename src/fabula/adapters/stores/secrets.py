"""Secrets: encrypted before they reach the database, each beside the id of the key that fits."""

from __future__ import annotations

from sqlalchemy import Column, LargeBinary, PrimaryKeyConstraint, Table, bindparam, delete, select

from fabula.adapters.stores.tables import METADATA, NAME, NUMBER, Access, add_or_replace, spelled
from fabula.ports.errors import StoreError

SECRETS = Table(
    "secrets",
    METADATA,
    Column("name", NAME, nullable=False),
    Column("key_id", NAME, nullable=False),
    Column("ciphertext", LargeBinary, nullable=False),
    Column("updated_at_ms", NUMBER, nullable=False),
    PrimaryKeyConstraint("name", name="secrets_pk"),
)

_s = SECRETS.c
_this = _s.name == bindparam("this")

GET = select(_s.key_id, _s.ciphertext).where(_this)
HAS = select(_s.name).where(_this)
PUT = add_or_replace(SECRETS)
REMOVE = delete(SECRETS).where(_this)


class SqlSecrets:
    def __init__(self, access: Access) -> None:
        self._connection = access.connection
        self._clock = access.clock
        self._keyring = access.keyring

    async def put(self, name: str, secret: str) -> None:
        key = await self._keyring.find_or_make()
        row = {
            "key_id": key.id,
            "ciphertext": key.fernet.encrypt(secret.encode("utf-8", "surrogatepass")),
            "updated_at_ms": self._clock.now_ms(),
        }
        await self._connection.execute(PUT, {"name": spelled(name), **row})

    async def get(self, name: str) -> str | None:
        row = (await self._connection.execute(GET, {"this": spelled(name)})).first()
        return None if row is None else await self._decrypt(name, row.key_id, row.ciphertext)

    async def has(self, name: str) -> bool:
        return (await self._connection.execute(HAS, {"this": spelled(name)})).first() is not None

    async def remove(self, name: str) -> None:
        await self._connection.execute(REMOVE, {"this": spelled(name)})

    async def _decrypt(self, name: str, key_id: str, ciphertext: bytes) -> str:
        from cryptography.fernet import InvalidToken

        key = await self._keyring.find()
        if key is None or key.id != key_id:
            held = f"the key file {self._keyring.file} is missing" if key is None else f"{key.origin} is key {key.id}"
            raise StoreError(
                f"The secret '{name}' needs key {key_id}, but {held}. Put that key back, or enter the secret again.",
                key_id=key_id,
            )
        try:
            return key.fernet.decrypt(ciphertext).decode("utf-8", "surrogatepass")
        except InvalidToken as error:
            raise StoreError(f"The secret '{name}' is damaged. Enter it again.") from error
