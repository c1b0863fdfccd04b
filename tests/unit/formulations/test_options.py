"""Options are values: used for several mechanisms, they give what fresh ones give."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from chainform.formulations import FORMULATIONS, Options
from chainform.formulations.shared.options import AxisChoice
from chainform.graph import graph_text
from chainform.mechanism import Mechanism, parametrise
from zoo import random_tree, reference

MECHANISMS = ("puma560", "rackovic_2_1", "stanford_toolbox")
CASES = [
    ("newton_euler", "inverse_dynamics"),
    ("composite_body", "mass_matrix"),
    ("lagrange", "mass_matrix"),
    ("auto", "coriolis"),
    ("auto", "forward_dynamics"),
]


def text_of(mechanism: Mechanism, method: str, outputs: Sequence[str], options: Options) -> str:
    return graph_text(FORMULATIONS[method].graph(mechanism, outputs, options)[0])


@pytest.mark.parametrize(("method", "output"), CASES)
def test_one_options_for_several_mechanisms(method: str, output: str) -> None:
    named = [parametrise(reference(name), "numeric") for name in MECHANISMS]
    mechanisms = [*named, random_tree(5)]
    fresh = [text_of(m, method, [output], Options()) for m in mechanisms]
    shared = Options()
    assert [text_of(m, method, [output], shared) for m in mechanisms[::-1]] == fresh[::-1]
    assert shared == Options()


@pytest.mark.parametrize(("method", "output"), CASES)
def test_the_first_choice_is_what_is_built_without_one(method: str, output: str) -> None:
    mechanism = parametrise(reference("puma560"), "numeric")
    graph, choices = FORMULATIONS[method].graph(mechanism, [output], Options())
    assert choices
    chosen = Options().in_axes(choices)
    again, further = FORMULATIONS[method].graph(mechanism, [output], chosen)
    assert graph_text(again) == graph_text(graph)
    assert not further


def test_where_there_are_fewer_choices_the_last_is_taken() -> None:
    one, two, none = (AxisChoice(frozenset(limbs), 9) for limbs in ([1], [2], []))
    choices = {("a",): [one, two], ("b",): [none]}
    options = Options().in_axes(choices, 1)
    assert options.axes == {("a",): two, ("b",): none}
    assert options.in_axes(choices, 0) == options
