"""A function of Python in machine code: for one state in prepared arrays, with hardly any overhead.

Every argument is looked at where it lies: an array of the right type, length and layout goes on by
its address. Anything else (batches, lists, other types, wrong shapes) is passed on to a callable in
Python, which converts, or says what is wrong.
"""

from __future__ import annotations

import ctypes
import sys
import sysconfig
import weakref
from collections.abc import Callable
from functools import cache
from importlib import import_module
from typing import Any

import numpy as np

from chainform.emitters import NumberType, Signature
from chainform.runtime.threads import LLVM

# Where the fields of an array object are, in bytes; numpy's binary interface fixes it.
_DATA, _DIMENSIONS_COUNT, _DIMENSIONS, _DESCRIPTION, _FLAGS = 16, 24, 32, 56, 64
TUPLE_ITEMS = tuple.__basicsize__
"""Where the items of a tuple begin: further on from Python 3.14 on."""
_READ, _WRITE = 0x101, 0x501
"""Contiguous and aligned; and writeable too."""
_TYPE_NUMBER = {"float64": 12, "float32": 11}
_PY_ARRAY_NEW = 93
"""The place of PyArray_New in numpy's table of functions."""

# The table that the function gets as `self`: addresses that differ from process to process.
_ARRAY, _DTYPE, _SLOW, _OUT, _PARAMETERS, _INCREF, _CALL, _NEW = range(8)


@cache
def is_possible() -> bool:
    """Whether this Python has the layout of objects that the code relies on.

    The question imports a module of Python; a fork waits for that (see `function`).
    """
    with LLVM.held():
        return (
            sys.implementation.name == "cpython"
            and not sysconfig.get_config_var("Py_GIL_DISABLED")
            and not hasattr(sys, "gettotalrefcount")
            and ctypes.sizeof(ctypes.c_void_p) == 8
        )


def text(signature: Signature, kernel: str, name: str, form: NumberType) -> str:
    """Return the text of the function, in a module that defines the kernel."""
    return _Text(signature, kernel, name, form).text()


class _Text:
    def __init__(self, signature: Signature, kernel: str, name: str, form: NumberType) -> None:
        self.arguments = [a for a in signature.arguments if a.group != "parameter"]
        self.has_parameters = len(self.arguments) < len(signature.arguments)
        self.result = signature.results[0]
        self.kernel, self.name, self.form = kernel, name, form
        self.lines: list[str] = []
        self._count = 0

    def _new(self, instruction: str) -> str:
        self._count += 1
        self.lines.append(f"  %v{self._count} = {instruction}")
        return f"%v{self._count}"

    def _field(self, base: str, offset: int, kind: str = "ptr") -> str:
        address = self._new(f"getelementptr i8, ptr {base}, i64 {offset}")
        return self._new(f"load {kind}, ptr {address}")

    def _need(self, condition: str) -> None:
        """Go on only if the condition holds; else leave it to Python."""
        self._count += 1
        self.lines += [
            f"  br i1 {condition}, label %go{self._count}, label %slow",
            f"go{self._count}:",
        ]

    def _array(self, item: str, shape: tuple[int, ...], flags: int) -> str:
        """Check an array and return the address of its data."""
        kind = self._field(item, 8)
        self._need(self._new(f"icmp eq ptr {kind}, %array"))
        description = self._field(item, _DESCRIPTION)
        self._need(self._new(f"icmp eq ptr {description}, %dtype"))
        known = self._field(item, _FLAGS, "i32")
        masked = self._new(f"and i32 {known}, {flags}")
        self._need(self._new(f"icmp eq i32 {masked}, {flags}"))
        count = self._field(item, _DIMENSIONS_COUNT, "i32")
        self._need(self._new(f"icmp eq i32 {count}, {len(shape)}"))
        if shape:
            dimensions = self._field(item, _DIMENSIONS)
            for index, length in enumerate(shape):
                found = self._field(dimensions, 8 * index, "i64")
                self._need(self._new(f"icmp eq i64 {found}, {length}"))
        return self._field(item, _DATA)

    def _need_apart(self, out: str, data: str, length: int) -> None:
        """Go on only if a result does not overlap an argument."""
        a, b = (self._new(f"ptrtoint ptr {x} to i64") for x in (out, data))
        size = self.form.bytes
        end = self._new(f"add i64 {a}, {size * self.result.length}")
        before = self._new(f"icmp ule i64 {end}, {b}")
        other = self._new(f"add i64 {b}, {size * length}")
        after = self._new(f"icmp ule i64 {other}, {a}")
        self._need(self._new(f"or i1 {before}, {after}"))

    def text(self) -> str:
        """Return the text."""
        shape = self.result.shape
        count = len(self.arguments)
        lines = self.lines
        self.lines += [f"define ptr @{self.name}(ptr %self, ptr %args, i64 %n, ptr %names) {{"]
        table = self._field("%self", _DATA)
        for place, name in ((_ARRAY, "array"), (_DTYPE, "dtype"), (_SLOW, "other")):
            lines.append(f"  %{name}.a = getelementptr ptr, ptr {table}, i64 {place}")
            lines.append(f"  %{name} = load ptr, ptr %{name}.a")
        self._need(self._new(f"icmp eq i64 %n, {count}"))
        data = [
            self._array(self._field("%args", 8 * place), (argument.length,), _READ)
            for place, argument in enumerate(self.arguments)
        ]
        if self.has_parameters:
            data.append(self._field(table, 8 * _PARAMETERS))
        lines += ["  %plain = icmp eq ptr %names, null", "  br i1 %plain, label %new, label %given"]
        # With `out`: the only keyword.
        lines.append("given:")
        self._need(self._new(f"icmp eq i64 {self._field('%names', 16, 'i64')}, 1"))
        wanted = self._field(table, 8 * _OUT)
        name = self._field("%names", TUPLE_ITEMS)
        self._need(self._new(f"icmp eq ptr {name}, {wanted}"))
        given = self._field("%args", 8 * count)
        target = self._array(given, shape, _WRITE)
        for place, argument in enumerate(self.arguments):
            self._need_apart(target, data[place], argument.length)
        increase = self._field(table, 8 * _INCREF)
        lines.append(f"  call void {increase}(ptr {given})")
        lines += [f"  br label %run{self._count}", f"run{self._count}:"]
        from_given = f"run{self._count}"
        lines.append("  br label %work")
        # Without: a new array.
        lines.append("new:")
        make = self._field(table, 8 * _NEW)
        made = self._new(
            f"call ptr {make}(ptr %array, i32 {len(shape)}, ptr @{self.name}.shape, "
            f"i32 {_TYPE_NUMBER[self.form.precision]}, ptr null, ptr null, i32 0, i32 0, ptr null)"
        )
        failed = self._new(f"icmp eq ptr {made}, null")
        lines += [f"  br i1 {failed}, label %nothing, label %filled", "filled:"]
        fresh = self._field(made, _DATA)
        lines += ["  br label %work", "nothing:", "  ret ptr null", "work:"]
        lines.append(f"  %result = phi ptr [{given}, %{from_given}], [{made}, %filled]")
        lines.append(f"  %target = phi ptr [{target}, %{from_given}], [{fresh}, %filled]")
        passed = ", ".join(f"ptr {address}" for address in [*data, "%target"])
        lines += [f"  call void @{self.kernel}({passed})", "  ret ptr %result", "slow:"]
        call = self._field(table, 8 * _CALL)
        answer = self._new(f"call ptr {call}(ptr %other, ptr %args, i64 %n, ptr %names)")
        lines += [f"  ret ptr {answer}", "}"]
        sizes = ", ".join(f"i64 {length}" for length in shape) or "i64 1"
        constant = f"@{self.name}.shape = private constant [{max(len(shape), 1)} x i64] [{sizes}]"
        return "\n".join([constant, "", *lines]) + "\n\n"


# --- a function object ----------------------------------------------------------------------


class _Definition(ctypes.Structure):
    """PyMethodDef."""

    _fields_ = [
        ("name", ctypes.c_char_p),
        ("function", ctypes.c_void_p),
        ("flags", ctypes.c_int),
        ("doc", ctypes.c_char_p),
    ]


_FASTCALL_WITH_KEYWORDS = 0x80 | 0x02


_Buffer = ctypes.c_uint64 * 8
"""The memory of a table of addresses."""


class _Table(np.ndarray[Any, np.dtype[np.uint64]]):
    """The table of a function, which Python knows as its `__self__`.

    A function in C is pickled as the attribute of what its `__self__` is made from; addresses
    mean nothing in another process.
    """

    restored: Callable[[], tuple[Any, ...]]

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return self.restored()


def function(  # noqa: PLR0913, what a function in C is made of
    address: int,
    name: str,
    doc: str,
    slow: Callable[..., Any],
    restored: Callable[[], tuple[Any, ...]],
    parameters: np.ndarray[Any, Any] | None,
    precision: str,
    library: object,
) -> Callable[..., Any]:
    """Return the function at an address as a Python object.

    `slow` takes what it leaves, and `restored` says how to make, in another process, an object that
    has the function as an attribute of its name.
    """
    python = ctypes.pythonapi
    buffer = _Buffer()
    table = np.frombuffer(memoryview(buffer), np.uint64).view(_Table)
    table.restored = restored
    dtype, out = np.dtype(precision), sys.intern("out")
    table[_ARRAY], table[_DTYPE], table[_SLOW] = id(np.ndarray), id(dtype), id(slow)
    table[_OUT] = id(out)
    table[_PARAMETERS] = 0 if parameters is None else parameters.ctypes.data
    table[_INCREF] = _address(python.Py_IncRef)
    table[_CALL] = _address(python.PyObject_Vectorcall)
    table[_NEW] = _numpy_function(_PY_ARRAY_NEW)
    definition = _Definition(name.encode(), address, _FASTCALL_WITH_KEYWORDS, doc.encode())
    # The table goes after the function; what it points to must not go before. An attribute of it
    # would not do, since the garbage collector empties those first. At the end of the process
    # nothing goes: a function that a module still holds reads its definition when it goes itself.
    parts = (dtype, out, slow, parameters, definition, library)
    python.Py_IncRef(ctypes.py_object(parts))
    weakref.finalize(buffer, _forget, parts).atexit = False
    prototype = ctypes.PYFUNCTYPE(
        ctypes.py_object, ctypes.POINTER(_Definition), ctypes.py_object, ctypes.py_object
    )
    make = prototype(("PyCFunction_NewEx", python))
    return make(ctypes.byref(definition), table, "chainform.runtime")


def _forget(parts: tuple[object, ...]) -> None:
    """Let go what a table pointed to."""
    ctypes.pythonapi.Py_DecRef(ctypes.py_object(parts))


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def _numpy_function(place: int) -> int:
    """Return the address of a function in numpy's table."""
    core: Any = import_module("numpy._core._multiarray_umath")
    prototype = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
    pointer = prototype(("PyCapsule_GetPointer", ctypes.pythonapi))
    table = pointer(core._ARRAY_API, None)  # noqa: SLF001, numpy has no other name for it
    return ctypes.cast(table, ctypes.POINTER(ctypes.c_void_p))[place] or 0
