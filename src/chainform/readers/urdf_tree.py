"""Which link carries which: the tree of a URDF file, and the part of it that is wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from chainform.errors import ReadError
from chainform.given import near
from chainform.readers.source import Source
from chainform.readers.urdf_robot import Joint, Link, Robot

_Item = TypeVar("_Item", Link, Joint)


@dataclass(frozen=True, slots=True)
class Tree:
    """A root link and the joints below it, in the order of the file; `links` by name.

    `path` leads from the root of the file to `root`; it is empty where these are the same.
    """

    root: Link
    joints: tuple[Joint, ...]
    links: dict[str, Link]
    path: tuple[Joint, ...] = ()


def tree_of(robot: Robot, root: str | None, tips: Sequence[str] | None, source: Source) -> Tree:
    """Return the tree below `root`, cut down to the paths to `tips` where these are given.

    Without `root` it is the one link that is nobody's child.
    """
    links = _distinct(robot.links, "link", source)
    _distinct(robot.joints, "joint", source)
    above = _joints_by_child(robot, links, source)
    start = _root(robot, above, source) if root is None else _named(root, links, source, "root")
    below = _paths(robot, above, start, source)
    if tips is not None:
        ends = [_named(tip, links, source, "tips") for tip in tips]
        below = _towards(ends, start, below, above, source)
    kept = tuple(joint for joint in robot.joints if joint.child in below)
    path: list[Joint] = []
    while (name := path[-1].parent if path else start) in above:
        path.append(above[name])
    return Tree(links[start], kept, links, tuple(reversed(path)))


def _distinct(items: Iterable[_Item], kind: str, source: Source) -> dict[str, _Item]:
    """Return the items by name; refuse a name that occurs twice."""
    seen: dict[str, _Item] = {}
    for item in items:
        if item.name in seen:
            raise source.error(
                f"the name is used twice, first in line {seen[item.name].line}",
                f"give each {kind} a name of its own",
                f"{kind} {item.name!r} (line {item.line})",
            )
        seen[item.name] = item
    return seen


def _joints_by_child(robot: Robot, links: dict[str, Link], source: Source) -> dict[str, Joint]:
    """Return for each link the joint above it."""
    above: dict[str, Joint] = {}
    for joint in robot.joints:
        where = f"joint {joint.name!r} (line {joint.line})"
        for end, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in links:
                remedy = near(name, links).strip() or "describe that link"
                raise source.error(f"its {end}, the link {name!r}, does not exist", remedy, where)
        if joint.child in above:
            other = above[joint.child].name
            raise source.error(
                f"the link {joint.child!r} is already the child of joint {other!r}",
                "a link hangs on one joint; close a chain by [[loops]] in the side file",
                where,
            )
        above[joint.child] = joint
    return above


def _root(robot: Robot, above: dict[str, Joint], source: Source) -> str:
    roots = [link for link in robot.links if link.name not in above]
    if not roots:
        raise _circle(robot.links[0].name, above, source)
    if len(roots) > 1:
        names = ", ".join(repr(link.name) for link in roots[:5])
        raise source.error(
            f"{len(roots)} links are the child of no joint: {names}",
            "connect them by joints, or choose one with root=... (--root)",
            f"link {roots[1].name!r} (line {roots[1].line})",
        )
    return roots[0].name


def _paths(robot: Robot, above: dict[str, Joint], root: str, source: Source) -> set[str]:
    """Return the names of all links below the root; a circle of joints is an error."""
    children: dict[str, list[str]] = {}
    for joint in robot.joints:
        children.setdefault(joint.parent, []).append(joint.child)

    def reach(start: Iterable[str]) -> set[str]:
        ready = list(start)
        seen: set[str] = set()
        while ready:
            name = ready.pop()
            if name not in seen:
                seen.add(name)
                ready += children.get(name, ())
        return seen

    from_roots = reach(link.name for link in robot.links if link.name not in above)
    lost = next((link.name for link in robot.links if link.name not in from_roots), None)
    if lost is not None:
        raise _circle(lost, above, source)
    return reach([root]) - {root}


def _circle(start: str, above: dict[str, Joint], source: Source) -> ReadError:
    """Return the error for the circle that one meets going up from `start`."""
    path: dict[str, None] = {}
    name = start
    while name not in path:
        path[name] = None
        name = above[name].parent
    names = list(path)
    circle = [name, *reversed(names[names.index(name) :])]
    shown = " -> ".join(circle[:20])
    remedy = "let one link be the root; close a chain by [[loops]] in the side file"
    where = f"joint {above[name].name!r} (line {above[name].line})"
    return source.error(f"the joints form a circle: {shown}", remedy, where)


def _named(name: str, links: dict[str, Link], source: Source, option: str) -> str:
    return source.given(name, option).choice(tuple(links), "link")


def _towards(
    tips: Sequence[str], root: str, below: set[str], above: dict[str, Joint], source: Source
) -> set[str]:
    """Return the links on the ways from the root to the tips, without the root."""
    kept: set[str] = set()
    for tip in tips:
        name = tip
        while name != root:
            if name not in below:
                remedy = f"name links that hang on {root!r}, or choose another root"
                raise source.error(f"the link {tip!r} is not below {root!r}", remedy, "tips")
            kept.add(name)
            name = above[name].parent
    return kept


def riders_of(tree: Tree, is_fixed: Callable[[Joint], bool]) -> dict[str, list[str]]:
    """Return for each moving link, and the root, the links that ride on it by fixed joints."""
    carrier: dict[str, str] = {tree.root.name: tree.root.name}
    riders: dict[str, list[str]] = {}
    waiting = {joint.child: joint for joint in tree.joints}
    for child in list(waiting):
        path = [child]
        while path[-1] not in carrier:
            joint = waiting[path[-1]]
            if not is_fixed(joint):
                carrier[path[-1]] = path[-1]
                break
            path.append(joint.parent)
        for name in reversed(path[:-1]):
            carrier[name] = carrier[waiting[name].parent]
            riders.setdefault(carrier[name], []).append(name)
    return riders
