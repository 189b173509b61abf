"""Checks of this machine before anything is measured, as far as it may matter to a measurement."""

from steelyard.base.diagnostic import Diagnostic, checks_of, diagnose
from steelyard.doctor import machine, settings
from steelyard.doctor.patient import Patient

__all__ = ["CHECKS", "Patient", "examine"]

CHECKS = checks_of(machine, settings)


def examine(patient: Patient) -> tuple[Diagnostic, ...]:
    """What the checks find, the gravest first."""
    return diagnose(CHECKS, patient)
