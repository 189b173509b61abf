"""A machine against a reference of it."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from steelyard.base.errors import InputError
from steelyard.base.plural import counted
from steelyard.base.printable import shortened
from steelyard.base.units import format_factor
from steelyard.judges.accept.criterion import NOT_WELL, WELL, Candidate, Finding, criterion
from steelyard.judges.accept.measurement import Weighed
from steelyard.judges.compare.arms import rivals_of
from steelyard.judges.compare.scale import SLOWER, Question
from steelyard.judges.compare.verdicts import CaseVerdict, compare
from steelyard.judges.history.settings import differences, settings_of
from steelyard.judges.verdict import CANNOT_TELL
from steelyard.records.command_line import command
from steelyard.records.kinds import FILE
from steelyard.results.row import Row

_LEAST = 0.05  # of a time: the least difference that is a fault
_FIRST = "first"  # the method of first uses
_MARGIN = 0.35  # of a time: two sittings of some 70 test cases cannot show less
_MOST_NAMED = 3  # test cases, or settings, in a sentence
_LONGEST = 40  # letters of a setting in a sentence


@criterion(
    "reference",
    "Is it as fast as the reference was?",
    remedy="Measure again with the settings of the reference.",
)
def reference(candidate: Candidate) -> Finding | None:
    """Judge by a comparison of folders; None without a reference. Files and first uses have their topics."""
    return against_reference(candidate, lambda row: row.role != FILE and not is_first_use(row))


def is_first_use(row: Row) -> bool:
    """Was it timed before all else in a launch, which is one sample?"""
    return row.method == _FIRST


def against_reference(candidate: Candidate, is_asked: Callable[[Row], bool]) -> Finding | None:
    """Compare the rows that are asked for with those of the reference; None without a reference."""
    if candidate.reference is None:
        return None
    base, own = candidate.reference, candidate.weighed
    if _kind(base) != _kind(own):
        return Finding(
            CANNOT_TELL,
            f"{base.name} is of another kind of machine ({_kind(base)}) than this one ({_kind(own)}).",
            "Give a reference of the same kind.",
        )
    try:
        rivals = rivals_of({one.name: tuple(filter(is_asked, one.rows)) for one in (base, own)})
        if rivals.variables:
            return _other_variables(rivals.variables, base)
        found = compare(
            rivals,
            by_turns=False,
            asked=Question(least=_LEAST, margin=_MARGIN),
        )
    except InputError as error:
        text, _, what = str(error).partition("; ")
        return Finding(CANNOT_TELL, f"{text}.", f"{what}." if what else "")
    slower = [point for point in found.points if point.verdict == SLOWER]
    if slower:
        return Finding(
            NOT_WELL,
            _slower_words(slower, len(found.points), base) + _set_differently(base, own),
            _remedy(*(str(one.measured.folder) for one in (base, own))),
            launches=own.launches,
        )
    cases = counted(len(found.points), "test case")
    undecided = sum(point.verdict == CANNOT_TELL for point in found.points)
    if undecided:
        return Finding(
            CANNOT_TELL,
            f"none of {cases} is seen to be slower than in {base.name}, but {undecided} may be by more than "
            f"{100 * _MARGIN:g} %: the launches differ too much.",
            f"Give both more launches: {own.go_on()}" if own.go_on() else "Give both more launches.",
        )
    return Finding(WELL, f"none of {cases} is slower than in {base.name} by more than {100 * _MARGIN:g} %.")


def _other_variables(variables: Sequence[str], base: Weighed) -> Finding:
    """Judge nothing where variables differ: no machine is ill for a setting that it was given."""
    words = "; ".join(shortened(text, _LONGEST) for text in variables)
    again = command("rerun", str(base.measured.folder))
    return Finding(CANNOT_TELL, f"the variables differ ({words}).", f"To measure as {base.name} was: {again}")


def _remedy(*folders: str) -> str:
    return (
        "Measure again with the settings of the reference. "
        f"All test cases: {command('compare', *folders)}; all settings: {command('diff', *folders)}"
    )


def _kind(weighed: Weighed) -> str:
    """Describe the machine: `AMD EPYC 7B13, 2 cores`."""
    machine = weighed.measured.campaign.machine
    return f"{machine.get('cpu_model') or 'not told'}, {counted(len(machine.get('cores') or ()), 'core')}"


def _slower_words(slower: Sequence[CaseVerdict], count: int, base: Weighed) -> str:
    """Write `2 of 60 test cases are slower than in A: mpi.bcast 8 B takes 2.3 times (2.1 to 2.5)
    as long.`.
    """
    worst = sorted(slower, key=lambda one: -(one.ratio or 0.0))
    named = "; ".join(map(_case_words, worst[:_MOST_NAMED]))
    more = f"; and {len(worst) - _MOST_NAMED} more" if len(worst) > _MOST_NAMED else ""
    are = "is" if len(slower) == 1 else "are"
    return f"{len(slower)} of {counted(count, 'test case')} {are} slower than in {base.name}: {named}{more}."


def _case_words(verdict: CaseVerdict) -> str:
    name = ", ".join(part for part in (f"{verdict.op} {verdict.size}".rstrip(), verdict.what) if part)
    times, low, high = (format_factor(ratio or 0.0) for ratio in (verdict.ratio, verdict.low, verdict.high))
    return f"{name} takes {times} times ({low} to {high}) as long"


def _set_differently(base: Weighed, weighed: Weighed) -> str:
    """Name the different settings, variables first, as a sentence."""
    before, now = (settings_of(one.measured.campaign.machine, one.measured.files) for one in (base, weighed))
    found = differences(before, now)
    cut = [(name, shortened(a, _LONGEST), shortened(b, _LONGEST)) for name, a, b in found[:_MOST_NAMED]]
    named = "; ".join(f"{name} was {a}, is {b}" for name, a, b in cut)
    more = f"; and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    return f" Set differently: {named}{more}." if found else " No setting differs that is known."
