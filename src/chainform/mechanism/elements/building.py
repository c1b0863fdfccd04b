"""The words of an element model in the builder of mechanisms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from chainform.given import Given
from chainform.mechanism.elements.model import ElementSpecification


class ElementMethods:
    """Collects coordinates, unknown forces, definitions, elements and constraints."""

    def __init__(self) -> None:
        self._model = ElementSpecification()

    def coordinates(self, *coordinates: object) -> Self:
        """Declare the coordinates of a model without segments: names, or {name, unit, rate}."""
        self._model.coordinates += coordinates
        return self

    def unknowns(self, *names: object) -> Self:
        """Name forces and moments that are not known, in which components may be linear.

        They are inputs of the equations, and what `unknown_forces` solves for.
        """
        self._model.unknowns += names
        return self

    def define(self, table: Mapping[str, object] | None = None, **laws: object) -> Self:
        """Give names to laws of coordinates, time and parameters, for use in other laws."""
        given = Given({} if table is None else table, "definitions").table()
        self._model.define({**given.value, **laws})
        return self

    def element(self, given: object = None, **fields: object) -> Self:
        """Add an element: fields of the native file, or a body or frame in short form.

        element("P~K: Sz(d), Rx(phi); m, Jx, Jy, Jz")
        element(kind="moment", name="drive", moment="M", along="phi")
        """
        self._model.elements.append(fields if given is None else given)
        return self

    def constraint(self, kind: object, law: object, **fields: object) -> Self:
        """Add a constraint, `holonomic`, `nonholonomic` or `unilateral`; also name and so on."""
        return self.constraint_table({"kind": kind, "law": law, **fields})

    def constraint_table(self, table: object) -> Self:
        """Add a constraint given as a table of the native file."""
        self._model.constraints.append(table)
        return self

    def quasi(self, name: object, law: object) -> Self:
        """Add a quasi-velocity: a law linear in the rates."""
        return self.quasi_table({"name": name, "law": law})

    def quasi_table(self, table: object) -> Self:
        """Add a quasi-velocity given as a table {name, law}."""
        self._model.quasi.append(table)
        return self
