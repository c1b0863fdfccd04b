"""Values at the ends of double precision, and the forms in which they may be asked for."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.errors import RunError
from chainform.graph import FLOAT, evaluate, parse_graph
from chainform.store import Database, RevisionRecord

EXAMPLE = Path(__file__).parents[3] / "examples" / "four_bar.toml"


def stored(database: Database, *lines: str) -> Any:
    text = "\n".join(
        ("chainform graph 1", "input q 0 x", "input q 1 y", *lines, "output out []: z", "")
    )
    graph = parse_graph(text)
    database.save(graph, RevisionRecord("values"))
    return graph


@pytest.mark.parametrize(
    ("definition", "x", "y"),
    [
        ("x*y", 1e-200, 1e-200),
        ("x*y + x", 1e-200, -1e-200),
        ("x*y", 5e-324, 0.4),
        ("x*y", 5e-324, 0.9),
        ("x*y", 1e-162, 1e-162),
        ("x*y", 1e-170, 1e-150),
        ("x*y", -3e-160, 1e-160),
        ("x^3*y", 1e-150, 2.0),
        ("x^2*y", 1e200, 1e-300),
        ("1/1000000000*x*y", 1e-308, 1e-5),
        ("x*y^2", 1e-300, 1e-10),
        ("x + y", 1e308, -1e308),
        ("exp(x)", -750.0, 0.0),
        ("exp(x)", -745.1, 0.0),
        ("exp(x)", 709.7, 0.0),
        ("reciprocal(x)", 1e-308, 0.0),
        ("sqrt(x)", 0.0, 0.0),
    ],
)
def test_vanishing_values_are_those_of_memory(
    database: Database, definition: str, x: float, y: float
) -> None:
    state = {"x": x, "y": y}
    graph = stored(database, "w = x*y", f"z = {definition}")
    if definition == "x^2*y":
        with pytest.raises(RunError, match="z has no finite value"):
            database.evaluate("values", state)
        return
    found = database.evaluate("values", state)["out"]
    expected = evaluate(graph, state, FLOAT)["out"].astype(float)
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-322)


@pytest.mark.parametrize(
    ("definition", "x", "y"),
    [
        ("x*y", 1e200, 1e200),
        ("x*y", -1e200, 1e200),
        ("x^2", 1e160, 0.0),
        ("x + y", 1.7e308, 1.7e308),
        ("x - y", -1.7e308, 1.7e308),
        ("100*x", 1e307, 0.0),
        ("exp(x)", 710.0, 0.0),
        ("reciprocal(x)", 0.0, 0.0),
        ("reciprocal(x)", 1e-310, 0.0),
        ("log(x)", 0.0, 0.0),
        ("sqrt(x)", -1.0, 0.0),
        ("asin(x)", 1.5, 0.0),
    ],
)
def test_values_without_a_number_name_the_variable(
    database: Database, definition: str, x: float, y: float
) -> None:
    stored(database, f"z = {definition}")
    with pytest.raises(RunError, match="z has no finite value") as caught:
        database.evaluate("values", {"x": x, "y": y})
    assert caught.value.element == "z"
    assert math.isfinite(database.evaluate("values", {"x": 0.5, "y": 0.5})["out"])


def test_the_forms_of_asking(url: str) -> None:
    model = cf.derive(EXAMPLE, ["mass_matrix", "gravity"], parameters="symbolic")
    with cf.open_store(url) as store:
        store.save(model, "arm")
        q = [0.1, 0.2, 0.3]
        variable = model.graph.names[model.graph.outputs["gravity"].variables[0]]
        for names in (None, "gravity", ["gravity"], ("mass_matrix", variable), variable):
            found = store.evaluate("arm", q=q, outputs=names)
            expected = model.evaluate(q=q, outputs=names)
            assert list(found) == list(expected)
            for name, array in expected.items():
                assert found[name].shape == array.shape
                np.testing.assert_allclose(found[name], array, rtol=1e-12, atol=1e-12)
        for shape in ((0, 3), (2, 0, 3)):
            empty = store.evaluate("arm", q=np.zeros(shape))
            assert empty["mass_matrix"].shape == (*shape[:-1], 3, 3)
        with pytest.raises(RunError, match="no quantity nothing"):
            store.evaluate("arm", q=q, outputs="nothing")


def test_arrays_have_their_rows_and_columns(database: Database) -> None:
    graph = parse_graph(
        "chainform graph 1\ninput q 0 x\ninput q 1 y\na = x + y\nb = x*y\nc = 2*x\nd = 3*y\n"
        "output wide [2 3]: x y a b c d\noutput tall [3 2]: x y a b c d\n"
    )
    database.save(graph, RevisionRecord("arrays"))
    found = database.evaluate("arrays", {"x": 2.0, "y": 5.0})
    np.testing.assert_array_equal(found["wide"], [[2, 5, 7], [10, 4, 15]])
    np.testing.assert_array_equal(found["tall"], [[2, 5], [7, 10], [4, 15]])
