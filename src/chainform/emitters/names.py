"""Names of the house written for typesetting."""

from __future__ import annotations

import re

GREEK = {
    *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "iota", "kappa"),
    *("lambda", "mu", "nu", "xi", "rho", "sigma", "tau", "phi", "chi", "psi", "omega"),
    *("Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Phi", "Psi", "Omega"),
}
RATES = {"qd": r"\dot{q}", "qdd": r"\ddot{q}"}


def latex_name(name: str) -> str:
    r"""Return a name as LaTeX: H_1_2 is H_{1,2}, qd3 \dot{q}_{3}, w_3_z w_{3,z}.

    An underscore at the end, which tells a variable from another of the same name, is a prime.
    """
    bare = name.rstrip("_")
    if bare and bare != name:
        written = latex_name(bare)
        base = f"{{{written}}}" if "^" in written else written
        return base + "'" * (len(name) - len(bare))
    match = re.fullmatch(r"([A-Za-z]+)(\d+)", name)
    if match:
        return f"{_letter(match[1])}_{{{match[2]}}}"
    head, *rest = [part for part in name.split("_") if part] or [name]
    if not rest:
        return _letter(head)
    return f"{_letter(head)}_{{{','.join(_subscript(part) for part in rest)}}}"


def plain_name(name: str) -> str:
    """Return a name as LaTeX, letter for letter."""
    return f"\\mathrm{{{_escaped(name)}}}"


def _letter(word: str) -> str:
    if word in RATES:
        return RATES[word]
    if word in GREEK:
        return f"\\{word}"
    if word == "hG":
        return "h^{G}"
    return word if len(word) == 1 and word != "_" else f"\\mathrm{{{_escaped(word)}}}"


def _subscript(word: str) -> str:
    if word.isdigit() or len(word) == 1:
        return word
    return f"\\mathrm{{{_escaped(word)}}}"


def _escaped(word: str) -> str:
    return re.sub(r"([#$%&_{}])", r"\\\1", word)
