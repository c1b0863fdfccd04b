"""Generalised forces given by laws: Q(q, qd, t) on a coordinate, also piece by piece in time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

from chainform.given import Given
from chainform.mechanism.data import MechanismData
from chainform.mechanism.laws import TIME, LawReader
from chainform.mechanism.reader import Reader
from chainform.mechanism.records import Force, Number, Piece
from chainform.mechanism.tables import FORCE_FIELDS, PIECE_FIELDS

MOST_PIECES = 10_000


def forces_from(
    tables: Sequence[Mapping[str, object]], mechanism: MechanismData, reader: Reader
) -> tuple[Force, ...]:
    """Return the checked forces of a mechanism: those it has already, then those of tables."""
    laws = LawReader(reader, mechanism.coordinates, mechanism.rates)
    first = len(mechanism.forces) + 1
    made = (_force(table, number, mechanism, laws) for number, table in enumerate(tables, first))
    forces = (*mechanism.forces, *made)
    reader.check_distinct([force.name for force in forces], "force")
    return forces


def _force(value: object, number: int, mechanism: MechanismData, laws: LawReader) -> Force:
    name, table = laws.reader.named(value, "force", number, FORCE_FIELDS)
    remedy = 'write law = "...", or pieces = [{ until = 1, law = "..." }, { law = "..." }]'
    form = table.one_of("law", "pieces", remedy=remedy)
    joint = table["joint"]
    with joint.translate_errors():
        rate = mechanism.rate_index(joint.name())
    if form == "law":
        own = {key: table.value[key] for key in PIECE_FIELDS if table.has(key)}
        return Force(name, rate, _pieces([table.holding(own)], table, laws))
    for bound in ("from", "until"):
        if table.has(bound):
            message = f"{bound!r} stands beside pieces"
            raise table.error(message, "write it in the piece that it bounds")
    pieces = [
        piece.at(f"{table.element}, piece {k}")
        for k, piece in enumerate(table["pieces"].entries(), 1)
    ]
    return Force(name, rate, _pieces(pieces, table, laws))


def _pieces(given: Sequence[Given], force: Given, laws: LawReader) -> tuple[Piece, ...]:
    """Return the pieces of one force; each begins where the one before it ends."""
    if not 0 < len(given) <= MOST_PIECES:
        remedy = f"give 1 to {MOST_PIECES} of them"
        raise force.error(f"a force cannot have {len(given)} pieces", remedy)
    pieces: list[Piece] = []
    for entry in given:
        table = entry.table(PIECE_FIELDS)
        remedy = 'write law = "..." with coordinates, der(coordinate), t and parameters'
        law = laws.law(table.required("law", remedy))
        start, until = (_time(table[bound], laws.reader) for bound in ("from", "until"))
        if start is None and pieces:
            start = pieces[-1].until
        piece = Piece(law, start, until)
        _check_order(piece, pieces, entry, laws.reader)
        pieces.append(piece)
    return tuple(pieces)


def _time(given: Given, reader: Reader) -> Number | None:
    """Return the time at which a piece begins or ends, None where it is not given."""
    if not given.is_given:
        return None
    if TIME in reader.values:
        message = f"a parameter is called {TIME}, and a force that begins or ends needs the time"
        raise given.error(message, "rename the parameter")
    return reader.number(given)


def _check_order(piece: Piece, before: Sequence[Piece], given: Given, reader: Reader) -> None:
    """Refuse a piece after one without an end, and times that are known not to grow."""
    if before and before[-1].until is None:
        remedy = "give the piece before it 'until', or leave this one out"
        raise given.error("the piece before has no end, so this one never begins", remedy)
    times = [before[-1].until if before else None, piece.start, piece.until]
    bounds = [reader.known(time, given) for time in times if time is not None]
    known = [bound for bound in bounds if bound is not None]
    empty = piece.start is not None and piece.start == piece.until
    if empty or any(later < earlier for earlier, later in pairwise(known)):
        remedy = "list the pieces by time; each holds from 'from' on and before 'until'"
        raise given.error("the times of the pieces do not grow", remedy)
