"""Tests of files: IMB-IO, the phases of IO500 (IOR, mdtest), and the pattern types of b_eff_io.

IMB-IO's were read in its source of 2021, IOR's and mdtest's options in that of IOR 4. b_eff_io's are those of
R. Rabenseifner, A. Koniges, Effective file-I/O bandwidth benchmark, 2000.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from steelyard.plan.suites.like import Like, Value

_SIZES, _TOLD_SIZES = "1..1Mi", "8..1Mi"  # a piece of less than 8 bytes does not tell whose it is
_CALLS_OF_IMB = 50.0  # each behind the one before, in a file that is new where it is written
_AGGREGATE = (
    "50 calls of any size, as its NON-AGGREGATE mode; for the other sync=inside; sizes are each rank's"
)
_STARTED = "one call at a time, the pure time; sizes are each rank's"
_THEIRS = "mean over up to 50 calls, of the slowest rank; a size is divided among the ranks"
# Positioning in IMB's name -> the call that each access has, before _write or _read.
_CALLS = {
    "P_": {"Indv": "{}", "Priv": "{}", "Shared": "{}_shared", "Expl": "{}_at"},
    "C_": {"Indv": "{}_all", "Shared": "{}_ordered", "Expl": "{}_at_all"},
    "S_": {"Indv": "{}", "Expl": "{}_at"},
}
_HARD = 47008  # bytes of a piece in IO500's ior-hard
_IOR: tuple[tuple[str, str, Mapping[str, Value]], ...] = (
    ("ior-easy", "1Mi", {"file": "own", "memory": "one"}),
    ("ior-hard", str(_HARD), {"file": "shared", "pattern": "strided", "memory": "one"}),
)
_STONEWALL = "the original goes on for 300 s"
_COLD = "the page cache is asked to drop the file; that of the original is larger than memory"
_EASY_NAMES = f"empty files in a folder for each rank; {_STONEWALL}"
_HARD_NAMES = "empty files in one folder for all ranks; those of the original have 3901 bytes"
_TREE = "folders in one for all ranks; -b and -z of the original make a tree"
_B_EFF_IO_SIZES = "1Ki,1032,32Ki,32776,1Mi,1048584"  # well-formed ones, and 8 bytes more
# The pattern types 0 to 4: the call, before _write or _read, its parameters, and what differs.
_ONCE: Mapping[str, Value] = {"pattern": "strided", "view": "once"}
_B_EFF_IO: tuple[tuple[str, Mapping[str, Value], str], ...] = (
    ("{}_all", _ONCE, "16 pieces of a strided view in a call"),
    ("{}_ordered", {}, "at the shared pointer, in the order of the ranks"),
    ("{}", {"file": "own"}, "a file for each rank"),
    ("{}", {"pattern": "contiguous"}, "a segment of one file for each rank"),
    ("{}_all", {"pattern": "contiguous"}, "as type 3, collective"),
)


def imb_io() -> Iterator[Like]:
    """Make the rows of IMB-IO."""
    for access in ("write", "read"):
        for prefix, calls in _CALLS.items():
            for position, call in calls.items():
                yield _imb(f"{prefix}{access.capitalize()}_{position}", call.format(access), prefix, position)
                other = f"{call.format(access)}_begin" if prefix == "C_" else f"i{call.format(access)}"
                name = f"{prefix}I{access.capitalize()}_{position}"
                yield _imb(name, other, prefix, position, started=True)
    yield Like(
        "Open_Close",
        "mpi.io.open",
        "1",
        {"calls": 1.0},
        "without the byte that the original writes in between",
        program="IMB-IO",
        theirs="open, a byte, close; mean over up to 50",
    )


def _imb(name: str, call: str, prefix: str, position: str, *, started: bool = False) -> Like:
    params: dict[str, Value] = {"calls": 1.0 if started else _CALLS_OF_IMB}
    if not started:
        params["memory"] = "one"
    if "write" in call:
        params["sync"] = "inside" if started else "visible"
        call = f"{call}.new"
    if position == "Priv" or prefix == "S_":
        params["file"] = "own"
    elif position == "Indv":
        params |= {"pattern": "strided", "view": "type"}
    elif position == "Expl":
        params["pattern"] = "strided"
    sizes = _TOLD_SIZES if position == "Shared" else _SIZES
    mode = _STARTED if started else _AGGREGATE
    said = f"a file for each rank, -n 1 as there; {mode}" if prefix == "S_" else mode
    return Like(name, f"mpi.io.{call}", sizes, params, said, program="IMB-IO", theirs=_THEIRS)


def io500() -> Iterator[Like]:
    """Make rows of the phases of IO500 that measure bytes or names, of mdtest's folders, and of b_eff_io."""
    for name, size, params in _IOR:
        yield Like(
            f"{name}-write", "file.pwrite.new.fsync", size, params, f"16 pieces and fsync; {_STONEWALL}"
        )
        yield Like(f"{name}-read", "file.pread.cold", size, params, _COLD)
    for question, op in (("write", "create"), ("stat", "stat"), ("delete", "unlink")):
        yield Like(f"mdtest-easy-{question}", f"file.{op}", None, {"folder": "own"}, _EASY_NAMES)
        yield Like(f"mdtest-hard-{question}", f"file.{op}", None, {"folder": "shared"}, _HARD_NAMES)
    yield Like("mdtest_directory_creation", "file.mkdir", None, {"folder": "shared"}, _TREE)
    yield Like("mdtest_directory_removal", "file.rmdir", None, {"folder": "shared"}, _TREE)
    for number, (call, given, differs) in enumerate(_B_EFF_IO):
        for access in ("write", "read"):
            name = f"b_eff_io_{number}_{access}"
            yield Like(name, f"mpi.io.{call.format(access)}", _B_EFF_IO_SIZES, given, differs)
