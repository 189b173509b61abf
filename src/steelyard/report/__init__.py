"""The report: one HTML file that needs nothing else, neither network nor server."""

from steelyard.report.page import write_report

__all__ = ["write_report"]
