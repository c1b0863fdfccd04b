"""From a graph to source text: one language per file, one line each in a table."""

from typing import TYPE_CHECKING

from chainform import lazy

if TYPE_CHECKING:
    from chainform.emitters.definitions import parameters_of
    from chainform.emitters.languages import EMITTERS, LANGUAGES
    from chainform.emitters.languages.c.binary_folder import (
        object_folder,
        shared_folder,
        wasm_folder,
    )
    from chainform.emitters.latex import definition_latex, expansion_latex, latex_name
    from chainform.emitters.llvm import (
        LIBRARY,
        NumberType,
        many,
        packed,
        side_by_side,
        single,
        together,
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
    "EMITTERS",
    "LANGUAGES",
    "LIBRARY",
    "ROWS",
    "Argument",
    "Case",
    "Counts",
    "Function",
    "NumberType",
    "Package",
    "ResultArray",
    "RowPattern",
    "Signature",
    "count_python",
    "definition_latex",
    "expansion_latex",
    "identifier",
    "latex_name",
    "many",
    "object_folder",
    "package_of",
    "packed",
    "parameters_of",
    "shared_folder",
    "side_by_side",
    "signature_of",
    "single",
    "together",
    "wasm_folder",
]

lazy.door(__name__)
