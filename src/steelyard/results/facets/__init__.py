"""Facets of a row beside its median: a class for each, made from the successful launches.

A new facet is a class with `of`, and a word in `FACETS`; its fields are then in results.json and results.csv.
"""

from __future__ import annotations

from steelyard.results.facets.clock import ClockError, Timer
from steelyard.results.facets.fairness import Fairness, ThreadTimes
from steelyard.results.facets.files import Files
from steelyard.results.facets.footprint import Footprint
from steelyard.results.facets.inside import Answered, Cores, Inside, LibraryHints
from steelyard.results.facets.interfaces import Interfaces, RowInterface, RowPorts
from steelyard.results.facets.job_start import JobStart
from steelyard.results.facets.launch_grouping import LaunchGrouping
from steelyard.results.facets.limits import Limits
from steelyard.results.facets.memory import Memory
from steelyard.results.facets.messages import Messages, Progress
from steelyard.results.facets.modes import Modes, RowMode
from steelyard.results.facets.offered_load import OfferedLoad
from steelyard.results.facets.overhead import ReferenceOverhead
from steelyard.results.facets.precision import PrecisionGoal
from steelyard.results.facets.ranks import Ranks
from steelyard.results.facets.rate import Rate
from steelyard.results.facets.resource_use import ResourceUse
from steelyard.results.facets.roof import Roof
from steelyard.results.facets.samples import RuleQuantile, Samples
from steelyard.results.facets.setup import Setup
from steelyard.results.facets.tails import Tails
from steelyard.results.facets.watched_path import RowPath, Watched
from steelyard.results.facets.windows import RowSpun, Windows

__all__ = [
    "FACETS",
    "Answered",
    "ClockError",
    "Cores",
    "Fairness",
    "Files",
    "Footprint",
    "Inside",
    "Interfaces",
    "JobStart",
    "LaunchGrouping",
    "LibraryHints",
    "Limits",
    "Memory",
    "Messages",
    "Modes",
    "OfferedLoad",
    "PrecisionGoal",
    "Progress",
    "Ranks",
    "Rate",
    "ReferenceOverhead",
    "ResourceUse",
    "Roof",
    "RowInterface",
    "RowMode",
    "RowPath",
    "RowPorts",
    "RowSpun",
    "RuleQuantile",
    "Samples",
    "Setup",
    "Tails",
    "ThreadTimes",
    "Timer",
    "Watched",
    "Windows",
]

# In the order of the columns of results.csv.
FACETS = (
    Samples,
    RuleQuantile,
    Rate,
    Roof,
    Inside,
    Fairness,
    ThreadTimes,
    Answered,
    LibraryHints,
    Files,
    Memory,
    Footprint,
    JobStart,
    Setup,
    LaunchGrouping,
    Timer,
    ClockError,
    Windows,
    Watched,
    Messages,
    OfferedLoad,
    Tails,
    Progress,
    Limits,
    Ranks,
    ResourceUse,
    Interfaces,
    ReferenceOverhead,
    PrecisionGoal,
    Modes,
    Cores,
)
