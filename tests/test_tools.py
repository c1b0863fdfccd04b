"""Tools for those who change the house: the walk through it, and motions that stay the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tools import trajectories
from tools.walk import walked

EXAMPLES = Path(__file__).parents[1] / "examples"


def test_the_walk_counts_what_each_stage_enters(tmp_path: Path) -> None:
    walk = walked(EXAMPLES / "four_bar.toml", tmp_path)
    assert list(walk.stages) == ["read", "derive", "reduce", "compile", "simulate", "save", "load"]
    assert all(walk.stages.values())
    entered = {name for _, _, name in walk.stages["derive"]}
    assert "derive" in entered
    assert not any("Error" in name for name in entered)
    assert walk.text().splitlines()[-1].startswith("all")
    assert "pipeline.py\n" in walk.places()


def test_motions_are_compared_bit_by_bit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "motions.npz"
    assert trajectories.main(["--write", str(file), "four_bar", "crane_loads"]) == 0
    assert np.load(file)["crane_loads"].shape[0] == 36
    assert trajectories.main(["--compare", str(file), "four_bar"]) == 0
    states = dict(np.load(file))["four_bar"]
    states[3, 1] = np.nextafter(states[3, 1], 2.0)
    np.savez(file, four_bar=states)
    assert trajectories.main(["--compare", str(file), "four_bar"]) == 1
    assert "four_bar: differs by" in capsys.readouterr().out
