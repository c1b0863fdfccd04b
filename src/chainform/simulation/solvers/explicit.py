"""Explicit Runge-Kutta methods: a solver for each tableau.

A method has stages k_i = f(t + c_i h, y + h sum_j a_ij k_j), the result y + h sum_i b_i k_i, and an
estimate of its error h sum_i e_i k_i, of lower order. `order` is that of the estimate plus one: the
step grows with the error to the power -1/order.
"""

from __future__ import annotations

from fractions import Fraction

from chainform.simulation.machine.machine import CompiledLoop
from chainform.simulation.machine.method import (
    CONTROLLED,
    FIXED,
    Coefficients,
    Method,
    Tableau,
)
from chainform.simulation.solvers.adaptive import EVENTLESS, PROCEDURES
from chainform.simulation.solvers.integrator import Integrator


def _fractions(*texts: str) -> Coefficients:
    return {i: Fraction(text) for i, text in enumerate(texts) if text != "0"}


VERNER65 = Tableau(
    "verner65",
    6,
    tuple(map(Fraction, ("0", "1/6", "4/15", "2/3", "5/6", "1", "1/15", "1"))),
    (
        {},
        _fractions("1/6"),
        _fractions("4/75", "16/75"),
        _fractions("5/6", "-8/3", "5/2"),
        _fractions("-165/64", "55/6", "-425/64", "85/96"),
        _fractions("12/5", "-8", "4015/612", "-11/36", "88/255"),
        _fractions("-8263/15000", "124/75", "-643/680", "-81/250", "2484/10625"),
        _fractions(
            *("3501/1720", "-300/43", "297275/52632", "-319/2322", "24068/84065", "0"),
            "3850/26703",
        ),
    ),
    _fractions("3/40", "0", "875/2244", "23/72", "264/1955", "0", "125/11592", "43/616"),
    _fractions(*("-1/160", "0", "-125/17952", "1/144", "-12/1955", "-3/44", "125/11592", "43/616")),
)
"""Verner's pair of orders 6 and 5 with eight stages, as in the subroutine DVERK."""
DOPRI853 = Tableau(
    "dopri853",
    8,
    (
        0.0,
        0.05260015195876773,
        0.0789002279381516,
        0.1183503419072274,
        0.2816496580927726,
        0.3333333333333333,
        0.25,
        0.3076923076923077,
        0.6512820512820513,
        0.6,
        0.8571428571428571,
        1.0,
    ),
    (
        {},
        {0: 0.05260015195876773},
        {0: 0.0197250569845379, 1: 0.0591751709536137},
        {0: 0.02958758547680685, 2: 0.08876275643042054},
        {0: 0.2413651341592667, 2: -0.8845494793282861, 3: 0.924834003261792},
        {0: 0.037037037037037035, 3: 0.17082860872947386, 4: 0.12546768756682242},
        {0: 0.037109375, 3: 0.17025221101954405, 4: 0.06021653898045596, 5: -0.017578125},
        {
            0: 0.03709200011850479,
            3: 0.17038392571223998,
            4: 0.10726203044637328,
            5: -0.015319437748624402,
            6: 0.008273789163814023,
        },
        {
            0: 0.6241109587160757,
            3: -3.3608926294469414,
            4: -0.868219346841726,
            5: 27.59209969944671,
            6: 20.154067550477894,
            7: -43.48988418106996,
        },
        {
            0: 0.47766253643826434,
            3: -2.4881146199716677,
            4: -0.590290826836843,
            5: 21.230051448181193,
            6: 15.279233632882423,
            7: -33.28821096898486,
            8: -0.020331201708508627,
        },
        {
            0: -0.9371424300859873,
            3: 5.186372428844064,
            4: 1.0914373489967295,
            5: -8.149787010746927,
            6: -18.52006565999696,
            7: 22.739487099350505,
            8: 2.4936055526796523,
            9: -3.0467644718982196,
        },
        {
            0: 2.273310147516538,
            3: -10.53449546673725,
            4: -2.0008720582248625,
            5: -17.9589318631188,
            6: 27.94888452941996,
            7: -2.8589982771350235,
            8: -8.87285693353063,
            9: 12.360567175794303,
            10: 0.6433927460157636,
        },
    ),
    {
        0: 0.054293734116568765,
        5: 4.450312892752409,
        6: 1.8915178993145003,
        7: -5.801203960010585,
        8: 0.3111643669578199,
        9: -0.1521609496625161,
        10: 0.20136540080403034,
        11: 0.04471061572777259,
    },
    {
        0: 0.01312004499419488,
        5: -1.2251564463762044,
        6: -0.4957589496572502,
        7: 1.6643771824549864,
        8: -0.35032884874997366,
        9: 0.3341791187130175,
        10: 0.08192320648511571,
        11: -0.022355307863886294,
    },
    {
        0: -0.18980075407240762,
        5: 4.450312892752409,
        6: 1.8915178993145003,
        7: -5.801203960010585,
        8: -0.4226823213237919,
        9: -0.1521609496625161,
        10: 0.20136540080403034,
        11: 0.02265179219836082,
    },
)
"""The method of Dormand and Prince of order 8 with estimates of orders 5 and 3, twelve stages."""
RK4 = Tableau(
    "rk4",
    4,
    tuple(map(Fraction, ("0", "1/2", "1/2", "1"))),
    ({}, _fractions("1/2"), _fractions("0", "1/2"), _fractions("0", "0", "1")),
    _fractions("1/6", "1/3", "1/3", "1/6"),
)
"""The classical method of order 4, without an estimate: for fixed steps."""
HEUN = Tableau("heun", 2, (0.0, 1.0), ({}, {0: 1.0}), {0: 0.5, 1: 0.5})
EULER = Tableau("euler", 1, (0.0,), ({},), {0: 1.0})
METHODS = {tableau.name: tableau for tableau in (VERNER65, DOPRI853, RK4, HEUN, EULER)}
"""The explicit methods by name."""


def explicit(tableau: Tableau) -> Method:
    """Return the solver of a tableau; without an estimate of the error its steps are fixed."""
    steps = (FIXED,) if tableau.error is None else (CONTROLLED, FIXED)
    return Method(
        tableau.name,
        tableau.order,
        Integrator,
        steps,
        CompiledLoop(PROCEDURES, eventless=EVENTLESS),
        tableau,
        takes_barriers=True,
        in_lanes=True,
    )


EXPLICIT = {name: explicit(tableau) for name, tableau in METHODS.items()}
