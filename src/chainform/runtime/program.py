"""A program: the outputs of a graph as compiled functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from typing import Any

import numpy as np

from chainform.emitters.llvm import Signature, parameters_of, signature_of
from chainform.errors import RunError
from chainform.graph import FLOAT, Graph
from chainform.runtime import fastcall
from chainform.runtime.arrays import numbers
from chainform.runtime.call import Call, unknown_parameter
from chainform.runtime.content import content_of
from chainform.runtime.kernel import BATCH, PACKED, PYTHON, SINGLE, Keeper, Kernel
from chainform.runtime.prototype import prototype
from chainform.runtime.seal import Sealed
from chainform.runtime.target import Target, host
from chainform.runtime.travel import Cargo, Memory, packed, sealed_codes, unpacked

PRECISIONS = ("float64", "float32")
KINDS = {"single": SINGLE, "batch": BATCH, "packed": PACKED}


class Program:
    """Compiled functions, one for each output, by name: `program.inverse_dynamics(q, qd, qdd)`.

    They take one state or a batch with any leading dimensions, return arrays, and write to `out`
    where it is given. `program.function("mass_matrix", "gravity")` computes several at once, with
    what they share computed once. Each is compiled when it is first used.
    """

    def __init__(
        self,
        graph: Graph,
        *,
        lengths: Mapping[str, int] | None = None,
        precision: str = "float64",
        threads: int | None = None,
        lanes: int | None = None,
        keeper: Keeper | None = None,
        target: Target | None = None,
    ) -> None:
        self.graph = graph
        self.lengths = dict(lengths or {})
        self.precision = _choice("precision", precision, PRECISIONS)
        self.threads = _positive("threads", threads)
        self.target = target or host()
        self.lanes = _lanes(lanes, self.target.lanes(precision))
        self.keeper = keeper
        self.parameters: dict[str, float | None] = {
            graph.inputs[v].name: _default(graph, v) for v in parameters_of(graph)
        }
        self._kernels: dict[tuple[str, ...], Kernel] = {}
        self._functions: dict[tuple[str, ...], Callable[..., Any]] = {}

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the functions."""
        return tuple(self.graph.outputs)

    def __repr__(self) -> str:
        return f"Program({', '.join(self.outputs)}; {self.precision}, {self.lanes} lanes)"

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self.outputs]

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self.graph.outputs:
            raise AttributeError(f"the program has no function {name}{_hint(name, self.outputs)}")
        found = self.function(name)
        self.__dict__[name] = found
        return found

    def __getitem__(self, name: str) -> Callable[..., Any]:
        return self.function(name)

    def function(self, *outputs: str) -> Callable[..., Any]:
        """Return the function for one output, or for several at once (their results as a tuple)."""
        if outputs not in self._functions:
            self._functions[outputs] = self._function(self.kernel(*outputs))
        return self._functions[outputs]

    def kernel(self, *outputs: str) -> Kernel:
        """Return the machine code for some outputs."""
        if not outputs:
            raise RunError("no output was named", element="outputs")
        for name in outputs:
            if name not in self.graph.outputs:
                raise RunError(
                    f"{name} is not an output of the program",
                    element=str(name),
                    remedy=f"choose from {', '.join(self.outputs)}",
                )
        if outputs not in self._kernels:
            signature = self.signature(*outputs)
            made = Kernel(
                self.graph,
                signature,
                content_of(self.graph, signature, self.precision, self.lanes),
                self.precision,
                self.target,
                self.lanes,
                self.keeper,
            )
            # Another thread may have been faster; an address that was given out must stay.
            self._kernels.setdefault(outputs, made)
        return self._kernels[outputs]

    def signature(self, *outputs: str) -> Signature:
        """Return what a function takes and gives."""
        return signature_of(self.graph, outputs, self.lengths)

    def _function(self, kernel: Kernel) -> Callable[..., Any]:
        parameters = self._parameters_for(kernel.signature)
        call = Call(kernel, parameters, self.threads)
        is_bound = not call.takes_parameters or None not in parameters.values()
        if not (kernel.has_one_result and is_bound and fastcall.is_possible()):
            return call
        vector = None
        if call.takes_parameters:
            vector = np.array(list(parameters.values()), self.precision)
        arguments = ", ".join(argument.group for argument in call.arguments)
        name = call.name
        doc = f"{name}({arguments}, *, out=None, values=None)\n\nCompiled; one state or a batch."
        address = kernel.address(PYTHON)
        library = kernel.library(SINGLE)
        return fastcall.function(address, name, doc, call, vector, self.precision, library)

    def _parameters_for(self, signature: Signature) -> dict[str, float | None]:
        """Return the values of the parameters; zero where there is none and none is needed."""
        graph, outputs = self.graph, [result.name for result in signature.results]
        needed = graph.cone(graph.output_variables(outputs))
        unused = {given.name for v, given in graph.inputs.items() if not needed[v]}
        pairs = self.parameters.items()
        return {n: 0.0 if value is None and n in unused else value for n, value in pairs}

    def bind(self, values: Mapping[str, Any]) -> Program:
        """Return the program with other values for parameters; the machine code is the same."""
        for name in values:
            if name not in self.parameters:
                raise unknown_parameter(name, list(self.parameters))
        bound = Program(
            self.graph,
            lengths=self.lengths,
            precision=self.precision,
            threads=self.threads,
            lanes=self.lanes,
            keeper=self.keeper,
            target=self.target,
        )
        bound.parameters = {**self.parameters, **{n: _number(n, v) for n, v in values.items()}}
        bound._kernels = self._kernels
        return bound

    def codes(self) -> dict[str, bytes]:
        """Return the machine code of all functions used so far, by the key it is kept under."""
        return {k: code for kernel in self._kernels.values() for k, code in kernel.codes.items()}

    def to_bytes(self) -> bytes:
        """Return the program, with the machine code of all functions used so far, as bytes."""
        cargo = Cargo(
            self.graph,
            self.lengths,
            self.precision,
            self.threads,
            self.lanes,
            self.parameters,
            sealed_codes(self.codes()),
        )
        return packed(cargo)

    @classmethod
    def from_bytes(cls, data: bytes) -> Program:
        """Return the program that bytes hold.

        Machine code made by the same user on such a processor is taken as it is; otherwise it is
        compiled again.
        """
        cargo = unpacked(data)
        program = cls(
            cargo.graph,
            lengths=cargo.lengths,
            precision=cargo.precision,
            threads=cargo.threads,
            lanes=cargo.lanes,
            keeper=Sealed(Memory(cargo.codes)),
        )
        program.parameters = dict(cargo.parameters)
        return program

    def __reduce__(self) -> tuple[Any, ...]:
        return Program.from_bytes, (self.to_bytes(),)

    def address(self, output: str, kind: str = "single") -> int:
        """Return the address of a function in memory, to be called from C; see `prototype`.

        It is valid as long as the program is. `kind` is "single", "batch" or "packed".
        """
        _choice("kind", kind, tuple(KINDS))
        return self.kernel(output).address(KINDS[kind])

    def prototype(self, output: str, kind: str = "single") -> str:
        """Return the declaration in C of the function at an address."""
        _choice("kind", kind, tuple(KINDS))
        return prototype(self.signature(output), output, kind, self.precision)


def _default(graph: Graph, v: int) -> float | None:
    default = graph.inputs[v].default
    return None if default is None else FLOAT.number(default)


def _number(name: str, value: Any) -> float:
    array = numbers(name, value, np.dtype("float64"))
    if array.ndim:
        raise RunError(f"{name} must be one number", element=name)
    return float(array)


def _choice(what: str, value: str, choices: Sequence[str]) -> str:
    if value not in choices:
        raise RunError(
            f"{value} is not a choice for {what}",
            element=what,
            remedy=f"choices are {', '.join(choices)}",
        )
    return value


def _positive(what: str, value: int | None) -> int | None:
    if value is not None and (type(value) is not int or value < 1):
        raise RunError(f"{what} must be a whole number from 1 on", element=what)
    return value


def _lanes(lanes: int | None, native: int) -> int:
    """Return the number of lanes: that of the processor, or fewer."""
    if lanes is None:
        return native
    if type(lanes) is not int or lanes not in (2, 4, 8, 16):
        raise RunError("lanes must be 2, 4, 8 or 16", element="lanes")
    return lanes


def _hint(name: str, names: Sequence[str]) -> str:
    close = get_close_matches(name, names, n=1)
    return f"; did you mean {close[0]}?" if close else f"; it has {', '.join(names)}"
