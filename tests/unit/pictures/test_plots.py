"""Plots over time: files, labels, and the same bytes each time."""

from __future__ import annotations

import subprocess
import sys
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from PIL import Image

import chainform as cf
from chainform import pictures
from chainform.errors import RunError
from chainform.pictures import colours
from chainform.simulation.files.about import About
from unit.pictures.runs import (
    EXAMPLES,
    Given,
    Mark,
    arm,
    brick,
    given,
    pendulum,
    sliding,
    swinging,
)
from zoo import reference


def plot(*arguments: Any, **options: Any) -> Any:
    """Plot, without the types of matplotlib, which know little of what its lines hold."""
    return pictures.plot(*arguments, **options)


def labels(figure: Any) -> list[str]:
    return [ax.get_ylabel() for ax in figure.axes]


def texts(file: Path) -> list[str]:
    """Return all that is written in an SVG."""
    root = ET.parse(file).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    return ["".join(node.itertext()).strip() for node in root.iter() if node.tag.endswith("}text")]


def test_all_that_moves_is_shown(tmp_path: Path) -> None:
    run = swinging(arm())
    run.tau = run.tau + 1.0
    figure = plot(run, file=tmp_path / "arm.svg")
    expected = ["coordinates (rad)", "rates (rad/s)", "efforts (N m)", "energy (J)"]
    assert labels(figure) == expected
    written = texts(tmp_path / "arm.svg")
    assert {*expected, "t (s)", *arm().coordinates, "kinetic", "potential", "total"} <= {*written}
    assert written.count("shoulder") == 1
    lines = figure.axes[0].get_lines()[:6]
    assert [line.get_color() for line in lines] == list(colours.SERIES[:6])
    assert np.array_equal(lines[2].get_ydata(), run.q[:, 2])


def test_efforts_that_are_all_zero_are_left_out() -> None:
    assert labels(plot(swinging(arm()))) == ["coordinates (rad)", "rates (rad/s)", "energy (J)"]


def test_units_follow_the_joints() -> None:
    run = swinging(sliding())
    run.tau = run.tau + 1.0
    assert labels(plot(run, ["q", "qd", "qdd", "tau"])) == [
        "cart (m)",
        "pole (rad)",
        "cart (m/s)",
        "pole (rad/s)",
        "cart (m/s²)",
        "pole (rad/s²)",
        "cart (N)",
        "pole (N m)",
    ]


def test_units_of_a_free_joint_and_of_elements() -> None:
    free = given(brick(), lambda t: [t, 0, 0, 0, 0, 0, 1])
    assert labels(plot(free, ["q", "qd", "tau"])) == [
        "coordinates (m)",
        "coordinates",
        "rates (m/s)",
        "rates (rad/s)",
        "efforts (N)",
        "efforts (N m)",
    ]
    builder = cf.Mechanism.builder("e").coordinates({"name": "x", "unit": "m"})
    model = builder.element("a: Sx(x); 1, 1, 1, 1").build()
    assert labels(plot(given(model, lambda t: [t]), "q")) == ["x (m)"]


def test_a_choice_in_its_order() -> None:
    run = swinging(arm())
    segment = arm().segments[2].name
    figure = plot(run, ["energy", "elbow", f"reactions({segment})", "q1", "elbow"])
    assert labels(figure) == [
        "energy (J)",
        "coordinates (rad)",
        f"force in {segment} (N)",
        f"moment in {segment} (N m)",
    ]
    curves = figure.axes[1].get_lines()
    assert np.array_equal(curves[0].get_ydata(), run.q[:, 2])
    assert np.array_equal(curves[1].get_ydata(), run.q[:, 0])
    assert curves[0].get_color() == colours.SERIES[2]
    assert figure.axes[3].get_lines()[1].get_ydata()[0] == 4.0


def test_outputs_by_name() -> None:
    figure = plot(swinging(arm()), ["pose(tool)", "momentum", "work", "mass_matrix"])
    assert labels(figure) == [
        "origin of tool (m)",
        "momentum (N s)",
        "momentum, angular (N m s)",
        "work (J)",
        "mass_matrix",
    ]
    assert [line.get_ydata()[0] for line in figure.axes[0].get_lines()[:3]] == [3, 7, 11]
    assert [line.get_ydata()[0] for line in figure.axes[2].get_lines()[:3]] == [3, 4, 5]
    names = [text.get_text() for text in figure.axes[4].get_legend().get_texts()]
    assert names == ["mass_matrix_1_1", "mass_matrix_1_2", "mass_matrix_2_1", "mass_matrix_2_2"]


def test_actuators() -> None:
    run = swinging(cf.read(EXAMPLES / "driven_arm.toml"))
    usual = labels(plot(run))
    assert usual == ["coordinates (rad)", "rates (rad/s)", "drives (N m)", "energy (J)"]
    assert labels(plot(run, ["x", "u"])) == [*run.mechanism.states, *run.mechanism.signals]


def test_forces_of_prescribed_motions_are_shown_with_their_units() -> None:
    run = swinging(arm())
    assert "motion_forces" not in "".join(labels(plot(run)))
    name = run.mechanism.rates[1]
    run.motion_forces[name] = 7.0 + 0.0 * run.t
    assert f"drive of {name} (N m)" in labels(plot(run))
    (ax,) = plot(run, "motion_forces").axes
    assert ax.get_lines()[0].get_ydata()[0] == 7


def test_only_what_is_drawn_is_computed() -> None:
    run = swinging(arm())
    plot(run, ["q", "waist"])
    assert run.asked == []
    plot(run, "energy")
    assert run.asked == ["energy"]


@pytest.mark.parametrize(
    ("what", "message", "remedy"),
    [
        ("elbw", "nothing named 'elbw'", "'elbow'"),
        ("reactions(nobody)", "no segment named 'nobody'", "choices are turret"),
        (["q", "speed"], "nothing named 'speed'", "reactions"),
        ("coriolis", "it has 81 entries", "outputs"),
    ],
)
def test_what_does_not_exist(what: str | list[str], message: str, remedy: str) -> None:
    with pytest.raises(RunError, match=message) as e:
        plot(swinging(arm()), what)
    assert remedy in str(e.value.remedy)


def test_nothing_to_plot() -> None:
    with pytest.raises(RunError, match="nothing to plot"):
        plot(swinging(arm()), [])


def with_events() -> Given:
    events = [Mark("stop", 0.2), Mark("bounce", 0.6), Mark("bounce", 0.61), Mark("late", 7.0)]
    return given(pendulum(), lambda t: [np.sin(t)], events=events)


def lines_of_events(ax: Any) -> list[tuple[Any, list[float]]]:
    """Return lines through a panel, each with the times at which it stands upright."""
    broken = [line for line in ax.get_lines() if np.isnan(line.get_ydata()).any()]
    return [(line, line.get_xdata()[::3].tolist()) for line in broken]


def test_events_are_marked_in_every_panel(tmp_path: Path) -> None:
    figure = plot(with_events(), file=tmp_path / "p.svg")
    for ax in figure.axes:
        assert [times for _, times in lines_of_events(ax)] == [[0.2], [0.6, 0.61]]
    written = texts(tmp_path / "p.svg")
    assert {"stop", "bounce ×2"} <= {*written}
    assert not any("late" in text for text in written)
    plain = plot(with_events(), events=False)
    assert all(not lines_of_events(ax) for ax in plain.axes)


def test_events_of_different_names_can_be_told_apart() -> None:
    near = [Mark(name, t) for name, t in (("sticks", 0.5), ("slides", 0.52), ("sticks", 0.54))]
    figure = plot(given(pendulum(), lambda t: [t], events=near), "q")
    (ax,) = figure.axes
    drawn = [line for line, _ in lines_of_events(ax)]
    assert [times for _, times in lines_of_events(ax)] == [[0.5, 0.54], [0.52]]
    assert len({(line.get_color(), line.get_linestyle()) for line in drawn}) == 2
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()] == ["sticks ×2", "slides"]
    handles = legend.get_lines()
    assert [line.get_color() for line in handles] == [line.get_color() for line in drawn]
    assert not ax.texts
    figure.draw_without_rendering()
    box = legend.get_window_extent()
    assert box.y0 >= ax.get_window_extent().y1
    assert box.y1 <= figure.texts[0].get_window_extent().y0


def test_names_stand_at_events_that_are_far_apart() -> None:
    far = [Mark("up", 0.1), Mark("down", 0.5), Mark("up again", 0.99)]
    figure = plot(given(pendulum(), lambda t: [t], events=far), "q")
    (ax,) = figure.axes
    assert not figure.legends
    assert [text.get_text() for text in ax.texts] == ["up", "down", "up again"]
    assert [text.get_horizontalalignment() for text in ax.texts] == ["left", "left", "right"]
    colours = {text.get_text(): text.get_color() for text in ax.texts}
    assert [line.get_color() for line, _ in lines_of_events(ax)] == list(colours.values())


def test_very_many_events_are_light(tmp_path: Path) -> None:
    many = [Mark(f"event {k % 3}", float(t)) for k, t in enumerate(np.linspace(0, 1, 30_000))]
    run = given(pendulum(), lambda t: [np.sin(t)], events=many)
    began = process_time()
    figure = plot(run, file=tmp_path / "many.svg")
    assert process_time() - began < 15
    assert (tmp_path / "many.svg").stat().st_size < 600_000
    assert {"event 0 ×10000", "event 1 ×10000"} <= {*texts(tmp_path / "many.svg")}
    for ax in figure.axes:
        ticks = lines_of_events(ax)
        assert [len(times) < 2000 for _, times in ticks] == [True] * 3
        assert min(ticks[0][0].get_ydata()) > 0.9


def test_a_list_of_many_names_ends() -> None:
    many = [Mark(f"the event of number {k}", 0.5 + 0.001 * k) for k in range(40)]
    figure = plot(given(pendulum(), lambda t: [t], events=many), "q")
    names = [text.get_text() for legend in figure.legends for text in legend.get_texts()]
    assert len(figure.legends) == 4
    assert f"and {40 - len(names) + 1} more" in names


@pytest.mark.filterwarnings("error")
def test_names_in_any_script_give_no_warning(tmp_path: Path) -> None:
    run = swinging(pendulum("振り子", "棒", "揺れ"))
    run.events = [Mark("最下点", 0.5), Mark("שלום", 0.9)]
    for ending in ("svg", "png", "pdf"):
        plot(run, file=tmp_path / f"a.{ending}")
    assert {"振り子", "最下点"} <= {*texts(tmp_path / "a.svg")}


@dataclass
class Held(Given):
    """A motion whose efforts are held."""

    about: About = field(default_factory=About)


def test_efforts_that_are_held_are_steps() -> None:
    swing = swinging(arm())
    fields = (swing.mechanism, swing.t, swing.q, swing.qd)
    styles: dict[float | None, set[str]] = {}
    for hold in (None, 0.1, 1e-3):
        run = Held(*fields, tau=swing.qd, about=About(settings={"hold": hold}))
        lines = plot(run, ["tau", "q"]).axes[0].get_lines()[:6]
        styles[hold] = {line.get_drawstyle() for line in lines}
    # Outputs are 0.025 s apart: samples in between are not seen.
    assert styles == {None: {"default"}, 0.1: {"steps-post"}, 1e-3: {"default"}}


def test_the_heading_is_what_the_scenario_is_called() -> None:
    swing = swinging(pendulum())
    run = Held(swing.mechanism, swing.t, swing.q, swing.qd, about=About(title="A long swing"))
    assert plot(run).texts[0].get_text() == "A long swing"
    assert plot(run, title="mine").texts[0].get_text() == "mine"
    assert plot(swing).texts[0].get_text() == "pendulum"
    assert "<title>A long swing</title>" in pictures.animate(run).text
    assert "<title>mine</title>" in pictures.animate(run, title="mine").text


def test_an_unknown_option_of_a_figure_is_refused() -> None:
    options: Any = {"heigth": 2.0}
    with pytest.raises(RunError, match="unknown field 'heigth'"):
        plot(swinging(pendulum()), **options)


def test_names_are_text_and_nothing_else(tmp_path: Path) -> None:
    names = ["$x_1$ & <b>", "_hidden", "a" * 60]
    builder = cf.Mechanism.builder("</svg><script>alert(1)</script>")
    for k, name in enumerate(names):
        parent = "ground" if k == 0 else f"s{k - 1}"
        joint = {"name": name, "type": "revolute"}
        builder.segment(f"s{k}", parent=parent, joint=joint, axis="z", mass=1)
    run = swinging(builder.build())
    run.events = [Mark("<i>$\\frac{1}{2}$", 0.5)]
    plot(run, "q", tmp_path / "names.svg")
    written = texts(tmp_path / "names.svg")
    assert {"$x_1$ & <b>", "_hidden", "a" * 23 + "…", "<i>$\\frac{1}{2}$"} <= {*written}
    assert "</svg><script>alert(1)</script>" in written
    assert "<script" not in (tmp_path / "names.svg").read_text()


def test_many_coordinates_fit(tmp_path: Path) -> None:
    run = swinging(reference("humanoid_30"))
    run.tau = run.tau + 1.0
    figure = plot(run, file=tmp_path / "many.svg")
    shades = [line.get_color() for line in figure.axes[0].get_lines()[:30]]
    assert len(set(shades)) == 30
    written = texts(tmp_path / "many.svg")
    assert {*run.mechanism.coordinates} <= {*written}
    legend = figure.axes[0].get_legend()
    assert legend is not None
    figure.draw_without_rendering()
    box = legend.get_window_extent()
    assert box.y0 > figure.axes[3].get_window_extent().y1 - 20
    assert box.x1 <= figure.bbox.x1
    plot(run, "q", tmp_path / "few.svg", height=1.0)
    assert any(text.startswith("and ") for text in texts(tmp_path / "few.svg"))


def test_between_eight_and_fourteen_curves_have_dashes() -> None:
    builder = cf.Mechanism.builder("ten")
    for k in range(10):
        builder.segment(f"s{k}", parent="ground" if k == 0 else f"s{k - 1}", axis="z", mass=1)
    lines = plot(swinging(builder.build()), "q").axes[0].get_lines()[:10]
    assert [line.is_dashed() for line in lines] == [k >= 7 for k in range(10)]
    assert len({(line.get_color(), line.is_dashed()) for line in lines}) == 10


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
def test_the_same_bytes_each_time(ending: str, tmp_path: Path) -> None:
    """Also under other settings of the user, and after another figure."""
    files = [tmp_path / f"{k}.{ending}" for k in range(2)]
    plot(with_events(), file=files[0])
    plot(swinging(arm()))
    with mpl.rc_context({"font.size": 20, "axes.grid": False, "lines.linewidth": 5}):
        plot(with_events(), file=files[1])
        assert mpl.rcParams["font.size"] == 20
    assert files[0].read_bytes() == files[1].read_bytes()
    if ending == "png":
        with Image.open(files[0]) as image:
            image.verify()
            assert image.size[0] == 1200


def test_each_curve_over_its_own_places() -> None:
    """A root locus: imaginary parts over real ones."""
    builder = cf.Mechanism.builder("rig", gravity=(0, 0, 0))
    rig = builder.segment("x", joint="prismatic", axis="x", mass=1).build()
    found = cf.root_locus(rig, "d", (0, 3), count=7, forces={"x": "-4*x - d*der(x)"})
    (axes,) = found.plot(["pole_imag"], over="pole_real").axes[:1]
    lines = [line.get_xydata() for line in axes.lines if len(line.get_xydata()) == 7]
    for k, line in enumerate(lines):
        assert line == pytest.approx(np.c_[found["pole_real"][:, k], found["pole_imag"][:, k]])
    assert len(lines) == 2
    with pytest.raises(cf.Error, match="nothing to plot"):
        found.plot(["growth"], over="pole_real")


def test_a_single_state_is_a_dot() -> None:
    figure = plot(given(pendulum(), lambda _: [0.5], count=1))
    assert figure.axes[0].get_lines()[0].get_marker() == "o"


@pytest.mark.parametrize("name", ["plot.jpg", "plot", "missing/plot.svg", "folder.svg", "a\0.svg"])
def test_files_that_cannot_be_written(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder.svg").mkdir()
    with pytest.raises(RunError) as e:
        plot(with_events(), file=tmp_path / name)
    assert e.value.element == "file"
    assert e.value.remedy


def test_shapes_must_fit() -> None:
    run = with_events()
    run.q = run.q[:-1]
    with pytest.raises(RunError, match="do not fit together"):
        plot(run)


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(RunError, match="plotting needs matplotlib") as e:
        plot(with_events())
    assert e.value.remedy == "install it with: pip install 'chainform[plot]'"


def test_pyplot_is_never_loaded() -> None:
    """Its figures and its backend belong to the user; and importing must not take long."""
    text = (
        "import sys; import chainform.pictures as p;"
        "print({'matplotlib', 'PIL', 'imageio_ffmpeg'} & set(sys.modules));"
        "sys.path.insert(0, 'tests');"
        "from unit.pictures.runs import swinging, pendulum;"
        "p.plot(swinging(pendulum())); print('matplotlib.pyplot' in sys.modules)"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run(
        [sys.executable, "-c", text],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        cwd=root,
    )
    assert (done.stdout, done.stderr) == ("set()\nFalse\n", "")
