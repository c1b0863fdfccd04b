"""The tables: every model whole, as rows. The same for SQLite and PostgreSQL.

A graph is stored once, under the hash of its content; revisions point to it. Variable v of
graph g is the row (g, v); its terms are (g, v, 0), (g, v, 1), ..., and the factors of term t are
(g, v, t, 0), (g, v, t, 1), ... So the primary keys alone lead from a variable down to everything
its definition names, and the rows of one definition lie side by side.

The three large tables declare no foreign keys: checking a million of them would take longer
than writing the rows. They are written and removed only together with their row in `graphs`, in
one transaction, and the hash vouches for them. For the same reason factors have no index by the
variable they name: it would take as long to write as all the rows, and a scan of the largest graph
takes a tenth of a second.
"""

from __future__ import annotations

from typing import TypeAlias

import sqlalchemy
from sqlalchemy import (
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    DateTime,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData()

# SQLite numbers the rows of a table by itself only if the key is declared INTEGER.
KEY = BigInteger().with_variant(Integer(), "sqlite")

COST_COLUMNS = ("multiplications", "additions", "sin", "cos", "angle_sums", "calls")


def _table(name: str, *columns: Column[object] | object) -> Table:
    return Table(name, metadata, *columns, sqlite_with_rowid=False)  # type: ignore[arg-type]


def _counts(prefix: str = "") -> list[Column[int]]:
    return [Column(prefix + name, Integer, nullable=False) for name in COST_COLUMNS]


schema_version = Table(
    "schema_version",
    metadata,
    Column("version", Integer, primary_key=True, autoincrement=False),
    Column("applied", DateTime(timezone=True), nullable=False),
)

# --- models and their history ---------------------------------------------------------------

models = Table(
    "models",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("name", Text, nullable=False, unique=True),
    Column("created", DateTime(timezone=True), nullable=False),
)

mechanisms = Table(
    "mechanisms",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("hash", String(64), nullable=False, unique=True),
    Column("name", Text, nullable=False),
    Column("file_name", Text, nullable=False),
    Column("media_type", Text, nullable=False),
    Column("bytes", LargeBinary, nullable=False),
    Column("text", Text, nullable=False),
    Column("notes", Text, nullable=False, server_default="[]"),
)

graphs = Table(
    "graphs",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("hash", String(64), nullable=False, unique=True),
    Column("variables", Integer, nullable=False),
    Column("terms", Integer, nullable=False),
    Column("factors", Integer, nullable=False),
    Column("levels", Integer, nullable=False),
)

revisions = Table(
    "revisions",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("model", KEY, ForeignKey("models.id"), nullable=False),
    Column("number", Integer, nullable=False),
    Column("graph", KEY, ForeignKey("graphs.id"), nullable=False, index=True),
    Column("mechanism", KEY, ForeignKey("mechanisms.id"), index=True),
    Column("parent", Integer),
    Column("formulation", Text, nullable=False),
    Column("step", Text, nullable=False),
    Column("options", Text, nullable=False),
    Column("author", Text, nullable=False),
    Column("note", Text, nullable=False),
    Column("created", DateTime(timezone=True), nullable=False),
    Column("seconds", Double),
    *_counts(),
    Column("seal", Text, nullable=False, server_default=""),
    UniqueConstraint("model", "number"),
    CheckConstraint("parent IS NULL OR parent < number", name="parent_is_earlier"),
)

tags = _table(
    "tags",
    Column("revision", KEY, ForeignKey("revisions.id"), primary_key=True),
    Column("tag", Text, primary_key=True),
)

parameters = _table(
    "parameters",
    Column("revision", KEY, ForeignKey("revisions.id"), primary_key=True),
    Column("name", Text, primary_key=True),
    Column("place", Integer, nullable=False),
    Column("exact", Text),
    Column("value", Double),
    Column("unit", Text, nullable=False),
    Column("note", Text, nullable=False),
)

# --- a graph, row by row --------------------------------------------------------------------

variables = _table(
    "variables",
    Column("graph", KEY, primary_key=True),
    Column("number", Integer, primary_key=True),
    Column("name", Text, nullable=False),
    Column("kind", SmallInteger, nullable=False),
    Column("level", Integer, nullable=False),
    Column("call", String(16)),
    Column("argument", Integer),
)
Index("variables_by_name", variables.c.graph, variables.c.name, unique=True)

terms = _table(
    "terms",
    Column("graph", KEY, primary_key=True),
    Column("owner", Integer, primary_key=True),
    Column("place", Integer, primary_key=True),
    Column("coefficient", Text, nullable=False),
    Column("value", Double),
)

factors = _table(
    "factors",
    Column("graph", KEY, primary_key=True),
    Column("owner", Integer, primary_key=True),
    Column("term", Integer, primary_key=True),
    Column("place", Integer, primary_key=True),
    Column("variable", Integer, nullable=False),
    Column("power", SmallInteger, nullable=False),
)

inputs = _table(
    "inputs",
    Column("graph", KEY, ForeignKey("graphs.id"), primary_key=True),
    Column("variable", Integer, primary_key=True),
    Column("source", String(16), nullable=False),
    Column("place", Integer, nullable=False),
    Column("exact", Text),
    Column("value", Double),
)

aliases = _table(
    "aliases",
    Column("graph", KEY, ForeignKey("graphs.id"), primary_key=True),
    Column("name", Text, primary_key=True),
    Column("place", Integer, nullable=False),
    Column("variable", Integer, nullable=False),
)

shapes = _table(
    "shapes",
    Column("graph", KEY, ForeignKey("graphs.id"), primary_key=True),
    Column("is_output", Boolean, primary_key=True),
    Column("quantity", Text, primary_key=True),
    Column("place", Integer, nullable=False),
    Column("shape", Text, nullable=False),
)

outputs = _table(
    "outputs",
    Column("graph", KEY, ForeignKey("graphs.id"), primary_key=True),
    Column("is_output", Boolean, primary_key=True),
    Column("quantity", Text, primary_key=True),
    Column("place", Integer, primary_key=True),
    Column("indices", Text, nullable=False),
    Column("label", Text, nullable=False),
    Column("variable", Integer, nullable=False),
)

operations = _table(
    "operations",
    Column("graph", KEY, ForeignKey("graphs.id"), primary_key=True),
    Column("quantity", Text, primary_key=True),
    *_counts(),
    *_counts("once_"),
)

caches = _table(
    "caches",
    Column("graph", KEY, ForeignKey("graphs.id"), primary_key=True),
    Column("bytes", LargeBinary, nullable=False),
)

# --- the analytic expression of a variable, where it was expanded -----------------------------

expansions = _table(
    "expansions",
    Column("graph", KEY, ForeignKey("graphs.id"), primary_key=True),
    Column("variable", Integer, primary_key=True),
    Column("form", String(16), primary_key=True),
    Column("terms", Integer, nullable=False),
    Column("hash", String(64), nullable=False, server_default=""),
)

expanded_terms = _table(
    "expanded_terms",
    Column("graph", KEY, ForeignKey("graphs.id"), primary_key=True),
    Column("variable", Integer, primary_key=True),
    Column("form", String(16), primary_key=True),
    Column("place", Integer, primary_key=True),
    Column("coefficient", Text, nullable=False),
    Column("value", Double),
)

expanded_factors = _table(
    "expanded_factors",
    Column("graph", KEY, ForeignKey("graphs.id"), primary_key=True),
    Column("variable", Integer, primary_key=True),
    Column("form", String(16), primary_key=True),
    Column("term", Integer, primary_key=True),
    Column("place", Integer, primary_key=True),
    Column("symbol", Text, nullable=False),
    Column("power", Integer, nullable=False),
)

# --- what is made from a graph ----------------------------------------------------------------

objects = Table(
    "objects",
    metadata,
    Column("key", Text, primary_key=True),
    Column("graph", KEY, ForeignKey("graphs.id"), index=True),
    Column("created", DateTime(timezone=True), nullable=False),
    Column("hash", String(64), nullable=False),
    Column("bytes", LargeBinary, nullable=False),
)

runs = Table(
    "runs",
    metadata,
    Column("id", KEY, primary_key=True),
    Column("revision", KEY, ForeignKey("revisions.id"), nullable=False, index=True),
    Column("kind", Text, nullable=False),
    Column("options", Text, nullable=False),
    Column("created", DateTime(timezone=True), nullable=False),
    Column("seconds", Double),
    Column("media_type", Text, nullable=False),
    Column("bytes", LargeBinary, nullable=False),
    Column("name", Text, nullable=False, server_default=""),
    Column("hash", String(64), nullable=False, server_default=""),
)
Index("runs_by_name", runs.c.revision, runs.c.name, unique=True)

OF_CONTENT: tuple[Table, ...] = (
    *(caches, operations, outputs, shapes, aliases, inputs),
    *(expanded_factors, expanded_terms, expansions, factors, terms, variables),
)
"""What follows from the content of a graph alone, each with a column `graph`."""

OF_GRAPH: tuple[Table, ...] = (objects, *OF_CONTENT)
"""What goes when a graph goes, each with a column `graph`."""

OF_REVISION: tuple[Table, ...] = (tags, parameters, runs)
"""What goes when a revision goes, each with a column `revision`."""


Transaction: TypeAlias = sqlalchemy.Connection
"""What reads and writes rows: all that is done by it is one transaction."""
