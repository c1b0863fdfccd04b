"""Remedies on the command line are things that can be typed there."""

from __future__ import annotations

import pytest

from chainform.cli.entry import shell_words


@pytest.mark.parametrize(
    ("python", "shell"),
    [
        ("derive with parameters='numeric'", "derive with --parameters numeric"),
        ("parameters=['m_6', \"g\"] keeps", "--parameters m_6,g keeps"),
        ("parameters=['m_*']", "--parameters 'm_*'"),
        ("derive it: outputs=['jacobian(tool)']", "derive it: --outputs 'jacobian(tool)'"),
        ("values={'a': ...}", 'in the state, "values": {"a": ...}'),
        ("qd=[...], or ask for", 'in the state, "qd": [...], or ask for'),
        ("each frame named in `wrenches`: force", "each frame named by --wrenches: force"),
        ("force=True overwrites it", "--force overwrites it"),
        (
            "check(repair=True) puts them back; trust_rows=True computes with them as they are",
            "chainform check-db --repair puts them back",
        ),
        ("`models` lists what there is", "chainform models lists what there is"),
        ("check the name", "check the name"),
    ],
)
def test_words(python: str, shell: str) -> None:
    assert shell_words(python) == shell
