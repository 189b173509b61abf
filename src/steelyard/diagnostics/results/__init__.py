"""Checks of what was measured: each is a function and its row, in the module of its subject."""

from steelyard.base.diagnostic import Diagnostic, checks_of, diagnose
from steelyard.diagnostics.results import (
    binding,
    buffers,
    clocks,
    files,
    interference,
    launches,
    outcomes,
    plausible,
    records,
    samples,
    system,
)
from steelyard.diagnostics.results.evidence import Evidence
from steelyard.results.load import Measured
from steelyard.results.row import Row
from steelyard.rows.short_names import named_shortly

# A possible cause stands before what it may explain.
CHECKS = checks_of(
    records, binding, system, interference, clocks, plausible, outcomes, samples, launches, buffers, files
)


def diagnostics(measured: Measured, rows: tuple[Row, ...]) -> tuple[Diagnostic, ...]:
    """Run all checks on a results folder; the gravest finding first."""
    return diagnose(CHECKS, Evidence(measured, rows))


def diagnostics_of(measured: Measured, rows: tuple[Row, ...]) -> tuple[Diagnostic, ...]:
    """Run them with names that are paths shortened."""
    return diagnostics(measured, *named_shortly([rows]))
