"""Quantities that do not depend on the method: frames, Jacobians, energies, momentum.

A quantity of a frame is asked for as `jacobian(tool)`, with `tool` a frame or segment of the
mechanism; `jacobian(tool,local)` gives it in the axes of the frame. Six-component quantities have
the linear part first; world axes at the point unless said otherwise. "mixed" takes the linear
part in world axes and the angular part in the axes of the frame. A reaction is in the axes of the
frame unless said otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from chainform.errors import DeriveError
from chainform.formulations.energies import (
    centre_of_mass,
    kinetic_energy,
    momentum,
    potential_energy,
)
from chainform.formulations.kinematics import AXES, Kinematics
from chainform.formulations.options import PLAIN, Options
from chainform.formulations.outputs import declare
from chainform.formulations.passive import passive_forces, rotor_energy, spring_energy
from chainform.formulations.reactions import Reactions, frame_of_joint
from chainform.formulations.skeleton import Column, Skeleton
from chainform.formulations.world import World
from chainform.graph import Builder, Scalar
from chainform.mechanism import Frame, Mechanism
from chainform.spatial import Vector, add, apply_transposed, cross, subtract

Six: TypeAlias = tuple[Vector, Vector]
"""Linear and angular part."""

AXES_CHOICES = ("world", "local", "mixed")

OWN_AXES = {"reaction": "local"}
"""The axes of a quantity where none are named, if they are not those of the world."""


@dataclass(frozen=True, slots=True)
class Request:
    """An output as it was asked for: its name, and the frame and axes where it has them."""

    text: str
    name: str
    frame: str | None = None
    axes: str = "world"


def parse_request(text: str) -> Request:
    """Read an output: `gravity`, `pose(tool)`, `jacobian(tool, local)`."""
    match = re.fullmatch(r"\s*(\w+)\s*(?:\((.*)\)\s*)?", text, re.DOTALL)
    if match is None:
        raise DeriveError(
            f"{text!r} is not the name of an output",
            element="outputs",
            remedy="write a name, or a name with a frame: jacobian(tool), jacobian(tool, local)",
        )
    name, inside = match.groups()
    if inside is None:
        return Request(name, name)
    if not inside.strip() or inside.lstrip().startswith(","):
        raise DeriveError(
            f"no frame is named in {text.strip()!r}",
            element="outputs",
            remedy=f"write {name}(frame) or {name}(frame, local)",
        )
    # A frame may have commas in its name; only a known choice of axes after the last one counts.
    frame, _, axes = inside.rpartition(",")
    if axes.strip() not in AXES_CHOICES:
        frame, axes = inside.strip(), OWN_AXES.get(name, "world")
        return Request(f"{name}({frame})", name, frame or None, axes)
    return Request(f"{name}({frame.strip()},{axes.strip()})", name, frame.strip(), axes.strip())


class Quantities:
    """Builds the quantities asked for into one graph."""

    def __init__(self, builder: Builder, mechanism: Mechanism, options: Options = PLAIN) -> None:
        self.builder = builder
        self.mechanism = mechanism
        self.options = options
        self.skeleton = Skeleton(Kinematics(mechanism, builder))
        self.world = World(self.skeleton)
        self.joints = Reactions(self.skeleton, options)

    def build(self, request: Request) -> None:
        """Declare one output."""
        if request.name in OF_FRAME:
            frame = self._frame(request)
            OF_FRAME[request.name](self, request, frame)
        else:
            OF_MECHANISM[request.name](self, request)

    def _frame(self, request: Request) -> Frame:
        if request.frame is None:
            raise DeriveError(
                f"{request.name} is the {request.name} of a frame; which one is not said",
                element=request.name,
                remedy=f"{request.name}({self.mechanism.segments[-1].name})",
            )
        if request.name == "reaction":
            return frame_of_joint(self.mechanism, request.frame)
        return self.mechanism.frame(request.frame)

    # --- quantities of a frame ----------------------------------------------------------

    def pose(self, request: Request, frame: Frame) -> None:
        """Declare the homogeneous transformation from frame axes to world axes, 4 x 4."""
        rotation, origin = self.world.frame_rotation(frame), self.world.frame_origin(frame)
        rows = [[*rotation[i], origin[i]] for i in range(3)]
        rows.append([self.builder.number(int(k == 3)) for k in range(4)])
        entries = [
            (f"T_{_word(request)}_{i + 1}_{k + 1}", rows[i][k]) for i in range(4) for k in range(4)
        ]
        self.builder.output(request.text, (4, 4), entries)

    def velocity(self, request: Request, frame: Frame) -> None:
        """Declare linear and angular velocity."""
        self._six(request, frame, self._velocity(frame), "v")

    def acceleration(self, request: Request, frame: Frame) -> None:
        """Declare the acceleration of the point and the angular acceleration."""
        world = self.world
        k, arm = world.follow(world.limb_of(frame)), world.frame_arm(frame)
        w, b, kept = world.angular_velocity(k), world.angular_acceleration(k), world.axes.kept
        centripetal = cross(w, kept(cross(w, arm)))
        linear = add(world.acceleration(k), add(cross(b, arm), centripetal))
        self._six(request, frame, (kept(linear), b), "a")

    def jacobian(self, request: Request, frame: Frame) -> None:
        """Declare the Jacobian, six rows."""
        point = self.world.frame_origin(frame)
        self._columns(request, frame, "J", partial(self.world.column, point=point))

    def jacobian_rate(self, request: Request, frame: Frame) -> None:
        """Declare the time derivative of the Jacobian, six rows, in the same axes."""
        point, (velocity, spin) = self.world.frame_origin(frame), self._velocity(frame)

        def rate(k: int, column: Column) -> Six:
            linear, angular = self.world.column_rate(k, column, point, velocity)
            if request.axes == "world":
                return linear, angular
            # In axes that turn with the frame the turning itself changes the components.
            before = self.world.column(k, column, point)
            if request.axes == "local":
                linear = subtract(linear, cross(spin, before[0]))
            return linear, subtract(angular, cross(spin, before[1]))

        self._columns(request, frame, "Jd", rate)

    def reaction(self, request: Request, frame: Frame) -> None:
        """Declare what the parent exerts on the segment of a frame: force, moment about it."""
        values = self.joints.of(frame, request.axes)
        entries = [(f"R_{_word(request)}_{i + 1}", values[i]) for i in range(6)]
        self.builder.output(request.text, (6,), entries)

    def _velocity(self, frame: Frame) -> Six:
        world = self.world
        k, arm = world.follow(world.limb_of(frame)), world.frame_arm(frame)
        w = world.angular_velocity(k)
        return world.axes.kept(add(world.velocity(k), cross(w, arm))), w

    # --- axes and entries ---------------------------------------------------------------

    def _in_axes(self, request: Request, frame: Frame, parts: Six) -> list[Scalar]:
        """Return a six-component quantity, given in world axes, in the axes asked for."""
        linear, angular = parts
        if request.axes != "world":
            rotation = self.world.frame_rotation(frame)
            angular = apply_transposed(rotation, angular)
            if request.axes == "local":
                linear = apply_transposed(rotation, linear)
        return [*linear, *angular]

    def _six(self, request: Request, frame: Frame, parts: Six, letter: str) -> None:
        values = self._in_axes(request, frame, parts)
        entries = [(f"{letter}_{_word(request)}_{i + 1}", values[i]) for i in range(6)]
        self.builder.output(request.text, (6,), entries)

    def _columns(
        self, request: Request, frame: Frame, letter: str, column_of: Callable[[int, Column], Six]
    ) -> None:
        n = self.mechanism.nv
        columns: dict[int, list[Scalar]] = {}
        for k in self.world.path(self.world.limb_of(frame)):
            for column in self.world.limbs[k].columns:
                values = self._in_axes(request, frame, column_of(k, column))
                before = columns.get(column.rate, [self.builder.number(0)] * 6)
                columns[column.rate] = [a + b for a, b in zip(before, values, strict=True)]
        zeros = [self.builder.number(0)] * 6
        entries = [
            (f"{letter}_{_word(request)}_{i + 1}_{k + 1}", columns.get(k, zeros)[i])
            for i in range(6)
            for k in range(n)
        ]
        self.builder.output(request.text, (6, n), entries)

    # --- quantities of the whole mechanism ----------------------------------------------

    def kinetic_energy(self, request: Request) -> None:
        """Declare the kinetic energy, that of rotors included."""
        rotors = rotor_energy(self.builder, self.mechanism, self.options)
        self.builder.output(request.text, (), [("T", kinetic_energy(self.skeleton) + rotors)])

    def potential_energy(self, request: Request) -> None:
        """Declare the energy of gravity, zero at the world origin, and of springs."""
        springs = spring_energy(self.builder, self.mechanism, self.options)
        self.builder.output(request.text, (), [("V", potential_energy(self.skeleton) + springs)])

    def passive(self, request: Request) -> None:
        """Declare what friction and springs add to inverse dynamics."""
        forces = passive_forces(self.builder, self.mechanism, self.options)
        values = {(rate,): value for rate, value in forces.items()}
        declare(self.builder, request.text, "P", (self.mechanism.nv,), values)

    def reactions(self, request: Request) -> None:
        """Declare force and moment in every joint: of the parent on the child, its frame."""
        frames = [Frame(segment.name, j) for j, segment in enumerate(self.mechanism.segments)]
        rows = [self.joints.of(frame, "local") for frame in frames]
        values = {(j, i): value for j, row in enumerate(rows) for i, value in enumerate(row)}
        declare(self.builder, request.text, "R", (len(rows), 6), values)

    def com(self, request: Request) -> None:
        """Declare the position of the mass centre of all moving bodies, world axes."""
        values = centre_of_mass(self.world)
        entries = [(f"com_{AXES[i]}", values[i]) for i in range(3)]
        self.builder.output(request.text, (3,), entries)

    def momentum(self, request: Request) -> None:
        """Declare linear and angular momentum about the world origin, world axes."""
        self._momentum(request, momentum(self.skeleton), "p")

    def centroidal_momentum(self, request: Request) -> None:
        """Declare linear and angular momentum about the mass centre, world axes."""
        linear, angular = momentum(self.skeleton)
        moved = subtract(angular, cross(centre_of_mass(self.world), linear))
        self._momentum(request, (linear, moved), "pc")

    def _momentum(self, request: Request, parts: Six, letter: str) -> None:
        values = [*parts[0], *parts[1]]
        entries = [(f"{letter}_{i + 1}", values[i]) for i in range(6)]
        self.builder.output(request.text, (6,), entries)


def _word(request: Request) -> str:
    """Return the frame and axes as part of a variable's name."""
    axes = () if request.axes == OWN_AXES.get(request.name, "world") else (request.axes,)
    return re.sub(r"[^A-Za-z0-9_]", "_", "_".join((request.frame or "", *axes)))


OF_FRAME: dict[str, Callable[[Quantities, Request, Frame], None]] = {
    "pose": Quantities.pose,
    "velocity": Quantities.velocity,
    "acceleration": Quantities.acceleration,
    "jacobian": Quantities.jacobian,
    "jacobian_rate": Quantities.jacobian_rate,
    "reaction": Quantities.reaction,
}

OF_MECHANISM: dict[str, Callable[[Quantities, Request], None]] = {
    "kinetic_energy": Quantities.kinetic_energy,
    "potential_energy": Quantities.potential_energy,
    "passive": Quantities.passive,
    "reactions": Quantities.reactions,
    "com": Quantities.com,
    "momentum": Quantities.momentum,
    "centroidal_momentum": Quantities.centroidal_momentum,
}

COMMON = (*OF_FRAME, *OF_MECHANISM)
"""The outputs that every formulation gives."""
