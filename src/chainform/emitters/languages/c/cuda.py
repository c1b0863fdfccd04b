"""CUDA C++: functions for host and device, and a kernel for each: one thread for each state.

The folder has arm.cuh, an example, a test and a Makefile: `make test` builds with nvcc and runs the
kernels, `make test-host` runs the functions on the host, by any C++ compiler.
"""

from __future__ import annotations

from collections.abc import Sequence

from chainform.emitters.infix import function_names
from chainform.emitters.languages.c.dialect import (
    Dialect,
    comment,
    head_lines,
    pattern_lines,
    size_lines,
    value_lines,
)
from chainform.emitters.languages.c.function_text import single
from chainform.emitters.languages.c.programs import Programs
from chainform.emitters.package import Function, Package, argument_name

HEAD = """\
#ifdef __CUDACC__
#define NAME_BOTH __host__ __device__
#else
#define NAME_BOTH
#endif
"""
SIGN = """\
NAME_BOTH inline REAL name_sign(REAL x)
{
    return x > 0 ? (REAL)1 : x < 0 ? (REAL)-1 : x;
}
"""


def emit(package: Package) -> dict[str, str]:
    """Return the files of a folder, the header first."""
    function_names(package, _dialect(package).syntax(), "CUDA C++")
    programs = Programs(
        package, f"{package.name}.cuh", f"{package.name}_", False, lambda f: _checks(package, f)
    )
    return {
        f"{package.name}.cuh": _header(package),
        "example.cu": programs.example(),
        "test.cu": programs.test(),
        "Makefile": MAKEFILE.replace("NAME", package.name),
    }


def _dialect(package: Package) -> Dialect:
    kind, end = ("float", "f") if package.is_single else ("double", "")
    start = f"{package.name.upper()}_BOTH "
    return Dialect(
        kind,
        end,
        prefix=f"{package.name}_",
        function_start=f"{start}inline ",
        part_start=f"static {start}",
    )


def _header(package: Package) -> str:
    dialect, upper = _dialect(package), package.name.upper()
    texts = [text for function in package.functions for text in single(package, function, dialect)]
    body = "\n".join(texts)
    guard = f"{upper}_CUH"
    lines = [
        *head_lines(package),
        "",
        f"#ifndef {guard}",
        f"#define {guard}",
        "",
        "#include <cmath>",
    ]
    lines += ["", *size_lines(package), HEAD.replace("NAME", upper)]
    lines += value_lines(package, "inline constexpr ", f"{package.name}_")
    lines += pattern_lines(package, f"inline constexpr int {package.name}_")
    if f"{package.name}_sign(" in body:
        sign = SIGN.replace("NAME", upper).replace("name", package.name)
        lines.append(sign.replace("REAL", dialect.real))
    lines += [body, "#ifdef __CUDACC__", ""]
    lines += [text for function in package.functions for text in _kernel(dialect, function)]
    lines += ["#endif", "", "#endif"]
    return "\n".join(lines) + "\n"


def _kernel(dialect: Dialect, function: Function) -> list[str]:
    """Return the kernel of a function: arrays have a row for each state, but for parameters."""
    name = f"{dialect.prefix}{function.name}"
    sizes = [a.length for a in function.signature.arguments]
    names = [argument_name(a.group) for a in function.signature.arguments]
    arrays = list(zip(names, sizes, strict=True))
    lengths = [r.length for r in function.signature.results]
    arrays += zip(dialect.results(function), lengths, strict=True)
    called = [n if n == "parameters" else f"{n} + row*{size}" for n, size in arrays]
    given = ", ".join(["int count", *dialect.parameters(function)])
    return [
        *comment([f"{function.name} of `count` states, one thread each."]),
        f"static __global__ void {name}_kernel({given})",
        "{",
        "    const size_t row = blockIdx.x*(size_t)blockDim.x + threadIdx.x;",
        "    if (row < (size_t)count)",
        f"        {name}({', '.join(called)});",
        "}",
        "",
    ]


def _checks(package: Package, function: Function) -> Sequence[str]:
    """Return the test of a kernel at all states."""
    kind = "float" if package.is_single else "double"
    names = [argument_name(a.group) for a in function.signature.arguments]
    outs = [f"{n}_out" for n in function.results]
    lines = ["#ifdef __CUDACC__", "        {"]
    for name in (*names, *outs):
        lines.append(f"            {kind} *device_{name};")
        lines.append(f"            cudaMalloc(&device_{name}, sizeof {name});")
    for name in names:
        copy = f"cudaMemcpy(device_{name}, {name}, sizeof {name}, cudaMemcpyHostToDevice);"
        lines.append(f"            {copy}")
    called = ", ".join(["CASES", *(f"device_{n}" for n in (*names, *outs))])
    lines.append(f"            {package.name}_{function.name}_kernel<<<1, 32>>>({called});")
    for name, result in zip(outs, function.signature.results, strict=True):
        copy = f"cudaMemcpy({name}, device_{name}, sizeof {name}, cudaMemcpyDeviceToHost);"
        index = package.outputs.index(result.name)
        what = f'"{function.name}_kernel, {name}"'
        lines.append(f"            {copy}")
        lines.append(
            f"            compare({what}, {name}, expected{index}, CASES*{result.length});"
        )
    reason = "cudaGetErrorString(cudaGetLastError())"
    lines.append("            if (cudaPeekAtLastError() != cudaSuccess)")
    lines.append(f'                printf("{function.name}_kernel: %s\\n", {reason});')
    lines += [f"            cudaFree(device_{name});" for name in (*names, *outs)]
    return [*lines, "        }", "#endif"]


MAKEFILE = """\
NVCC ?= nvcc
NVCCFLAGS ?= -O3
CXX ?= c++
CXXFLAGS ?= -std=c++17 -O2 -Wall -Wextra -pedantic

.PHONY: all test test-host clean
all: example

test: test.out
\t./test.out

test-host: test.cu NAME.cuh
\t$(CXX) $(CXXFLAGS) -x c++ test.cu -o test-host.out
\t./test-host.out

example: example.cu NAME.cuh
\t$(NVCC) $(NVCCFLAGS) example.cu -o $@

test.out: test.cu NAME.cuh
\t$(NVCC) $(NVCCFLAGS) test.cu -o $@

clean:
\trm -f example test.out test-host.out
"""
