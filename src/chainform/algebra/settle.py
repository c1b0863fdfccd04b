"""Bring sums to where no common part is worth taking out any more."""

from __future__ import annotations

import random

from chainform.algebra.convert import System
from chainform.algebra.extract import extract, gain_of, take_out
from chainform.algebra.index import PAIR
from chainform.algebra.resubstitution import Resubstitution
from chainform.algebra.tidy import Tidier


class Settler:
    """Takes out common parts and tidies up, in turns."""

    def __init__(self, system: System, rng: random.Random | None = None) -> None:
        self.system = system
        self.sums = system.sums
        self.rng = rng or random.Random(0)
        self.tidier = Tidier(system.sums)
        self.resubstitution = Resubstitution(system)

    def reduce(self, noise: float = 0.0) -> None:
        """Settle what was touched since the last time."""
        self.tidier.tidy()
        while self.sums.index.fresh:
            extract(self.sums, noise, self.rng)
            self.tidier.tidy()

    def _use_identities(self) -> None:
        """Use differences of angles first, before their terms are taken apart."""
        for divisor in list(self.sums.identities):
            key = (PAIR, divisor)
            while gain_of(self.sums, key) > 0:
                take_out(self.sums, key)

    def settle(self, *, resubstitute: bool = False) -> None:
        """Settle everything; with `resubstitute`, find parts that are computed already as well."""
        sums = self.sums
        self._use_identities()
        sums.touched.update(dict.fromkeys(sums.defined()))
        self.reduce()
        if resubstitute:
            cost = sums.cost + 1
            while sums.cost < cost - 1e-9:
                cost = sums.cost
                self.resubstitution.sweep()
                self.reduce()
        sums.forget()
