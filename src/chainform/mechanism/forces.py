"""Generalised forces given by laws: Q(q, qd, t) on a coordinate, also piece by piece in time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from chainform.errors import ReadError
from chainform.mechanism.intake import Intake
from chainform.mechanism.laws import TIME, LawIntake
from chainform.mechanism.numbering import check_distinct
from chainform.mechanism.tables import FORCE_FIELDS, PIECE_FIELDS, check_fields, list_of, table_of
from chainform.mechanism.types import Number

if TYPE_CHECKING:
    from chainform.mechanism.mechanism import Mechanism

MOST_PIECES = 10_000


@dataclass(frozen=True, slots=True)
class Piece:
    """A law and the time in which it holds, start <= t < until (s); None stands for no bound."""

    law: Number
    start: Number | None = None
    until: Number | None = None


@dataclass(frozen=True, slots=True)
class Force:
    """A generalised force (N or N m) that acts on the rate with index `rate`, like a drive.

    At any time it is the sum of the laws of the pieces that hold then, and zero where none does.
    """

    name: str
    rate: int
    pieces: tuple[Piece, ...]

    @property
    def numbers(self) -> Iterator[Number]:
        """The times at which pieces begin and end: numbers of the mechanism."""
        for piece in self.pieces:
            yield from (time for time in (piece.start, piece.until) if time is not None)

    @property
    def laws(self) -> tuple[Number, ...]:
        """The laws of all pieces: expressions of coordinates, rates, time and parameters."""
        return tuple(piece.law for piece in self.pieces)


def forces_from(
    said: Sequence[Mapping[str, object]], mechanism: Mechanism, intake: Intake
) -> tuple[Force, ...]:
    """Return the checked forces of a mechanism: those it has already, then those said."""
    reader = _Reader(mechanism, LawIntake(intake, mechanism.coordinates, mechanism.rates))
    first = len(mechanism.forces) + 1
    made = (reader.force(table, number) for number, table in enumerate(said, first))
    forces = (*mechanism.forces, *made)
    check_distinct([force.name for force in forces], "force", intake)
    return forces


@dataclass(frozen=True, slots=True)
class _Reader:
    mechanism: Mechanism
    laws: LawIntake

    def force(self, table: Mapping[str, object], number: int) -> Force:
        intake = self.laws.intake
        name = f"force{number}"
        if table.get("name") is not None:
            name = intake.text(table["name"], f"force {number}, name")
        where = f"force {name!r}"
        check_fields(table, FORCE_FIELDS, intake.file, where)
        if (table.get("law") is None) == (table.get("pieces") is None):
            remedy = 'write law = "...", or pieces = [{ until = 1, law = "..." }, { law = "..." }]'
            raise intake.error("a force has either a law or pieces", where, remedy)
        rate = self.rate(table.get("joint"), f"{where}, joint")
        if table.get("law") is not None:
            own = {key: table[key] for key in PIECE_FIELDS if table.get(key) is not None}
            return Force(name, rate, self.pieces([own], where))
        for bound in ("from", "until"):
            if table.get(bound) is not None:
                remedy = "write it in the piece that it bounds"
                raise intake.error(f"{bound!r} stands beside pieces", where, remedy)
        pieces = list_of(table["pieces"], intake.file, f"{where}, pieces")
        return Force(name, rate, self.pieces(pieces, where))

    def rate(self, value: object, where: str) -> int:
        """Return the rate that a force acts on: by its name, or as q3, qd3 or tau3."""
        name = self.laws.intake.text(value, where)
        try:
            return self.mechanism.rate_index(name)
        except ReadError as error:
            error.element = where
            raise

    def pieces(self, said: Sequence[object], where: str) -> tuple[Piece, ...]:
        """Return the pieces of one force; each begins where the one before it ends."""
        intake = self.laws.intake
        if not 0 < len(said) <= MOST_PIECES:
            remedy = f"give 1 to {MOST_PIECES} of them"
            raise intake.error(f"a force cannot have {len(said)} pieces", where, remedy)
        pieces: list[Piece] = []
        for number, entry in enumerate(said, 1):
            here = where if len(said) == 1 else f"{where}, piece {number}"
            piece = self.piece(table_of(entry, intake.file, here), pieces, here)
            _check_order(piece, pieces, intake, here)
            pieces.append(piece)
        return tuple(pieces)

    def piece(self, table: Mapping[str, object], before: Sequence[Piece], where: str) -> Piece:
        intake = self.laws.intake
        check_fields(table, PIECE_FIELDS, intake.file, where)
        if table.get("law") is None:
            remedy = 'write law = "..." with coordinates, der(coordinate), t and parameters'
            raise intake.error("the law is missing", where, remedy)
        law = self.laws.law(table["law"], f"{where}, law")
        start, until = (self.time(table, bound, where) for bound in ("from", "until"))
        if start is None and before:
            start = before[-1].until
        return Piece(law, start, until)

    def time(self, table: Mapping[str, object], bound: str, where: str) -> Number | None:
        """Return the time at which a piece begins or ends, None where it is not given."""
        intake = self.laws.intake
        if table.get(bound) is None:
            return None
        if TIME in intake.values:
            message = (
                f"a parameter is called {TIME}, and a force that begins or ends needs the time"
            )
            raise intake.error(message, f"{where}, {bound}", "rename the parameter")
        return intake.number(table[bound], f"{where}, {bound}")


def _check_order(piece: Piece, before: Sequence[Piece], intake: Intake, where: str) -> None:
    """Refuse a piece after one without an end, and times that are known not to grow."""
    if before and before[-1].until is None:
        remedy = "give the piece before it 'until', or leave this one out"
        raise intake.error("the piece before has no end, so this one never begins", where, remedy)
    times = [before[-1].until if before else None, piece.start, piece.until]
    bounds = [intake.known(time, where) for time in times if time is not None]
    known = [bound for bound in bounds if bound is not None]
    empty = piece.start is not None and piece.start == piece.until
    if empty or any(later < earlier for earlier, later in pairwise(known)):
        remedy = "list the pieces by time; each holds from 'from' on and before 'until'"
        raise intake.error("the times of the pieces do not grow", where, remedy)
