"""Machine code of whole modules, by their text: what was compiled before is not compiled again.

The last few are kept in memory; a keeper, such as a store, keeps all of them from one time to the
next.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict

from chainform.runtime.content import compiler
from chainform.runtime.engine import compiled
from chainform.runtime.keeping import Keeper
from chainform.runtime.locks import Gate
from chainform.runtime.seal import Sealed
from chainform.runtime.target import Target

RECENT = 64
"""How many modules are kept in memory: some 30 kB each."""

_recent: OrderedDict[str, bytes] = OrderedDict()
_gate = Gate()


def code_of(text: str, target: Target, keeper: Keeper | None = None) -> bytes:
    """Return the machine code of a module: kept, from memory, or compiled now."""
    key = hashlib.sha256(f"{compiler()} {target} {text}".encode()).hexdigest()
    if keeper is None:
        return _from_memory(key, text, target)
    sealed = keeper if isinstance(keeper, Sealed) else Sealed(keeper)
    code = sealed.get(key)
    if code is None:
        code = _from_memory(key, text, target)
        sealed.put(key, code)
    return code


def _from_memory(key: str, text: str, target: Target) -> bytes:
    with _gate.held():
        code = _recent.get(key)
    # Not held meanwhile: others may have theirs compiled by then.
    code = compiled(text, target) if code is None else code
    with _gate.held():
        _recent[key] = code
        _recent.move_to_end(key)
        while len(_recent) > RECENT:
            _recent.popitem(last=False)
    return code
