"""What holds on every route: nothing is wider than the screen or cut, in every language, and axe finds nothing."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page
from tests.browser.routes import ALIASES, NO_PLACES, ROUTES, WEB, Route, make_places, patterns_of_the_app
from tests.browser.scene import watched_page

AXE = WEB / "node_modules" / "axe-core" / "axe.min.js"
TAGS = ["wcag2a", "wcag2aa", "wcag21aa", "wcag22aa", "best-practice"]
_TOO_WIDE = """() => {
  const wide = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  if (wide <= 0) return [];
  const edge = document.documentElement.clientWidth;
  const out = [...document.querySelectorAll("body *")].filter((one) => {
    const box = one.getBoundingClientRect();
    const outside = box.width > 0 && (box.right > edge + 1 || box.left < -1);
    return outside && !one.closest(".spoken, .skip, dialog, [popover]");
  });
  return [`${wide}px too wide`, ...out.slice(-4).map((one) => one.outerHTML.slice(0, 160))];
}"""
# Text that its own box hides. Boxes that scroll hide nothing for ever; introductions and titles in narrow heads are
# shortened on purpose, with an ellipsis, and stand in full elsewhere.
_CUT = """() => {
  const range = document.createRange();
  const hides = (overflow) => ["hidden", "clip"].includes(overflow);
  const reaches = (one, box, wide, high) => {
    const walk = document.createTreeWalker(one, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
      const inside = walk.currentNode.parentElement;
      if (!walk.currentNode.data.trim() || inside.closest(".spoken, svg") || !inside.checkVisibility()) continue;
      range.selectNodeContents(walk.currentNode);
      for (const { left, right, top, bottom } of range.getClientRects()) {
        if (wide && (right > box.right + 1 || left < box.left - 1)) return true;
        if (high && (bottom > box.bottom + 2 || top < box.top - 2)) return true;
      }
    }
    return false;
  };
  return [...document.querySelectorAll("body *")].filter((one) => {
    if (one.closest(".spoken, .skip, select, svg") || !one.checkVisibility()) return false;
    const style = getComputedStyle(one);
    if (style.webkitLineClamp !== "none" || style.textOverflow === "ellipsis") return false;
    const wide = hides(style.overflowX) && one.scrollWidth > one.clientWidth + 1;
    const high = hides(style.overflowY) && one.scrollHeight > one.clientHeight + 1;
    return (wide || high) && reaches(one, one.getBoundingClientRect(), wide, high);
  }).map((one) => one.outerHTML.slice(0, 160));
}"""
# The foot of the stage may be scrolled up and down; nobody scrolls it sideways to find a button.
_SIDEWAYS = """() => [...document.querySelectorAll("header, footer")]
  .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1)
  .map((one) => `${one.scrollWidth - one.clientWidth}px to scroll: ${one.outerHTML.slice(0, 160)}`)"""
_SPACED = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`* { line-height: 1.5 !important; letter-spacing: 0.12em !important }
    * { word-spacing: 0.16em !important }
    p { margin-bottom: 2em !important }`);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}"""


@pytest.fixture(scope="module")
def places(address: str) -> dict[str, str]:
    return make_places(address)


@pytest.fixture
def small(browser: Browser) -> Iterator[Page]:
    with watched_page(browser, viewport={"width": 360, "height": 740}) as page:
        yield page


def show(page: Page, address: str, route: Route, places: dict[str, str]) -> None:
    page.goto(address + route.path(places))
    page.wait_for_selector(route.ready, state="attached")
    page.evaluate("document.fonts.ready.then(() => undefined)")


def settle(page: Page, **settings: str) -> None:
    """Opens the coming pages with these reading settings."""
    kept = json.dumps(json.dumps(settings))
    page.add_init_script(f"localStorage.setItem('fabula.reading', {kept})")


def problems(page: Page, route: Route) -> list[str]:
    return [f"{route.name}: {found}" for check in (_TOO_WIDE, _CUT, _SIDEWAYS) for found in page.evaluate(check)]


def test_the_table_of_routes_has_every_route_of_the_app() -> None:
    assert patterns_of_the_app() - ALIASES == {route.pattern for route in ROUTES} - NO_PLACES


def test_at_360_pixels_nothing_is_wider_than_the_screen(small: Page, address: str, places: dict[str, str]) -> None:
    found = []
    for route in ROUTES:
        show(small, address, route, places)
        found += problems(small, route)
    assert found == []


def test_at_twice_the_size_nothing_is_cut(browser: Browser, address: str, places: dict[str, str]) -> None:
    found = []
    with watched_page(browser, viewport={"width": 640, "height": 480}, device_scale_factor=2) as page:
        for route in ROUTES:
            show(page, address, route, places)
            found += problems(page, route)
            page.evaluate("document.documentElement.style.fontSize = '200%'")
            found += [f"text at 200 %: {one}" for one in problems(page, route)]
    assert found == []


@pytest.mark.parametrize("width", [360, 1280])
def test_text_may_be_spaced_out(browser: Browser, address: str, places: dict[str, str], width: int) -> None:
    found = []
    with watched_page(browser, viewport={"width": width, "height": 740}) as page:
        for route in ROUTES:
            show(page, address, route, places)
            page.evaluate(_SPACED)
            found += problems(page, route)
    assert found == []


@pytest.mark.parametrize("language", ["de", "zh-CN", "pseudo"])
@pytest.mark.parametrize("width", [360, 1280])
def test_no_language_is_cut(browser: Browser, address: str, places: dict[str, str], width: int, language: str) -> None:
    found = []
    with watched_page(browser, viewport={"width": width, "height": 740}) as page:
        settle(page, language=language)
        for route in ROUTES:
            show(page, address, route, places)
            page.wait_for_function(
                "lang => document.documentElement.lang === lang", arg=language.replace("pseudo", "en")
            )
            found += problems(page, route)
    assert found == []


@pytest.mark.parametrize("width", [360, 1280])
def test_from_right_to_left_nothing_is_cut(browser: Browser, address: str, places: dict[str, str], width: int) -> None:
    found = []
    with watched_page(browser, viewport={"width": width, "height": 740}) as page:
        for route in ROUTES:
            show(page, address, route, places)
            page.evaluate("document.documentElement.dir = 'rtl'")
            found += problems(page, route)
            if route.name == "stage" and width > 1200:
                rail, text = (page.locator(one).bounding_box() for one in ("nav[aria-label='Tree of lines']", ".prose"))
                assert rail is not None and text is not None
                assert rail["x"] > text["x"] + text["width"] / 2, "the rail stands on the right"
    assert found == []


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not fetched (make check-web)")
@pytest.mark.parametrize("paper", ["day", "lamp", "night"])
@pytest.mark.parametrize("width", [360, 1280])
def test_axe_finds_nothing(browser: Browser, address: str, places: dict[str, str], paper: str, width: int) -> None:
    found = []
    with watched_page(browser, viewport={"width": width, "height": 900}) as page:
        settle(page, paper=paper)
        page.add_init_script(path=AXE)
        for route in ROUTES:
            show(page, address, route, places)
            found += [f"{route.name}: {one}" for one in page.evaluate(_AXE, TAGS)]
    assert found == []


_AXE = """async (tags) => {
  const { violations } = await axe.run(document, { runOnly: tags });
  const told = ({ id }, node) => `${id}: ${node.html.slice(0, 200)} ${node.failureSummary}`;
  return violations.flatMap((violation) => violation.nodes.map((node) => told(violation, node)));
}"""


def test_with_reduced_motion_nothing_moves(browser: Browser, address: str, places: dict[str, str]) -> None:
    slow = """() => [...document.querySelectorAll("body *")].filter((one) => {
      const { transitionDuration, animationDuration } = getComputedStyle(one);
      return `${transitionDuration}, ${animationDuration}`.split(", ").some((time) => parseFloat(time) > 0.001);
    }).map((one) => one.outerHTML.slice(0, 120))"""
    with watched_page(browser, reduced_motion="reduce") as page:
        for route in ROUTES:
            show(page, address, route, places)
            assert page.evaluate(slow) == []
