"""Records of procedures: named numbers and arrays in one piece of memory.

A record is a class whose annotations are its fields: numbers for each lane (`float`) or common to
all (`Number`), integers, arrays, other records, which stand in it whole, and arrays of records
(`Structs`). Python and machine code share the memory: a procedure gets the address, Python the same
bytes through numpy, so that what one writes the other reads. The layout is computed here and
nowhere else: the fields in their order without gaps, eight bytes for an integer, a number, or the
address of an array, and eight for each lane of a `float`.

A record holds the arrays whose addresses stand in it, and cannot be copied. Whoever copies its
memory puts other addresses into it, and looks after the arrays.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, ClassVar, Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from chainform.runtime.procedures.language import (
    ANNOTATIONS,
    ENTRIES,
    FLOAT,
    INT,
    INTS,
    NONE,
    NUMBER,
)

Memory = NDArray[np.void]

STRUCTS: dict[str, type[Struct]] = {}
"""All classes of records, by their kinds."""
ARRAY = "[]"
"""What stands behind the kind of a record in that of an array of them."""
TYPES = {FLOAT: np.float64, NUMBER: np.float64, INT: np.int64}


def kind_of(annotation: str, names: Mapping[str, Any]) -> str | None:
    """Return the kind of a value by its annotation, None where the language has none such."""
    if annotation in ANNOTATIONS:
        return ANNOTATIONS[annotation]
    inner = annotation.removeprefix("Structs[").removesuffix("]")
    named = names.get(inner)
    if not (isinstance(named, type) and issubclass(named, Struct)):
        return None
    return named.kind if inner == annotation else named.kind + ARRAY


class _Entry:
    """A field of a record as Python sees it: a number, an array, or a record within it."""

    def __init__(self, name: str, kind: str) -> None:
        self.name = name
        self.kind = kind

    def __get__(self, record: Struct, _owner: type[Struct]) -> Any:
        if self.kind in TYPES:
            return record.memory[self.name].item()
        part = record.parts.get(self.name)
        is_own = self.kind in STRUCTS or (
            part is not None and address_of(part, self.kind) == record.memory[self.name]
        )
        if not is_own:
            raise AttributeError(f"{self.name} is no array that Python has put there")
        return part

    def __set__(self, record: Struct, value: Any) -> None:
        if self.kind in TYPES:
            record.memory[self.name] = value
            return
        if self.kind in STRUCTS:
            raise AttributeError(f"{self.name} stands in the record: set its fields")
        if isinstance(value, Structs) and value.lanes != record.lanes:
            raise TypeError(f"{self.name} has {value.lanes} lanes, and the record {record.lanes}")
        record.memory[self.name] = address_of(value, self.kind)
        record.parts[self.name] = value


class Struct:
    """A record: see the top of this file."""

    kind: ClassVar[str]
    fields: ClassVar[dict[str, str]]
    """The kind of each field."""

    def __init_subclass__(cls) -> None:
        names = vars(sys.modules[cls.__module__])
        cls.kind = f"{cls.__module__}.{cls.__qualname__}"
        cls.fields = {}
        for name, annotation in inspect.get_annotations(cls).items():
            kind = kind_of(str(annotation), names)
            if kind is None or kind == NONE:
                raise TypeError(f"{cls.__name__}.{name}: {annotation} is no kind of a field")
            if hasattr(Struct, name) or name in ("memory", "lanes", "parts"):
                raise TypeError(f"{cls.__name__}.{name}: every record has something of that name")
            cls.fields[name] = kind
            setattr(cls, name, _Entry(name, kind))
        STRUCTS[cls.kind] = cls

    def __init__(self, memory: Memory | None = None, lanes: int = 1) -> None:
        self.memory: Memory = np.zeros((), self.layout(lanes)) if memory is None else memory
        self.lanes = lanes
        self.parts: dict[str, Any] = {
            name: STRUCTS[kind](self.memory[name], lanes)
            for name, kind in self.fields.items()
            if kind in STRUCTS
        }
        """The records within it, and its arrays."""

    def __reduce__(self) -> Any:
        raise TypeError("a record holds addresses: it is neither copied nor sent")

    @classmethod
    @cache
    def layout(cls, lanes: int) -> np.dtype[np.void]:
        """Return where each field stands, as numpy writes it."""
        fields: list[Any] = []
        for name, kind in cls.fields.items():
            if kind in STRUCTS:
                fields.append((name, STRUCTS[kind].layout(lanes)))
            elif kind == FLOAT and lanes > 1:
                fields.append((name, np.float64, (lanes,)))
            else:
                fields.append((name, TYPES.get(kind, np.uint64)))
        return np.dtype(fields)

    @classmethod
    def offset(cls, name: str, lanes: int) -> int:
        """Return how many bytes of the record stand before a field."""
        fields: Any = cls.layout(lanes).fields
        return int(fields[name][1])

    @property
    def address(self) -> int:
        """Where the record stands; it must live as long as the address is used."""
        return self.memory.ctypes.data


R = TypeVar("R", bound=Struct)


class Structs(Generic[R]):
    """An array of records, one after the other in one piece of memory."""

    def __init__(self, struct: type[R], count: int, lanes: int = 1) -> None:
        self.struct = struct
        self.lanes = lanes
        self.memory: Memory = np.zeros(count, struct.layout(lanes))

    def __len__(self) -> int:
        return len(self.memory)

    def __getitem__(self, index: int) -> R:
        return self.struct(self.memory[index : index + 1].reshape(()), self.lanes)

    def __iter__(self) -> Iterator[R]:
        return (self[i] for i in range(len(self)))

    @property
    def address(self) -> int:
        """Where the first of them stands."""
        return self.memory.ctypes.data


def address_of(array: Any, kind: str) -> int:
    """Return where an array of a kind stands; TypeError where machine code could not read it."""
    if isinstance(array, Structs):
        many = cast("Structs[Any]", array)
        if kind == many.struct.kind + ARRAY:
            return many.address
    elif isinstance(array, np.ndarray) and kind in ENTRIES:
        given = cast("NDArray[Any]", array)
        if given.dtype == (np.int64 if kind == INTS else np.float64) and given.flags.c_contiguous:
            return given.ctypes.data
    raise TypeError(f"machine code needs an array of {kind}, in one piece")
