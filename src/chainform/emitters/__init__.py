"""From a graph to source text: one language per file, one line each in a table."""

from typing import TYPE_CHECKING

from chainform import lazy

if TYPE_CHECKING:
    from chainform.emitters.definitions import parameters_of
    from chainform.emitters.formula import (
        ZERO,
        Equation,
        Formula,
        MatrixFormula,
        NameFormula,
        NumberFormula,
        TextFormula,
        array_name,
        definition_formula,
        expansion_formula,
        is_negative,
        product_formula,
        sum_formula,
        terms_of,
        value_formula,
        without_sign,
    )
    from chainform.emitters.languages import EMITTERS, LANGUAGES
    from chainform.emitters.languages.c.binary_folder import (
        object_folder,
        shared_folder,
        wasm_folder,
    )
    from chainform.emitters.latex import formula_latex, latex_name
    from chainform.emitters.latex_lines import (
        WIDTH,
        broken_latex,
        equation_latex,
        equations_latex,
        latex_document,
        visible,
    )
    from chainform.emitters.latex_text import tex_text
    from chainform.emitters.llvm import (
        LIBRARY,
        NumberType,
        many,
        packed,
        side_by_side,
        single,
        together,
    )
    from chainform.emitters.mathml import equations_mathml, formula_mathml
    from chainform.emitters.notation import (
        DERIVATIVE,
        TRIG_FORMS,
        Letters,
        Notation,
        names_in_order,
    )
    from chainform.emitters.package import (
        ALL,
        ROWS,
        Case,
        Function,
        Package,
        RowPattern,
        identifier,
        package_of,
    )
    from chainform.emitters.python_operation_count import Counts, count_python
    from chainform.emitters.signature import Argument, ResultArray, Signature, signature_of

__all__ = [
    "ALL",
    "DERIVATIVE",
    "EMITTERS",
    "LANGUAGES",
    "LIBRARY",
    "ROWS",
    "TRIG_FORMS",
    "WIDTH",
    "ZERO",
    "Argument",
    "Case",
    "Counts",
    "Equation",
    "Formula",
    "Function",
    "Letters",
    "MatrixFormula",
    "NameFormula",
    "Notation",
    "NumberFormula",
    "NumberType",
    "Package",
    "ResultArray",
    "RowPattern",
    "Signature",
    "TextFormula",
    "array_name",
    "broken_latex",
    "count_python",
    "definition_formula",
    "equation_latex",
    "equations_latex",
    "equations_mathml",
    "expansion_formula",
    "formula_latex",
    "formula_mathml",
    "identifier",
    "is_negative",
    "latex_document",
    "latex_name",
    "many",
    "names_in_order",
    "product_formula",
    "sum_formula",
    "object_folder",
    "package_of",
    "packed",
    "parameters_of",
    "shared_folder",
    "side_by_side",
    "signature_of",
    "single",
    "terms_of",
    "tex_text",
    "together",
    "value_formula",
    "visible",
    "wasm_folder",
    "without_sign",
]

lazy.door(__name__)
