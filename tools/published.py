"""Results that others published, computed again: how far ours are from them.

    python tools/published.py                   print the table
    python tools/published.py fourbar_spatial   print what belongs to one case, or to several
    python tools/published.py --write           write docs/published.md, and its pictures

The exit code is 1 if a result is farther from the published one than the tests allow.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main(texts: list[str] | None = None) -> int:
    """Compute results, print or write them; 1 if one is too far from what was published."""
    from rich.progress import track

    from tests.published.cases import CASES
    from tests.published.page import PAGE, Row, page_of, picture_of

    parser = ArgumentParser(prog="published.py", description=__doc__)
    parser.add_argument("--write", action="store_true", help="write the page and its pictures")
    parser.add_argument("names", nargs="*", help="cases; all of them by default")
    given = parser.parse_args(texts)
    chosen = [case for case in CASES if not given.names or case.name in given.names]
    if unknown := set(given.names) - {case.name for case in CASES}:
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    if given.write and given.names:
        parser.error("the page is written whole; leave out the names of cases")
    rows: list[Row] = []
    failed = 0
    for case in track(chosen, "comparing", transient=True):
        for result in case.results:
            rows.append(row := Row.of(case, result))
            failed += not row.deviation <= result.limit
        if given.write and case.draw is not None:
            case.draw(picture_of(case))
    if given.write:
        PAGE.write_text(page_of(chosen, rows), "utf-8")
    else:
        print("\n".join(row.text for row in rows))
    print(f"{len(rows)} results of {len(chosen)} cases, {failed} too far from the published ones")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
