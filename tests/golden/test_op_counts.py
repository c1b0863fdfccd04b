"""Operation counts on record: a change for better or worse is a visible diff."""

from __future__ import annotations

from pathlib import Path

from chainform.graph import verify
from unreduced import unreduced
from zoo import reference

TABLE = Path(__file__).with_name("op_counts.tsv")
HEADER = ("mechanism", "parameters", "quantity", "formulation", "after", "mul", "add", "calls")
MECHANISMS = (
    "rackovic_2_1",
    "rackovic_4_1",
    "manipulator_5dof",
    "puma560",
    "seven_axis",
    "stanford_toolbox",
)
OUTPUTS = {
    "closed_form": (
        ("mass_matrix",),
        ("gravity",),
        ("mass_matrix", "coriolis", "gravity"),
        ("inverse_dynamics",),
    ),
    "newton_euler": (("inverse_dynamics",), ("bias",), ("gravity",)),
    "composite_body": (
        ("mass_matrix",),
        ("mass_matrix", "coriolis", "gravity"),
        ("coriolis_matrix",),
        ("forward_dynamics",),
    ),
    "articulated_body": (("forward_dynamics",),),
}


def rows() -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for name in MECHANISMS:
        for parameters in ("numeric", "symbolic"):
            for formulation, choices in OUTPUTS.items():
                for outputs in choices:
                    model = unreduced(
                        reference(name), outputs, formulation=formulation, parameters=parameters
                    )
                    verify(model.graph)
                    count = model.count()
                    figures = (
                        count.multiplications,
                        count.additions,
                        count.sin + count.cos + count.calls,
                    )
                    label = "+".join(outputs)
                    words = (name, parameters, label, formulation, "formulation")
                    found.append((*words, *map(str, figures)))
    return found


def test_operation_counts(update_golden: bool) -> None:
    text = "".join("\t".join(row) + "\n" for row in (HEADER, *rows()))
    if update_golden:
        TABLE.write_text(text)
    assert TABLE.read_text().splitlines() == text.splitlines()
