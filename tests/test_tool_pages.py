"""Pages for users of other tools: their code runs where the tool installs, else on stand-ins."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import chainform as cf
from docs import DOCS, blocks_of

ROOT = DOCS.parent
STAND_IN = ROOT / "tests" / "stand_in"
RUN_PAGES = ("casadi-acados", "drake", "pytorch", "jax")
PAGES = (*RUN_PAGES, "ros2-control", "simulink")
SHOWN = re.compile(r'```\w+ title="(examples/[^"]+)"')


def run(command: Sequence[str | Path], folder: Path, **more: str) -> str:
    """Run a command in a folder and return what it prints."""
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, **more}
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def run_first_shell_block(page: str, folder: Path) -> None:
    """Run the first commands of a page in a folder that sees the examples."""
    (folder / "examples").symlink_to(ROOT / "examples")
    (text, *_) = [block.text for block in blocks_of(DOCS / f"{page}.md") if block.fence == "```sh"]
    run(["bash", "-e", "-c", text], folder)


def lines_of(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines()]


@pytest.mark.any_processor
@pytest.mark.parametrize("page", PAGES)
def test_a_page_shows_parts_of_files(page: str) -> None:
    """What a page shows of a file in examples stands there, line by line."""
    for block in blocks_of(DOCS / f"{page}.md"):
        if found := SHOWN.fullmatch(block.fence):
            whole, part = lines_of((ROOT / found[1]).read_text("utf-8")), lines_of(block.text)
            starts = range(len(whole) - len(part) + 1)
            assert any(whole[k : k + len(part)] == part for k in starts), (found[1], block.line)


RUN_PAGE = f"""
import sys
sys.path += [{str(ROOT / "tests")!r}, {str(STAND_IN)!r}]
from docs import DOCS, run_page
run_page(DOCS / sys.argv[1])
"""
"""Stand-ins come last, so that a tool that is installed is the one that runs."""


@pytest.mark.slow
@pytest.mark.any_processor
@pytest.mark.parametrize("page", RUN_PAGES)
def test_a_page_runs(page: str) -> None:
    """In a process of its own, since some tools change settings or start threads."""
    if page == "drake" and find_spec("pydrake") is None:
        pytest.skip("there is no Drake on PyPI for this machine")
    run([sys.executable, "-c", RUN_PAGE, f"{page}.md"], ROOT)


# --- ROS 2 control --------------------------------------------------------------------------------

ROS = ROOT / "examples" / "ros2_control"
STRICT = ["-Wall", "-Wextra", "-Wconversion", "-Werror", "-pedantic", "-Wno-mismatched-new-delete"]


@pytest.mark.slow
@pytest.mark.any_processor
def test_the_controller_follows_its_law(tmp_path: Path) -> None:
    """Errors die out as the law says, without allocations; NaN in a state is an error.

    A loop of 1 ms differs from the law by about 1 ms times the rate of the error. An arm with
    another weight or friction would miss by a tenth of a radian.
    """
    run_first_shell_block("ros2-control", tmp_path)
    package = tmp_path / "src" / "pick_arm_control"
    header = (package / "include" / "pick_arm.hpp").read_text()
    arm = ["examples/pick_arm.urdf", "--outputs", "forward_dynamics", "--name", "plant"]
    run(["chainform", "export", *arm, "--to", "cpp", "-o", "plant"], tmp_path)
    assert "template <typename Scalar>" in header
    folders = [package / "include", tmp_path / "plant", package, STAND_IN / "ros2_control"]
    sources = [package / "computed_torque_controller.cpp", STAND_IN / "ros2_control" / "drive.cpp"]
    places = [f"-I{folder}" for folder in folders]
    run(["g++", "-std=c++17", "-O1", *STRICT, *places, *sources, "-o", "drive"], tmp_path)
    lines = run(["./drive"], tmp_path).splitlines()
    named: Mapping[str, str] = dict(line.split(": ") for line in lines if ": " in line)
    joints = ["yaw", "shoulder", "elbow", "wrist"]
    assert [line for line in lines if "/" in line] == [f"{joint}/effort" for joint in joints]
    assert (named["without limits"], named["with limits"]) == ("99", "97")
    assert float(named["standing"]) < 1e-9
    assert float(named["from the law of the error"]) < 0.015
    assert re.fullmatch("0 of [1-9][0-9]+", named["allocations"])
    assert named["NaN"] == "1 1"


@pytest.mark.any_processor
def test_the_package_names_its_plugin() -> None:
    """Names in the description, the settings and the source are the same."""
    plugin = ElementTree.parse(ROS / "pick_arm_control.xml").getroot()
    (described,) = plugin
    name, kind = described.attrib["name"], described.attrib["type"]
    source = (ROS / "computed_torque_controller.cpp").read_text()
    exported = re.search(r"PLUGINLIB_EXPORT_CLASS\(\s*([\w:]+), ([\w:]+)\)", source)
    assert exported is not None
    assert exported.groups() == (kind, described.attrib["base_class_type"])
    assert f"type: {name}\n" in (ROS / "controllers.yaml").read_text()
    package = ElementTree.parse(ROS / "package.xml").getroot()
    build = (ROS / "CMakeLists.txt").read_text()
    assert f"add_library({plugin.attrib['path']} SHARED" in build
    needed = {each.text for each in package.findall("depend")}
    assert needed == set(re.findall(r"find_package\((\w+) REQUIRED\)", build)) - {"ament_cmake"}
    included = set(re.findall(r'#include "(\w+)/', source))
    assert included == needed


# --- Simulink -------------------------------------------------------------------------------------

SIMULINK = ROOT / "examples" / "simulink"
C99 = ["-std=c99", "-O1", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-pedantic"]


@pytest.mark.slow
@pytest.mark.any_processor
def test_blocks_of_simulink(tmp_path: Path) -> None:
    """The plant moves as the equations say; the law gives efforts that cause what is wanted."""
    run_first_shell_block("simulink", tmp_path)
    source, exported = SIMULINK / "pick_arm_plant.c", tmp_path / "exported_c"
    places = ["-DMATLAB_MEX_FILE", f"-I{exported}", f"-I{STAND_IN / 'simulink'}"]
    run(["gcc", *C99, *places, source, exported / "pick_arm.c", "-lm", "-o", "plant"], tmp_path)
    q, tau = np.array([0.2, 0.6, -0.4, 0.3]), np.array([0.05, -2.0, 0.3, 0.1])
    given = [str(x) for x in (*q, *tau)]
    moved = np.array(run(["./plant", "0.3", *given], tmp_path).split(), dtype=float)
    program = cf.derive(ROOT / "examples" / "pick_arm.urdf", ["qdd", "tau"]).compile()

    def rate(_: float, x: np.ndarray) -> np.ndarray:
        return np.concatenate([x[4:], program.forward_dynamics(x[:4], x[4:], tau)])

    start = np.concatenate([q, np.zeros(4)])
    expected = solve_ivp(rate, (0, 0.3), start, method="DOP853", rtol=1e-10, atol=1e-12).y[:, -1]
    assert np.abs(expected - start).max() > 0.5
    np.testing.assert_allclose(moved, expected, rtol=0, atol=1e-6)
    assert run(["./plant", "0.3", *given[:6]], tmp_path).startswith("refused: the position")

    qd, wanted = np.array([0.3, -0.2, 0.5, 1.0]), np.arange(12.0).reshape(4, 3) / 10
    script = f"""addpath('exported_m'); addpath('{SIMULINK}');
        fprintf('%.17g ', pick_arm_law({q.tolist()}', {qd.tolist()}', {wanted.tolist()}));"""
    script = script.replace("], [", "; ").replace("[[", "[").replace("]]", "]")
    found = np.array(run(["octave-cli", "--eval", script], tmp_path).split(), dtype=float)
    caused = program.forward_dynamics(q, qd, found) - wanted[:, 2]
    law = 40 * (wanted[:, 1] - qd) + 400 * (wanted[:, 0] - q)
    np.testing.assert_allclose(caused, law, rtol=1e-9)
