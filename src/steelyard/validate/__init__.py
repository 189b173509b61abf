"""`steelyard validate`: every method against simulated ground truth."""

from steelyard.validate.claims import CLAIMS, Claim, Verdict, check_claims
from steelyard.validate.design import SimulatedMachine, Simulation, Wishes, simulations, user_machine
from steelyard.validate.rows import Comparison, NotRun, stated_error
from steelyard.validate.run import Finished, validate
from steelyard.validate.summary import Bias, biases, document, report_lines

__all__ = [
    "CLAIMS",
    "Bias",
    "Claim",
    "Comparison",
    "Finished",
    "NotRun",
    "SimulatedMachine",
    "Simulation",
    "Verdict",
    "Wishes",
    "biases",
    "check_claims",
    "document",
    "report_lines",
    "simulations",
    "stated_error",
    "user_machine",
    "validate",
]
