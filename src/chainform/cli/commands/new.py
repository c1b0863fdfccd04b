"""`chainform new`: a mechanism file from answers to questions, step by step.

As the program of Obradović and Marković (1991) queried bodies one by one: the preceding body, the
kind of joint, vectors, mass, inertia. After each answer the mechanism so far is built, with all
checks of files.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import Any

from chainform.cli.command import Command
from chainform.cli.dialogue import (
    VECTOR,
    Dialogue,
    EndOfAnswersError,
    Question,
    chosen,
    direction,
    directions,
    inertia,
    vector,
)
from chainform.cli.files import target_of, write_file
from chainform.cli.mechanism_report import mechanism_report
from chainform.cli.printing import Page, Report, tell
from chainform.errors import Error, ReadError
from chainform.given import Given, counted
from chainform.mechanism import JOINTS, LOOP_ROWS, LOOP_WORDS, Mechanism
from chainform.readers import native_toml, read

Table = dict[str, Any]
GROUND = "ground"
DIRECTIONS = {
    "axis": Question("  axis", "z", f"in the axes of the body: x, y, z, -x ..., or {VECTOR}"),
    "axes": Question("  axes", "x y", "two of x, y, z, in the axes of the body"),
}
AXES: dict[str, Callable[[str], Any]] = {"axis": direction, "axes": directions}
JOINT_HELP = "revolute turns about an axis, prismatic slides along it, fixed does not move;\n" + (
    "others: " + ", ".join(list(JOINTS)[3:])
)


LOOP_HELP = (
    "the joint by which the two bodies meet: point or spherical, a ball; revolute, a pin;\n"
    "prismatic, a slide that does not turn; cylindrical, one that turns; universal, a cross;\n"
    "planar, a plane on a plane; distance, a thin rod; frame, a weld"
)
LENGTH = Question("  length", None, "the distance of the two points, m, such as 0.5 or l")


def add_options(parser: ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("file", metavar="FILE.toml", help="the mechanism file to write")
    parser.add_argument("--force", action="store_true", help="overwrite the file")


def run(args: Namespace) -> Report:
    """Ask for a mechanism, write it, and tell what was understood."""
    target = target_of(args.file, "", force=args.force, option="FILE")
    if target is None or target.suffix.lower() != ".toml":
        raise ReadError("a mechanism is written as TOML", element="FILE", remedy="name it arm.toml")
    dialogue, draft = Dialogue(), MechanismTables()
    dialogue.say("? gives help, back returns to the question before, Ctrl-C leaves nothing behind")
    try:
        dialogue.run(lambda: _conversation(dialogue, draft, target.stem))
        dialogue.check_end()
    except EndOfAnswersError:
        _offer(draft)
    write_file(target, native_toml(draft.build()), force=args.force)
    mechanism = read(target)
    commands = _next_commands(args.file, draft)
    document = {"mechanism": mechanism.name, "coordinates": list(mechanism.coordinates)}
    document |= {"written": args.file, "next": commands}

    def show(page: Page) -> None:
        mechanism_report(mechanism).show(page)
        page.heading(f"written to {args.file}; next, for example")
        for command in commands:
            page.text(f"  {command}")

    return Report(document, show)


def _offer(draft: MechanismTables) -> None:
    """Let somebody who ended the answers write what there is; else nothing is written."""
    count, refusal = len(draft.segments), ReadError("nothing was written", element="new")
    if not count:
        raise refusal
    tell(f"write the mechanism so far, with {counted(count, 'body').replace('bodys', 'bodies')}?")
    question = Question("yes or no", "no")
    choices = ("yes", "no")
    try:
        answer = Dialogue().ask(question, lambda text: Given(text, "answer").choice(choices))
    except EndOfAnswersError:
        raise refusal from None
    if answer == "no":
        raise refusal


def _next_commands(file: str, draft: MechanismTables) -> list[str]:
    name = quote(file)
    commands = [f"chainform show {name} H", f"chainform simulate {name} --every 0.1 --table"]
    if draft.frames:
        commands.append(f"chainform show {name} 'pose({draft.frames[0]['name']})'")
    return [*commands, f"chainform simulate {name} --animate motion.html"]


# --- the mechanism so far -----------------------------------------------------------------------


class MechanismTables:
    """The tables of a native file, as far as they are complete."""

    def __init__(self) -> None:
        self.top: Table = {"name": "mechanism"}
        self.parameters: list[Table] = []
        self.segments: list[Table] = []
        self.frames: list[Table] = []
        self.loops: list[Table] = []

    def clear(self) -> None:
        """Begin anew."""
        self.__init__()

    def build(self, **more: Mapping[str, Any]) -> Mechanism:
        """Return the mechanism with one more segment, frame, loop or parameter; Error tells why
        not.
        """
        builder = Mechanism.builder(**self.top)
        for parameter in _with(self.parameters, more.get("parameter")):
            builder.parameter(**parameter)
        for segment in _with(self.segments, more.get("segment")):
            builder.segment_table(segment)
        for frame in _with(self.frames, more.get("frame")):
            builder.frame_table(frame)
        for loop in _with(self.loops, more.get("loop")):
            builder.loop_table(loop)
        return builder.build()

    @property
    def places(self) -> tuple[str, ...]:
        """The names of bodies, and the ground."""
        return (*(segment["name"] for segment in self.segments), GROUND)


def _with(tables: list[Table], more: Mapping[str, Any] | None) -> list[Table]:
    return tables if more is None else [*tables, dict(more)]


@dataclass(frozen=True, slots=True)
class LoopAttachment:
    """One end of a loop whose other fields are known: its name, and the usual answers."""

    name: str
    loop: Table
    body: str
    axis: str

    @property
    def questions(self) -> list[tuple[str, Question, Callable[[str], Any]]]:
        """What to ask for next to the body; a rotation where the frames must be parallel."""
        text = f"in the axes of the body, m: {VECTOR}"
        more: list[tuple[str, Question, Callable[[str], Any]]] = [
            ("point", Question(f"  {self.name} point", "0 0 0", text), vector)
        ]
        rows = LOOP_ROWS["point" if self.loop["kind"] == "spherical" else self.loop["kind"]]
        if rows.angular == ("x", "y", "z"):
            text = "of the end against its body: roll, pitch, yaw, rad, as 0 0 pi/2"
            more.append(("rpy", Question(f"  {self.name} rotation", "0 0 0", text), vector))
        if rows.has_axes:
            text = f"in the axes of the end: x, y, z, -x ..., or {VECTOR}"
            more.append(("axis", Question(f"  {self.name} axis", self.axis, text), direction))
        return more


# --- questions ----------------------------------------------------------------------------------


def _conversation(dialogue: Dialogue, draft: MechanismTables, stem: str) -> None:
    """Ask for all of a mechanism; `draft` has what is complete."""
    draft.clear()
    questions = Questions(dialogue, draft)
    questions.top("name", Question("name of the mechanism", stem), str)
    text = f"the acceleration of free fall in world axes, m/s^2: {VECTOR}"
    questions.top("gravity", Question("gravity", "0 0 -9.81", text), vector)
    while questions.parameter():
        pass
    while questions.segment():
        pass
    while questions.frame():
        pass
    while questions.loop():
        pass


class Questions:
    """The questions about each part; an empty name ends a list of parts."""

    def __init__(self, dialogue: Dialogue, draft: MechanismTables) -> None:
        self.dialogue = dialogue
        self.draft = draft

    def top(self, field: str, question: Question, parse: Callable[[str], Any]) -> None:
        """Ask for a field of the mechanism itself."""
        before = dict(self.draft.top)

        def check(text: str) -> Any:
            self.draft.top = {**before, field: parse(text)}
            try:
                self.draft.build(segment={"name": "body", "parent": GROUND, "joint": "fixed"})
            except Error:
                self.draft.top = before
                raise
            return None

        self.dialogue.ask(question, check)

    def parameter(self) -> bool:
        """Ask for a parameter; tell whether there was one."""
        text = "a name for a number, which lengths and masses may use: l = 0.5, then com = l/2 0 0"
        question = Question("parameter NAME = VALUE, empty: no more", None, text)

        def check(text: str) -> Table | None:
            if not text:
                return None
            name, equals, value = (part.strip() for part in text.partition("="))
            if not equals:
                raise ReadError(f"{text[:60]!r} has no =", remedy="write l = 0.5")
            table = {"name": name, "value": value or None}
            body = {"name": "body", "parent": GROUND, "joint": "fixed"}
            self.draft.build(parameter=table, segment=body)
            return table

        return self._added(self.draft.parameters, self.dialogue.ask(question, check))

    def segment(self) -> bool:
        """Ask for a body with its joint; tell whether there was one."""
        draft, number = self.draft, len(self.draft.segments) + 1
        ending, default = (", empty: no more", None) if draft.segments else ("", "body1")
        table: Table = {"parent": GROUND, "joint": "fixed"}
        question = Question(f"body {number}: name{ending}", default, "a name of its own")
        if not self._named("segment", table, question, can_end=bool(draft.segments)):
            return False
        before = draft.segments[-1]["name"] if draft.segments else GROUND
        text = "the body that carries it: " + ", ".join(draft.places)
        question = Question("  preceding body", before, text)
        self._ask("segment", table, "parent", question, lambda t: chosen(t, draft.places, "body"))
        self._joint(table)
        text = f"of the joint in the axes of the preceding body, m: {VECTOR}"
        self._ask("segment", table, "position", Question("  position", "0 0 0", text), vector)
        self._ask("segment", table, "mass", Question("  mass", "0", "kg"), str)
        if table["mass"] != "0":
            text = f"the mass centre in the axes of the body, m: {VECTOR}"
            self._ask("segment", table, "com", Question("  mass centre", "0 0 0", text), vector)
        text = (
            "about the mass centre in the axes of the body, kg m^2: xx yy zz, or xx yy zz xy xz yz"
        )
        self._ask("segment", table, "inertia", Question("  inertia", "0 0 0", text), inertia)
        return self._added(draft.segments, table)

    def _joint(self, table: Table) -> None:
        """Ask for the kind of joint, and for its direction where it has one."""

        def check(text: str) -> str:
            kind = chosen(text, tuple(JOINTS), "kind of joint")
            field = JOINTS[kind][1] or ""
            usual = DIRECTIONS.get(field)
            direction = {} if usual is None else {field: AXES[field](usual.default or "")}
            self.draft.build(segment={**table, "joint": kind, **direction})
            return kind

        table["joint"] = self.dialogue.ask(Question("  joint", "revolute", JOINT_HELP), check)
        field = JOINTS[table["joint"]][1]
        if field in DIRECTIONS:
            self._ask("segment", table, field, DIRECTIONS[field], AXES[field])

    def frame(self) -> bool:
        """Ask for a frame; tell whether there was one."""
        table: Table = {"segment": GROUND}
        text = "a named point of a body, such as tip or tool"
        question = Question("frame: name, empty: no more", None, text)
        if not self._named("frame", table, question):
            return False
        places, text = self.draft.places, f"in the axes of the body, m: {VECTOR}"
        question = Question("  on body", places[-2], ", ".join(places))
        self._ask("frame", table, "segment", question, lambda t: chosen(t, places, "body"))
        self._ask("frame", table, "point", Question("  point", "0 0 0", text), vector)
        return self._added(self.draft.frames, table)

    def loop(self) -> bool:
        """Ask for a loop; tell whether there was one."""
        text = "two bodies that meet, though neither carries the other: closed chains"
        question = Question("loop: name, empty: no more", None, text)
        name = self.dialogue.ask(question, self._free_name)
        if not name:
            return False
        kind = self.dialogue.ask(
            Question("  kind", "point", LOOP_HELP), lambda t: chosen(t, LOOP_WORDS, "kind of loop")
        )
        table: Table = {"name": name, "kind": kind}
        if kind == "distance":
            table["length"] = self.dialogue.ask(LENGTH, self._length)
        places = self.draft.places
        table["closing"] = self._end(LoopAttachment("closing", table, places[-2], "z"), places)
        axis = table["closing"].get("axis", "z")
        usual = axis if isinstance(axis, str) else " ".join(axis)
        table["target"] = self._end(LoopAttachment("target", table, GROUND, usual), places)
        return self._added(self.draft.loops, table)

    def _free_name(self, text: str) -> str:
        if text and text in [loop["name"] for loop in self.draft.loops]:
            raise ReadError(f"two loops are named {text[:60]!r}", remedy="choose another name")
        return text

    def _length(self, text: str) -> str:
        """Return the distance of the two points of a loop: one that closes has it."""
        tip = {"segment": GROUND, "point": [text, 0, 0]}
        loop = {"name": "length", "kind": "distance", "closing": tip, "length": text}
        self.draft.build(loop=loop)
        return text

    def _end(self, end: LoopAttachment, places: Sequence[str]) -> Table:
        """Ask for an end of a loop; with the other end the loop is built."""
        question = Question(f"  {end.name} body", end.body, ", ".join(places))
        body = self.dialogue.ask(question, lambda text: chosen(text, places, "body"))
        table: Table = {"segment": body}
        for field, question, parse in end.questions:

            def check(text: str, field: str = field, parse: Callable[[str], Any] = parse) -> Any:
                value = parse(text)
                self._check_end(end, {**table, field: value}, last=end.questions[-1][0] == field)
                return value

            table[field] = self.dialogue.ask(question, check)
        return table

    def _check_end(self, end: LoopAttachment, table: Table, *, last: bool) -> None:
        """Refuse a point, a rotation or an axis that is none; the last field ends the loop."""
        place = {key: value for key, value in table.items() if key != "axis"}
        self.draft.build(frame={"name": "end of a loop", **place})
        if "axis" in table:
            joint = {"type": "revolute", "name": "axis of a loop", "axis": table["axis"]}
            self.draft.build(segment={"name": "end of a loop", "parent": GROUND, "joint": joint})
        if last and "closing" in end.loop:
            self.draft.build(loop={**end.loop, end.name: table})

    def _named(self, kind: str, table: Table, question: Question, *, can_end: bool = True) -> bool:
        """Ask for the name of a part; tell whether it has one."""

        def check(text: str) -> str:
            if text or not can_end:
                self.draft.build(**{kind: {**table, "name": text}})
            return text

        table["name"] = self.dialogue.ask(question, check)
        return bool(table["name"])

    def _ask(
        self, kind: str, table: Table, field: str, question: Question, parse: Callable[[str], Any]
    ) -> None:
        """Ask for a field of a part; the mechanism with it must be one."""

        def check(text: str) -> Any:
            value = parse(text)
            self.draft.build(**{kind: {**table, field: value}})
            return value

        table[field] = self.dialogue.ask(question, check)

    @staticmethod
    def _added(tables: list[Table], table: Table | None) -> bool:
        if table is not None:
            tables.append(table)
        return table is not None


COMMAND = Command(
    usage="FILE.toml",
    description="Ask for a mechanism step by step, and write it to a file: its name, gravity,\n"
    "parameters, bodies with their joints, frames and loops. Every answer is checked at once.\n"
    "On a terminal ? gives help and back returns to the question before; in a pipe each line is\n"
    "an answer, an empty one the default.",
    add_options=add_options,
    run=run,
)
