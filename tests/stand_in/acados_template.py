"""What the page on acados uses of its Python interface: a stand-in where acados is not built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass
class AcadosModel:
    """Names and expressions of CasADi; acados checks them when it makes a solver."""

    name: str | None = None
    x: Any = None
    xdot: Any = None
    u: Any = None
    p: Any = None
    f_expl_expr: Any = None
    f_impl_expr: Any = None

    def __setattr__(self, name: str, value: object) -> None:
        """Refuse what the class of acados does not have."""
        if name not in self.__dataclass_fields__:
            raise AttributeError(name)
        super().__setattr__(name, value)
