"""The page in a real browser: it draws, plays, turns, and nothing goes wrong."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

import chainform as cf
from chainform.pictures import animate
from unit.pictures.chromium import Tab, tab
from unit.pictures.runs import (
    EXAMPLES,
    Given,
    Mark,
    arm,
    given,
    pendulum,
    sliding,
    swinging,
)

Picture = NDArray[np.int64]
ROOT = "document.documentElement"


@pytest.fixture(scope="module")
def browser() -> Iterator[Tab]:
    with tab() as page:
        yield page


def opened(browser: Tab, run: Given, folder: Path, dark: bool = False) -> Tab:
    """Show the page of a run, halted at its start."""
    file = animate(run, folder / "motion.html")
    browser.troubles.clear()
    browser.requests.clear()
    browser.open(file, 500, 400, dark=dark)
    assert browser.value(f"{ROOT}.dataset.state") == "ready"
    browser.value("chainform.pause(); chainform.seek(0)")
    browser.settle()
    return browser


def seen(browser: Tab) -> Picture:
    """Return the canvas as it is seen, without the bar and the title."""
    browser.settle()
    with Image.open(io.BytesIO(browser.picture())) as image:
        return np.asarray(image.convert("RGB"), dtype=np.int64)[50:310]


def changed(one: Picture, other: Picture) -> int:
    """Return how many dots differ clearly."""
    return int((np.abs(one - other).max(axis=2) > 40).sum())


def rest(browser: Tab) -> None:
    """Wait until the eye has come to rest."""
    browser.settle()
    browser.until(f"{ROOT}.dataset.moving === 'false'")


def time_of(browser: Tab) -> float:
    return float(browser.value(f"{ROOT}.dataset.time"))


def set_field(browser: Tab, name: str, value: str, event: str) -> None:
    """Choose a value as a person does, so that the page hears of it."""
    browser.value(f"document.getElementById('{name}').value = {value}")
    browser.value(f"document.getElementById('{name}').dispatchEvent(new Event('{event}'))")


def assert_no_trouble(browser: Tab) -> None:
    assert browser.troubles == []
    assert all(url.startswith(("file:///", "data:")) for url in browser.requests)
    assert sum(url.startswith("file:") for url in browser.requests) == 1


def test_it_draws_and_plays(browser: Tab, tmp_path: Path) -> None:
    opened(browser, swinging(arm()), tmp_path)
    assert time_of(browser) == 0.0
    first = seen(browser)
    colours = {tuple(dot) for dot in first.reshape(-1, 3).tolist()}
    assert len(colours) > 300
    browser.value("chainform.seek(0.7)")
    assert changed(first, seen(browser)) > 300
    assert time_of(browser) == pytest.approx(0.7)
    assert browser.value("document.getElementById('time').textContent").startswith("0.70 s")
    browser.value("chainform.play()")
    browser.until(f"Number({ROOT}.dataset.time) !== 0.7")
    assert browser.value(f"{ROOT}.classList.contains('playing')")
    assert_no_trouble(browser)


def test_it_plays_by_itself_in_real_time_and_begins_again(browser: Tab, tmp_path: Path) -> None:
    run = swinging(pendulum(), 0.5)
    file = animate(run, tmp_path / "motion.html")
    browser.open(file, 500, 400)
    browser.until(f"Number({ROOT}.dataset.time) === 0.5")
    browser.until(f"Number({ROOT}.dataset.time) < 0.4")
    assert browser.value("document.title") == "pendulum"
    assert browser.troubles == []


def test_mouse_and_wheel_move_the_eye(browser: Tab, tmp_path: Path) -> None:
    opened(browser, swinging(arm()), tmp_path)
    first = seen(browser)
    browser.drag((250, 150), (330, 190))
    rest(browser)
    turned = seen(browser)
    assert changed(first, turned) > 300
    browser.wheel((250, 150), -300)
    rest(browser)
    near = seen(browser)
    assert changed(turned, near) > 300
    browser.key("r", "KeyR", "r")
    rest(browser)
    assert changed(first, seen(browser)) < 60
    assert time_of(browser) == 0.0
    assert_no_trouble(browser)


def test_fingers_zoom(browser: Tab, tmp_path: Path) -> None:
    opened(browser, swinging(arm()), tmp_path)
    first = seen(browser)
    body = int((first.max(axis=2) < 170).sum())
    browser.pinch((250, 150), (60, 180))
    rest(browser)
    near = seen(browser)
    assert int((near.max(axis=2) < 170).sum()) > 2 * body
    assert_no_trouble(browser)


def test_keys(browser: Tab, tmp_path: Path) -> None:
    opened(browser, swinging(arm()), tmp_path)
    browser.key("ArrowRight")
    browser.settle()
    assert time_of(browser) == pytest.approx(1 / 60, abs=1e-5)
    browser.key("ArrowRight")
    browser.key("ArrowLeft")
    browser.settle()
    assert time_of(browser) == pytest.approx(1 / 60, abs=1e-5)
    browser.key("End")
    browser.settle()
    assert time_of(browser) == 1.0
    browser.key("Home")
    browser.settle()
    assert time_of(browser) == 0.0
    browser.key("ArrowUp")
    browser.settle()
    assert browser.value("document.getElementById('speed').value") == "2"
    browser.key(" ", "Space", " ")
    browser.until(f"{ROOT}.classList.contains('playing')")
    browser.key(" ", "Space", " ")
    browser.until(f"!{ROOT}.classList.contains('playing')")
    assert_no_trouble(browser)


def test_the_bar_and_the_panel(browser: Tab, tmp_path: Path) -> None:
    run = swinging(arm())
    run.events = [Mark("touch", 0.5)]
    opened(browser, run, tmp_path)
    set_field(browser, "scrub", "0.5", "input")
    browser.settle()
    assert time_of(browser) == pytest.approx(0.5)
    event = "document.getElementById('event')"
    assert browser.value(f"{event}.textContent") == "touch"
    assert browser.value(f"{event}.classList.contains('shown')")
    assert browser.value("document.querySelector('#marks i').style.left") == "50%"
    before = seen(browser)
    browser.value("document.getElementById('more').click()")
    assert browser.value("document.getElementById('panel').hidden") is False
    names = browser.value("[...document.getElementById('trace').options].map(o => o.textContent)")
    assert names[0] == "nothing"
    assert names[-1] == "tool"
    browser.value("document.getElementById('values').open = true")
    browser.settle()
    rows = browser.value("[...document.querySelectorAll('#values tr')].map(r => r.textContent)")
    assert len(rows) == 6
    value = f"{run.q[20, 0]:.3f}".replace("-", "\u2212")
    assert rows[0] == f"{arm().coordinates[0]}{value}rad"
    browser.value("document.querySelector('input[name=floor]').click()")
    set_field(browser, "trace", "-1", "change")
    browser.value("document.getElementById('more').click()")
    assert changed(before, seen(browser)) > 30
    for view in ("front", "side", "top"):
        browser.value(f"document.querySelector('[data-view={view}]').click()")
        browser.settle()
    assert_no_trouble(browser)


def test_very_many_events_have_room(browser: Tab, tmp_path: Path) -> None:
    run = swinging(pendulum())
    run.events = [Mark("tick", float(t)) for t in np.linspace(0, 1, 10_000)]
    opened(browser, run, tmp_path)
    assert browser.value("document.querySelectorAll('#marks i').length") == 501
    assert browser.value("document.querySelector('#marks i:last-child').style.left") > "99.8%"
    assert_no_trouble(browser)


def test_it_follows_the_size_and_the_scheme(browser: Tab, tmp_path: Path) -> None:
    opened(browser, swinging(arm()), tmp_path)
    assert seen(browser)[0, 0].min() > 230
    browser.resize(700, 400)
    browser.until("document.getElementById('picture').width === 700")
    opened(browser, swinging(arm()), tmp_path, dark=True)
    assert seen(browser)[0, 0].max() < 60
    assert_no_trouble(browser)


CASES = {
    "springs and slides": lambda: swinging(sliding()),
    "elements": lambda: given(cf.read(EXAMPLES / "portal_crane.toml"), lambda t: [4.5 + 0.3 * t]),
    "one state": lambda: given(pendulum(), lambda _: [0.4], count=1),
    "a board": lambda: swinging(cf.read(EXAMPLES / "squeezer.toml")),
}


@pytest.mark.parametrize("name", CASES)
def test_other_mechanisms(name: str, browser: Tab, tmp_path: Path) -> None:
    opened(browser, CASES[name](), tmp_path)
    dots = seen(browser).reshape(-1, 3)
    assert len({tuple(dot) for dot in dots.tolist()}) > 100
    browser.value("for (const box of document.querySelectorAll('#layers input')) box.click()")
    browser.settle()
    assert_no_trouble(browser)


def test_names_are_text(browser: Tab, tmp_path: Path) -> None:
    bad = "<img src=x onerror=window.hacked=1></script><script>window.hacked=1</script>"
    run = swinging(pendulum(bad, bad, bad))
    run.events = [Mark(bad, 0.0)]
    opened(browser, run, tmp_path)
    assert browser.value("window.hacked === undefined")
    assert browser.value("document.querySelectorAll('img').length") == 0
    assert browser.value("document.getElementById('title').textContent") == bad
    assert browser.value("document.getElementById('event').textContent") == bad
    assert browser.value("document.title") == bad
    options = "document.getElementById('trace').options"
    assert browser.value(f"{options}[1].textContent") == bad
    assert_no_trouble(browser)


def test_script_from_elsewhere_cannot_run(browser: Tab, tmp_path: Path) -> None:
    """The page names the one script that may run in it."""
    text = animate(swinging(pendulum())).text
    file = tmp_path / "changed.html"
    file.write_text(text.replace("</body>", "<script>window.hacked=1</script></body>"))
    browser.open(file, 500, 400)
    assert browser.value("window.hacked === undefined")
    assert browser.value(f"{ROOT}.dataset.state") == "ready"
    assert any("Content Security Policy" in trouble for trouble in browser.troubles)


def test_without_webgl_the_reason_is_said(browser: Tab, tmp_path: Path) -> None:
    answer = browser.call(
        "Page.addScriptToEvaluateOnNewDocument",
        source="HTMLCanvasElement.prototype.getContext = () => null",
    )
    try:
        browser.troubles.clear()
        browser.open(animate(swinging(pendulum()), tmp_path / "a.html"), 500, 400)
        assert browser.value(f"{ROOT}.dataset.state") == "failed"
        trouble = browser.value("document.getElementById('trouble').textContent")
        assert trouble == "The motion cannot be shown: this browser has no WebGL 2."
        assert browser.troubles == []
    finally:
        browser.call("Page.removeScriptToEvaluateOnNewDocument", identifier=answer["identifier"])
