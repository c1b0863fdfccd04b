"""Small changes of the code, and whether the tests notice: `python tools/mutants.py --help`."""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from tools.mutants.command import main

    sys.exit(main())
