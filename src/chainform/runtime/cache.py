"""Caches: the last few values in memory, and machine code from one process to the next.

Machine code can always be made again, so nothing that goes wrong with a cache stops a program. It
is taken only from oneself: a store or a file may come from somebody else, and machine code does
whatever it likes. So it is sealed with a key of the user's own, and compiled again where the seal
does not fit.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import sys
import warnings
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import astuple, dataclass
from functools import cache
from pathlib import Path
from typing import Any, Generic, Protocol, TypeVar, cast

from chainform import emitters
from chainform.emitters import Signature
from chainform.errors import Error, RunError
from chainform.files import cache_folder, data_folder
from chainform.graph import CALLS, Graph
from chainform.runtime import fastcall
from chainform.runtime.engine import compiled
from chainform.runtime.target import Target, llvmlite_version
from chainform.runtime.threads import Gate

Value = TypeVar("Value")

MOST_BYTES = 256 * 2**20
"""What all files of a folder may take; half of it is left when that is reached."""
VARIABLE = "CHAINFORM_CACHE"
"""The variable of the environment that names another folder; nothing in it stands for no cache."""
KEY_FILE = "machine-code.key"
KEY_BYTES = 32


# --- in memory ------------------------------------------------------------------------------


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


class LruCache(Generic[Value]):
    """The values that were used last, up to a number of them."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._values: OrderedDict[Hashable, Value] = OrderedDict()
        self._gate = Gate()

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
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


# --- machine code from one process to the next ----------------------------------------------


class CodeStorage(Protocol):
    """Where machine code is stored: a folder, the objects of a store, or anybody's own."""

    def get(self, key: str, /) -> bytes | None:
        """Return what is stored under a key."""
        ...

    def put(self, key: str, data: bytes, /) -> None:
        """Store bytes under a key."""
        ...


@dataclass(frozen=True)
class CodeFolder:
    """Files of machine code in a folder, up to a size; what was used last stays longest."""

    folder: Path
    most_bytes: int = MOST_BYTES

    def get(self, key: str) -> bytes | None:
        """Return the machine code under a key."""
        file = self._file(key)
        with suppress(OSError):
            code = file.read_bytes()
            os.utime(file)
            return code
        return None

    def put(self, key: str, data: bytes) -> None:
        """Write machine code under a key, whole under another name first."""
        file = self._file(key)
        draft = file.with_suffix(f".{secrets.token_hex(4)}")
        with suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            try:
                draft.write_bytes(data)
                draft.replace(file)
            finally:
                draft.unlink(missing_ok=True)
            self._make_room()

    def _file(self, key: str) -> Path:
        return self.folder / f"{key}.code"

    def _make_room(self) -> None:
        """Remove the files that were not used for longest, if all are too large together."""
        files = [(entry.stat(), entry.path) for entry in os.scandir(self.folder)]
        total = sum(status.st_size for status, _ in files)
        if total <= self.most_bytes:
            return
        for status, path in sorted(files, key=lambda file: file[0].st_mtime):
            Path(path).unlink(missing_ok=True)
            total -= status.st_size
            if total <= self.most_bytes // 2:
                return


class CodeCache:
    """Machine code in a folder or a store, under the seal of the user; without a key, nothing.

    Several users may share a store: each has keys of their own in it, which only they can name.
    Where a store is closed or read-only, machine code is made again; storage that fails in ways
    of its own is a warning, since somebody has to mend it.
    """

    def __init__(self, storage: CodeStorage | Path, key: bytes | None = None) -> None:
        if isinstance(storage, CodeCache):
            storage, key = storage.storage, storage.key if key is None else key
        self.storage = CodeFolder(storage) if isinstance(storage, Path) else _checked(storage)
        self.key = user_key() if key is None else key

    @staticmethod
    def of_user() -> CodeCache | None:
        """Return the cache in the user's folder; None where there is none."""
        named = os.environ.get(VARIABLE)
        if named is not None:
            return CodeCache(Path(named)) if named else None
        try:
            return CodeCache(cache_folder(sys.platform, os.environ))
        except RuntimeError:
            # A user without a home, as in some containers.
            return None

    def get(self, key: str) -> bytes | None:
        """Return the machine code under a key, if the user made it."""
        if self.key is None:
            return None
        name = own_name(key, self.key)
        try:
            data: Any = self.storage.get(name)
        except Error:
            return None
        except Exception as problem:  # noqa: BLE001, storage is anybody's code
            return self._warn(f"get failed: {problem!r}")
        if data is None:
            return None
        if not isinstance(data, bytes | bytearray | memoryview):
            return self._warn(f"get gave {type(data).__name__}, not bytes")
        return unsealed(bytes(cast(Any, data)), name, self.key)

    def put(self, key: str, data: bytes) -> None:
        """Store machine code under a key, if that can be done."""
        if self.key is None:
            return
        name = own_name(key, self.key)
        try:
            self.storage.put(name, sealed(data, name, self.key))
        except Error:
            return
        except Exception as problem:  # noqa: BLE001, storage is anybody's code
            self._warn(f"put failed: {problem!r}")

    def _warn(self, problem: str) -> None:
        kind = type(self.storage).__name__
        text = f"the storage of machine code, {kind}, does not work: {problem}"
        warnings.warn(text, RuntimeWarning, stacklevel=3)


def _checked(storage: Any) -> CodeStorage:
    if callable(getattr(storage, "get", None)) and callable(getattr(storage, "put", None)):
        return storage
    raise RunError(
        f"a code cache has get(key) and put(key, data); {type(storage).__name__} does not",
        element="code_cache",
        remedy="give CodeCache(Path(folder)), or the objects of a store: store.database.objects",
    )


def cached_code(code_cache: CodeCache | None, key: str, make: Callable[[], bytes]) -> bytes:
    """Return the machine code under a key, made and stored if it is not there."""
    code = None if code_cache is None else code_cache.get(key)
    if code is None:
        code = make()
        if code_cache is not None:
            code_cache.put(key, code)
    return code


# --- seals ----------------------------------------------------------------------------------


def user_key() -> bytes | None:
    """Return the user's key, made when it is first needed; None where it cannot be stored."""
    try:
        return key_in(data_folder(sys.platform, os.environ))
    except RuntimeError:
        # A user without a home, as in some containers.
        return None


def key_in(folder: Path) -> bytes | None:
    """Return the key in a folder, made when there is none; None where it cannot be stored."""
    file = folder / KEY_FILE
    with suppress(OSError):
        if not file.exists():
            _make_key(file)
        key = file.read_bytes()
        return key if len(key) == KEY_BYTES else None
    return None


def _make_key(file: Path) -> None:
    """Make a key, whole under another name first, so that nobody reads half of it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f"{file.name}.{secrets.token_hex(8)}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as f:
        f.write(secrets.token_bytes(KEY_BYTES))
    try:
        with suppress(FileExistsError):
            os.link(draft, file)
    finally:
        draft.unlink()


def sealed(code: bytes, name: str, key: bytes) -> bytes:
    """Return machine code with a seal that holds for its name."""
    return hmac.digest(key, name.encode() + code, hashlib.sha256) + code


def unsealed(data: bytes, name: str, key: bytes) -> bytes | None:
    """Return machine code whose seal fits; None otherwise."""
    code = data[32:]
    return code if hmac.compare_digest(data, sealed(code, name, key)) else None


def own_name(name: str, key: bytes) -> str:
    """Return the name under which the user who has the key stores machine code."""
    return hmac.digest(key, b"place " + name.encode(), hashlib.sha256).hex()


# --- keys: the same key, the same machine code ----------------------------------------------

_MODULES: LruCache[bytes] = LruCache(64)
"""The machine code of the last modules: some 30 kB each."""


def code_of(text: str, target: Target, code_cache: CodeStorage | None = None) -> bytes:
    """Return the machine code of a module: stored, from memory, or compiled now."""
    key = hashlib.sha256(f"{compiler()} {astuple(target)} {text}".encode()).hexdigest()
    stored = None if code_cache is None else CodeCache(code_cache)
    return cached_code(stored, key, lambda: _MODULES.get(key, lambda: compiled(text, target)))


def content_of(graph: Graph, signature: Signature, precision: str, lanes: int) -> str:
    """Return a hash of everything that goes into the machine code, but for the processor."""
    digest = hashlib.sha256(compiler().encode())
    inputs = sorted((v, given.group, given.index) for v, given in graph.inputs.items())
    # The line that people see of a record is cut short; a key holds all of its fields.
    variables = [tuple(graph.block(result.name).variables) for result in signature.results]
    parts = (astuple(signature), precision, lanes, inputs, variables)
    digest.update(repr(parts).encode())
    arrays = ("kind", "call", "argument", "term_start", "coefficient", "factor_start", "factor")
    for name in (*arrays, "power"):
        digest.update(getattr(graph, name).tobytes())
        digest.update(b"|")
    digest.update(",".join(map(str, graph.coefficients)).encode())
    return digest.hexdigest()


@cache
def compiler() -> str:
    """Return what machine code depends on besides the graph: our source, LLVM's, Python's."""
    folder = Path(emitters.__file__).parent / "llvm"
    digest = hashlib.sha256()
    for file in sorted([*folder.glob("*.py"), *Path(__file__).parent.glob("*.py")]):
        digest.update(file.read_bytes())
    calls = ",".join(CALLS)
    return f"{digest.hexdigest()} llvmlite {llvmlite_version()} {calls} {fastcall.TUPLE_ITEMS}"
