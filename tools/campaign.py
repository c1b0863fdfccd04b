"""Random mechanisms at every path, compared with a reference: `python tools/campaign.py --help`."""

import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    from tools.campaign.command import main, on_signals

    on_signals()
    sys.exit(main())
