"""Values of long tables at a time, as a procedure."""

from __future__ import annotations

from chainform.runtime.procedures import Floats


def look_up(t: Floats, into: Floats, table: Floats, count: int) -> None:
    """Add the value of a table at a time: `count` times, and as many values, linear in between.

    Before the first time and after the last it is that of the nearest entry.
    """
    time = t[0]
    low = 0
    high = count - 1
    while high - low > 1:
        middle = (low + high) // 2
        if table[middle] <= time:
            low = middle
        else:
            high = middle
    values = table[count:]
    if not time > table[low]:
        into[0] += values[low]
    elif not time < table[high]:
        into[0] += values[high]
    else:
        part = (time - table[low]) / (table[high] - table[low])
        into[0] += values[low] + part * (values[high] - values[low])
