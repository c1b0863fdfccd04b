"""The computation graph: types, builder, checker, interpreter, and what can be done with one."""

from typing import TYPE_CHECKING

from chainform import lazy

if TYPE_CHECKING:
    from chainform.graph.angles import Angles, AngleSum, combined, whole_parts
    from chainform.graph.arithmetic import (
        EXACT,
        FLOAT,
        Angle,
        Arithmetic,
        call_of_number,
        is_even,
        is_odd,
    )
    from chainform.graph.builder import Builder
    from chainform.graph.copy import (
        builder_of,
        graft,
        include,
        rebuild,
        restrict,
        set_defaults,
        substitute,
    )
    from chainform.graph.derivatives import Tangents, differentiate
    from chainform.graph.draft import Draft, add_term, cheaper_graph, terms_cost
    from chainform.graph.evaluation import (
        BatchPlan,
        evaluate,
        evaluate_variables,
        sympy_expressions,
    )
    from chainform.graph.expansion import LIMIT, Expansion, ExpansionSymbol, expand, expansion_text
    from chainform.graph.operation_count import (
        Cost,
        angle_variables,
        cost,
        cost_by_entry,
        cost_of,
        cost_once,
        parameter_only,
        term_costs,
    )
    from chainform.graph.scalar import Monomial, Number, Scalar, Terms, is_zero, shortest_number
    from chainform.graph.text import definition_text, graph_text, number_text, parse_graph
    from chainform.graph.types import (
        CALLS,
        GROUPS,
        Block,
        Call,
        Factor,
        Graph,
        Input,
        Kind,
        Term,
        Variable,
    )
    from chainform.graph.verification import GraphError, verify

__all__ = [
    "CALLS",
    "EXACT",
    "FLOAT",
    "GROUPS",
    "LIMIT",
    "Angle",
    "AngleSum",
    "Angles",
    "Arithmetic",
    "BatchPlan",
    "Block",
    "Builder",
    "Call",
    "Cost",
    "Draft",
    "Expansion",
    "ExpansionSymbol",
    "Factor",
    "Graph",
    "GraphError",
    "Input",
    "Kind",
    "Monomial",
    "Number",
    "Scalar",
    "Tangents",
    "Term",
    "Terms",
    "Variable",
    "add_term",
    "angle_variables",
    "builder_of",
    "call_of_number",
    "cheaper_graph",
    "combined",
    "cost",
    "cost_by_entry",
    "cost_of",
    "cost_once",
    "definition_text",
    "differentiate",
    "evaluate",
    "evaluate_variables",
    "expand",
    "expansion_text",
    "graft",
    "graph_text",
    "include",
    "is_even",
    "is_odd",
    "is_zero",
    "number_text",
    "parameter_only",
    "parse_graph",
    "rebuild",
    "restrict",
    "set_defaults",
    "shortest_number",
    "substitute",
    "sympy_expressions",
    "term_costs",
    "terms_cost",
    "verify",
    "whole_parts",
]

lazy.door(__name__)
