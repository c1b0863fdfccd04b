"""The processor that code is compiled for: names, what is refused, caches, and other processes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import chainform as cf
from chainform.errors import RunError
from chainform.runtime import Program, Target, engine, host, kernel, processors, target, target_for
from unit.runtime.programs import Counted, Memory, arm, plain_target, refuse, same_bits, small

IS_X86 = host().triple.startswith("x86_64")
PLAIN = plain_target().cpu
"""A processor by name that every machine of this family can stand for."""
Q = np.linspace(-1, 1, 33).reshape(11, 3)

x86 = pytest.mark.skipif(not IS_X86, reason="names of another family")


def without_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CHAINFORM_CPU", raising=False)


# --- names --------------------------------------------------------------------------------------


def test_a_name_is_chosen_by_argument_environment_and_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CHAINFORM_CPU", PLAIN)
    assert Program(small()).target.cpu == arm().compile().target.cpu == PLAIN
    assert Program(small(), cpu="native").target is host()
    monkeypatch.setenv("CHAINFORM_CPU", "native")
    assert Program(small()).target is host()
    assert Program(small(), cpu=PLAIN).target.cpu == arm().compile(cpu=PLAIN).target.cpu == PLAIN
    for unset in ("", None):
        without_setting(monkeypatch)
        if unset is not None:
            monkeypatch.setenv("CHAINFORM_CPU", unset)
        assert target_for() is host()


@pytest.mark.parametrize("cpu", ["x86-64-v5", "help", "", "-c", " native", "a\0b", "x" * 5000])
def test_unknown_names_are_refused(cpu: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RunError, match=r"LLVM (knows no processor|makes no code for)") as e:
        arm().compile(cpu=cpu)
    assert e.value.element == "cpu"
    assert "native" in str(e.value.remedy)
    assert len(str(e.value)) < 500
    if cpu and "\0" not in cpu:
        monkeypatch.setenv("CHAINFORM_CPU", cpu)
        with pytest.raises(RunError, match="LLVM knows no processor") as e:
            Program(small())
        assert e.value.element == "CHAINFORM_CPU"


@pytest.mark.parametrize("cpu", [3, b"native", ["native"], True])
def test_what_is_no_name_is_refused(cpu: Any) -> None:
    with pytest.raises(RunError, match="expected a text") as e:
        arm().compile(cpu=cpu)
    assert e.value.element == "cpu"


@x86
def test_the_remedy_has_names_that_are_near() -> None:
    with pytest.raises(RunError, match="no processor 'x86_64-v3'") as e:
        target_for("x86_64-v3")
    assert "x86-64-v3" in str(e.value.remedy)


@x86
def test_a_processor_without_such_code_does_not_end_the_process() -> None:
    """LLVM itself ends the process that asks it for 64-bit code of a Pentium."""
    with pytest.raises(RunError, match="makes no code for 'pentium'"):
        target_for("pentium")


@pytest.mark.parametrize("is_frozen", [False, True])
def test_where_python_cannot_be_started(is_frozen: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A frozen program would start itself again."""
    if is_frozen:
        monkeypatch.setattr(sys, "frozen", True, raising=False)
    else:
        monkeypatch.setattr("multiprocessing.spawn.get_executable", lambda: "/no/such/python")
    target._named.cache_clear()
    try:
        with pytest.raises(RunError, match=r"makes no code .*(No such file|cannot start Python)"):
            target_for(PLAIN)
    finally:
        target._named.cache_clear()


# --- what the machine can run -------------------------------------------------------------------


@x86
def test_some_names_are_beyond_this_machine() -> None:
    """No processor has what both of these have."""
    refused: list[str] = []
    for cpu in ("bdver4", "sapphirerapids"):
        try:
            target_for(cpu)
        except RunError as error:
            refused.append(str(error))
    assert refused
    assert all("lacks features of" in text for text in refused)
    assert all("xop" in text or "avx512fp16" in text for text in refused)


def pretend(monkeypatch: pytest.MonkeyPatch, features: set[str]) -> None:
    """Let LLVM report a machine with these features only."""
    from llvmlite import binding

    reported = dict.fromkeys(binding.get_host_cpu_features(), False)
    monkeypatch.setattr(
        binding, "get_host_cpu_features", lambda: reported | dict.fromkeys(features, True)
    )


@x86
def test_a_machine_with_short_registers_refuses_code_for_long_ones(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    v3 = set(processors.description("x86-64-v3")["features"])
    pretend(monkeypatch, v3)
    target._named.cache_clear()
    monkeypatch.setattr(target, "_facts", lambda name, _: processors.description(name))
    try:
        assert target_for("x86-64-v3").lanes("float64") == 4
        assert target_for("x86-64-v2").lanes("float64") == 2
        with pytest.raises(RunError, match=r"lacks features of x86-64-v4 \(avx512bw.*avx512f"):
            target_for("x86-64-v4")
        pretend(monkeypatch, v3 - {"fma"})
        target._named.cache_clear()
        with pytest.raises(RunError, match=r"lacks features of x86-64-v3 \(fma\)"):
            target_for("x86-64-v3")
    finally:
        target._named.cache_clear()


@x86
def test_what_virtual_machines_hide_is_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    features = set(processors.description("skylake-avx512")["features"])
    assert "pku" in features
    pretend(monkeypatch, features - {"pku"})
    target._named.cache_clear()
    monkeypatch.setattr(target, "_facts", lambda name, _: processors.description(name))
    try:
        found = target_for("skylake-avx512").features.split(",")
    finally:
        target._named.cache_clear()
    assert "-pku" in found
    assert {f[1:] for f in found if f[0] == "+"} == features - {"pku"}


@x86
@pytest.mark.parametrize(
    ("cpu", "lanes", "is_fused"),
    [("x86-64", 2, False), ("x86-64-v2", 2, False), ("x86-64-v3", 4, True), ("x86-64-v4", 8, True)],
)
def test_lanes_and_fused_products_follow_from_the_name(
    cpu: str, lanes: int, is_fused: bool
) -> None:
    """As the psABI of x86-64 defines the levels; none of it depends on this machine."""
    features = processors.description(cpu)["features"]
    found = Target("x86_64-linux", cpu, ",".join(f"+{f}" for f in features))
    assert (found.lanes("float64"), found.lanes("float32")) == (lanes, 2 * lanes)
    assert found.fused == is_fused
    assert found.has("sse4.2") == (cpu != "x86-64")


@x86
def test_code_has_the_instructions_of_its_processor_only() -> None:
    """Without fused products in hardware, LLVM would call a function of the C library for each."""
    for cpu in ("x86-64", "x86-64-v2"):
        program = Program(small(), cpu=cpu)
        assert program.lanes == 2
        for part in ("single", "batch"):
            text = engine.assembly(program.kernel("o")._text(part), program.target)
            assert "ymm" not in text
            assert "fma" not in text
            assert "vmulpd" not in text


# --- caches -------------------------------------------------------------------------------------


def two_machines(monkeypatch: pytest.MonkeyPatch, task: Callable[[], Any]) -> list[Any]:
    """Return what a task gives on two machines, on each of them twice."""
    without_setting(monkeypatch)
    found: list[Any] = []
    for machine in (host(), plain_target()) * 2:
        with monkeypatch.context() as patch:
            patch.setattr(target, "host", lambda machine=machine: machine)
            found.append(task())
    return found


@pytest.mark.slow
def test_machines_that_share_a_store_have_their_own_code(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiler = Counted()
    monkeypatch.setattr(kernel, "compiled", compiler)
    q = np.linspace(-1, 1, 18).reshape(9, 2)

    def results() -> tuple[bytes, int, set[str]]:
        with cf.open_store(postgres_url) as store:
            program = store.load("arm").compile(lanes=4)
            return program.gravity(q).tobytes(), compiler.calls, set(program.codes())

    with cf.open_store(postgres_url) as store:
        store.save(arm(), "arm")
    first, second, first_again, second_again = two_machines(monkeypatch, results)
    assert [found[1] for found in (first, second, first_again, second_again)] == [2, 4, 4, 4]
    assert not first[2] & second[2]
    assert (first_again[2], second_again[2]) == (first[2], second[2])
    assert (first_again[0], second_again[0]) == (first[0], second[0])


def test_code_in_memory_is_that_of_the_processor() -> None:
    code_cache = Memory()
    for _ in range(2):
        for cpu in ("native", PLAIN):
            Program(small(), code_cache=code_cache, lanes=4, cpu=cpu).kernel("o").code("single")
    assert (len(code_cache.kept), code_cache.served) == (2, 2)


# --- other processes ----------------------------------------------------------------------------


def test_a_named_processor_goes_along(monkeypatch: pytest.MonkeyPatch) -> None:
    without_setting(monkeypatch)
    program = Program(small(), cpu=PLAIN)
    expected = program.o(Q)
    again = Program.from_bytes(program.bind({}).to_bytes())
    assert again.target == program.target
    with monkeypatch.context() as patch:
        patch.setattr(kernel, "compiled", refuse)
        same_bits(again.o(Q), expected)
    assert Program.from_bytes(again.to_bytes()).target == program.target


def test_without_a_name_it_is_the_processor_of_the_other_machine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    without_setting(monkeypatch)
    data = Program(small()).to_bytes()
    assert Program.from_bytes(data).target is host()
    monkeypatch.setenv("CHAINFORM_CPU", PLAIN)
    assert Program.from_bytes(data).target.cpu == PLAIN


def test_a_machine_that_cannot_run_a_program_refuses_it(monkeypatch: pytest.MonkeyPatch) -> None:
    data = Program(small(), cpu=PLAIN).to_bytes()
    facts = {"names": [PLAIN], "features": ["a"], "missing": ["a"], "is_subset": False}
    monkeypatch.setattr(target, "_facts", lambda *_: facts)
    target._named.cache_clear()
    try:
        with pytest.raises(RunError, match=r"lacks features of .* \(a\)"):
            Program.from_bytes(data)
    finally:
        target._named.cache_clear()


def test_simulations_follow_the_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    builder = cf.Mechanism.builder("rod")
    builder.segment("rod", axis="x", mass=1, com=[0, 0, 1])
    monkeypatch.setenv("CHAINFORM_CPU", "nonsense")
    with pytest.raises(RunError, match="no processor 'nonsense'") as e:
        cf.simulate(builder.build(), q0=[1], t=0.1)
    assert e.value.element == "CHAINFORM_CPU"
