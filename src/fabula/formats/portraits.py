"""Portraits: a cover of flat shapes, drawn from a few chosen features; the same features, the same picture."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import cos, pi, sin
from typing import Final

from PIL import Image, ImageDraw

WIDTH: Final = 480
HEIGHT: Final = 600
_FINE: Final = 2
"""Shapes are drawn twice as large and then reduced, so that their edges are smooth."""
_MOST_COLOURS: Final = 256

Ink = str
Box = tuple[float, float, float, float]


@dataclass(frozen=True, kw_only=True)
class Portrait:
    """What a portrait shows. Colours are `#rrggbb`; `motif` and `hair_style` are names of the tables below."""

    backdrop: Ink
    motif: str
    skin: Ink
    hair: Ink
    hair_style: str
    coat: Ink
    collar: Ink
    accent: Ink


class Canvas:
    """Draws in the coordinates of the finished picture."""

    def __init__(self, backdrop: Ink) -> None:
        self._image = Image.new("RGB", (WIDTH * _FINE, HEIGHT * _FINE), backdrop)
        self._draw = ImageDraw.Draw(self._image)

    def oval(self, box: Box, ink: Ink) -> None:
        self._draw.ellipse(tuple(side * _FINE for side in box), fill=ink)

    def slice(self, box: Box, start: float, end: float, ink: Ink) -> None:
        self._draw.pieslice(tuple(side * _FINE for side in box), start, end, fill=ink)

    def box(self, box: Box, ink: Ink) -> None:
        self._draw.rectangle(tuple(side * _FINE for side in box), fill=ink)

    def shape(self, points: Sequence[tuple[float, float]], ink: Ink) -> None:
        self._draw.polygon([(x * _FINE, y * _FINE) for x, y in points], fill=ink)

    def line(self, points: Sequence[tuple[float, float]], ink: Ink, width: float) -> None:
        self._draw.line([(x * _FINE, y * _FINE) for x, y in points], fill=ink, width=round(width * _FINE))

    def png(self) -> bytes:
        """The picture with a palette. `optimize` would take seven times as long for a kilobyte less."""
        written = io.BytesIO()
        _with_palette(self._image.reduce(_FINE)).save(written, format="PNG")
        return written.getvalue()


def _with_palette(image: Image.Image) -> Image.Image:
    """The image with at most 256 colours. Flat shapes have about a hundred: to take these is quicker than to choose."""
    colours = image.getcolors(_MOST_COLOURS)
    if colours is None:
        return image.quantize(_MOST_COLOURS, method=Image.Quantize.MEDIANCUT)
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for _, colour in colours if isinstance(colour, tuple) for part in colour])
    return image.quantize(palette=palette, dither=Image.Dither.NONE)


def draw_portrait(portrait: Portrait) -> bytes:
    """The picture as PNG; an unknown motif or hair style is left out."""
    canvas = Canvas(portrait.backdrop)
    _MOTIFS.get(portrait.motif, _plain)(canvas, portrait)
    behind, before = _HAIR.get(portrait.hair_style, (_plain, _plain))
    behind(canvas, portrait)
    _body(canvas, portrait)
    _face(canvas, portrait)
    before(canvas, portrait)
    return canvas.png()


def portrait_for(name: str) -> Portrait:
    """A portrait for anyone: features chosen by the name."""
    marks = hashlib.sha256(name.encode()).digest()

    def pick(place: int, choices: tuple[str, ...]) -> str:
        return choices[marks[place] % len(choices)]

    return Portrait(
        backdrop=pick(0, ("#31505f", "#6b2d4e", "#2f7a68", "#8a7a5c", "#c98a4b", "#4a5d8f", "#5d6b3d")),
        motif=pick(1, tuple(_MOTIFS)),
        skin=pick(2, ("#f0d3bd", "#e3bd98", "#c98f63", "#8d5a3b", "#6b4226")),
        hair=pick(3, ("#20201f", "#5b2a17", "#a7582c", "#c9a25b", "#c9c5bd")),
        hair_style=pick(4, ("bun", "tousled", "scarf", "cap", "braid")),
        coat=pick(5, ("#1f2d3a", "#7a2f2b", "#3f6b4f", "#3d1b3b", "#4b3a2a")),
        collar=pick(6, ("#e2b23c", "#f3e3c8", "#dfe6e8", "#b03a2e")),
        accent=pick(7, ("#f2d27a", "#8fb0bd", "#d98f6a", "#a3936f")),
    )


def _plain(canvas: Canvas, portrait: Portrait) -> None:
    """Adds nothing."""


def _body(canvas: Canvas, portrait: Portrait) -> None:
    canvas.oval((70, 430, 410, 860), portrait.coat)
    canvas.shape([(170, 448), (310, 448), (240, 560)], portrait.collar)
    canvas.box((206, 370, 274, 462), _shade(portrait.skin, 0.86))
    canvas.oval((206, 430, 274, 490), _shade(portrait.skin, 0.86))


def _face(canvas: Canvas, portrait: Portrait) -> None:
    canvas.oval((146, 176, 334, 416), portrait.skin)
    dark = _shade(portrait.skin, 0.35)
    for x in (204, 276):
        canvas.oval((x - 9, 288, x + 9, 306), dark)
        canvas.line([(x - 20, 266), (x + 20, 264)], _shade(portrait.hair, 0.8), 6)
    canvas.shape([(238, 300), (228, 338), (246, 338)], _shade(portrait.skin, 0.84))
    canvas.line([(214, 370), (240, 376), (268, 368)], dark, 5)


def _shade(ink: Ink, share: float) -> Ink:
    parts = (int(ink[place : place + 2], 16) for place in (1, 3, 5))
    return "#" + "".join(f"{min(255, round(part * share)):02x}" for part in parts)


def _beam(canvas: Canvas, portrait: Portrait) -> None:
    canvas.shape([(60, 120), (480, 0), (480, 250)], portrait.accent)
    canvas.box((34, 108, 74, 600), _shade(portrait.backdrop, 0.6))
    canvas.oval((36, 92, 72, 136), portrait.collar)


def _rain(canvas: Canvas, portrait: Portrait) -> None:
    for row in range(9):
        for column in range(9):
            x, y = column * 60 + (row % 2) * 30, row * 70
            canvas.line([(x, y), (x - 14, y + 44)], portrait.accent, 4)


def _window(canvas: Canvas, portrait: Portrait) -> None:
    canvas.box((40, 40, 440, 430), portrait.accent)
    canvas.box((232, 40, 248, 430), portrait.backdrop)
    canvas.box((40, 160, 440, 176), portrait.backdrop)


def _waves(canvas: Canvas, portrait: Portrait) -> None:
    for row in range(5):
        top = 150 + row * 90
        crest = [(x, top + 16 * sin(x / 38 + row)) for x in range(0, WIDTH + 8, 8)]
        canvas.line(crest, portrait.accent, 14)


def _rays(canvas: Canvas, portrait: Portrait) -> None:
    for ray in range(12):
        ends = [ray * pi / 6 + side for side in (-0.09, 0.09)]
        canvas.shape([(240, 290), *((240 + 520 * cos(end), 290 + 520 * sin(end)) for end in ends)], portrait.accent)


def _diamonds(canvas: Canvas, portrait: Portrait) -> None:
    for row in range(8):
        for column in range(6):
            x, y = column * 96 + (row % 2) * 48, row * 84
            canvas.shape([(x, y - 36), (x + 26, y), (x, y + 36), (x - 26, y)], portrait.accent)


def _pages(canvas: Canvas, portrait: Portrait) -> None:
    for row in range(5):
        canvas.box((0, row * 124 + 112, WIDTH, row * 124 + 124), _shade(portrait.backdrop, 0.6))
        for column in range(16):
            tall = 62 + (column * 37 + row * 53) % 46
            canvas.box((column * 31, row * 124 + 112 - tall, column * 31 + 24, row * 124 + 112), portrait.accent)


def _sun(canvas: Canvas, portrait: Portrait) -> None:
    canvas.oval((60, 80, 420, 440), portrait.accent)
    canvas.box((0, 470, WIDTH, HEIGHT), _shade(portrait.backdrop, 0.85))


def _bun_behind(canvas: Canvas, portrait: Portrait) -> None:
    canvas.oval((190, 92, 290, 192), _shade(portrait.hair, 0.9))
    canvas.oval((134, 150, 346, 370), portrait.hair)


def _fringe(canvas: Canvas, portrait: Portrait) -> None:
    canvas.slice((142, 160, 338, 330), 180, 360, portrait.hair)


def _tousled(canvas: Canvas, portrait: Portrait) -> None:
    _fringe(canvas, portrait)
    for x, y in ((150, 206), (176, 172), (212, 154), (248, 150), (284, 160), (314, 184), (330, 216)):
        canvas.oval((x - 30, y - 24, x + 30, y + 30), portrait.hair)


def _scarf(canvas: Canvas, portrait: Portrait) -> None:
    canvas.slice((132, 146, 348, 352), 180, 360, portrait.collar)
    canvas.shape([(132, 249), (348, 249), (330, 222), (150, 222)], _shade(portrait.collar, 0.86))
    canvas.oval((326, 226, 372, 272), portrait.collar)


def _cap(canvas: Canvas, portrait: Portrait) -> None:
    canvas.slice((138, 150, 342, 330), 180, 360, portrait.coat)
    canvas.box((138, 222, 342, 244), portrait.collar)
    canvas.slice((128, 216, 352, 276), 0, 180, portrait.hair)


def _crown(canvas: Canvas, portrait: Portrait) -> None:
    _fringe(canvas, portrait)
    canvas.box((164, 162, 316, 188), portrait.collar)
    for x in (164, 202, 240, 278):
        canvas.shape([(x, 164), (x + 19, 112), (x + 38, 164)], portrait.collar)
        canvas.oval((x + 12, 98, x + 26, 112), portrait.accent)


def _fool(canvas: Canvas, portrait: Portrait) -> None:
    for tip, ink in ((92, portrait.coat), (388, portrait.collar)):
        canvas.shape([(146, 250), (240, 130), (334, 250), (tip, 168)], ink)
        canvas.oval((tip - 16, 156, tip + 16, 188), portrait.accent)
    canvas.slice((142, 150, 338, 330), 180, 270, portrait.coat)
    canvas.slice((142, 150, 338, 330), 270, 360, portrait.collar)


def _monk(canvas: Canvas, portrait: Portrait) -> None:
    for x in (146, 334):
        canvas.oval((x - 22, 236, x + 22, 330), portrait.hair)
    canvas.slice((168, 344, 312, 486), 0, 180, portrait.hair)
    canvas.box((168, 390, 312, 416), portrait.hair)
    canvas.line([(214, 372), (268, 372)], _shade(portrait.skin, 0.4), 5)


def _braid_behind(canvas: Canvas, portrait: Portrait) -> None:
    canvas.oval((132, 152, 348, 380), portrait.hair)
    for place in range(5):
        canvas.oval((318, 330 + place * 44, 374, 388 + place * 44), _shade(portrait.hair, 1.0 + 0.18 * (place % 2)))


_Layer = Callable[[Canvas, Portrait], None]
_MOTIFS: Final[dict[str, _Layer]] = {
    "beam": _beam,
    "rain": _rain,
    "window": _window,
    "waves": _waves,
    "rays": _rays,
    "diamonds": _diamonds,
    "pages": _pages,
    "sun": _sun,
}
_HAIR: Final[dict[str, tuple[_Layer, _Layer]]] = {
    "bun": (_bun_behind, _fringe),
    "tousled": (_plain, _tousled),
    "scarf": (_bun_behind, _scarf),
    "cap": (_plain, _cap),
    "crown": (_bun_behind, _crown),
    "fool": (_plain, _fool),
    "monk": (_plain, _monk),
    "braid": (_braid_behind, _fringe),
}
