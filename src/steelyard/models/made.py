"""All models of rows: their keys in results.json, and the functions that make them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from steelyard.models.algorithms import algorithms_of
from steelyard.models.collective_lines import collective_lines_of
from steelyard.models.cores import streams_of
from steelyard.models.efficiency import efficiencies
from steelyard.models.exchanges import exchanges_of
from steelyard.models.functionality import functionality_of
from steelyard.models.growth import growths_of
from steelyard.models.loggp import log_models
from steelyard.models.max_rate import max_rates_of
from steelyard.models.micro_macro import macro_of
from steelyard.models.overheads import overheads_of
from steelyard.models.overlap import curves
from steelyard.models.ranking import choices_of, rankings_of, settings_ranked
from steelyard.models.roofs import phase_roofs_of
from steelyard.models.scaling import scaling_curves
from steelyard.models.thread_costs import thread_curves
from steelyard.results.row import Row

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Model(Generic[T_co]):
    """A model of rows: its key in results.json, and the function that makes it."""

    key: str
    make: Callable[[Sequence[Row]], T_co]


OVERLAP = Model("overlap", curves)  # over work
FLOOR = Model("floor", efficiencies)  # MPI's efficiency against the layers below it
MACRO = Model("macro", macro_of)  # predictions for kernels from messages
SCALING = Model("scaling", scaling_curves)  # over ranks and threads
EXCHANGES = Model("exchanges", exchanges_of)  # ways to move the halos of applications
PHASE_ROOFS = Model("phase_roofs", phase_roofs_of)  # bytes that phases of kernels move, against STREAM
FUNCTIONALITY = Model("functionality", functionality_of)  # which one-sided calls work
RANKINGS = Model("rankings", rankings_of)  # the fastest way to call them
CHOICES = Model("choices", choices_of)  # the same for calls with the same effect
SETTINGS = Model("settings", settings_ranked)  # the same for settings of launches
STREAMS = Model("streams", streams_of)  # threads against processes
THREADS = Model("threads", thread_curves)  # rates over threads
MESSAGES = Model("messages", log_models)  # the cost of messages by their size
OVERHEADS = Model("overheads", overheads_of)  # the parts of that cost
RATES = Model("rates", max_rates_of)  # the bandwidth that pairs of ranks share
TREES = Model("trees", algorithms_of)  # the algorithms that broadcasts seem to use
COLLECTIVES = Model("collectives", collective_lines_of)  # lines of collectives over sizes
GROWTH = Model("growth", growths_of)  # collectives over ranks

MODELS: tuple[Model[Any], ...] = (
    *(OVERLAP, FLOOR, MACRO, SCALING, EXCHANGES, PHASE_ROOFS, FUNCTIONALITY, RANKINGS, CHOICES, SETTINGS),
    *(STREAMS, THREADS, MESSAGES, OVERHEADS, RATES, TREES, COLLECTIVES, GROWTH),
)


class Made:
    """The rows of a folder and their models; each model is made once, when it is first used.

    `made(SCALING)` are the curves of scaling; `made.rows` the rows.
    """

    def __init__(self, rows: Sequence[Row]) -> None:
        self.rows = tuple(rows)
        self._found: dict[str, Any] = {}

    def __call__(self, model: Model[T]) -> T:
        """Make a model of the rows, or return the one made before."""
        if model.key not in self._found:
            self._found[model.key] = model.make(self.rows)
        found: T = self._found[model.key]
        return found
