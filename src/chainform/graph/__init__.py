"""The computation graph: types, builder, checker, interpreter, and what can be done with one."""

from chainform.graph.arithmetic import EXACT, FLOAT, Angle, Arithmetic
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
from chainform.graph.cost import Cost, cost, cost_of, cost_once, parameter_only, term_costs
from chainform.graph.differentiate import Tangents, differentiate
from chainform.graph.evaluate import BatchPlan, evaluate, evaluate_variables, sympy_expressions
from chainform.graph.expand import LIMIT, Expansion, ExpansionSymbol, expand, expansion_text
from chainform.graph.scalar import Number, Scalar, is_zero
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
from chainform.graph.verify import GraphError, verify

__all__ = [
    "CALLS",
    "EXACT",
    "FLOAT",
    "GROUPS",
    "LIMIT",
    "Angle",
    "Arithmetic",
    "BatchPlan",
    "Block",
    "Builder",
    "Call",
    "Cost",
    "Expansion",
    "ExpansionSymbol",
    "Factor",
    "Graph",
    "GraphError",
    "Input",
    "Kind",
    "Number",
    "Scalar",
    "Tangents",
    "Term",
    "Variable",
    "builder_of",
    "cost",
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
    "is_zero",
    "number_text",
    "parameter_only",
    "parse_graph",
    "rebuild",
    "restrict",
    "set_defaults",
    "substitute",
    "sympy_expressions",
    "term_costs",
    "verify",
]
