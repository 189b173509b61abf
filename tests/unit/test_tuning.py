"""Files of algorithms: what a sweep proposes, what libraries are told, and when a file is recommended."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from flat_rows import made_row, row_launch
from steelyard.base.errors import InputError
from steelyard.judges.compare.scale import FASTER, LITTLE, SAME, SLOWER
from steelyard.judges.tuning.choices import Choice, choices_of, open_of
from steelyard.judges.tuning.files import WRITERS, TuningFile
from steelyard.judges.tuning.ranges import SizeRange, ranges_of
from steelyard.judges.tuning.verdicts import (
    NOT_RECOMMENDED,
    NOTHING_TO_GAIN,
    RECOMMENDED,
    TunedCase,
    TunedMpi,
    judge_cases,
    nothing_to_gain,
    tuned,
    tuned_sentences,
    tuned_tables,
)
from steelyard.judges.verdict import CANNOT_TELL
from steelyard.render.terminal import Paper, table_text
from steelyard.results.row import Row

OPEN_MPI, MPICH = "openmpi-5.0.11", "mpich-5.0.2"
FORCED, DEVICE = "MPIR_CVAR_BCAST_INTRA_ALGORITHM", "MPIR_CVAR_DEVICE_COLLECTIVES"
TUNED = "OMPI_MCA_coll_tuned_bcast_algorithm"


def _row(mpi: str, times: Sequence[float], env: Mapping[str, str], **keys: Any) -> Row:
    launches = tuple(row_launch(number, time) for number, time in enumerate(times, 1))
    return made_row(mpi=mpi, env=dict(env), launches=launches, launch_count=len(times), **keys)


def _times(middle: float, spread: float = 0.01) -> list[float]:
    return [middle * (1 + spread * (k - 3) / 3) for k in range(7)]


def _open_mpi(size: int, usual: float, **algorithms: float) -> list[Row]:
    """One size under Open MPI's own choice and under algorithms, by their times."""
    each = {"-": usual, **algorithms}
    return [_row(OPEN_MPI, _times(time), {TUNED: name}, bytes=size) for name, time in each.items()]


def _mpich(size: int, device: float, own: float, **algorithms: float) -> list[Row]:
    """The same of MPICH: by its device, by its own table without it, and by algorithms."""
    rows = [_row(MPICH, _times(device), {DEVICE: "-", FORCED: "-"}, bytes=size)]
    each = {"-": own, **algorithms}
    return rows + [
        _row(MPICH, _times(time), {DEVICE: "none", FORCED: name}, bytes=size) for name, time in each.items()
    ]


def _chosen(rows: Sequence[Row]) -> dict[int, str]:
    return {one.bytes: one.algorithm for one in choices_of(rows)}


def test_an_algorithm_is_chosen_where_it_is_faster_beyond_what_launches_differ_by() -> None:
    rows = [
        *_open_mpi(8, 1000, chain=2000, binomial=995),  # within 2 %
        *_open_mpi(1024, 1000, chain=500, binomial=700),
        _row(OPEN_MPI, _times(1000, 0.9), {TUNED: "-"}, bytes=65536),
    ]
    rows.append(_row(OPEN_MPI, _times(900, -0.9), {TUNED: "chain"}, bytes=65536))  # now this, now that
    assert _chosen(rows) == {8: "", 1024: "chain", 65536: ""}
    (_, one, _) = choices_of(rows)
    assert (one.collective, one.ranks, one.is_faster, one.usual, one.chosen) == ("bcast", 4, True, 1000, 500)


@pytest.mark.parametrize(
    "rows",
    [
        _open_mpi(8, 1000, chain=2000),
        [*_open_mpi(8, 1000, chain=500)[:1], *_open_mpi(8, 1000, chain=500)[:1]],
        _open_mpi(8, 1000, chain=500)[1:],  # nobody knows what the library itself does
        [_row(OPEN_MPI, [1000.0], {TUNED: "-"}), _row(OPEN_MPI, [500.0], {TUNED: "chain"})],  # one launch
        [_row("mvapich-3.0", _times(1000), {TUNED: name}) for name in ("-", "chain")],
        [_row(OPEN_MPI, _times(1000), {})],
    ],
)
def test_a_sweep_without_a_faster_algorithm_chooses_nothing(rows: Sequence[Row]) -> None:
    assert choices_of(rows) == ()


def test_mpich_is_held_against_its_device_which_no_file_reaches() -> None:
    faster = _mpich(8, device=1000, own=1010, binomial=500)
    assert _chosen([*faster, *_mpich(1024, device=1000, own=1005, binomial=2000)]) == {
        8: "binomial",
        1024: "",
    }
    # the device's own is lost at all sizes once the file is obeyed: one that nothing equals spoils all
    assert _chosen([*faster, *_mpich(1024, device=100, own=1000, binomial=1000)]) == {}
    assert _chosen([*faster, *_mpich(1024, device=1000, own=2000, binomial=1000)]) == {
        8: "binomial",
        1024: "binomial",
    }


def _choice(
    size: int, algorithm: str, ranks: int = 2, collective: str = "bcast", mpi: str = OPEN_MPI
) -> Choice:
    return Choice(
        mpi=mpi, collective=collective, ranks=ranks, bytes=size, algorithm=algorithm, usual=1.0, chosen=1.0,
        is_faster=bool(algorithm), point=0,
    )  # fmt: skip


def test_borders_between_sizes_lie_at_their_geometric_mean() -> None:
    choices = [_choice(8, ""), _choice(128, "chain"), _choice(1024, "chain"), _choice(65536, "binomial")]
    assert ranges_of(choices) == {
        "bcast": {2: (SizeRange(8, 32, ""), SizeRange(33, 8192, "chain"), SizeRange(8193, 65536, "binomial"))}
    }


def test_two_test_cases_that_no_file_tells_apart_are_refused() -> None:
    with pytest.raises(InputError, match=r"mpi\.bcast of 128 B on 2 ranks more than once"):
        ranges_of([_choice(8, ""), _choice(128, "chain"), _choice(128, "binomial")])


def _file(choices: Sequence[Choice], own: Mapping[str, Any] | None = None) -> TuningFile:
    ending, write = WRITERS[choices[0].mpi.partition("-")[0]]
    return write(ranges_of(choices), Path(f"/there/mine{ending}"), own or {})


def _rules(text: str) -> dict[int, dict[int, list[list[int]]]]:
    """Read a file of rules as Open MPI does: words that are numbers, until the end of a line's remark."""
    words = iter([int(word) for line in text.splitlines() for word in line.partition("#")[0].split()])
    found: dict[int, dict[int, list[list[int]]]] = {}
    for _ in range(next(words)):
        teams = found.setdefault(next(words), {})
        for _ in range(next(words)):
            ranks = next(words)
            teams[ranks] = [[next(words) for _ in range(4)] for _ in range(next(words))]
    assert next(words, None) is None
    return found


def test_open_mpi_is_given_rules_that_leave_the_rest_to_itself() -> None:
    alltoall = (_choice(8, "linear", 3, "alltoall"), _choice(8, "2", 4, "alltoall"))
    file = _file([_choice(8, ""), _choice(128, "binomial"), *alltoall])
    own = [0, 0, 0, 0]
    assert _rules(file.text) == {
        7: {0: [own], 2: [own, [8, 0, 0, 0], [33, 6, 4, 0], [129, 0, 0, 0]], 3: [own]},
        # its sizes are those of the blocks for all ranks together
        3: {
            0: [own],
            3: [own, [24, 1, 4, 0], [25, 0, 0, 0]],
            4: [own, [32, 2, 4, 0], [33, 0, 0, 0]],
            5: [own],
        },
    }
    assert file.settings["OMPI_MCA_coll_tuned_dynamic_rules_filename"] == "/there/mine.rules"


def test_mpich_is_given_its_own_table_with_the_choices_in_front() -> None:
    usual: dict[str, Any] = {"algorithm=MPIR_Bcast_intra_smp": {}}
    between: dict[str, Any] = {"algorithm=MPIR_Bcast_inter_x": {}}
    own = {
        "collective=bcast": {"comm_type=intra": usual, "comm_type=inter": between},
        "collective=allreduce": {"comm_type=intra": usual},
        "collective=scan": usual,
    }
    file = _file(
        [
            _choice(8, "binomial", mpi=MPICH),
            _choice(128, "", mpi=MPICH),
            _choice(8, "recursive_doubling", collective="allreduce", mpi=MPICH),
        ],
        own,
    )
    table = msgspec.json.decode(file.text)
    by_size = {
        "avg_msg_size<8": usual,
        "avg_msg_size<=32": {"algorithm=MPIR_Bcast_intra_binomial": {}},
        "avg_msg_size<=128": usual,
        "avg_msg_size=any": usual,
    }
    assert table["collective=bcast"] == {
        "comm_type=intra": {"comm_size<2": usual, "comm_size<=2": by_size, "comm_size=any": usual},
        "comm_type=inter": between,
    }
    assert table["collective=scan"] == usual
    reduced = table["collective=allreduce"]["comm_type=intra"]["comm_size<=2"]
    assert reduced["is_op_built_in=no"] == usual  # an algorithm takes not every operator
    assert reduced["is_op_built_in=yes"]["count<pow2"] == usual
    assert file.settings == {  # the device keeps all other collectives
        DEVICE: "percoll",
        "MPIR_CVAR_BCAST_DEVICE_COLLECTIVE": "0",
        "MPIR_CVAR_ALLREDUCE_DEVICE_COLLECTIVE": "0",
        "MPIR_CVAR_COLL_SELECTION_TUNING_JSON_FILE": "/there/mine.json",
    }


def test_intel_mpi_is_told_by_variables_alone() -> None:
    file = _file([_choice(8, "3", mpi="intel-2021.18"), _choice(128, "", mpi="intel-2021.18")])
    assert file == TuningFile({"I_MPI_ADJUST_BCAST": "3:8-32@2-2"})


@pytest.mark.parametrize(
    ("choice", "own", "said"),
    [
        (_choice(8, "swing"), {}, "Open MPI's number of bcast swing is not known"),
        (_choice(8, "1", collective="scan"), {}, "Open MPI's file of rules has no scan"),
        (
            _choice(8, "binomial", mpi=MPICH),
            {"collective=bcast": {}},
            "MPICH's table of algorithms has no bcast",
        ),
    ],
)
def test_what_no_file_can_say_is_refused(choice: Choice, own: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        _file([choice], own)


def _case(verdict: str) -> TunedCase:
    return TunedCase(
        collective="bcast", ranks=2, bytes=8, algorithm="chain", sweep_ratio=0.5, ratio=0.5, low=0.4,
        high=0.6, verdict=verdict,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("verdicts", "verdict", "why"),
    [
        ([FASTER, SAME, LITTLE], RECOMMENDED, "faster in 1 of 3, same in 2, slower in none"),
        ([FASTER, CANNOT_TELL], RECOMMENDED, "faster in 1 of 2, cannot tell in 1, slower in none"),
        ([FASTER, FASTER, SLOWER], NOT_RECOMMENDED, "faster in 2 of 3, slower in 1"),
        ([CANNOT_TELL], CANNOT_TELL, "faster in none of 1, cannot tell in 1, slower in none; more"),
        ([SAME, SAME], NOT_RECOMMENDED, "same in 2, slower in none; the library does not obey the file"),
    ],
)
def test_a_file_is_recommended_that_is_faster_somewhere_and_slower_nowhere(
    verdicts: list[str], verdict: str, why: str
) -> None:
    found, words = judge_cases([_case(one) for one in verdicts])
    assert found == verdict
    assert why in words


def test_the_table_fits_eighty_columns_and_says_how_the_file_is_used() -> None:
    cases = (_case(FASTER), _case(SAME))
    one = TunedMpi(
        mpi=OPEN_MPI, verdict=RECOMMENDED, why="faster in 1 of 2", file="a.rules", script="a.sh", settings={},
        launches=12, cases=cases,
    )  # fmt: skip
    found = tuned([one, nothing_to_gain(MPICH, 0, 6)])
    assert found.verdict == RECOMMENDED
    (table,) = tuned_tables(found)
    text = table_text(table, Paper(80, is_pipe=False))
    assert max(map(len, text.splitlines())) <= 80
    assert "12 launches" in text
    said = list(tuned_sentences(found))
    assert said[0] == f"{OPEN_MPI}: recommended: faster in 1 of 2."
    assert said[1] == "To use it in a shell: . a.sh"
    assert said[2].startswith(f"{MPICH}: {NOTHING_TO_GAIN}: ")
    assert nothing_to_gain(MPICH, 2, 6).verdict == CANNOT_TELL
    assert "and 2 of 6 algorithms, each at a size, may be faster" in nothing_to_gain(MPICH, 2, 6).why


def test_algorithms_that_may_be_much_faster_are_left_open() -> None:
    """Times that scatter much tell nothing, nor does one launch; those that hardly do tell of no gain."""
    for spread, undecided in ((0.01, 0), (0.9, 1)):
        rows = _open_mpi(8, 1000)
        rows.append(_row(OPEN_MPI, _times(1000, -spread), {TUNED: "chain"}, bytes=8))
        assert open_of(rows, OPEN_MPI) == (undecided, 1)
        assert open_of(rows, MPICH) == (0, 0)
    once = [_row(OPEN_MPI, [1000], {TUNED: name}, bytes=8) for name in ("-", "chain")]
    assert open_of(once, OPEN_MPI) == (1, 1)
