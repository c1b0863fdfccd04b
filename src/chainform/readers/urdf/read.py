"""URDF: links and joints in XML, as robots are described in ROS."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction

from chainform.errors import ReadError
from chainform.mechanism import Mechanism, Note
from chainform.readers.source import Source, Table
from chainform.readers.urdf.build import (
    SegmentPlan,
    Tree,
    add_segments,
    couplings_of,
    riders_of,
    tree_of,
    with_standing_joints,
)
from chainform.readers.urdf.options import UrdfOptions, options_of
from chainform.readers.urdf.robot import robot_of
from chainform.readers.urdf.side_file import (
    SideFile,
    builder_with,
    check_joints,
    error_of_file,
    side_file_of,
)
from chainform.readers.urdf.snap import PI, Effect, Snapper, Tolerances, effect_of
from chainform.readers.urdf.xml import AttributeReader, parse_xml

OFF = Tolerances(Fraction(0), Fraction(0))


def read_urdf(data: bytes, source: Source, options: Mapping[str, object]) -> Mechanism:
    """Return the mechanism of a URDF file; docs/urdf.md says what is read and how."""
    chosen = options_of(options, source)
    reader = AttributeReader(source)
    robot = robot_of(parse_xml(data, source), reader)
    if chosen.mimic == "couple":
        robot = with_standing_joints(robot, reader)
    side = side_file_of(chosen.side_file, source)
    tree = tree_of(robot, chosen.root, chosen.tips, source)
    plan = _plan(tree, chosen, side, reader)
    left_out = frozenset(joint.name for joint in robot.joints) - {j.name for j in tree.joints}
    check_joints(side, {joint.name: joint.kind for joint in tree.joints}, left_out)
    _remark(plan, reader)
    snapper = Snapper(chosen.tolerances, plan.length)
    mechanism = _build(plan, snapper, robot.name or source.name, source)
    if snapper.snaps:
        bare = replace(plan, side=SideFile(Source(source.file)))
        literal = _build(bare, Snapper(OFF), mechanism.name, source)
        reader.note("snapping", _snap_text(snapper, effect_of(mechanism, literal)))
    notes = grouped((*reader.notes, *mechanism.notes))
    return replace(mechanism, file=source.file, source=data, notes=notes)


def _plan(tree: Tree, options: UrdfOptions, side: SideFile, reader: AttributeReader) -> SegmentPlan:
    couplings: dict[str, Table] = {}
    for joint, result in couplings_of(tree.joints, options.mimic):
        if isinstance(result, str):
            level = "note" if options.mimic == "free" else "warning"
            reader.note(f"joint {joint.name!r}, mimic", result, level)
        else:
            couplings[joint.name] = result
    return SegmentPlan(tree, options, side, couplings)


def _build(plan: SegmentPlan, snapper: Snapper, name: str, source: Source) -> Mechanism:
    renamed = {link: plan.segment_name(link) for link in (plan.tree.root.name, "ground")}
    if "ground" not in plan.tree.links:
        del renamed["ground"]
    builder = builder_with(plan.side, name, renamed)
    try:
        add_segments(builder, plan, snapper)
        return builder.build()
    except ReadError as error:
        joints = {plan.segment_name(joint.child): joint.name for joint in plan.tree.joints}
        raise error_of_file(error, plan.side, source, joints) from None


def _remark(plan: SegmentPlan, reader: AttributeReader) -> None:
    """Note what a user of the file should know: the root, links without mass, rigid pieces."""
    tree, root = plan.tree, plan.tree.root
    if plan.side.exists:
        reader.note("side file", f"{plan.side.source.file} was read as well")
    _remark_root(plan, reader)
    names = [root.name, *(joint.child for joint in tree.joints)]
    bare = [name for name in names if tree.links[name].inertial is None]
    if bare and bare != [root.name]:
        reader.note("links", f"massless, since they have no inertial: {_list(bare)}")
    riders = riders_of(tree, lambda joint: joint.kind == "fixed")
    for carrier, links in riders.items():
        text = f"carries by fixed joints: {_list(links)}; they move as one body"
        reader.note(f"link {carrier!r}", text)
    exact = [joint for joint in tree.joints if not _is_right_angled(joint.origin.rpy, plan)]
    if exact:
        text = "their rotations are stored as rational ones within 1e-15 of the angles"
        reader.note("joints", f"{_list([joint.name for joint in exact])}: {text}")


def _remark_root(plan: SegmentPlan, reader: AttributeReader) -> None:
    root, where = plan.tree.root, f"link {plan.tree.root.name!r}"
    mass = root.inertial.mass if root.inertial is not None else 0
    if plan.options.base == "floating":
        reader.note(where, f"the root; it moves freely by the joint {plan.root_joint!r}")
        below = [joint for joint in plan.tree.joints if joint.parent == root.name]
        if not mass and any(joint.kind == "floating" for joint in below):
            text = "it has no mass and carries a floating joint: two free joints in a row"
            reader.note(where, text, "warning")
    elif not plan.root_is_ground:
        reader.note(where, "there are no joints: nothing moves unless the base is floating")
    elif mass:
        text = f"it is the ground, so its mass of {float(mass):.6g} kg does not matter"
        reader.note(where, text)
    else:
        reader.note(where, "it is the ground")
    if plan.tree.path and plan.options.base == "fixed":
        text = "it stands in the world where all joints above it are at zero; these are left out"
        reader.note(where, text)
    if root.name != "ground" and "ground" in plan.tree.links:
        text = f"called {plan.segment_name('ground')!r} here, since 'ground' is the base"
        reader.note("link 'ground'", text)


def _is_right_angled(rpy: Iterable[Fraction], plan: SegmentPlan) -> bool:
    """Tell whether all angles are quarter turns, after snapping or to sixteen digits."""
    tolerance = max(plan.options.tolerances.angle, Fraction(1, 10**15))
    return all(abs(angle - round(angle / (PI / 2)) * PI / 2) <= tolerance for angle in rpy)


def _snap_text(snapper: Snapper, effect: Effect) -> str:
    parts: list[str] = []
    for kind, what, unit in (
        ("angle", "set to multiples of pi/12", " rad"),
        ("entry", "set to zero", ""),
    ):
        snaps = [snap for snap in snapper.snaps if snap.kind == kind]
        if snaps:
            worst = max(snaps, key=lambda snap: snap.change)
            words = ("angle", "angles") if kind == "angle" else ("entry", "entries")
            count = f"{len(snaps)} {words[len(snaps) > 1]}"
            parts.append(
                f"{count} {what}, the greatest change {float(worst.change):.2g}{unit}"
                f" ({worst.where})"
            )
    parts.append(
        f"largest effect: {effect.position:.2g} m, {effect.orientation:.2g} rad, "
        f"{effect.inertia:.2g} of an inertia"
    )
    return "; ".join(parts)


def grouped(notes: Iterable[Note]) -> tuple[Note, ...]:
    """Return the notes with those that say the same of several elements made one."""
    groups: dict[tuple[str, str], list[Note]] = {}
    for note in notes:
        groups.setdefault((note.level, note.text), []).append(note)
    return tuple(
        replace(same[0], element=_list(list(dict.fromkeys(note.element for note in same))))
        for same in groups.values()
    )


def _list(names: list[str], most: int = 12) -> str:
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"
