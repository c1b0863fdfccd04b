"""What is known of a published result, and how far our own is from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
DATA = Path(__file__).parent / "data"


@dataclass(frozen=True)
class Source:
    """Where results were published: at one commit of one repository, under one licence.

    `parameters` says where those of the models stand, if that is another repository.
    """

    name: str
    repository: str
    commit: str
    licence: str
    parameters: str = ""


@dataclass(frozen=True)
class Result:
    """One kind of quantity of a case, published and our own.

    `accuracy` is what the source claims and `claim` says in which words, or from which digits.
    `bound` is what the deviation is held to, never more than `accuracy`; without it, `accuracy`.
    The deviation is relative to the largest published number, unless `is_absolute`, and that of the
    worst number, or with `is_rms` of the worst column, as its root mean square over the rows.
    """

    quantity: str
    published: Callable[[], Array]
    ours: Callable[[], Array]
    accuracy: float
    claim: str
    bound: float | None = None
    is_absolute: bool = False
    is_rms: bool = False

    @property
    def limit(self) -> float:
        """What the deviation is held to."""
        return self.accuracy if self.bound is None else self.bound

    def deviation(self) -> float:
        """Return the difference of our numbers from the published ones; NaN if one is NaN."""
        published, ours = np.asarray(self.published()), np.asarray(self.ours())
        if published.shape != ours.shape:
            raise ValueError(f"{self.quantity}: {ours.shape} are not {published.shape} numbers")
        scale = 1.0 if self.is_absolute else float(np.abs(published).max())
        difference = np.abs(ours - published)
        if self.is_rms:
            difference = np.sqrt(np.mean(difference**2, axis=0))
        return float(difference.max()) / scale


@dataclass(frozen=True)
class Case:
    """A mechanism of a source, with the results that are compared.

    `path` leads to the results in the repository; `model` says where the parameters stand, if that
    is somewhere else. `note` is a sentence for the page. `draw` writes a picture to a file whose
    ending is `picture`.
    """

    name: str
    title: str
    source: Source
    path: str
    results: tuple[Result, ...]
    note: str
    model: str = ""
    is_slow: bool = False
    picture: str = ""
    draw: Callable[[Path], object] | None = None


def series(file: str, *columns: str) -> Callable[[], Array]:
    """Return a function that reads columns of a file in `data`, (rows, columns).

    Lines that begin with `#` say where the numbers come from; the next one has the names.
    """

    def read() -> Array:
        lines = (DATA / file).read_text("utf-8").splitlines()
        names, *rows = [line for line in lines if not line.startswith("#")]
        indices = [names.split(",").index(name) for name in columns]
        return np.array([[float(text) for text in row.split(",")] for row in rows])[:, indices]

    return read
