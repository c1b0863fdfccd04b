"""Where motions come from: laws, pieces, numbers, files and runs."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import chainform as cf
from chainform.analysis import motion_of
from strategies import examples

T = np.linspace(0, 2, 41)


def pair() -> cf.Mechanism:
    builder = cf.Mechanism.builder("pair").parameter("w", 3)
    builder.segment("a", axis="z", mass=1, com=[1, 0, 0])
    builder.segment("b", parent="a", joint="prismatic", axis="x", mass=1)
    return builder.build()


def motion(source: object, t: Any = T, **options: Any) -> Any:
    return motion_of(pair(), {"a": source, "b": "0"}, t, **options)


def test_pieces_are_laws_one_after_the_other() -> None:
    pieces = [{"until": 1, "law": "w*t^2"}, {"law": "w*(2*t - 1)"}]
    found = motion(pieces)
    early = T < 1
    np.testing.assert_allclose(found.q[:, 0], np.where(early, 3 * T**2, 6 * T - 3), atol=1e-14)
    np.testing.assert_allclose(found.qd[:, 0], np.where(early, 6 * T, 6), atol=1e-14)
    np.testing.assert_allclose(found.qdd[:, 0], np.where(early, 6, 0), atol=1e-14)


@pytest.mark.parametrize(
    ("pieces", "words"),
    [
        ([{"until": 1, "law": "t"}, {"law": "2"}], "the value jumps from 1 to 2 at t = 1 s"),
        ([{"until": 1, "law": "t"}, {"law": "1"}], "the rate jumps from 1 to 0 at t = 1 s"),
        ([{"until": 1, "law": "0"}, {"until": 0.5, "law": "0"}, {"law": "0"}], "do not grow"),
        ([{"until": 1, "law": "0"}, {"until": 1.5, "law": "0"}], "the last piece ends before"),
        ([{"until": 3}], "law"),
        ([{"until": 1, "lw": "0"}], "lw"),
    ],
)
def test_pieces_that_do_not_join_are_refused(pieces: list[Any], words: str) -> None:
    with pytest.raises(cf.Error, match=words) as caught:
        motion(pieces)
    assert caught.value.remedy


@examples(20)
@given(st.floats(0.5, 3), st.floats(-2, 2))
def test_exact_numbers_have_the_rates_of_their_law(w: float, phase: float) -> None:
    own = np.linspace(0, 2, 161)
    numbers = {"t": own, "values": np.sin(w * own + phase), "smoothing": 0}
    found = motion(numbers)
    inner = slice(4, -4)
    np.testing.assert_allclose(found.q[:, 0], np.sin(w * T + phase), atol=1e-8)
    np.testing.assert_allclose(found.qd[inner, 0], w * np.cos(w * T + phase)[inner], atol=1e-6)
    np.testing.assert_allclose(
        found.qdd[inner, 0], -w * w * np.sin(w * T + phase)[inner], atol=1e-4
    )
    assert found.notes == ("a: spline of degree 5 through 161 numbers, no smoothing",)


def test_smoothing_takes_noise_out_of_accelerations() -> None:
    """Without it the noise of the numbers is all that is left of their second derivative."""
    own, random = np.linspace(0, 2, 401), np.random.default_rng(2)
    noisy = np.sin(own) + 1e-4 * random.standard_normal(401)
    errors = {}
    for smoothing in (0, 1e-4):
        found = motion({"t": own, "values": noisy, "smoothing": smoothing})
        errors[smoothing] = np.sqrt(np.mean((found.qdd[5:-5, 0] + np.sin(T[5:-5])) ** 2))
    assert errors[1e-4] < 0.1 < 5 < errors[0]


def test_numbers_with_their_rates_are_taken_as_they_are() -> None:
    own = np.linspace(0, 2, 11)
    numbers = {"t": own, "values": own**3, "rates": 3 * own**2, "accelerations": 6 * own}
    found = motion(numbers)
    np.testing.assert_allclose(found.q[:, 0], T**3, atol=1e-13)
    np.testing.assert_allclose(found.qdd[:, 0], 6 * T, atol=1e-12)
    same = motion({k: v for k, v in numbers.items() if k != "t"}, t=own)
    assert np.array_equal(same.qdd[:, 0], 6 * own)


BAD: list[tuple[object, str]] = [
    ({"t": T, "values": T}, "must be differentiated by a spline"),
    (T, "must be differentiated by a spline"),
    ({"t": T, "values": T[:3], "smoothing": 0}, "41 times and 3 values"),
    ({"t": T[::-1], "values": T, "smoothing": 0}, "the times do not grow"),
    ({"t": T / 2, "values": T, "smoothing": 0}, "reach from t = 0 to 1 s"),
    ({"t": [0, 1, 2], "values": [0, 1, 2], "smoothing": 1}, "3 numbers cannot be smoothed"),
    ({"t": T, "values": T, "smoothing": -1}, "smoothing"),
    ({"t": T, "values": T * np.nan, "smoothing": 0}, "not finite"),
    ({"t": T, "values": T, "rates": T}, "rates and accelerations belong together"),
    ({"t": T, "values": T, "rates": T[:2], "accelerations": T}, "are not as many"),
    ({"t": T, "value": T}, "value"),
    ("1/(t - 1)", "no finite value"),
    ("u*t", "u"),
    ([[1, 2]], "shape"),
    (None, "motion of 'a'"),
]


@pytest.mark.parametrize(("source", "words"), BAD, ids=[words for _, words in BAD])
def test_what_is_no_motion_is_refused(source: object, words: str) -> None:
    with np.errstate(all="ignore"), pytest.raises(cf.Error) as caught:
        motion(source)
    assert words in str(caught.value)
    assert caught.value.remedy


def test_every_coordinate_needs_a_motion() -> None:
    with pytest.raises(cf.Error, match="no motion is given for b"):
        motion_of(pair(), {"a": {"t": T, "values": T, "smoothing": 0}})
    with pytest.raises(cf.Error, match="a motion by laws needs times"):
        motion_of(pair(), {"a": "t", "b": "0"})
    with pytest.raises(cf.Error, match="given twice"):
        motion_of(pair(), {"a": "t", "q1": "t", "b": "0"}, T)
    with pytest.raises(cf.Error, match="no coordinate"):
        motion_of(pair(), {"aa": "t", "b": "0"}, T)


# --- files ----------------------------------------------------------------------------------------


def written(path: Path, columns: Mapping[str, Any]) -> Path:
    rows = zip(*columns.values(), strict=True)
    lines = [",".join(columns), *(",".join(map(repr, map(float, row))) for row in rows)]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_table_of_numbers_in_a_file(tmp_path: Path) -> None:
    known = {"b": T**2, "der(b)": 2 * T, "der(der(b))": 0 * T + 2}
    file = written(tmp_path / "motion.csv", {"t": T, "a": T**3, **known})
    found = motion_of(pair(), file, smoothing=0)
    np.testing.assert_allclose(found.qdd, np.stack([6 * T, 0 * T + 2], axis=1), atol=1e-9)
    assert np.array_equal(found.t, T)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no numbers|no times"),
        ("t,a\n", "it has no numbers"),
        ("a\n1\n", "there are no times"),
        ("t,a\n0,1\n1\n", "row 3 has not as many"),
        ("t,a,a\n0,1,2\n", "stands twice"),
        ("t,a\n0,x\n", "cannot be read"),
        ("t,der(a)\n0,1\n", "a rate without its coordinate"),
        ("\xff", "cannot be read"),
    ],
)
def test_damaged_files_are_refused(text: str, words: str, tmp_path: Path) -> None:
    file = tmp_path / "motion.csv"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(cf.Error, match=words) as caught:
        motion_of(pair(), file, smoothing=0)
    assert (caught.value.file, bool(caught.value.remedy)) == (str(file), True)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    for name in ("none.csv", "none.npz"):
        with pytest.raises(cf.Error, match="no such file"):
            motion_of(pair(), tmp_path / name)


def test_a_run_is_a_motion(tmp_path: Path) -> None:
    run = cf.simulate(pair(), qd0={"a": 1.0}, t=1, t_eval=np.linspace(0, 1, 11))
    run.save(tmp_path / "run.csv")
    for source in (run, tmp_path / "run.csv", str(tmp_path / "run.csv")):
        found = motion_of(pair(), source)
        assert np.array_equal(found.q, run.q)
        np.testing.assert_allclose(found.qdd, run.qdd, rtol=1e-12, atol=1e-12)
    some = motion_of(pair(), run, run.t[[7, 2]])
    assert np.array_equal(some.q, run.q[[7, 2]])
    for times in (T, [0.05], [-1], [2.0], [0.1, 1e9]):
        with pytest.raises(cf.Error, match="other times"):
            motion_of(pair(), run, times)
    for times in (0.1, [[0.1]]):
        with pytest.raises(cf.Error):
            motion_of(pair(), run, times)
    with pytest.raises(cf.Error, match="2 entries of q, and four_bar has 3"):
        cf.kinematics("examples/four_bar.toml", run)
    store = cf.open_store(tmp_path / "models.db")
    store.save(cf.derive(pair(), ["gravity"]), "pair")
    store.save_run(run, "pair", "swing")
    assert np.array_equal(motion_of(pair(), store.run("pair", "swing")).q, run.q)
