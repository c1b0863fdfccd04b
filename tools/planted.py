"""Defects planted by hand, and what catches each: `python tools/planted.py --help`."""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from tools.mutants.planted import main

    sys.exit(main())
