"""The page by keyboard alone, and where the system asks for little motion, in real Chromium."""

from typing import Any

from gateway.coverage_html.browser import Page

MOST_STOPS = 600
FOCUSED = """(() => {
  const one = document.activeElement, box = one.getBoundingClientRect(), style = getComputedStyle(one);
  const isSeen = box.width > 0 && box.height > 0 && box.bottom > 0 && box.top < innerHeight;
  const hasRing = style.outlineStyle !== "none" || one.closest(".segmented:focus-within") !== null;
  return [one.tagName, one.closest("section")?.id ?? null, isSeen, hasRing, one.textContent.slice(0, 40)];
})()"""


def test_the_tab_key_leads_through_every_part_and_what_has_the_focus_is_always_seen(page: Page) -> None:
    page.look(1200, 800)
    stops: list[list[Any]] = []
    while len(stops) < MOST_STOPS:
        page.press("Tab")
        stop = page.run(FOCUSED)
        if stop[0] == "BODY":
            break
        stops.append(stop)
    assert len(stops) < MOST_STOPS
    parts = list(dict.fromkeys(stop[1] for stop in stops if stop[1]))
    assert parts == page.run("[...document.querySelectorAll('main section')].map((one) => one.id)")
    assert [stop for stop in stops if not (stop[2] and stop[3])] == []


def test_nothing_moves_where_the_system_asks_for_little_motion(page: Page) -> None:
    behaviour = "getComputedStyle(document.documentElement).scrollBehavior"
    moving = """[...document.querySelectorAll("*")].map((one) => getComputedStyle(one)).filter(
        (one) => one.transitionDuration !== "0s" || one.animationName !== "none").length"""
    assert (page.run(behaviour), page.run(moving)) == ("auto", 0)
    features = [{"name": "prefers-reduced-motion", "value": "no-preference"}]
    page.call("Emulation.setEmulatedMedia", media="screen", features=features)
    assert page.run(behaviour) == "smooth"
