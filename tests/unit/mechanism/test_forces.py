"""Forces given by laws: reading, checking, writing, and mechanisms made of mechanisms."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

import chainform as cf
from chainform.errors import ReadError
from chainform.expressions import format_expression
from chainform.mechanism import Force, ForcePiece, Mechanism, Number, parametrise
from chainform.readers import native_text, read_text, urdf_text
from chainform.readers.urdf.write import export_urdf

FILE = """
[parameters]
k = 3
late = {}

[[segments]]
name = "slide"
joint = "prismatic"
axis = "x"
mass = 1

[[segments]]
name = "arm"
parent = "slide"
joint = { name = "elbow", type = "revolute", axis = "z" }
mass = 1
com = [1, 0, 0]
"""


def read(forces: str) -> Mechanism:
    return read_text(FILE + forces, "toml", "file.toml")


def text(law: Number) -> str:
    return str(law) if isinstance(law, Fraction) else format_expression(law)


def test_a_law_and_pieces() -> None:
    mechanism = read("""
        [[forces]]
        joint = "elbow"
        law = "-k*der(elbow) + 2*slide*sin(q2) + t"
        from = 1
        [[forces]]
        name = "push"
        joint = "slide"
        pieces = [{ until = 0.5, law = 7 }, { from = "late", until = 2, law = "t" }, { law = "k" }]
    """)
    first, second = mechanism.forces
    assert (first.name, first.rate) == ("force1", 1)
    (piece,) = first.pieces
    assert (text(piece.law), piece.start, piece.until) == (
        "-k*der(elbow) + 2*slide*sin(q2) + t",
        1,
        None,
    )
    assert (second.name, second.rate) == ("push", 0)
    assert [text(law) for law in second.laws] == ["7", "t", "k"]
    assert second.pieces[0] == ForcePiece(Fraction(7), None, Fraction(1, 2))
    assert second.pieces[2].start == Fraction(2)
    assert not [note for note in mechanism.notes if note.level == "warning"]


@pytest.mark.parametrize(
    ("forces", "message", "element"),
    [
        ('joint = "elbow"', "one of law, pieces is needed", "force 'force1'"),
        ('joint = "elbow"\nlaw = 1\npieces = []', "one of law, pieces is needed", "force 'force1'"),
        ('joint = "elbw"\nlaw = 1', "no rate named 'elbw'", "force 'force1', joint"),
        ("law = 1", "expected a text, got nothing", "force 'force1', joint"),
        ('joint = "elbow"\nlaw = "elbo"', "'elbo' is not known here", "force 'force1', law"),
        ('joint = "elbow"\nlaw = "der(k)"', "not known here", "force 'force1', law"),
        ('joint = "elbow"\nlaw = "2 +"', "expected", "force 'force1', law"),
        ('joint = "elbow"\nlaw = 1\nuntl = 2', "unknown field 'untl'", "force 'force1'"),
        ('joint = "elbow"\npieces = []', "cannot have 0 pieces", "force 'force1'"),
        ('joint = "elbow"\npieces = 3', "expected a list", "force 'force1', pieces"),
        ('joint = "elbow"\npieces = [1]', "expected a table", "force 'force1', piece 1"),
        (
            'joint = "elbow"\npieces = [{ until = 1 }]',
            "'law' is missing",
            "force 'force1', piece 1, law",
        ),
        ('joint = "elbow"\nfrom = 2\nuntil = 1\nlaw = 1', "do not grow", "force 'force1'"),
        ('joint = "elbow"\nfrom = 1\nuntil = 1\nlaw = 1', "do not grow", "force 'force1'"),
        ('joint = "elbow"\nfrom = "t"\nlaw = 1', "'t' is not a parameter", "force 'force1', from"),
        (
            'joint = "elbow"\npieces = [{ law = 1 }, { law = 2 }]',
            "never begins",
            "force 'force1', piece 2",
        ),
        (
            'joint = "elbow"\npieces = [{ until = 2, law = 1 }, { until = 1, law = 2 }]',
            "do not grow",
            "force 'force1', piece 2",
        ),
        (
            'joint = "elbow"\nuntil = 3\npieces = [{ until = 2, law = 1 }]',
            "stands next to pieces",
            "force 'force1'",
        ),
        (
            'name = "a"\njoint = "elbow"\nlaw = 1\n[[forces]]\nname = "a"\njoint = "q1"\nlaw = 1',
            "two|twice",
            "force 'a'",
        ),
    ],
)
def test_mistakes_are_named(forces: str, message: str, element: str) -> None:
    with pytest.raises(ReadError, match=message) as caught:
        read("[[forces]]\n" + forces)
    assert caught.value.file == "file.toml"
    assert caught.value.element == element
    assert caught.value.remedy


def test_an_error_of_a_law_in_the_graph_names_the_force() -> None:
    mechanism = read('[[forces]]\njoint = "elbow"\nlaw = "1/(elbow - elbow)"')
    with pytest.raises(cf.Error, match="zero") as caught:
        cf.derive(mechanism, ["inverse_dynamics"], reduce="none")
    assert (caught.value.file, caught.value.element) == ("file.toml", "force 'force1'")


LAWS: list[Any] = [
    "k*der(elbow)^2",
    "q1 - qd2*t",
    Fraction(1, 3),
    "step(t - k)*exp(-t)",
    "-min(slide, 2)/7",
]


@pytest.mark.parametrize("law", LAWS)
def test_files_read_back(law: object) -> None:
    mechanism = read("").with_forces(
        {
            "elbow": law,
            "slide": [{"until": "late", "law": law}, {"from": "late + 1", "law": 0}],
        }
    )
    again = read_text(native_text(mechanism), "json")
    assert again.forces == mechanism.forces
    assert [force.rate for force in again.forces] == [1, 0]


def test_the_builder_says_what_the_file_says() -> None:
    builder = cf.Mechanism.builder("b")
    builder.segment("slide", joint="prismatic", axis="x", mass=1)
    builder.force("slide", "5*t", until=2, name="push")
    builder.force("slide", pieces=[{"until": 1, "law": 3}, {"law": "t"}])
    bounded, stepped = builder.build().forces
    assert bounded.name == "push"
    assert bounded.pieces[0].until == 2
    assert [piece.start for piece in stepped.pieces] == [None, 1]


def test_more_forces_for_a_mechanism() -> None:
    mechanism = read('[[forces]]\njoint = "elbow"\nlaw = 1')
    table = {"name": "own", "from": 3, "law": "t"}
    more = mechanism.with_forces({"slide": table, "tau2": "k*t", "q1": 4.5})
    names = [(force.name, force.rate) for force in more.forces]
    assert names == [("force1", 1), ("own", 0), ("force3", 1), ("force4", 0)]
    assert len(mechanism.forces) == 1
    with pytest.raises(ReadError, match="no rate named 'wrist'"):
        mechanism.with_forces({"wrist": 1})


def test_parameters_of_laws_are_used_and_rewritten() -> None:
    mechanism = read("""
        [[forces]]
        joint = "elbow"
        pieces = [{ until = "k", law = "k*elbow + late" }, { law = "k" }]
    """)
    numeric = parametrise(mechanism, "numeric")
    assert [p.name for p in numeric.parameters] == ["late"]
    assert [text(law) for law in numeric.forces[0].laws] == ["3*elbow + late", "3"]
    assert numeric.forces[0].pieces[0].until == 3
    symbolic = parametrise(mechanism, "symbolic")
    assert symbolic.forces == mechanism.forces
    assert {"k", "late"} <= {p.name for p in symbolic.parameters}
    assert not [n for n in mechanism.notes if "not used" in n.text]


def test_a_coordinate_may_be_called_like_an_automatic_parameter() -> None:
    """In a law m_1 is the coordinate; the mass has its symbol elsewhere."""
    builder = cf.Mechanism.builder("b")
    builder.segment("m_1", joint="prismatic", axis="x", mass=2)
    mechanism = builder.force("m_1", "10*m_1").build()
    model = cf.derive(mechanism, ["inverse_dynamics"], parameters="symbolic", reduce="none")
    values = model.evaluate(q=[0.5], qd=[0], qdd=[1], values={"m_1": 3})
    assert values["inverse_dynamics"].tolist() == [3 - 5]


def tree() -> Mechanism:
    builder = cf.Mechanism.builder("tree")
    for name, parent in (("a", "ground"), ("b", "a"), ("c", "b"), ("d", "b")):
        builder.segment(name, parent=parent, joint="revolute", axis="z", mass=1)
    builder.force("c", "b + q3*qd3 - der(q2) + t").force("c", "a*t", name="gone")
    return builder.force("a", 1).force("d", "der(d)").build()


def test_a_part_keeps_the_forces_that_it_can() -> None:
    part = tree().subtree("a", ["c"])
    (force,) = part.forces
    assert part.rates == ("b", "c")
    assert force.rate == 1
    assert text(force.pieces[0].law) == "b + q2*qd2 - qd1 + t"
    (note,) = [n.text for n in part.notes if "left out" in n.text]
    assert "force 'gone'" in note
    assert "force 'force4'" in note


def test_urdf_keeps_forces_in_its_side_file() -> None:
    mechanism = read("""
        [[forces]]
        joint = "elbow"
        pieces = [{ until = "k", law = "k*q1 - qd2 + t" }, { law = "1/3" }]
    """)
    export = export_urdf(mechanism)
    assert export.side is not None
    assert "forces: in the side file only" in export.left_out
    assert '{ until = 3, law = "3*slide - der(elbow) + t" }' in export.side
    assert '{ from = 3, law = "1/3" }' in export.side
    assert urdf_text(mechanism) == export.text


def test_a_force_is_a_record() -> None:
    force = Force("push", 0, (ForcePiece(Fraction(1)),))
    assert force.laws == (1,)
    assert list(force.numbers) == []


def test_a_joint_named_like_time_cannot_stand_in_a_law() -> None:
    builder = cf.Mechanism.builder("clock").segment("t", axis="z", mass=1)
    builder.force("t", "3*q1")
    assert builder.build().nv == 1
    with pytest.raises(cf.Error, match="may be coordinate number 1, t, or time"):
        builder.force("t", "3*t").build()


def test_a_function_of_python_is_no_law() -> None:
    builder = cf.Mechanism.builder("arm").segment("arm", axis="z", mass=1)
    mechanism = builder.build()
    law: Any = lambda _t, q, _qd: -q  # noqa: E731
    with pytest.raises(cf.Error, match="function of Python") as caught:
        mechanism.with_forces({"arm": law})
    assert "tau" in (caught.value.remedy or "")


def test_a_parameter_called_t_leaves_no_name_for_the_time() -> None:
    builder = cf.Mechanism.builder("b").parameter("t", 3)
    builder.segment("a", joint="prismatic", axis="x", mass="t")
    builder.force("a", 5, until=1)
    with pytest.raises(ReadError, match="a parameter is called t") as caught:
        builder.build()
    assert caught.value.element == "force 'force1', until"


@pytest.mark.parametrize(("late", "expected"), [(2, [0, 0, -7, -1]), (0.5, [0, 0, 0, -1])])
def test_a_piece_that_parameters_turn_round_never_holds(late: float, expected: list[int]) -> None:
    mechanism = read("""
        [[forces]]
        joint = "slide"
        pieces = [{ from = 1, until = "late", law = 7 }, { from = 2, law = 1 }]
    """)
    model = cf.derive(mechanism, ["inverse_dynamics"])
    still, times = [0, 0], [0, 0.75, 1.5, 9]
    found = model.evaluate(q=still, qd=still, qdd=still, t=times, values={"late": late})
    assert found["inverse_dynamics"][:, 0].tolist() == expected
