"""Why the product refuses: reasons without names and numbers, and those that are in order."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from tools.campaign.generate import Table

Condition = Callable[[Table], bool]


def always(given: Table) -> bool:
    """Hold for every case."""
    return bool(given)


def has_quaternion(given: Table) -> bool:
    """Whether a joint has a quaternion."""
    joints = [s["joint"] for s in given["mechanism"]["segments"]]
    return any(j["type"] in ("free", "spherical") and "euler" not in j for j in joints)


def is_singular_tree(given: Table) -> bool:
    """Whether the mass matrix of the tree is singular."""
    return bool(given["singular"])


def is_loose(given: Table) -> bool:
    """Whether a motion that all rows allow moves no mass, or nearly none."""
    return bool(given["loose"])


def is_contradictory(given: Table) -> bool:
    """Whether no motion satisfies all rows; one that is prescribed may run into a dead point."""
    return bool(given["contradictory"] or given["prescribed"])


def has_rows(given: Table) -> bool:
    """Whether there are loops or constraints."""
    return bool(given["mechanism"].get("loops") or given["mechanism"].get("constraints"))


def has_coupling(given: Table) -> bool:
    """Whether a joint follows another one."""
    return any("mimic" in s["joint"] for s in given["mechanism"]["segments"])


def has(*names: str) -> Condition:
    """Return whether the mechanism or the motion has one of these."""
    return lambda given: any(given["mechanism"].get(n) or given["motion"].get(n) for n in names)


def rubs(given: Table) -> bool:
    """Whether a joint has dry friction."""
    return "coulomb" in str(given["mechanism"]["segments"])


def rubs_in_implicit_steps(given: Table) -> bool:
    """Whether a joint with dry friction may come to rest in a step that is solved for."""
    return rubs(given) and given["motion"]["method"] in ("midpoint", "gauss4", "gauss6")


def switches(given: Table) -> bool:
    """Whether there are stops, contacts or dry friction."""
    return rubs(given) or has("stops", "contacts")(given)


def moves_by_time(given: Table) -> bool:
    """Whether rows or the base move with time, so that nothing rests with them."""
    laws = [str(row["law"]) for row in given["mechanism"].get("constraints", ())]
    return has("base")(given) or any(re.search(r"\bt\b", law) for law in laws)


def holds_frames(given: Table) -> bool:
    """Whether a constraint or a force names the place of a frame: its force has no place."""
    laws = [
        row["law"] for key in ("constraints", "forces") for row in given["mechanism"].get(key, ())
    ]
    return any(re.search(r"\b[xyz]\(", str(law)) for law in laws)


def has_unplaced_forces(given: Table) -> bool:
    """Whether a force has no place: laws name frames, or a constraint moves several joints."""
    joints = {segment["joint"]["name"] for segment in given["mechanism"]["segments"]}
    laws = [str(row["law"]) for row in given["mechanism"].get("constraints", ())]
    # A joint with several coordinates is a chain, and has them as j_r and j_p.
    words = [set(re.findall(r"\w+", law)) for law in laws]
    named = [{word for word in found if word.split("_")[0] in joints} for found in words]
    has_followers = has_coupling(given) and any(named)
    return holds_frames(given) or has_followers or any(len(names) > 1 for names in named)


LEGITIMATE: tuple[tuple[str, Condition], ...] = (
    (r"URDF has no|URDF cannot|URDF has joints", always),
    (r"needs qd to be the rate of q", has_quaternion),
    (r"has a quaternion, and frame chains", has_quaternion),
    (r"needs as many coordinates as rates", has_quaternion),
    (r"^the mechanism cannot move: loops and constraints leave no freedom$", is_contradictory),
    (r"no mass, so there is no mass centre", always),
    (r"cannot take joints that share a coordinate", has_coupling),
    (r"^nothing resists .* at t = ", is_loose),
    (r"^nothing resists (?!.* at t = )", is_singular_tree),
    (r"^the mass matrix is singular here: nothing resists ", is_singular_tree),
    (r"of the motion do not fit|no (such )?rates keep ", is_contradictory),
    (r"^the loops cannot be closed at t = N s with ", is_contradictory),
    (r"terms when it is multiplied out(, those .* included)?(; the limit is N)?$", always),
    (r"does not follow: the force of a constraint acts beyond it", has_unplaced_forces),
    (r"^rest does not fit", moves_by_time),
    (r"^the state is no (equilibrium and no )?steady motion: ", moves_by_time),
    (r"^the base moves by laws of time, so that nothing stays", has("base")),
    (r"^no equilibrium was found from N starts", always),
    (r"^from none of N starts could loops and constraints be closed$", has_rows),
    (r"^none of N poses closes the loops within the ranges$", has_rows),
    (r"stands on the ground: no coordinate moves it$", always),
    (r"binds rates: poses do not tell whether it holds$", has_rows),
    (r"^a joint has a quaternion$", has_quaternion),
    (r"determine the motion of … at t = N s already$", has_rows),
    (r"^at t = N s steps are N s long, and the rest would take", is_loose),
    (r"^the equations of a step have no solution at t = ", is_contradictory),
    (r"^the equations of a step have no solution at t = ", rubs_in_implicit_steps),
    (r"does not take closed loops or constraints", has_rows),
    (r"does not hold closed loops or constraints", has_rows),
    (r"does not take stops, contacts and sticking", switches),
    (r"is requested, and the run, which stands at", always),
    (r"does not take actuators", has("actuators", "controllers")),
    (r"does not know sticking, and .* has Coulomb friction", rubs),
)
"""Refusals that the documentation gives, each with the cases for which it is in order."""


def product_error() -> Any:
    """Return the class of the product's own errors."""
    import chainform as cf

    return cf.Error


def reason_of(error: BaseException) -> str:
    """Return the message of an error without what differs from case to case."""
    text = str(getattr(error, "message", None) or error).splitlines()[0] if str(error) else ""
    text = re.sub(r"'[^']*'|\"[^\"]*\"", "'…'", text)
    text = re.sub(r"\b[bj]\d+(_\w+)?\b", "…", text)
    return re.sub(r"-?\d+(\.\d+)?(e-?\d+)?", "N", text)


def is_legitimate(reason: str, given: Table) -> bool:
    """Whether a refusal is one that the documentation gives for such a case."""
    return any(re.search(pattern, reason) and holds(given) for pattern, holds in LEGITIMATE)


def is_lost(reason: str) -> bool:
    """Whether a motion ended on the way: by short steps, large accelerations or a barrier."""
    signs = ("the step became too small", "at t = N s steps are N s long")
    signs += ("the motion has no finite value after", "nothing resists … at t =")
    signs += ("impacts at one moment come to no end", "no force can stop ")
    signs += ("no forces keep all contacts and sticking joints",)
    return reason.startswith(signs)
