"""Reports on models for papers, and what notebooks show of every object."""

from typing import TYPE_CHECKING

from chainform import lazy

if TYPE_CHECKING:
    from chainform.reports.notebook import bundle_of
    from chainform.reports.report import ModelReport, report

__all__ = ["ModelReport", "bundle_of", "report"]

lazy.door(__name__)
