"""A mechanism as the plain data that `check --json` prints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from chainform.cli.printing import Document
from chainform.formulations import COMMON, OF_FRAME, outputs_in_scope
from chainform.mechanism import Mechanism
from chainform.pipeline import available_outputs

Outputs: TypeAlias = Mapping[str, Sequence[str]]
"""The outputs that can be derived, by formulation, without those that all formulations have."""


def mechanism_document(mechanism: Mechanism, outputs: Outputs) -> Document:
    """Return everything that was read; `outputs` are those that can be derived, by formulation."""
    return {
        **mechanism.describe(),
        "outputs": outputs,
        "common_outputs": common_outputs(mechanism),
        "frame_outputs": frame_outputs(mechanism),
    }


def common_outputs(mechanism: Mechanism) -> list[str]:
    """Return the outputs of the whole mechanism that every formulation gives which takes it."""
    return [name for name in available_outputs(mechanism) if name in COMMON]


def frame_outputs(mechanism: Mechanism) -> list[str]:
    """Return the outputs of frames."""
    return list(outputs_in_scope(mechanism, "auto", list(OF_FRAME)))
