"""Works on which the formulas of a report rest, by what was used."""

from __future__ import annotations

from chainform.model import Model
from chainform.version import VERSION

RACKOVIC = (
    "M. Racković, Formiranje matematičkih modela složenih robotskih mehanizama u simboličkom "
    "obliku (Mathematical models of complex robotic mechanisms in symbolic form), PhD thesis, "
    "University of Novi Sad, 1996."
)
FEATHERSTONE = "R. Featherstone, Rigid Body Dynamics Algorithms, Springer, 2008."
FORMULATIONS = {
    "closed_form": RACKOVIC,
    "newton_euler": "J. Y. S. Luh, M. W. Walker, R. P. C. Paul, On-line computational scheme for "
    "mechanical manipulators, ASME Journal of Dynamic Systems, Measurement, and Control 102, 1980.",
    "composite_body": FEATHERSTONE,
    "articulated_body": FEATHERSTONE,
    "kinetostatic": "Z. Turek, Kinetostatyczna komputerowa metoda matematycznego modelowania "
    "łańcuchów kinematycznych, IPPT PAN reports 15/1993, Warsaw.",
    "lagrange": "A. Obradović, S. Marković, Simulacija kretanja sistema krutih tela, 1991.",
    "gibbs_appell": "M. H. Korayem, A. M. Shafei, Application of recursive Gibbs-Appell "
    "formulation in deriving the motion equation of revolute-prismatic joints, Iran University of "
    "Science and Technology, Tehran.",
    "elements": "Yu. M. Andrieiev, V. L. Dziuba, on inverse problems of dynamics of robotic "
    "devices in the computer algebra system KiDyM, NTU KhPI, Kharkiv, 2023.",
    "auto": FEATHERSTONE,
}
"""Where each formulation comes from; `auto` takes the cheapest of several."""


def references_of(model: Model) -> list[str]:
    """Return the works that a report on a model cites, with the program itself."""
    used = [FORMULATIONS[model.formulation]] if model.formulation in FORMULATIONS else []
    if model.reduction == "thesis":
        used.append(RACKOVIC)
    return [*dict.fromkeys(used), f"chainform {VERSION}, which derived and verified all of this."]
