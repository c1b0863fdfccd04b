"""Procedures: functions in a small part of Python, as machine code.

Loops that must not return to Python between two steps, such as those of an integrator, are written
as ordinary functions. They run as they stand, for tests and for reading, and are translated to text
for LLVM for work.

| in Python                               | meaning                                              |
|-----------------------------------------|------------------------------------------------------|
| `x: float`, `n: int`                    | a number; with several lanes `float` holds one each  |
| `t: Number`, `c: Numbers`               | a number, an array of them, the same for all lanes   |
| `y: Floats`, `k: Ints`                  | an array, by its address                             |
| `s: Step`, `s: Structs[Step]`           | a record, an array of them: see records.py           |
| `-> float`, `-> int`, `-> None`         | the result                                           |
| `=`, `+=`, `if`, `while`, `for range`   | as in Python; `break`, `continue`, `return`          |
| `+ - * /`, `//`, comparisons, `and or`  | as in Python; `//` of integers that are not negative |
| `y[i]`, `y[i:]`                         | an entry; the array from an entry on                 |
| `step.h`, `marks[i].value`              | a field of a record                                  |
| `sqrt fabs pow floor fmin fmax`         | functions of numbers                                 |
| `integers(y)`                           | the integers that stand in an array of floats        |
| a name of the module                    | a number, a tuple of numbers, or another procedure   |

A name keeps the type of its first value. What a procedure returns is read: a call whose result goes
nowhere, or into a name that is not read, is refused, since it may be the only word of a failure.
"""

from chainform.runtime.procedures.language import (
    FLOAT,
    FLOATS,
    INT,
    INTS,
    NONE,
    Floats,
    Ints,
    Number,
    Numbers,
    fmax,
    fmin,
    integers,
)
from chainform.runtime.procedures.records import Struct, Structs
from chainform.runtime.procedures.translation import Translation

__all__ = [
    "FLOAT",
    "FLOATS",
    "INT",
    "INTS",
    "NONE",
    "Floats",
    "Ints",
    "Number",
    "Numbers",
    "Struct",
    "Structs",
    "Translation",
    "fmax",
    "fmin",
    "integers",
]
