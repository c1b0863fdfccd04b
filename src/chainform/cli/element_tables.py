"""The tables of `check` for elements and constraints."""

from __future__ import annotations

from chainform.cli.printing import Page
from chainform.mechanism import Description


def show_elements(page: Page, said: Description) -> None:
    """Show elements, unknown forces, definitions, constraints and quasi-velocities."""
    if said.elements:
        page.heading("elements (m, kg, N, rad)")
        page.table(
            ("name", "kind", "place", "content"),
            [(row.name, row.kind, row.place, row.content) for row in said.elements],
        )
    if said.unknowns:
        page.heading("unknown forces")
        page.text(f"  {', '.join(said.unknowns)}")
    if said.definitions:
        page.heading("definitions")
        page.table(("name", "law"), [(row.name, row.law) for row in said.definitions])
    bound = [*said.constraints, *said.quasi]
    if bound:
        page.heading("constraints and quasi-velocities")
        rows = [(row.name, row.kind, row.law) for row in bound]
        page.table(("name", "kind", "condition or law"), rows)
