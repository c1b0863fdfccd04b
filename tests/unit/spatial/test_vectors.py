"""Vectors over fractions, and over the scalars of a builder."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from chainform.graph import Builder, evaluate
from chainform.spatial import (
    Matrix,
    Vector,
    add,
    apply,
    apply_transposed,
    cross,
    dot,
    scale,
    subtract,
    transpose,
)
from strategies import examples, numbers

vectors = st.tuples(numbers, numbers, numbers)
matrices = st.tuples(vectors, vectors, vectors)


@given(vectors, vectors, numbers)
@examples(40)
def test_components(a: Vector, b: Vector, k: Fraction) -> None:
    assert add(a, b) == tuple(x + y for x, y in zip(a, b, strict=True))
    assert subtract(a, b) == tuple(x - y for x, y in zip(a, b, strict=True))
    assert scale(k, a) == tuple(k * x for x in a)
    assert dot(a, b) == sum(x * y for x, y in zip(a, b, strict=True))


@given(vectors, vectors, vectors)
@examples(40)
def test_laws_of_the_vector_product(a: Vector, b: Vector, c: Vector) -> None:
    assert cross(a, b) == scale(-1, cross(b, a))
    assert dot(a, cross(a, b)) == 0 == dot(b, cross(a, b))
    assert cross(a, cross(b, c)) == subtract(scale(dot(a, c), b), scale(dot(a, b), c))


def test_the_vector_product_is_right_handed() -> None:
    assert cross((1, 0, 0), (0, 1, 0)) == (0, 0, 1)
    assert cross((0, 1, 0), (0, 0, 1)) == (1, 0, 0)


@given(matrices, vectors, vectors)
@examples(40)
def test_a_matrix_and_its_transpose(m: Matrix, a: Vector, b: Vector) -> None:
    assert apply(m, a) == tuple(dot(row, a) for row in m)
    assert apply_transposed(m, a) == apply(transpose(m), a)
    assert dot(b, apply(m, a)) == dot(apply_transposed(m, b), a)


def test_scalars_of_a_builder_are_components_like_any_other() -> None:
    builder = Builder()
    a = tuple(builder.input(f"a{i}", "parameter", i) for i in range(3))
    b = (Fraction(2), 0, Fraction(-1, 3))
    normal = cross((a[0], a[1], a[2]), b)
    builder.output("n", (3,), [(f"n_{i}", value) for i, value in enumerate(normal)])
    given = (Fraction(3), Fraction(-5), Fraction(7, 2))
    values = {f"a{i}": value for i, value in enumerate(given)}
    assert tuple(evaluate(builder.finish(), values)["n"]) == cross(given, b)
