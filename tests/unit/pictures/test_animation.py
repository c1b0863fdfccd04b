"""Films and pages in files."""

from __future__ import annotations

import base64
import importlib
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import chainform as cf
from chainform.errors import RunError
from chainform.mechanism.pose import poses_of, rotation_of_quaternion
from chainform.pictures import HtmlPage, animate, picture
from chainform.pictures.animation import Timing
from chainform.pictures.page import quaternions_of
from unit.pictures.runs import EXAMPLES, Mark, arm, given, pendulum, sliding, swinging

SIZE = (160, 120)


def data_of(page: str) -> dict[str, Any]:
    """Return what the script of a page reads."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def numbers(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype="<f4")


# --- films ------------------------------------------------------------------------------------


def test_a_gif_runs_in_real_time(tmp_path: Path) -> None:
    shares: list[float] = []
    file = animate(swinging(arm()), tmp_path / "a.gif", fps=30, size=SIZE, progress=shares.append)
    with Image.open(file) as image:
        assert image.size == SIZE
        assert image.n_frames == 31  # type: ignore[attr-defined]
        total = 0
        for k in range(30):
            image.seek(k)
            total += image.info["duration"]
        assert total == 1000
        assert image.info["loop"] == 0
        image.seek(0)
        first = np.asarray(image.convert("RGB"), dtype=int)
        image.seek(20)
        later = np.asarray(image.convert("RGB"), dtype=int)
    assert (np.abs(first - later).max(axis=2) > 60).sum() > 50
    assert shares == sorted(shares)
    assert len(shares) == 31
    assert shares[-1] == 1.0


def test_an_mp4_has_its_frames(tmp_path: Path) -> None:
    file = animate(swinging(arm()), tmp_path / "a.mp4", fps=20, speed=2, size=(161, 121))
    program = importlib.import_module("imageio_ffmpeg").get_ffmpeg_exe()
    command = [program, "-i", str(file), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    done = subprocess.run(command, capture_output=True, check=True, timeout=100)
    said = done.stderr.decode()
    assert "Video: h264" in said
    assert "yuv420p" in said
    assert "162x122" in said
    assert "20 fps" in said
    frames = np.frombuffer(done.stdout, dtype=np.uint8).reshape(-1, 122, 162, 3)
    assert len(frames) == 11
    change = np.abs(frames[0].astype(int) - frames[6].astype(int)).max(axis=2)
    assert (change > 60).sum() > 50
    assert [path.name for path in tmp_path.iterdir()] == ["a.mp4"]


def test_what_ffmpeg_says_is_passed_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "ffmpeg"
    program.write_text("#!/bin/sh\necho no such codec >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(program))
    with pytest.raises(RunError, match="failed: no such codec"):
        animate(swinging(arm()), tmp_path / "a.mp4", size=SIZE)
    assert [path.name for path in tmp_path.iterdir()] == ["ffmpeg"]


@pytest.mark.parametrize(
    ("span", "speed", "fps", "count"),
    [(2.0, 1.0, 25.0, 51), (2.0, 0.5, 25.0, 101), (0.03, 1.0, 30.0, 2), (0.0, 1.0, 30.0, 1)],
)
def test_timing(span: float, speed: float, fps: float, count: int) -> None:
    timing = Timing.of(span, speed, fps)
    assert timing.count == count
    if span > 0:
        # The steps of the motion go on between pictures, and end with the last one.
        assert span * timing.rate == pytest.approx((count - 1) * timing.fine)


def test_a_film_that_is_broken_off_leaves_nothing(tmp_path: Path) -> None:
    class StopHereError(Exception):
        pass

    def stop(share: float) -> None:
        if share > 0.2:
            raise StopHereError

    for ending in ("gif", "mp4"):
        with pytest.raises(StopHereError):
            animate(swinging(arm()), tmp_path / f"a.{ending}", size=SIZE, progress=stop)
    assert list(tmp_path.iterdir()) == []


def test_a_motion_of_one_state_is_one_picture(tmp_path: Path) -> None:
    run = given(pendulum(), lambda _: [0.3], count=1)
    with Image.open(animate(run, tmp_path / "a.gif", size=SIZE)) as image:
        assert image.n_frames == 1  # type: ignore[attr-defined]
    assert data_of(animate(run).text)["count"] == 1


@pytest.mark.parametrize("name", ["rolling_disc", "portal_crane", "sliding_links"])
def test_other_mechanisms_are_painted(name: str) -> None:
    mechanism = cf.read(EXAMPLES / f"{name}.toml")
    start = 4.5 if name == "portal_crane" else 0.3
    run = given(mechanism, lambda t: start + 0.05 * np.sin(t + np.arange(mechanism.nq)))
    assert_painted(picture(run, size=SIZE, ghosts=1))


def assert_painted(image: Any) -> None:
    """Most of a picture is paper, and some of it is not."""
    colours = np.asarray(image.convert("RGB"), dtype=int)
    paper = np.abs(colours - [246, 248, 251]).max(axis=2) < 12
    assert 0.3 < paper.mean() < 0.98
    dark = colours.min(axis=2) < 120
    assert dark.sum() > 40


# --- stills -----------------------------------------------------------------------------------


def test_a_picture_with_ghosts(tmp_path: Path) -> None:
    run = given(pendulum(), lambda t: [2 * t - 1])
    plain = picture(run, ghosts=0, size=SIZE, trace=False)
    ghostly = picture(run, tmp_path / "p.png", ghosts=3, size=SIZE, trace=False)
    assert_painted(plain)
    with Image.open(tmp_path / "p.png") as image:
        assert image.size == SIZE
        assert np.array_equal(np.asarray(image), np.asarray(ghostly))
    less = np.asarray(ghostly, dtype=int).sum(axis=2) < np.asarray(plain, dtype=int).sum(axis=2)
    assert less.sum() > 200
    early = picture(run, t=0.0, size=SIZE, trace=False)
    assert np.abs(np.asarray(early, dtype=int) - np.asarray(plain, dtype=int)).max() > 60
    with pytest.raises(RunError, match="cannot be written as"):
        picture(run, tmp_path / "p.tiff")


# --- pages ------------------------------------------------------------------------------------


def test_a_page_holds_the_motion(tmp_path: Path) -> None:
    run = swinging(arm())
    run.events = [Mark("touch", 0.25)]
    file = animate(run, tmp_path / "a.html", speed=0.5, trace="forearm")
    data = data_of(file.read_text(encoding="utf-8"))
    assert (data["start"], data["end"], data["count"]) == (0.0, 1.0, 121)
    assert data["events"] == [{"name": "touch", "t": 0.25}]
    assert [c["name"] for c in data["coordinates"]] == list(arm().coordinates)
    assert {c["unit"] for c in data["coordinates"]} == {"rad"}
    assert data["points"][data["trace"]]["name"] == "forearm"
    stored = numbers(data["poses"]).reshape(121, data["frames"], 7)
    # Every third stored frame is a state of the run.
    for row, k in ((0, 0), (60, 20), (120, 40)):
        expected = poses_of(arm(), run.q[k])
        for i in range(6):
            assert stored[row, i + 1, 4:] == pytest.approx(expected.positions[i], abs=1e-6)
            turn = rotation_of_quaternion(stored[row, i + 1, :4].astype(float))
            assert turn == pytest.approx(expected.rotations[i], abs=1e-6)
    q = numbers(data["q"]).reshape(121, 6)
    assert q[60] == pytest.approx(run.q[20], abs=1e-6)


def test_a_page_needs_nothing_else() -> None:
    text = animate(swinging(arm())).text
    assert re.search(r"https?:|@import|\bimport\b\s*[({\"']|\bfetch\(|url\(", text) is None
    assert set(re.findall(r'(?:src|href)="([^"]*)"', text)) == {"data:,"}
    assert text.count("<script") == 2
    assert "default-src 'none'" in text


def test_long_motions_stay_small() -> None:
    run = swinging(arm(), 600.0, 60_001)
    page = animate(run, trace=False)
    data = data_of(page.text)
    assert data["count"] * data["frames"] <= 400_000
    assert len(page.text) < 16e6
    assert data["trace"] == -1


def test_names_cannot_leave_their_place() -> None:
    bad = "</script><script>alert(1)</script><!--"
    page = animate(swinging(pendulum(bad, bad, bad)), title=bad).text
    assert page.count("</script>") == 2
    assert "<!--" not in page
    assert data_of(page)["title"] == bad
    assert "<title>&lt;/script&gt;" in page


def test_a_page_is_shown_in_a_notebook(tmp_path: Path) -> None:
    page = animate(swinging(pendulum()))
    assert isinstance(page, HtmlPage)
    shown = page._repr_html_()
    assert shown.startswith("<iframe srcdoc=")
    assert shown.count("<") == 2
    assert page.save(tmp_path / "x.html").read_text(encoding="utf-8") == page.text


def test_the_same_page_each_time() -> None:
    assert animate(swinging(sliding())).text == animate(swinging(sliding())).text


@pytest.mark.parametrize("seed", range(5))
def test_quaternions_of_rotations(seed: int) -> None:
    random = np.random.default_rng(seed)
    quaternions = random.normal(size=(50, 4))
    # Half turns and no turn at all are the cases in which simple formulas fail.
    quaternions[:5] = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1], [1, 1, 0, 0]]
    turns = np.stack([rotation_of_quaternion(q) for q in quaternions])
    back = quaternions_of(turns)
    assert np.linalg.norm(back, axis=1) == pytest.approx(1.0)
    again = np.stack([rotation_of_quaternion(q) for q in back])
    assert again == pytest.approx(turns, abs=1e-12)


# --- what cannot be done ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "options", "element"),
    [
        ("a.avi", {}, "file"),
        ("a", {}, "file"),
        ("missing/a.html", {}, "file"),
        ("a.gif", {"speed": 0.0}, "speed"),
        ("a.gif", {"speed": float("nan")}, "speed"),
        ("a.gif", {"fps": 0}, "fps"),
        ("a.gif", {"fps": 1000}, "fps"),
        ("a.gif", {"speed": "fast"}, "speed"),
        ("a.gif", {"size": (10, 10)}, "size[1]"),
        ("a.gif", {"size": 100}, "size"),
        ("a.mp4", {"speed": 1e-5}, "animate"),
        ("a.html", {"trace": "nobody"}, "trace"),
    ],
)
def test_bad_wishes(name: str, options: dict[str, Any], element: str, tmp_path: Path) -> None:
    with pytest.raises(RunError) as e:
        animate(swinging(arm()), tmp_path / name, **options)
    assert e.value.element == element
    assert e.value.remedy
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("ending", "module", "extra"),
    [("gif", "PIL", "plot"), ("mp4", "imageio_ffmpeg", "video"), ("mp4", "PIL", "plot")],
)
def test_a_missing_library_is_named(
    ending: str, module: str, extra: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [n for n in sys.modules if n.partition(".")[0] == module]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(RunError, match=f"needs {module}") as e:
        animate(swinging(arm()), tmp_path / f"a.{ending}", size=SIZE)
    assert e.value.remedy == f"install it with: pip install 'chainform[{extra}]'"
    assert list(tmp_path.iterdir()) == []


def test_a_page_needs_no_library(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("PIL", "matplotlib", "imageio_ffmpeg"):
        for name in [n for n in sys.modules if n.partition(".")[0] == module]:
            monkeypatch.setitem(sys.modules, name, None)
        monkeypatch.setitem(sys.modules, module, None)
    assert "<canvas" in animate(swinging(arm())).text


def test_a_picture_may_draw_parts_of_a_path() -> None:
    run = cf.simulate(pendulum(), q0=[1.0], t=1)
    whole, none, part = (
        np.asarray(picture(run, size=(120, 90), ghosts=0, stretches=chosen))
        for chosen in (None, [], [(0.0, 0.3)])
    )
    assert (whole != none).any()
    assert (part != none).any()
    assert (part != whole).any()
