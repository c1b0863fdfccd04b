"""Options are values: used for several mechanisms, they give what fresh ones give."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from chainform.formulations import FORMULATIONS, Options
from chainform.graph import Builder, graph_text
from chainform.mechanism import Mechanism, parametrise
from zoo import random_tree, reference

MECHANISMS = ("puma560", "rackovic_2_1", "stanford_toolbox")


def text_of(mechanism: Mechanism, method: str, outputs: Sequence[str], options: Options) -> str:
    builder = Builder()
    FORMULATIONS[method].build(builder, mechanism, outputs, options)
    return graph_text(builder.finish())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("method", "output"),
    [
        ("newton_euler", "inverse_dynamics"),
        ("composite_body", "mass_matrix"),
        ("lagrange", "mass_matrix"),
        ("auto", "mass_matrix"),
    ],
)
def test_one_options_for_several_mechanisms(method: str, output: str) -> None:
    named = [parametrise(reference(name), "numeric") for name in MECHANISMS]
    mechanisms = [*named, random_tree(5)]
    fresh = [text_of(m, method, [output], Options()) for m in mechanisms]
    for order in (mechanisms, mechanisms[::-1]):
        shared = Options()
        texts = {id(m): text_of(m, method, [output], shared) for m in order}
        assert [texts[id(m)] for m in mechanisms] == fresh
        assert [text_of(m, method, [output], shared) for m in mechanisms] == fresh


def test_counts_of_choices_are_those_of_the_mechanism() -> None:
    shared, alone = Options(), Options()
    first, second = (parametrise(reference(name), "numeric") for name in MECHANISMS[:2])
    for mechanism in (first, second):
        text_of(mechanism, "newton_euler", ["inverse_dynamics"], shared)
    text_of(second, "newton_euler", ["inverse_dynamics"], alone)
    assert shared.choices.count(second) == alone.choices.count(second)
    assert shared == alone
