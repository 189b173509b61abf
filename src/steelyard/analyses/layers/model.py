"""What a layer adds to an operation: its time with the layer less that without, launch by launch.

A layer is a tool, a check or a container that stands between a program and its library while the program
does the same. Both test cases are of one campaign and differ in nothing else, and launches of one number are
of one round. Their differences are in ns, because a layer adds the same to a call whatever the call takes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from steelyard.records.campaign_file import UNSET, WRAPPER
from steelyard.records.fields import Params
from steelyard.results.facets import LibraryHints
from steelyard.results.key import key_of
from steelyard.results.row import Row
from steelyard.rows.labels import told_params
from steelyard.stats import Interval, difference_interval
from steelyard.stats.fast_stats import middle

# A variable of launches that puts a layer in -> its values without the layer. What a plan does not set is no
# value: nobody knows then what the user's environment has.
LAYERS: Mapping[str, tuple[str, ...]] = {
    "LD_PRELOAD": (UNSET,),  # tools that wrap the calls of MPI, of malloc, of files
    "LD_AUDIT": (UNSET,),
    "OMP_TOOL": ("disabled",),  # OMPT, in runtimes of OpenMP that have it
    "OMP_TOOL_LIBRARIES": (UNSET,),
    "OMPI_MCA_mpi_param_check": ("0", "false"),  # Open MPI looks at the arguments of each call
    "OMPI_MCA_pml_monitoring_enable": (UNSET, "0"),  # Open MPI counts the messages between each two ranks
    "OMPI_MCA_mpi_ft_enable": (UNSET, "0", "false"),  # Open MPI 5 is ready for the death of ranks
    "MPIR_CVAR_ERROR_CHECKING": ("0",),  # the same looks of MPICH
    WRAPPER: (UNSET,),  # containers
}
ENGINE = "engine"  # a layer of its own: another engine for the same MPI, such as one of the standard ABI
_AND = "+"  # in the name of an MPI, before the engine that an arm gives it
COSTS, SAVES, NOT_SEEN, CANNOT_TELL = "costs", "saves", "not seen", "cannot tell"
NOT_IN = "not in"  # the library does not know the variable, so that nothing was put in
_LEAST = 2  # launches of which an interval can be made


class LayerCost(Struct, frozen=True, kw_only=True):
    """One layer in one test case: `without` is the time of the operation without it, `cost` what it adds.

    `layer` is the variable that puts it in, or `engine`; `value` is what that is set to, or its path. Both
    times are ns of one operation, medians over `launches` that both have. `env` has the other variables. The
    interval of the `cost` has 95 %; `verdict` says on which side of 0 it lies, or that the library did not
    take the variable.
    """

    op: str
    mpi: str | None
    bytes: int
    sized: bool
    ranks: int
    threads: int
    placement: str | None
    method: str
    params: Params
    env: dict[str, str]
    layer: str
    value: str
    without: float
    cost: Interval
    launches: int
    verdict: str


def layer_costs(rows: Sequence[Row]) -> tuple[LayerCost, ...]:
    """Compare each row that has a layer with the same one without, in the order of the rows."""
    timed = [row for row in rows if row.status == "ok" and row.unit == "ns" and row.bound is None]
    layered = [(row, layer, value) for row in timed for layer, value in _layers(row)]
    base = {(layer, _key(row, layer)): row for row, layer, value in layered if value is None}
    costs = (
        _cost(row, (layer, value), without, timed)
        for row, layer, value in layered
        if value is not None and (without := base.get((layer, _key(row, layer)))) is not None
    )
    return tuple(cost for cost in costs if cost is not None)


def _layers(row: Row) -> Iterator[tuple[str, str | None]]:
    """List the layers that a row could have, and the value of each that it has; None for one without."""
    for layer, without in LAYERS.items():
        if layer in row.env:
            value = row.env[layer]
            yield layer, None if value in without else value
    if row.mpi is not None:
        yield ENGINE, row.mpi.partition(_AND)[2] or None


def _key(row: Row, layer: str) -> tuple[object, ...]:
    if layer == ENGINE:
        return ((row.mpi or "").partition(_AND)[0], *key_of(row, ("mpi",)))
    return key_of(row, (f"env.{layer}",))


def _cost(row: Row, layer: tuple[str, str], without: Row, among: Sequence[Row]) -> LayerCost | None:
    """None where no launch has both."""
    mine, theirs = (
        {case.launch: case.median for case in of.launches if case.median is not None and case.status == "ok"}
        for of in (row, without)
    )
    shared = sorted(mine.keys() & theirs.keys())
    added = [mine[launch] - theirs[launch] for launch in shared]
    if not added:
        return None
    span = difference_interval(added) if len(added) >= _LEAST else None
    cost = Interval(span.value, span.low, span.high) if span else Interval(added[0])
    return LayerCost(
        op=row.op,
        mpi=without.mpi,
        bytes=row.bytes,
        sized=row.sized,
        ranks=row.ranks,
        threads=row.threads,
        placement=row.placed_text,
        method=row.method,
        params=told_params(row, among),
        env={name: value for name, value in row.env.items() if name != layer[0]},
        layer=layer[0],
        value=layer[1],
        without=middle([theirs[launch] for launch in shared]),
        cost=cost,
        launches=len(added),
        verdict=NOT_IN if layer[0] in row.get(LibraryHints).refused else _verdict(cost),
    )


def _verdict(cost: Interval) -> str:
    if cost.low is None or cost.high is None:
        return CANNOT_TELL
    return COSTS if cost.low > 0 else SAVES if cost.high < 0 else NOT_SEEN
