"""From a LaTeX document to a PDF file, by pdflatex where it is installed."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from chainform.errors import RunError

SECONDS = 120
"""How long one run of pdflatex may take."""
REMEDY = (
    "install a TeX system (Debian: apt install texlive-latex-recommended lmodern), or write the "
    "report as .tex or .html"
)


def compiled(text: str, files: Mapping[str, bytes]) -> bytes:
    """Return a document as PDF; RunError where pdflatex is missing or fails.

    It runs in a folder of its own, may write there only, and starts no other program.
    """
    program = shutil.which("pdflatex")
    if program is None:
        raise RunError("a PDF file needs pdflatex", element="pdf", remedy=REMEDY)
    with tempfile.TemporaryDirectory(prefix="chainform-") as folder:
        place = Path(folder)
        (place / "report.tex").write_text(text, encoding="utf-8")
        for name, data in files.items():
            (place / name).write_bytes(data)
        for _ in range(2):  # Tables over several pages settle their columns in the second run.
            _run(program, place)
        return (place / "report.pdf").read_bytes()


def _run(program: str, place: Path) -> None:
    command = [program, "-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error"]
    careful = {"openin_any": "p", "openout_any": "p", "SOURCE_DATE_EPOCH": "0", "HOME": str(place)}
    try:
        done = subprocess.run(
            [*command, "report.tex"],
            cwd=place,
            env={**os.environ, **careful},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        message = f"pdflatex took longer than {SECONDS} s"
        raise RunError(message, element="pdf", remedy="write the report as .tex or .html") from None
    if done.returncode != 0:
        log = done.stdout.decode("utf-8", errors="replace").splitlines()
        reason = next((line for line in log if line.startswith("!")), "no message")
        raise RunError(f"pdflatex has failed: {reason[:200]}", element="pdf", remedy=REMEDY)
