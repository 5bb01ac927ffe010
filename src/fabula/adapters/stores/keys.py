"""The key that encrypts secrets: a passphrase from the environment, or a file (mode 0600) beside the data.

The key's id, eight letters that do not reveal it, stands beside each secret, so that a key that does not fit is
named instead of guessed.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import os
import secrets
import stat
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from fabula.ports.errors import StoreError

if TYPE_CHECKING:
    from cryptography.fernet import Fernet

LONGEST_KEY = 4096
"""So many bytes of a key file are read: a key has 45."""


@dataclass(frozen=True, kw_only=True)
class Key:
    """A key that can encrypt and decrypt; `origin` says in words where it came from."""

    id: str
    origin: str
    fernet: Fernet = field(repr=False)


class Keyring:
    """Finds the key when it is first needed, and makes the key file when there is none."""

    def __init__(self, *, passphrase: str, file: Path) -> None:
        self._passphrase = passphrase
        self._file = file
        self._key: Key | None = None

    async def find(self) -> Key | None:
        """The key in use, or None when no key was ever made."""
        if self._key is None:
            self._key = await asyncio.to_thread(self._look)
        return self._key

    async def find_or_make(self) -> Key:
        if (key := await self.find()) is not None:
            return key
        await asyncio.to_thread(_make_file, self._file)
        key = await self.find()
        assert key is not None
        return key

    @property
    def file(self) -> Path:
        return self._file

    def _look(self) -> Key | None:
        if self._passphrase:
            return _key(_derived(self._passphrase), "the setting secret_key")
        text = _read_file(self._file)
        return None if text is None else _key(_decoded(text, self._file), f"the key file {self._file}")


def _key(raw: bytes, origin: str) -> Key:
    from cryptography.fernet import Fernet

    id = hashlib.sha256(b"fabula key id:" + raw).hexdigest()[:8]
    return Key(id=id, origin=origin, fernet=Fernet(base64.urlsafe_b64encode(raw)))


def _derived(passphrase: str) -> bytes:
    """The same passphrase gives the same key on every machine, hence a fixed salt and a slow function."""
    return hashlib.scrypt(passphrase.encode("utf-8", "surrogateescape"), salt=b"fabula secrets", n=2**14, r=8, p=1)[:32]


def _decoded(text: bytes, file: Path) -> bytes:
    with suppress(binascii.Error, ValueError):
        raw = base64.b64decode(text.strip(), altchars=b"-_", validate=True)
        if len(raw) == 32:
            return raw
    raise StoreError(f"The key file {file} is damaged. Put its copy back, or remove it and enter the api keys again.")


def _read_file(file: Path) -> bytes | None:
    try:
        mode = file.stat().st_mode
        if not stat.S_ISREG(mode):
            raise StoreError(f"The key file {file} is no file. Move it away, and put the key file in its place.")
        with file.open("rb") as opened:
            text = opened.read(LONGEST_KEY)
        if mode & 0o077:
            file.chmod(0o600)
        return text
    except FileNotFoundError:
        return None
    except OSError as error:
        raise StoreError(f"The key file {file} cannot be read: {error.strerror}. Check who may read it.") from error


def _make_file(file: Path) -> None:
    """Makes the file whole under another name first, so that no process ever reads half a key."""
    draft = file.with_name(f"{file.name}.{secrets.token_hex(4)}")
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "wb") as out:
            out.write(base64.urlsafe_b64encode(secrets.token_bytes(32)) + b"\n")
            out.flush()
            os.fsync(out.fileno())
        with suppress(FileExistsError):  # another process made it first: its key counts
            os.link(draft, file)
    except OSError as error:
        raise StoreError(
            f"The key file {file} cannot be made: {error.strerror}. Make the folder writable, or set FABULA_SECRET_KEY."
        ) from error
    finally:
        draft.unlink(missing_ok=True)
