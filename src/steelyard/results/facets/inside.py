"""The inside of an op: phases of a kernel, its answer, the noise of each core."""

from __future__ import annotations

from steelyard.records.parts import Hint
from steelyard.results.combined import Combined
from steelyard.results.core_noise import CoreNoise, core_noise
from steelyard.results.phases import RowPhases, summarise
from steelyard.results.row import Facet
from steelyard.results.variables import refused


class Inside(Facet, frozen=True, kw_only=True):
    """The phases of an op that names them."""

    phases: RowPhases | None = None

    @classmethod
    def of(cls, combined: Combined) -> Inside | None:
        """None for an op without phases."""
        point = combined.launches[0].point
        found = summarise(
            [chunk for launch in combined.launches for chunk in launch.phases], point.reps if point else 1
        )
        return cls(phases=found) if found else None


class Answered(Facet, frozen=True, kw_only=True):
    """The answer of a kernel: values of the first launch, and `bits` if they are the same in all launches."""

    answer: dict[str, float | None] | None = None
    answer_bits: str | None = None

    @classmethod
    def of(cls, combined: Combined) -> Answered | None:
        """None for an op without an answer."""
        told = [launch.answer for launch in combined.launches if launch.answer is not None]
        if not told:
            return None
        bits = {answer.bits for answer in told}
        return cls(answer=told[0].values, answer_bits=told[0].bits if len(bits) == 1 else None)


class LibraryHints(Facet, frozen=True, kw_only=True):
    """What the library said in the first launch about its hints, and about a window's memory.

    `window_model`: `unified` if a rank and others see the same memory, or `separate`. `reordered` counts the
    ranks that got another number from a library that may choose them (None: it may not), `mapping` lists
    their old numbers in the order of the new ones (none: of many ranks). `refused`
    names the variables of the environment that it does not know, or has another value for.
    """

    hint: Hint | None = None
    window_model: str | None = None
    reordered: int | None = None
    mapping: tuple[int, ...] = ()
    refused: tuple[str, ...] = ()

    @classmethod
    def of(cls, combined: Combined) -> LibraryHints | None:
        """None if it said nothing."""
        first = combined.launches[0]
        said = cls(
            hint=first.hint,
            window_model=first.window_model,
            reordered=first.reordered,
            mapping=first.mapping,
            refused=refused(first.job.given, first.start),
        )
        return said if said != cls() else None


class Cores(Facet, frozen=True, kw_only=True):
    """The noise of each rank's core, of ops of the family noise."""

    cores: tuple[CoreNoise, ...] = ()

    @classmethod
    def of(cls, combined: Combined) -> Cores | None:
        """None for other families."""
        point = combined.launches[0].point
        found = core_noise(point.op, combined.launches) if point else ()
        return cls(cores=found) if found else None
