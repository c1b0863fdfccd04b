"""Reports on models for papers, and what notebooks show of every object."""

from typing import TYPE_CHECKING

from chainform import lazy

if TYPE_CHECKING:
    from chainform.reports.html import waterfall
    from chainform.reports.model_report import REPORT_FORMS, ModelReport, picture_path, report
    from chainform.reports.notebook import bundle_of, page_of

__all__ = [
    "REPORT_FORMS",
    "ModelReport",
    "bundle_of",
    "page_of",
    "picture_path",
    "report",
    "waterfall",
]

lazy.door(__name__)
