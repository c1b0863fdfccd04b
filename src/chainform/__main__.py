"""`python -m chainform` is the command `chainform`."""

from __future__ import annotations

import sys

from chainform.cli import main

if __name__ == "__main__":
    sys.exit(main())
