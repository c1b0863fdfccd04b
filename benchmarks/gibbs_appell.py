"""Operations of the Gibbs-Appell equations: `python benchmarks/gibbs_appell.py [--most N]`.

Chains of n links that turn and slide through their joints, beside what Korayem and Shafei print for
the inertia matrix and the right-hand side: 197 n^2 - 265 n + 109 multiplications and
157 n^2 - 168 n + 92 additions. The paper does not say for which chain; it multiplies whole 3 x 3
matrices, for which that makes no difference. Here the count depends on the chain: in a plane as in
the paper's example, with axes at right angles or inclined, of rods or of any bodies. Counted are
mass matrix and bias together, as the formulation builds them and after `reduce("fast")`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import chainform as cf

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from sliding_chains import CHAINS, sliding_chain

HEADER = ("n", "paper", "as built", "ratio", "fast", "ratio")


def printed(n: int) -> tuple[int, int]:
    """Return the multiplications and additions that the paper prints for n links."""
    return 197 * n * n - 265 * n + 109, 157 * n * n - 168 * n + 92


def counted(n: int, chain: str, effort: str) -> tuple[int, int]:
    """Return our multiplications and additions, numbers being put in."""
    outputs = ["mass_matrix", "bias"]
    model = cf.derive(sliding_chain(n, chain), outputs, formulation="gibbs_appell")
    count = model.reduce(effort).count()
    return count.multiplications, count.additions


def row(n: int, chain: str) -> list[str]:
    """Return a line of the table."""
    paper = printed(n)
    cells = [str(n), f"{paper[0]}/{paper[1]}"]
    for effort in ("none", "fast"):
        ours = counted(n, chain, effort)
        cells += [f"{ours[0]}/{ours[1]}", f"{sum(ours) / sum(paper):.3f}"]
    return cells


def main() -> None:
    """Print a table for each chain."""
    parser = argparse.ArgumentParser(description="operations beside those of Korayem and Shafei")
    parser.add_argument("--most", type=int, default=10, metavar="N", help="links (default: 10)")
    parser.add_argument("--chain", choices=CHAINS, help="one of the chains (default: all)")
    args = parser.parse_args()
    print("multiplications/additions of mass matrix and bias, n turning and sliding links")
    for chain in [args.chain] if args.chain else CHAINS:
        print(f"\n{chain}\n")
        print(f"| {' | '.join(HEADER)} |\n{'|---' * len(HEADER)}|")
        for n in range(1, args.most + 1):
            print(f"| {' | '.join(row(n, chain))} |", flush=True)


if __name__ == "__main__":
    main()
