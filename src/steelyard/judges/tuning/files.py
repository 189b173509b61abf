"""Tables of algorithms as the files that libraries read, and the variables that make them read.

What was not measured, other collectives, numbers of ranks and sizes, is left to the library's own table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from steelyard.base.errors import InputError
from steelyard.judges.tuning.ranges import Ranges, SizeRange


class TuningFile(Struct, frozen=True):
    """What makes a library take the table: variables, and a file that they name (no text: they say all)."""

    settings: dict[str, str]
    name: str = ""
    text: str = ""


# Open MPI's numbers of collectives in a file of rules (coll_base_functions.h), and of their algorithms
# ('ompi_info --param coll tuned --level 9').
_COLLECTIVES = {
    "allgather": 0, "allgatherv": 1, "allreduce": 2, "alltoall": 3, "alltoallv": 4, "barrier": 6, "bcast": 7,
    "gather": 9, "reduce": 11, "reduce_scatter": 12, "reduce_scatter_block": 13, "scatter": 15,
}  # fmt: skip
_ALGORITHMS: Mapping[str, tuple[str, ...]] = {
    "allgather": ("linear", "bruck", "recursive_doubling", "ring", "neighbor", "two_proc"),
    "allreduce": (
        *("basic_linear", "nonoverlapping", "recursive_doubling", "ring", "segmented_ring", "rabenseifner"),
    ),
    "alltoall": ("linear", "pairwise", "modified_bruck", "linear_sync", "two_proc"),
    "bcast": (
        *("basic_linear", "chain", "pipeline", "split_binary_tree", "binary_tree", "binomial", "knomial"),
        *("scatter_allgather", "scatter_allgather_ring"),
    ),
    "reduce": (
        *("linear", "chain", "pipeline", "binary", "binomial", "in-order_binary", "rabenseifner", "knomial"),
    ),
}
_OF_ALL = ("allgather", "alltoall")  # whose size is that of all blocks in Open MPI's rules
_FANOUT = 4  # of a chain, as where the algorithm is forced (coll_tuned_init_chain_fanout)
_OWN = "0"  # in place of an algorithm: Open MPI's fixed decision


def _openmpi(ranges: Ranges, path: Path, own_table: Mapping[str, Any]) -> TuningFile:
    """Write a file of dynamic rules: for each collective and number of ranks, sizes from which one holds."""
    del own_table
    lines = [f"{len(ranges)} # collectives"]
    for collective, by_ranks in ranges.items():
        if collective not in _COLLECTIVES:
            raise InputError(f"Open MPI's file of rules has no {collective}; leave it out of the sweep")
        teams = dict(_teams(by_ranks))
        lines += [f"{_COLLECTIVES[collective]} # {collective}", f"{len(teams)} # numbers of ranks"]
        for ranks, sizes in teams.items():
            rules = list(_rules(collective, ranks, sizes))
            lines += [f"{ranks} # ranks", f"{len(rules)} # sizes: bytes, algorithm, fan-out, segment", *rules]
    settings = {
        "OMPI_MCA_coll_tuned_use_dynamic_rules": "1",
        "OMPI_MCA_coll_tuned_dynamic_rules_filename": str(path),
    }
    return TuningFile(settings, path.name, "\n".join(lines) + "\n")


def _teams(by_ranks: Mapping[int, tuple[SizeRange, ...]]) -> Iterator[tuple[int, tuple[SizeRange, ...]]]:
    """List the numbers of ranks from which rules hold, also those from which none do."""
    yield 0, ()
    for ranks, sizes in by_ranks.items():
        yield ranks, sizes
        if ranks + 1 not in by_ranks:
            yield ranks + 1, ()


def _rules(collective: str, ranks: int, sizes: tuple[SizeRange, ...]) -> Iterator[str]:
    blocks = ranks if collective in _OF_ALL else 1
    begins = {0: _OWN}
    for span in sizes:
        begins[span.low * blocks] = _number(collective, span.algorithm)
        begins[span.high * blocks + 1] = _OWN
    for begin, algorithm in begins.items():
        yield f"{begin} {algorithm} {_FANOUT if algorithm != _OWN else 0} 0"


def _number(collective: str, algorithm: str) -> str:
    if not algorithm or algorithm.isdecimal():
        return algorithm or _OWN
    names = _ALGORITHMS.get(collective, ())
    if algorithm not in names:
        raise InputError(
            f"Open MPI's number of {collective} {algorithm} is not known; force it by its number"
        )
    return str(1 + names.index(algorithm))


# What algorithms of MPICH need beside a number of ranks, in the words of its table, the outer one first.
_NEEDS: Mapping[str, tuple[str, ...]] = {
    "allreduce": ("is_op_built_in=yes", "count<pow2"),
    "reduce": ("is_op_built_in=yes", "count<pow2"),
    "alltoall": ("is_sendbuf_inplace=no",),
}
_FEW = "count<pow2"  # in which case the library's own choice holds
# For numbers of ranks that are powers of two; where it is forced on others, MPICH takes its own.
_POWERS_ONLY = ("scatter_recursive_doubling_allgather",)


def _mpich(ranges: Ranges, path: Path, own_table: Mapping[str, Any]) -> TuningFile:
    """Write MPICH's own table with the chosen algorithms in front; a file takes the place of all of it.

    The device keeps the collectives that are not in the file.
    """
    table = dict(own_table)
    for collective, by_ranks in ranges.items():
        key = f"collective={collective}"
        if "comm_type=intra" not in table.get(key, {}):
            raise InputError(f"MPICH's table of algorithms has no {collective}; leave it out of the sweep")
        usual = table[key]["comm_type=intra"]
        teams: dict[str, Any] = {}
        for ranks, sizes in by_ranks.items():
            teams[f"comm_size<{ranks}"] = usual
            chosen = _by_size(collective, ranks, sizes, usual)
            teams[f"comm_size<={ranks}"] = _needed(collective, chosen, usual)
        table[key] = {**table[key], "comm_type=intra": {**teams, "comm_size=any": usual}}
    settings = {
        "MPIR_CVAR_DEVICE_COLLECTIVES": "percoll",
        **{f"MPIR_CVAR_{collective.upper()}_DEVICE_COLLECTIVE": "0" for collective in ranges},
        "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": str(path),
    }
    text = msgspec.json.format(msgspec.json.encode(table), indent=1).decode()
    return TuningFile(settings, path.name, text + "\n")


def _by_size(collective: str, ranks: int, sizes: tuple[SizeRange, ...], usual: Any) -> dict[str, Any]:
    by_size: dict[str, Any] = {f"avg_msg_size<{sizes[0].low}": usual} if sizes[0].low > 0 else {}
    for span in sizes:
        is_own = not span.algorithm or (span.algorithm in _POWERS_ONLY and ranks & (ranks - 1))
        name = f"algorithm=MPIR_{collective.capitalize()}_intra_{span.algorithm}"
        by_size[f"avg_msg_size<={span.high}"] = usual if is_own else {name: {}}
    return {**by_size, "avg_msg_size=any": usual}


def _needed(collective: str, chosen: dict[str, Any], usual: Any) -> dict[str, Any]:
    """Put what algorithms need around them; else the library's own table holds."""
    for word in reversed(_NEEDS.get(collective, ())):
        name, _, value = word.partition("=")
        if word == _FEW:
            chosen = {word: usual, "count=any": chosen}
        else:
            chosen = {word: chosen, f"{name}={'yes' if value == 'no' else 'no'}": usual}
    return chosen


def _intel(ranges: Ranges, path: Path, own_table: Mapping[str, Any]) -> TuningFile:
    """Write variables: algorithms, each with sizes and numbers of ranks. Intel MPI reads them by itself."""
    del path, own_table
    parts = {
        f"I_MPI_ADJUST_{collective.upper()}": ";".join(
            f"{span.algorithm}:{span.low}-{span.high}@{ranks}-{ranks}"
            for ranks, sizes in by_ranks.items()
            for span in sizes
            if span.algorithm
        )
        for collective, by_ranks in ranges.items()
    }
    return TuningFile({name: value for name, value in parts.items() if value})


# A family -> what ends the name of its file, and its writer: of ranges, the path of the file, and the
# library's own table if it has one that a file replaces.
Writer = Callable[[Ranges, Path, Mapping[str, Any]], TuningFile]
WRITERS: Mapping[str, tuple[str, Writer]] = {
    "openmpi": (".rules", _openmpi),
    "mpich": (".json", _mpich),
    "intel": (".env", _intel),
}
