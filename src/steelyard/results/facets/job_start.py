"""How long the launches of a first use took to start and to end, apart from what they measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from steelyard.records.parts import Place
from steelyard.results.combined import Combined, middle
from steelyard.results.load import PointLaunch
from steelyard.results.row import Facet

_FIRST = "first"  # the method whose test cases have launches of their own


class JobStart(Facet, frozen=True, kw_only=True):
    """Times in ns of the slowest known rank, the median over launches; `launcher` started them.

    `launch`: from the start of the launcher to main, by the clocks of day of its host and the ranks', with
    its interval over launches; `exec_to_main`: from the start of the process to main, in Linux's steps of
    10 ms; `main_to_init`: from there until MPI_Init_thread was called; `init`: MPI_Init_thread, with its
    interval over launches (None with one); `finalize`: MPI_Finalize. None for a row that shares its launches
    with others.
    """

    launcher: str | None = None
    launch: float | None = None
    launch_low: float | None = None
    launch_high: float | None = None
    exec_to_main: float | None = None
    main_to_init: float | None = None
    init: float | None = None
    init_low: float | None = None
    init_high: float | None = None
    finalize: float | None = None

    @classmethod
    def of(cls, combined: Combined) -> JobStart | None:
        """None for other methods, and where records do not say when a library was started."""
        point = combined.launches[0].point
        inits = _slowest(combined.launches, lambda place: place.init_ns)
        if point is None or point.method != _FIRST or not inits:
            return None
        init = combined.span(inits)
        launches = _slowest(combined.launches, lambda place: place.launch_ns)
        launch = combined.span(launches) if launches else None
        ended = [float(one.finalize_ns) for one in combined.launches if one.finalize_ns]
        return cls(
            launcher=combined.launches[0].job.launcher,
            launch=launch.value if launch else None,
            launch_low=launch.low if launch else None,
            launch_high=launch.high if launch else None,
            exec_to_main=middle(_slowest(combined.launches, lambda place: place.exec_to_main_ns)),
            main_to_init=middle(_slowest(combined.launches, before_init)),
            init=init.value,
            init_low=init.low,
            init_high=init.high,
            finalize=middle(ended),
        )


def before_init(place: Place) -> int | None:
    """Compute what a rank took from main until it called MPI_Init_thread, in ns; None if it does not say."""
    if place.main_to_init_ns is None or place.init_ns is None:
        return None
    return place.main_to_init_ns - place.init_ns


def _slowest(launches: Sequence[PointLaunch], took: Callable[[Place], int | None]) -> list[float]:
    """List what the slowest rank of each launch took; launches that do not say are left out."""
    found = []
    for launch in launches:
        known = [
            ns for place in (launch.start.places if launch.start else ()) if (ns := took(place)) is not None
        ]
        if known:
            found.append(float(max(known)))
    return found
