"""A program: the outputs of a graph as compiled functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import Any

import numpy as np

from chainform.display import Displayed
from chainform.emitters import Signature, parameters_of, signature_of
from chainform.given import argument, listed, near
from chainform.graph import FLOAT, Graph
from chainform.runtime import fastcall
from chainform.runtime.arguments import (
    lanes_of,
    lengths_of,
    number_of,
    precision_of,
    threads_of,
    values_of,
)
from chainform.runtime.cache import CodeCache, CodeStorage, content_of
from chainform.runtime.declarations import (
    c_name,
    c_names,
    find_output,
    internal_doc,
    outputs_named,
    prototype,
)
from chainform.runtime.kernel import BATCH, PACKED, PYTHON, SINGLE, CompiledFunction, Kernel
from chainform.runtime.serialisation import CodeTable, ProgramState, deserialise, serialise
from chainform.runtime.target import Target, target_for

KINDS = {"single": SINGLE, "batch": BATCH, "packed": PACKED}


class Program(Displayed):
    """Compiled functions, one for each output, by name: `program.inverse_dynamics(q, qd, qdd)`.

    They take one state or a batch with any leading dimensions, return arrays, and write to `out`
    where it is given. `program.function("mass_matrix", "gravity")` computes several at once, with
    what they share computed once. Each is compiled when it is first used. The letters of outputs
    will do for their names: `program["H"]`.
    """

    inverse_dynamics: Callable[..., Any]
    forward_dynamics: Callable[..., Any]
    mass_matrix: Callable[..., Any]
    coriolis: Callable[..., Any]
    coriolis_matrix: Callable[..., Any]
    gravity: Callable[..., Any]
    bias: Callable[..., Any]
    closure: Callable[..., Any]
    closure_jacobian: Callable[..., Any]
    constrained_dynamics: Callable[..., Any]
    multipliers: Callable[..., Any]
    reactions: Callable[..., Any]
    drives: Callable[..., Any]
    com: Callable[..., Any]
    momentum: Callable[..., Any]
    centroidal_momentum: Callable[..., Any]
    kinetic_energy: Callable[..., Any]
    potential_energy: Callable[..., Any]

    def __init__(
        self,
        graph: Graph,
        *,
        lengths: Mapping[str, int] | None = None,
        precision: str = "float64",
        threads: int | None = None,
        lanes: int | None = None,
        code_cache: CodeStorage | None = None,
        cpu: str | Target | None = None,
    ) -> None:
        self.graph = graph
        self.lengths: Mapping[str, int] = MappingProxyType(lengths_of(lengths))
        self.precision = precision_of(precision)
        self.threads = threads_of(threads)
        self.target = target_for(cpu)
        self.lanes = lanes_of(lanes, self.target.lanes(self.precision))
        self.code_cache = None if code_cache is None else CodeCache(code_cache)
        self._parameters = {graph.inputs[v].name: _default(graph, v) for v in parameters_of(graph)}
        self._cpu = cpu
        self._carried: Mapping[str, bytes] = {}
        self._kernels: dict[tuple[str, ...], Kernel] = {}
        self._functions: dict[tuple[str, ...], Callable[..., Any]] = {}

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the functions."""
        return tuple(self.graph.outputs)

    @property
    def parameters(self) -> Mapping[str, float | None]:
        """The free parameters with their values; `bind` gives a program with others."""
        return MappingProxyType(self._parameters)

    def __repr__(self) -> str:
        return f"Program({', '.join(self.outputs)}; {self.precision}, {self.lanes} lanes)"

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.outputs})

    # --- functions ------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name.startswith("_"):
            raise AttributeError(name)
        if find_output(self.graph, name) is None:
            hint = near(name, self.outputs) or f"it has {listed(self.outputs)}"
            raise AttributeError(f"the program has no function {name}; {hint.strip()}")
        found = self.function(name)
        self.__dict__[name] = found
        return found

    def __getitem__(self, name: str) -> Callable[..., Any]:
        return self.function(name)

    def function(self, *outputs: str) -> Callable[..., Any]:
        """Return the function for one output, or for several at once (their results as a tuple)."""
        names = outputs_named(self.graph, outputs)
        if names not in self._functions:
            # Another thread may have been faster; there is one function of a name.
            self._functions.setdefault(names, self._function(self.kernel(*names)))
        return self._functions[names]

    def kernel(self, *outputs: str) -> Kernel:
        """Return the machine code for some outputs."""
        names = outputs_named(self.graph, outputs)
        if names not in self._kernels:
            signature = self.signature(*names)
            made = Kernel(
                self.graph,
                signature,
                content_of(self.graph, signature, self.precision, self.lanes),
                self.precision,
                self.target,
                self.lanes,
                self.code_cache,
            )
            # Another thread may have been faster; an address that was given out must stay.
            self._kernels.setdefault(names, made)
        return self._kernels[names]

    def signature(self, *outputs: str) -> Signature:
        """Return what a function takes and gives."""
        return signature_of(self.graph, outputs_named(self.graph, outputs), self.lengths)

    def _function(self, kernel: Kernel) -> Callable[..., Any]:
        parameters = self._parameters_for(kernel.signature)
        call = CompiledFunction(kernel, parameters, self.threads, self._state(), function_from)
        is_bound = not call.takes_parameters or None not in parameters.values()
        if not (kernel.has_one_result and is_bound and fastcall.is_possible()):
            return call
        vector = None
        if call.takes_parameters:
            vector = np.array(list(parameters.values()), self.precision)
        doc = internal_doc(call.name, call.__signature__, call.__doc__ or "")
        address = kernel.address(PYTHON)
        library = kernel.library(SINGLE)

        def as_attribute() -> tuple[Any, ...]:
            """Return how to make, in another process, an object with the function in it."""
            return ProgramFunctions, (call.to_bytes(),)

        return fastcall.function(
            address, call.name, doc, call, as_attribute, vector, self.precision, library
        )

    def _parameters_for(self, signature: Signature) -> dict[str, float | None]:
        """Return the values of the parameters; zero where there is none and none is needed."""
        graph, outputs = self.graph, [result.name for result in signature.results]
        needed = graph.cone(graph.output_variables(outputs))
        unused = {given.name for v, given in graph.inputs.items() if not needed[v]}
        pairs = self._parameters.items()
        return {n: 0.0 if value is None and n in unused else value for n, value in pairs}

    def bind(self, values: Mapping[str, Any]) -> Program:
        """Return the program with other values for parameters; the machine code is the same."""
        given = values_of("bind", values, self._parameters)
        bound = Program(
            self.graph,
            lengths=self.lengths,
            precision=self.precision,
            threads=self.threads,
            lanes=self.lanes,
            code_cache=self.code_cache,
            cpu=self._cpu,
        )
        bound._parameters = self._parameters | {n: number_of(n, v) for n, v in given.items()}
        bound._carried, bound._kernels = self._carried, self._kernels
        return bound

    # --- as bytes -------------------------------------------------------------------------

    def codes(self) -> dict[str, bytes]:
        """Return the machine code of all functions used so far, by the key of the cache."""
        return {k: code for kernel in self._kernels.values() for k, code in kernel.codes.items()}

    def _state(self) -> ProgramState:
        return ProgramState(
            self.graph,
            self.lengths,
            self.precision,
            self.threads,
            self.lanes,
            self._parameters,
            self._carried,
            self._cpu if isinstance(self._cpu, str) else None,
        )

    def to_bytes(self) -> bytes:
        """Return the program as bytes, with the machine code of all functions used so far.

        What came with a program that was itself made from bytes goes on with it.
        """
        return serialise(self._state().with_codes(self.codes()))

    @classmethod
    def from_bytes(cls, data: bytes | bytearray | memoryview) -> Program:
        """Return the program that bytes hold.

        Machine code made by the same user for such a processor is taken as it is; otherwise it is
        compiled again. A processor that was named for the program stays: a machine that lacks its
        features refuses the program.
        """
        state = deserialise(data)
        program = cls(
            state.graph,
            lengths=state.lengths,
            precision=state.precision,
            threads=state.threads,
            lanes=state.lanes,
            code_cache=CodeTable(state.codes),
            cpu=state.cpu,
        )
        program._parameters = dict(state.parameters)
        program._carried = state.codes
        return program

    def __reduce__(self) -> tuple[Any, ...]:
        return Program.from_bytes, (self.to_bytes(),)

    # --- for C ----------------------------------------------------------------------------

    def address(self, output: str | Sequence[str], kind: str = "single") -> int:
        """Return the address of a function in memory, to be called from C; see `prototype`.

        It is valid as long as the program is. `kind` is "single", "batch" or "packed". A list of
        outputs is the function that computes them at once.
        """
        entry = KINDS[argument("kind", kind).choice(tuple(KINDS))]
        return self.kernel(*_listed(output)).address(entry)

    def prototype(self, output: str | Sequence[str], kind: str = "single") -> str:
        """Return the declaration in C of the function at an address."""
        argument("kind", kind).choice(tuple(KINDS))
        names = outputs_named(self.graph, _listed(output))
        unlike = dict(zip(self.outputs, c_names(self.outputs), strict=True))
        name = unlike[names[0]] if len(names) == 1 else c_name("_and_".join(names))
        return prototype(self.signature(*names), name, kind, self.precision)


def _default(graph: Graph, v: int) -> float | None:
    default = graph.inputs[v].default
    return None if default is None else FLOAT.number(default)


def _listed(output: str | Sequence[str]) -> tuple[Any, ...]:
    return tuple(output) if isinstance(output, list | tuple) else (output,)


# --- functions in other processes -----------------------------------------------------------


class ProgramFunctions:
    """The functions of a program as attributes, and nothing else.

    Python sends a function of C as an attribute of something; a program has other attributes too,
    which an output may be called like.
    """

    def __init__(self, data: bytes) -> None:
        self._program = _program_from(data)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return self._program.function(name)


def function_from(data: bytes, outputs: Sequence[str]) -> Callable[..., Any]:
    """Return a function of the program that bytes hold."""
    return _program_from(data).function(*outputs)


@lru_cache(maxsize=8)
def _program_from(data: bytes) -> Program:
    """Return a program; the same for the same bytes, as functions may come with every task."""
    return Program.from_bytes(data)
