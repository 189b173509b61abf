"""Checks of what was measured: each is a function with its row, in the module of what it looks at."""

from steelyard.base.diagnostic import Diagnostic, checks_of, diagnose
from steelyard.checks import binding, buffers, clocks, interference, launches, outcomes, plausible, samples
from steelyard.checks.evidence import Evidence
from steelyard.results.load import Measured
from steelyard.results.row import Row

# What may be a cause before what it explains.
CHECKS = checks_of(binding, interference, clocks, plausible, outcomes, samples, launches, buffers)


def diagnostics(measured: Measured, rows: tuple[Row, ...]) -> tuple[Diagnostic, ...]:
    """What the checks find in a results folder, the gravest first."""
    return diagnose(CHECKS, Evidence(measured, rows))
