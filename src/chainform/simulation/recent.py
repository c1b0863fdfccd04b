"""The last few of what takes long to make, by what they were made of."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from chainform.runtime.locks import Gate

Value = TypeVar("Value")


class Key:
    """What something was made of. Only the `short` parts are hashed: the others are long.

    Where two have the same hash they are compared as a whole, which is quick for the very same
    objects.
    """

    def __init__(self, short: tuple[Hashable, ...], long: tuple[object, ...]) -> None:
        self.parts = (*short, *long)
        self.hash = hash(short)

    def __hash__(self) -> int:
        return self.hash

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and self.parts == other.parts


class Recent(Generic[Value]):
    """The values that were asked for last, up to a number of them."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._gate = Gate()

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        """Return a value, made now if it is not there."""
        with self._gate.held():
            found = self._values.get(key)
        # Not held meanwhile: others may have theirs made by then.
        found = make() if found is None else found
        with self._gate.held():
            self._values[key] = found
            self._values.move_to_end(key)
            while len(self._values) > self.most:
                self._values.popitem(last=False)
        return found

    def clear(self) -> None:
        """Forget all."""
        with self._gate.held():
            self._values.clear()
