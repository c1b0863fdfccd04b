"""Life without llvmlite: what compiling says then, and everything else, which works."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from chainform.errors import RunError
from chainform.runtime import Program, target
from unit.runtime.programs import arm, small

pytestmark = pytest.mark.any_processor


@pytest.fixture
def no_llvmlite(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let llvmlite be missing."""
    for name in [n for n in sys.modules if n.partition(".")[0] == "llvmlite"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "llvmlite", None)
    target.llvm.cache_clear()
    target.host.cache_clear()
    yield
    target.llvm.cache_clear()
    target.host.cache_clear()


@pytest.mark.usefixtures("no_llvmlite")
def test_the_remedy_is_named() -> None:
    for task in (arm().compile, lambda: Program(small()), target.host):
        with pytest.raises(RunError, match="compiling needs llvmlite") as e:
            task()
        assert e.value.remedy == "install it with: pip install 'chainform[compile]'"
    assert arm().evaluate(q=[0, 0], outputs=["gravity"])["gravity"].shape == (2,)


@pytest.mark.parametrize("place", ["import", "first call"])
def test_a_library_that_cannot_be_loaded(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with a wheel for another system: Python finds the package, but not what it needs."""

    def fail(*_: Any) -> None:
        raise OSError("libllvmlite.so: no such file")

    class Broken(ModuleType):
        def __getattr__(self, name: str) -> Any:
            if name == "binding" and place == "import":
                fail()
            return SimpleNamespace(initialize_native_target=fail)

    monkeypatch.setitem(sys.modules, "llvmlite", Broken("llvmlite"))
    target.llvm.cache_clear()
    target.host.cache_clear()
    try:
        with pytest.raises(RunError, match="library cannot be loaded: libllvmlite") as e:
            arm().compile()
        assert e.value.remedy == "install it again with: pip install 'chainform[compile]'"
    finally:
        target.llvm.cache_clear()
        target.host.cache_clear()


WITHOUT = """
import sys
sys.modules["llvmlite"] = None
import chainform as cf
builder = cf.Mechanism.builder("rod")
builder.segment("rod", axis="x", mass=1, com=[0, 0, 1])
model = cf.derive(builder.build(), ["gravity"], reduce="none")
model.evaluate(q=[0.5])
try:
    model.compile()
except cf.Error as error:
    print(error)
"""


def test_everything_else_works_without_it() -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout == (
        "compile: compiling needs llvmlite\n"
        "  remedy: install it with: pip install 'chainform[compile]'\n"
    )


def test_nothing_is_imported_before_it_is_needed() -> None:
    """Starting chainform must not take the time that a compiler takes to load."""
    text = "import sys, chainform; print({'llvmlite', 'sqlalchemy'} & set(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=100, check=True
    )
    assert done.stdout == "set()\n"
