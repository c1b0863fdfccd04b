"""The rooms of the house: their rules, and a picture of their imports.

    python tools/rooms.py             check the rules; exit code 1 where one is broken
    python tools/rooms.py --draw      draw docs/pictures/rooms.svg

Rules that ruff and import-linter do not know: a room is entered through its door (its
`__init__.py`) whose names are not those of modules, a public class name has one meaning, no file is
named by a participle or is long, and the house grows only by a decision (`LINES`;
docs/decisions/0017-rooms.md).
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "chainform"
PICTURE = ROOT / "docs" / "pictures" / "rooms.svg"
GLOSSARY = ROOT / "docs" / "glossary.md"

LINES = 126_000
"""All lines of the package; a decision may raise it."""
FILE_LINES = 400
WORDS = 40
"""Entries of the glossary."""
TWICE: frozenset[str] = frozenset()
"""Public class names that two rooms share on purpose."""
APART = "verification/reference/"
"""What shares nothing with the house, and so has class names of its own."""
NOUNS = {"string", "ring", "spring", "numbering", "printing", "coupling", "bearing", "rounding"}
"""Names of files in -ing that are nouns."""


@dataclass(frozen=True)
class Module:
    """A file of the package."""

    path: Path

    @cached_property
    def text(self) -> str:
        """Its source."""
        return self.path.read_text(encoding="utf-8")

    @cached_property
    def tree(self) -> ast.Module:
        """Its syntax tree."""
        return ast.parse(self.text)

    @property
    def name(self) -> str:
        """Its path in the package."""
        return str(self.path.relative_to(PACKAGE))

    @property
    def room(self) -> str:
        """The room to which it belongs."""
        return self.path.relative_to(PACKAGE).parts[0].removesuffix(".py")

    @property
    def lines(self) -> int:
        """How long it is."""
        return self.text.count("\n")

    def imports(self) -> Iterator[tuple[int, str]]:
        """Yield line and module of each import from the package, wherever it stands."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom) and node.module == "chainform":
                yield from ((node.lineno, alias.name) for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("chainform."):
                yield node.lineno, (node.module or "").removeprefix("chainform.")
            elif isinstance(node, ast.Import):
                for alias in node.names:
                    if alias.name.startswith("chainform."):
                        yield node.lineno, alias.name.removeprefix("chainform.")


def modules() -> list[Module]:
    """Return the files of the package."""
    return [Module(path) for path in sorted(PACKAGE.rglob("*.py"))]


# --- rules ----------------------------------------------------------------------------------


def broken_rules(files: list[Module]) -> Iterator[str]:
    """Yield a sentence for each place where a rule is broken."""
    yield from _past_doors(files)
    yield from _repeated_names(files)
    yield from _hidden_names(files)
    total = sum(file.lines for file in files)
    if total > LINES:
        yield f"the package has {total} lines, more than {LINES}: remove some, or decide on more"
    for file in files:
        if file.lines > FILE_LINES:
            yield f"{file.name} has {file.lines} lines, more than {FILE_LINES}"
        if file.path.stem.endswith("ing") and file.path.stem not in NOUNS:
            yield f"{file.name}: a file is named by a noun"
    words = sum(line.startswith("| ") for line in GLOSSARY.read_text("utf-8").splitlines())
    words -= GLOSSARY.read_text("utf-8").count("| word |")
    if words > WORDS:
        yield f"the glossary has {words} words, more than {WORDS}"


def _past_doors(files: list[Module]) -> Iterator[str]:
    for file in files:
        for line, name in file.imports():
            room, *inside = name.split(".")
            if inside and room != file.room:
                yield f"{file.name}:{line}: {name} is imported past the door of {room}"


def _repeated_names(files: list[Module]) -> Iterator[str]:
    classes: dict[str, list[str]] = defaultdict(list)
    for file in files:
        if file.name.startswith(APART):
            continue
        for node in ast.walk(file.tree):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes[node.name].append(file.name)
    for name, where in sorted(classes.items()):
        if len(where) > 1 and name not in TWICE:
            yield f"the class name {name} has several meanings: {', '.join(where)}"


def _hidden_names(files: list[Module]) -> Iterator[str]:
    """Yield names of doors that a module or folder next to them has, too: it would hide them."""
    known = {file.path for file in files}
    for file in files:
        if file.path.name != "__init__.py":
            continue
        folder = file.path.parent
        for node in file.tree.body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                for name in ast.literal_eval(node.value):
                    if {folder / f"{name}.py", folder / name / "__init__.py"} & known:
                        yield f"{file.name}: {name} is the name of a module, too"


# --- the picture ----------------------------------------------------------------------------

WIDTH, STEP, HEIGHT, MARGIN = 860, 64, 28, 16
NOT_DRAWN = {"__main__", "version", "lazy"}


def layers() -> list[list[str]]:
    """Return the rooms by layers, the highest first, as the contract has them."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = table["tool"]["importlinter"]["contracts"]
    found = next(contract["layers"] for contract in contracts if contract["name"] == "rooms")
    rows = [[name for name in layer.split(" | ") if name not in NOT_DRAWN] for layer in found]
    # A room in parentheses is not built yet.
    return [row for row in ([name for name in row if name[0] != "("] for row in rows) if row]


def direct(uses: dict[str, set[str]]) -> dict[str, set[str]]:
    """Leave out imports that follow from others: of a room that an imported one reaches, too."""
    reach: dict[str, set[str]] = {}

    def reached(room: str) -> set[str]:
        if room not in reach:
            reach[room] = set(uses[room]).union(*(reached(other) for other in uses[room]))
        return reach[room]

    return {
        room: {other for other in others if not any(other in reached(o) for o in others - {other})}
        for room, others in uses.items()
    }


def drawing(files: list[Module]) -> str:
    """Return the picture of the rooms as SVG."""
    rows = layers()
    known = {room for row in rows for room in row}
    uses: dict[str, set[str]] = {room: set() for room in known}
    for file in files:
        if file.room in known:
            imported = {name.split(".")[0] for _, name in file.imports()}
            uses[file.room] |= imported & known - {file.room}
    boxes = {
        room: (MARGIN + (WIDTH - 2 * MARGIN) * (2 * i + 1) / (2 * len(row)), MARGIN + STEP * y)
        for y, row in enumerate(rows)
        for i, room in enumerate(row)
    }
    pairs = [(room, other) for room, others in direct(uses).items() for other in others]
    lines = [_line(boxes[room], boxes[other]) for room, other in sorted(pairs)]
    names = [_box(room, *boxes[room]) for row in rows for room in row]
    height = 2 * MARGIN + STEP * (len(rows) - 1) + HEIGHT
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
    head += 'font-family="sans-serif" font-size="14" text-anchor="middle">'
    ground = f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>'
    return "\n".join([head, ground, *lines, *names, "</svg>", ""])


def _line(upper: tuple[float, float], lower: tuple[float, float]) -> str:
    (x, y), (u, v) = upper, lower
    y += HEIGHT
    bend = (v - y) / 2
    path = f"M{x:.0f},{y:.0f} C{x:.0f},{y + bend:.0f} {u:.0f},{v - bend:.0f} {u:.0f},{v:.0f}"
    return f'<path d="{path}" fill="none" stroke="#7a8fa6" stroke-width="1.4"/>'


def _box(room: str, x: float, y: float) -> str:
    width = max(90, 9 * len(room) + 20)
    box = f'<rect x="{x - width / 2:.0f}" y="{y:.0f}" width="{width}" height="{HEIGHT}" rx="6" '
    box += 'fill="#e4eef6" stroke="#4a6078"/>'
    return f'{box}<text x="{x:.0f}" y="{y + 19:.0f}">{room}</text>'


def main() -> int:
    """Check the rules, or draw the picture."""
    files = modules()
    if "--draw" in sys.argv[1:]:
        PICTURE.write_text(drawing(files), encoding="utf-8")
        return 0
    broken = list(broken_rules(files))
    print("\n".join(broken) or f"{len(files)} files, {sum(file.lines for file in files)} lines")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
