"""What a database computes from the rows of a model, level by level in SQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from chainform.errors import StoreError
from chainform.model import Model, Store, open_store
from chainform.verification.certificate import Check
from chainform.verification.deviation import Array, check_of, deviations_of
from chainform.verification.state_samples import Sample, sample_of

LAW = "rows in the store compute the model"
SIZE = 20_000
"""Variables of the largest graph whose rows are computed in SQL for it."""
SHOWN = 3
"""How many cells that are not what was saved are named."""


def check_rows(
    model: Model, seed: int = 0, states: int = 5, *, store: Store | None = None
) -> Iterator[Check]:
    """Compute all outputs in SQL at random states: in the store of the model, else in a new one."""
    if len(model.graph) > SIZE:
        figure = f"{len(model.graph)} variables, and up to {SIZE} are computed in SQL for it"
        yield Check(LAW, "nothing", figure, None, 0)
        return
    sample = sample_of(model, states, seed)
    if store is not None and model.origin is not None:
        yield _checked(store, str(model.origin), sample)
        return
    with TemporaryDirectory() as folder, open_store(Path(folder) / "model.db") as made:
        made.save(model.with_graph(model.graph), "model", author="")
        yield _checked(made, "model", sample)


def _checked(store: Store, reference: str, sample: Sample) -> Check:
    """Compare the values of rows; rows that are not those saved fail whatever their values are."""
    compared = f"SQL over the rows of {reference} and model.evaluate"
    try:
        if damage := store.check_revision(reference):
            more = f"; {len(damage) - SHOWN} more" * (len(damage) > SHOWN)
            figure = f"not what was saved: {'; '.join(damage[:SHOWN])}{more}"
            return Check(LAW, compared, figure, False, len(sample))
        return check_of(LAW, compared, deviations_of(sample, _values(store, reference, sample)))
    except StoreError as problem:
        if _is_out_of_reach(problem):
            return Check(LAW, "nothing", problem.message, None, 0)
        return Check(LAW, compared, problem.message, False, len(sample))


def _values(store: Store, reference: str, sample: Sample) -> dict[str, Array]:
    """Return all outputs (n, ...); what is not certain at a state is left as it is."""
    found = {name: array.copy() for name, array in sample.evaluated.items()}
    for k in range(len(sample)):
        names = [name for name in found if sample.certain[name][k]]
        given = sample.arguments(k)
        result = store.evaluate(reference, **given, outputs=names, trust_rows=True)
        for name, value in result.items():
            found[name][k] = value
    return found


def _is_out_of_reach(problem: BaseException | None) -> bool:
    """Whether the store fails for a reason outside it: a lock, a full disk, no server.

    SQLite has the same kind of error for a table or a column that is gone.
    """
    while problem is not None:
        kinds = type(problem).__mro__
        if OSError in kinds or any(kind.__name__ == "OperationalError" for kind in kinds):
            return "no such " not in str(problem)
        problem = problem.__cause__ or getattr(problem, "orig", None)
    return False
