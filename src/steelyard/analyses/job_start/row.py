"""The row of this analysis."""

from __future__ import annotations

from steelyard.analyses.analysis import Analysis
from steelyard.analyses.job_start.answers import is_start, start_answers, start_answers_across
from steelyard.analyses.job_start.model import start_times
from steelyard.analyses.job_start.tables import start_tables, start_tables_across

JOB_START = Analysis(
    key="job_starts",  # what the start and the end of a job take
    make=start_times,
    tables=start_tables,
    answers=start_answers,
    is_answered=is_start,
    tables_across=start_tables_across,
    answers_across=start_answers_across,
)
