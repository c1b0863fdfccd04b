"""Models as their formulation builds them, for tests of everything but the reduction."""

from __future__ import annotations

from functools import partial

import chainform as cf

unreduced = partial(cf.derive, reduce="none")
