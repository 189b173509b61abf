"""The report: one HTML file that needs neither network nor server."""

from steelyard.report.page import report_measured, write_report

__all__ = ["report_measured", "write_report"]
