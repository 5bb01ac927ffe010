"""Cover pictures: told by their content, never by their name, and decoded once before they are kept."""

from __future__ import annotations

import io
import re
import struct
import zlib
from typing import Final, Literal

from PIL import Image, ImageOps

ImageType = Literal["image/png", "image/jpeg", "image/webp"]

EXTENSIONS: Final[dict[ImageType, str]] = {"image/png": "png", "image/jpeg": "jpg", "image/webp": "webp"}
MOST_PIXELS: Final[dict[ImageType, int]] = {
    "image/png": 4096 * 4096,
    "image/jpeg": 4096 * 4096,
    # Its decoder keeps two pictures beside the one that it gives out, which is copied once more.
    "image/webp": 4096 * 2048,
}
MOST_PARTS: Final = 10_000
MOST_SCANS: Final = 100
"""Every scan of a jpeg goes over all its pixels again: a few kilobytes of them keep a decoder busy for hours."""

_MARKS: Final = re.compile(rb"\xff[\xc0-\xcf\xd8-\xfe]")
_DECODERS: Final[dict[ImageType, str]] = {"image/png": "PNG", "image/jpeg": "JPEG", "image/webp": "WEBP"}
_BROKEN: Final = (
    OSError,
    SyntaxError,
    ValueError,
    TypeError,
    EOFError,
    LookupError,
    ArithmeticError,
    AttributeError,
    RuntimeError,
    MemoryError,
    struct.error,
    zlib.error,
    Image.DecompressionBombError,
    Image.DecompressionBombWarning,
)


def sniff(data: bytes) -> ImageType | None:
    """The type of a picture by its first bytes; None when it is no png, jpeg or webp."""
    if data.startswith(b"\x89PNG\r\n\x1a\n"):
        return "image/png"
    if data.startswith(b"\xff\xd8\xff"):
        return "image/jpeg"
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return None


def read_image(data: bytes) -> tuple[ImageType | None, list[str]]:
    """The type of a picture that really decodes, and why it is refused."""
    kind = sniff(data)
    if kind is None:
        return None, ["the cover is not a png, jpeg or webp picture"]
    problem = _structure_problem(data, kind) or _decoding_problem(data, kind)
    return (None, [problem]) if problem else (kind, [])


def decoding_work(data: bytes) -> int:
    """How much there is to decode in a picture, in pixels: every ten scans of a jpeg go over all of them again. It is
    told by its first bytes; 0 where they say nothing."""
    kind = sniff(data)
    if kind is None:
        return 0
    try:
        with Image.open(io.BytesIO(data), formats=[_DECODERS[kind]]) as picture:
            width, height = picture.size
    except _BROKEN:
        return 0
    scans = data.count(b"\xff\xda") if kind == "image/jpeg" else 0
    return width * height * max(10, scans) // 10


def _structure_problem(data: bytes, kind: ImageType) -> str | None:
    """Why a picture is not decoded at all: what it is made of costs far more than its bytes and pixels say."""
    match kind:
        case "image/png":
            is_heavy = _has_many_chunks(data)
        case "image/jpeg":
            # In the picture itself every 0xff is followed by a zero, so that these are marks or chance in notes.
            is_heavy = data.count(b"\xff\xda") > MOST_SCANS or len(_MARKS.findall(data)) > MOST_PARTS
        case "image/webp":
            is_heavy = False
    return "the cover has far more parts than a picture needs; save it anew" if is_heavy else None


def _has_many_chunks(data: bytes) -> bool:
    place = len(b"\x89PNG\r\n\x1a\n")
    for _ in range(MOST_PARTS):
        if place + 8 > len(data):
            return False
        place += 12 + int.from_bytes(data[place : place + 4], "big")
    return True


def _decoding_problem(data: bytes, kind: ImageType) -> str | None:
    try:
        with Image.open(io.BytesIO(data), formats=[_DECODERS[kind]]) as picture:
            width, height = picture.size
            if width * height > MOST_PIXELS[kind]:
                return f"the cover has more than {MOST_PIXELS[kind]} pixels; make it smaller"
            picture.load()
    except _BROKEN:
        return "the cover is damaged and cannot be shown"
    return None


def fit_within(data: bytes, side: int) -> bytes | None:
    """The picture as webp, at most `side` pixels wide and high, never enlarged; None where it does not decode."""
    kind = sniff(data)
    if kind is None:
        return None
    try:
        with Image.open(io.BytesIO(data), formats=[_DECODERS[kind]]) as picture:
            # A jpeg decodes at a fraction of its size at once, which saves most of the time and memory.
            picture.draft("RGB", (side * 2, side * 2))
            # Made smaller before it is turned: a copy of a large picture would take as much memory again.
            picture.thumbnail((side, side), Image.Resampling.LANCZOS)
            upright = ImageOps.exif_transpose(picture)
            written = io.BytesIO()
            shown = upright if upright.mode in ("RGB", "RGBA") else upright.convert("RGBA")
            shown.save(written, "WEBP", quality=84, method=4)
    except _BROKEN:
        return None
    return written.getvalue()


def cover_name(kind: ImageType) -> str:
    """The name under which a cover is kept."""
    return f"cover.{EXTENSIONS[kind]}"
