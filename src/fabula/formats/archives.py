"""ZIP archives from strangers: read whole within limits, or refused with the reasons; never an exception.

1. The directory at the end is measured before it is read, so that its size cannot hurt.
2. Every entry's name, kind, method and declared size is checked before the first byte is inflated.
3. Inflating stops at the declared size; what does not add up refuses the archive.
4. The values of its documents are counted before the first one is decoded.
"""

from __future__ import annotations

import io
import json
import stat
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import orjson
from pydantic import JsonValue

from fabula.formats.json_bounds import bounds_problem, nul_problem, value_count

JsonObject = dict[str, JsonValue]

_END_RECORD: Final = struct.Struct("<4s4H2LH")
_END_SIGNATURE: Final = b"PK\x05\x06"
_ZIP64_LOCATOR: Final = b"PK\x06\x07"
_LONGEST_COMMENT: Final = 65_535
_METHODS: Final = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED})
_ENCRYPTED: Final = 0x1
LARGEST_DOCUMENT: Final = 8 * 1024 * 1024
MOST_VALUES_IN_ALL: Final = 500_000
_BROKEN: Final = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    ValueError,
    OSError,
    EOFError,
    RuntimeError,
    OverflowError,
    LookupError,
)


@dataclass(frozen=True, kw_only=True)
class Limits:
    """How much an archive may hold."""

    unpacked_bytes: int = 64 * 1024 * 1024
    entries: int = 200
    directory_bytes: int = 1024 * 1024


def unpack(data: bytes, limits: Limits | None = None) -> tuple[dict[str, bytes], list[str]]:
    """The files of an archive by name, and why it is refused; folders are left out."""
    limits = limits or Limits()
    problem = _directory_problem(data, limits)
    if problem:
        return {}, [problem]
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            infos = archive.infolist()
            problems = _listing_problems(infos, limits)
            if problems:
                return {}, problems
            files, problems = _inflate(archive, [info for info in infos if not info.is_dir()])
            return ({}, problems) if (problems := problems or _json_problems(files)) else (files, [])
    except _BROKEN:
        return {}, ["the archive is damaged or is not a ZIP file"]


def _directory_problem(data: bytes, limits: Limits) -> str | None:
    place = _end_record_place(data)
    if place is None:
        return "this is not a ZIP archive"
    if data[max(0, place - 20) : place].startswith(_ZIP64_LOCATOR):
        return "the archive uses the ZIP64 form, which is not accepted"
    _, disk, _, _, entries, directory_bytes, _, _ = _END_RECORD.unpack_from(data, place)
    if disk != 0:
        return "the archive is spread over several files"
    if entries > limits.entries or directory_bytes > limits.directory_bytes:
        return f"the archive has more than {limits.entries} entries"
    return None


def _end_record_place(data: bytes) -> int | None:
    """Where the end record stands: looked for exactly as the reader of the archive does."""
    last = len(data) - _END_RECORD.size
    if last < 0:
        return None
    if data[last : last + 4] == _END_SIGNATURE and data[-2:] == b"\0\0":
        return last
    place = data.rfind(_END_SIGNATURE, max(0, last - _LONGEST_COMMENT))
    return place if 0 <= place <= last else None


def _listing_problems(infos: list[zipfile.ZipInfo], limits: Limits) -> list[str]:
    if len(infos) > limits.entries:
        return [f"the archive has more than {limits.entries} entries"]
    if sum(info.file_size for info in infos) > limits.unpacked_bytes:
        return [f"the archive unpacks to more than {limits.unpacked_bytes // (1024 * 1024)} MiB"]
    times = Counter(info.filename for info in infos)
    problems = [f"the archive holds '{shown(name)}' twice" for name, count in times.items() if count > 1]
    for info in infos:
        problem = _entry_problem(info)
        if problem:
            problems.append(f"the archive entry '{shown(info.orig_filename)}' {problem}")
    return problems


def _entry_problem(info: zipfile.ZipInfo) -> str | None:
    if path_problem(info.orig_filename):
        return path_problem(info.orig_filename)
    mode = info.external_attr >> 16
    if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
        return "is a link or a device"
    if info.flag_bits & _ENCRYPTED:
        return "is encrypted"
    if info.compress_type not in _METHODS:
        return "is compressed in a way that is not accepted; use deflate"
    return None


def path_problem(name: str) -> str | None:
    """What is wrong with a path inside an archive, or None."""
    if "\\" in name or "\0" in name or ":" in name.split("/", 1)[0]:
        return "has a name with forbidden characters"
    if name.startswith("/"):
        return "has an absolute path"
    if any(part in ("", ".", "..") for part in name.removesuffix("/").split("/")):
        return "has a path that leads out of the archive"
    return None


def _inflate(archive: zipfile.ZipFile, infos: list[zipfile.ZipInfo]) -> tuple[dict[str, bytes], list[str]]:
    found: dict[str, bytes] = {}
    for info in infos:
        with archive.open(info) as entry:
            content = entry.read(info.file_size + 1)
        if len(content) != info.file_size:
            return {}, [f"the archive entry '{shown(info.filename)}' is not as long as it claims"]
        found[info.filename] = content
    return found, []


def _json_problems(files: dict[str, bytes]) -> list[str]:
    """What keeps the documents of an archive from being decoded, each by itself or all together."""
    documents = {name: content for name, content in files.items() if name.endswith(".json")}
    problems = [
        f"'{shown(name)}' is refused: {problem}"
        for name, content in documents.items()
        if (problem := _document_problem(content)) is not None
    ]
    if not problems and sum(map(value_count, documents.values())) > MOST_VALUES_IN_ALL:
        problems.append(f"its documents have more than {MOST_VALUES_IN_ALL} values together")
    return problems


def _document_problem(content: bytes) -> str | None:
    if len(content) > LARGEST_DOCUMENT:
        return f"It is larger than {LARGEST_DOCUMENT // (1024 * 1024)} MiB."
    return bounds_problem(content) or nul_problem(content)


def shown(name: str) -> str:
    """A name from a stranger, fit to stand in a sentence."""
    printable = "".join(letter if letter.isprintable() else "?" for letter in name)
    return printable if len(printable) <= 80 else printable[:79] + "…"


def pack(entries: Iterable[tuple[str, bytes]]) -> bytes:
    """An archive of these files; the same files give the same bytes."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (stat.S_IFREG | 0o644) << 16
            archive.writestr(info, content)
    return buffer.getvalue()


def read_object(files: dict[str, bytes], name: str) -> tuple[JsonObject, list[str]]:
    """The JSON object in a file of an archive, and why it cannot be used."""
    if name not in files:
        return {}, [f"the archive has no '{shown(name)}'"]
    try:
        # As requests are read: no other reader takes all numbers, and only such as can be kept.
        value: JsonValue = orjson.loads(files[name].removeprefix(b"\xef\xbb\xbf"))
    except ValueError:
        return {}, [f"'{shown(name)}' is not valid JSON"]
    if not isinstance(value, dict):
        return {}, [f"'{shown(name)}' is not a JSON object"]
    return value, []


def write_object(value: JsonObject) -> bytes:
    """A JSON object as a file: readable, in pure ASCII."""
    return json.dumps(value, indent=2, allow_nan=False).encode("ascii")
