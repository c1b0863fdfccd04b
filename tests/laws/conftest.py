"""The axes of formulations are drawn in these tests."""

from axis_draws import cheapest_axes as cheapest_axes
from axis_draws import drawn_axes as drawn_axes
