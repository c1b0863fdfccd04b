"""Pictures of a real run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from chainform.pictures.film import film_of
from chainform.simulation import simulate
from unit.pictures.runs import EXAMPLES, pendulum


def test_a_pendulum(tmp_path: Path) -> None:
    run = simulate(pendulum(), q0=[1.0], t=(0.0, 1.0))
    figure = run.plot(file=tmp_path / "p.svg")
    assert [ax.get_ylabel() for ax in figure.axes] == ["swing (rad)", "swing (rad/s)", "energy (J)"]
    total = figure.axes[2].get_lines()[2].get_ydata()
    assert np.ptp(total) < 1e-6
    assert ElementTree.parse(tmp_path / "p.svg").getroot().tag.endswith("svg")
    assert run.animate(tmp_path / "p.html").stat().st_size > 10_000
    assert "<canvas" in run.animate().text
    with Image.open(run.animate(tmp_path / "p.gif", size=(160, 120))) as image:
        assert image.n_frames == 26  # type: ignore[attr-defined]
    assert run.picture(tmp_path / "p.png", size=(160, 120)).size == (160, 120)
    film = film_of(run, 100, 1000)
    path = film.path(film.scene.points[-1])
    assert np.linalg.norm(path, axis=1) == pytest.approx(0.5)


PROGRAM = """
import sys
import chainform
run = chainform.simulate(chainform.read({file!r}), q0=[0.1] * 6, t=0.01)
rooms = ("chainform.pictures", "matplotlib", "PIL", "imageio_ffmpeg")
print(*[name for name in rooms if name in sys.modules], sep=",")
run.animate()
print(*[name for name in rooms if name in sys.modules], sep=",")
"""


def test_a_simulation_imports_no_pictures_and_a_page_no_library() -> None:
    program = PROGRAM.format(file=str(EXAMPLES / "six_axis_arm.toml"))
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.splitlines() == ["", "chainform.pictures"]
