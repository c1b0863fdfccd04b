"""Whether type checkers accept the Python examples of README.md and docs/*.md.

    python tools/typed_examples.py mypy
    python tools/typed_examples.py pyright

The examples of a page are one module with the line numbers of the page, so a name may stand for one
thing in an example and for another in the next. The exit code is that of the checker.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
STAND_IN = ROOT / "tests" / "stand_in"
REDEFINITION = ("--allow-redefinition-new", "--local-partial-types")
CHECKERS = {
    "mypy": ["mypy", "--follow-imports=silent", "--ignore-missing-imports", *REDEFINITION],
    "pyright": ["pyright", "--level", "error", "--pythonpath", sys.executable],
}


def module_of(page: str) -> str:
    """Return the Python blocks of a page, each where it stands, and nothing in other lines."""
    lines: list[str] = []
    indent: int | None = None
    for line in page.splitlines():
        if indent is None:
            opens = re.match(r"( *)```python\s*$", line)
            indent = None if opens is None else len(opens[1])
            lines.append("")
        elif line.strip() == "```":
            indent = None
            lines.append("")
        else:
            lines.append(line[indent:])
    return "\n".join(lines) + "\n"


def main() -> int:
    """Write the modules, run the checker on them, and return its exit code."""
    command = CHECKERS[sys.argv[1] if len(sys.argv) > 1 else "mypy"]
    with TemporaryDirectory() as folder:
        for page in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))):
            text = module_of(page.read_text(encoding="utf-8"))
            if text.strip():
                name = re.sub(r"\W", "_", page.stem)
                (Path(folder) / f"{name}_page.py").write_text(text, encoding="utf-8")
        # There no settings of ours are found: the examples are checked as those of a user are.
        # Of tools that are not installed, the stand-ins of the tests have the types.
        paths = os.pathsep.join([os.environ.get("PYTHONPATH", ""), str(STAND_IN)]).strip(os.pathsep)
        places = {**os.environ, "PYTHONPATH": paths, "MYPYPATH": str(STAND_IN)}
        done = subprocess.run(
            [sys.executable, "-m", *command, "."], cwd=folder, env=places, check=False
        )
        return done.returncode


if __name__ == "__main__":
    sys.exit(main())
