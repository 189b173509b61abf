"""The headline: what was found, from made-up rows; no number that is less certain than it claims to be."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from steelyard.analyses.analysis import Made
from steelyard.judges.compare.arms import rivals_by, rivals_of
from steelyard.judges.compare.headline import headline
from steelyard.judges.compare.scale import SLOWER, Question
from steelyard.judges.compare.verdicts import CaseVerdict, Promise, Verdicts, compare
from steelyard.judges.verdict import CANNOT_TELL
from steelyard.records.campaign_file import Placement
from steelyard.results.facets import Rate, Roof
from steelyard.results.row import NOT_YET, Row, RowLaunch

A, B = "openmpi-4.1.4", "mpich-5.0.2"


def row(op: str, ns: float | None, half: float | None = 0.02, count: int = 10, **keys: Any) -> Row:
    """A row of that time, with an interval of that half-width on both sides, in all of its launches.

    Launches scatter by half of it in all, under the other MPI in another order.
    """
    step = 3 if keys.get("mpi") == B else 7
    parts = [(1 + step * i) % count / max(count - 1, 1) - 0.5 for i in range(count)]
    times = [(ns or 0.0) * (1 + min(half or 0, 1.5) * part) for part in parts]
    launches = tuple(
        RowLaunch(
            launch=i,
            status="ok",
            why=None,
            flag="SETTLED",
            count=100,
            rejected=0,
            reps=1,
            time=times[i],
            median=times[i],
            ci_low=ns,
            ci_high=ns,
            lag1=None,
            drift=False,
        )
        for i in range(count if ns is not None else 0)
    )
    interval = {"ci_low": ns * (1 - half), "ci_high": ns * (1 + half)} if ns and half is not None else {}
    usual: dict[str, Any] = {
        "point": 0,
        "method": "each",
        "bytes": 0,
        "ranks": 2,
        "threads": 1,
        "params": {},
        "placement": None,
        "mpi": A if op.startswith("mpi.") else None,
        "launch_count": len(launches),
        "count": 500,
        "rejected": 0,
        "median": ns,
        "launches": launches,
    }
    return Row(op=op, **(usual | interval | keys))


def pingpong(size: int, ns: float, half: float | None = 0.02, mpi: str = A) -> Row:
    rate = Rate(bandwidth=size / ns * 1e9 if size else None)
    return row(
        "mpi.pingpong", ns, half, bytes=size, sized=True, role="latency", layer="mpi", mpi=mpi, facets=(rate,)
    )


def said(rows: Sequence[Row], **keys: Any) -> str:
    """Rows of several MPIs are compared, as in a folder."""
    if len({row.mpi for row in rows} - {None}) > 1 and not keys:
        keys["verdicts"] = compare(rivals_by(rows, "mpi"), by_turns=True, asked=Question())
    return "\n".join(headline({"": Made(rows)}, **keys))


def test_one_mpi() -> None:
    rows = [pingpong(8, 204), pingpong(1 << 16, 5400), row("mpi.allreduce", 610, bytes=8, sized=True)]
    assert said(rows) == (
        "Open MPI 4.1.4, 2 ranks: pingpong 204 ns at 8 B, up to 12.1 GB/s at 64 KiB; allreduce 610 ns at 8 B."
    )


def test_one_row() -> None:
    assert said([pingpong(8, 204)]) == "Open MPI 4.1.4, 2 ranks: mpi.pingpong 204 ns at 8 B."


def test_two_mpis_are_compared_and_the_first_has_numbers() -> None:
    rows = [one for size in (8, 64) for one in (pingpong(size, 200), pingpong(size, 25 * size, mpi=B))]
    first, second = said(rows).splitlines()
    assert first.startswith("Open MPI 4.1.4, 2 ranks: mpi.pingpong 200 ns at 8 B")
    assert second == (
        "mpi.pingpong: MPICH 5.0.2 takes 1.00 to 8.00 times as long as Open MPI 4.1.4: "
        "slower in 1 of 2, the same within 5 % in 1."
    )


def test_a_single_folder_is_told_alike_by_any_name() -> None:
    """The report names its folder, the terminal does not."""
    rows = [one for size in (8, 64) for one in (pingpong(size, 200), pingpong(size, 25 * size, mpi=B))]
    assert headline({"two": Made(rows)}) == headline({"": Made(rows)})


def test_a_rival_of_few_launches_is_not_called_slower_and_has_its_numbers() -> None:
    """Four pairs may all differ by chance. How many would do is said."""
    rows = [pingpong(8, 200), pingpong(8, 400, mpi=B)]
    rows = [replace(one, launches=one.launches[:4], launch_count=4) for one in rows]
    text = said(rows)
    assert "mpi.pingpong: MPICH 5.0.2 against Open MPI 4.1.4: cannot tell (about 8 launches of each" in text
    assert "MPICH 5.0.2, 2 ranks: mpi.pingpong 400 ns at 8 B" in text


def test_rivals_that_cannot_be_compared_have_their_numbers() -> None:
    rows = [replace(one, launch_count=1) for one in (pingpong(8, 200), pingpong(8, 400, mpi=B))]
    text = said(rows, verdicts=None)
    assert "against" not in text
    assert "200 ns" in text
    assert "400 ns" in text


def test_beside_rows_of_several_launches_one_of_one_launch_is_not_told() -> None:
    one = replace(pingpong(8, 204), launch_count=1)
    assert "204 ns" in said([one])
    text = said([one, pingpong(64, 300)])
    assert "300 ns" in text
    assert "204 ns" not in text


def test_where_all_is_uncertain_what_was_asked_for_is_told_and_not_its_reference() -> None:
    asked = replace(row("omp.task_tree", 1110, 0.9), point=1, reference_point=2)
    text = said([asked, replace(row("omp.reference", 1020, 0.4), point=2)])
    assert text.startswith("omp.task_tree on 2 ranks takes between 111 ns and 2.11 us")


def test_beside_rows_with_an_interval_one_without_is_not_told() -> None:
    alone = pingpong(64, 300, None)
    assert "300 ns (no interval) at 64 B" in said([alone])
    text = said([pingpong(8, 204), pingpong(16, 206), alone])
    assert "204 ns at 8 B" in text
    assert "64 B" not in text


def test_a_ratio_whose_interval_is_wide_is_counted_and_not_claimed() -> None:
    found = verdicts_of((8, 1.5, 1.05, SLOWER), (64, 7.8, 6.0, SLOWER))
    sentence = said([pingpong(8, 204), pingpong(64, 204)], verdicts=found)
    assert "takes 1.50 (1.43 to 1.58) times as long as default at 8 B: slower in 2 of 2" in sentence
    assert "7.8" not in sentence


@pytest.mark.parametrize(("low", "high", "is_told"), [(0.44, 0.48, True), (0.2, 0.9, False)])
def test_an_application_tells_its_share_of_memory_bandwidth(low: float, high: float, is_told: bool) -> None:
    roof = Roof(roof="mem.stream.triad", of_roof=0.46, of_roof_low=low, of_roof_high=high)
    one = row("app.hpccg", 1e9, headline="rate", mpi=A, facets=(Rate(mops=800.0), roof))
    assert ("800 Mop/s, 46 % of memory's bandwidth." in said([one])) is is_told
    assert "800 Mop/s" in said([one])


@pytest.mark.parametrize(("half", "is_told"), [(0.02, True), (0.24, True), (0.4, False), (5.0, False)])
def test_a_number_that_is_less_certain_than_a_quarter_is_not_told(half: float, is_told: bool) -> None:
    text = said([pingpong(8, 204, half), row("mpi.barrier", 341)])
    assert ("204 ns" in text) is is_told
    assert ("1 of 2 test cases is uncertain by more than 25 %." in text) is not is_told


def test_where_every_number_is_uncertain_the_interval_is_the_answer() -> None:
    text = said([pingpong(8, 204, 0.4), pingpong(64, 300, 3.0)])
    first, second = text.splitlines()
    assert first.startswith("mpi.pingpong 8 B")
    assert re.search(r"takes between \d+ ns and \d+ ns; more launches", first)
    assert second == "2 of 2 test cases are uncertain by more than 25 %."


def test_an_interval_beyond_ten_times_the_value_is_no_answer() -> None:
    """Two launches may leave one from nothing to the age of the universe."""
    first, _ = said([pingpong(8, 204, 1e28)]).splitlines()
    assert first == (
        "mpi.pingpong 8 B on 2 ranks of openmpi-4.1.4: launches are too few, or differ too much, to tell its "
        "time."
    )
    narrower = said([pingpong(8, 204, 1e28), pingpong(64, 300, 0.5)])
    assert "mpi.pingpong 64 B" in narrower


def verdicts_of(*cases: tuple[int, float, float, str]) -> Verdicts:
    """The size, the ratio, the factor by which its interval reaches to either side, and the verdict."""
    points = [
        CaseVerdict(
            op="mpi.pingpong",
            bytes=size,
            ranks=2,
            point_a=0,
            point_b=1,
            a="default",
            b="tcp",
            ratio=ratio,
            low=ratio / reach,
            high=ratio * reach,
            p=0.001,
            verdict=verdict,
            launches_needed=None,
            why="",
        )
        for size, ratio, reach, verdict in cases
    ]
    return Verdicts(
        verdict=SLOWER,
        arms=("default", "tcp"),
        by_turns=True,
        launches=10,
        promise=Promise(0.01, 2, ""),
        points=tuple(points),
        ops=(),
        missing=0,
        refused=(),
    )


def test_arms_have_their_verdicts() -> None:
    found = verdicts_of((8, 22.6, 1.1, SLOWER), (64, 1.02, 1.1, CANNOT_TELL))
    assert said([pingpong(8, 204), pingpong(64, 204)], verdicts=found) == (
        "mpi.pingpong: tcp takes 1.02 to 22.6 times as long as default: slower in 1 of 2, cannot tell in 1."
    )


def test_failures_and_gaps_are_always_told() -> None:
    rows = [
        pingpong(8, 204),
        row("mpi.bcast", None, status="failed", why="hang: no record for 20 s", bytes=8, sized=True),
        row("mpi.bcast_init", None, status="skipped", why="needs MPI 4.0"),
        row("mpi.barrier", None, status="skipped", why=NOT_YET),
    ]
    assert said(rows).splitlines()[1:] == [
        "1 of 4 test cases failed: mpi.bcast 8 B on 2 ranks of openmpi-4.1.4: hang: no record for 20 s.",
        (
            "1 of 4 test cases could not be measured here (needs MPI 4.0); 1 of 4 test cases is not "
            "measured yet, among them all of mpi.barrier."
        ),
    ]


def test_nothing_was_measured() -> None:
    assert said([]) == "Nothing was measured."


def test_two_hundred_rows_fit_into_a_few_lines() -> None:
    ops = [f"{family}.op{i}" for family in ("mpi", "omp", "pthread", "mem", "npb") for i in range(40)]
    lines = said([row(op, 100.0 + i) for i, op in enumerate(ops)]).splitlines()
    assert len(lines) == 5
    assert all("36 more operations" in line for line in lines)
    assert lines[0].startswith("Open MPI 4.1.4")


def test_only_openmp_is_told_for_the_most_threads() -> None:
    rows = [row("omp.barrier", ns, ranks=1, threads=n) for n, ns in ((1, 50), (2, 257))]
    rows += [
        row("omp.lock", ns, ranks=1, threads=2, params={"use": use}) for use, ns in (("a", 12), ("b", 90))
    ]
    assert said(rows) == "OpenMP, 2 threads: barrier 257 ns; lock 12.0 ns (use=a) to 90.0 ns (use=b)."


def test_memory_is_told_beyond_its_caches() -> None:
    rows = [
        row(
            "mem.copy",
            size / rate * 1e9,
            bytes=size,
            sized=True,
            headline="bandwidth",
            facets=(Rate(bandwidth=rate),),
        )
        for size, rate in ((1 << 10, 216e9), (1 << 20, 80e9), (1 << 28, 12.1e9))
    ]
    assert said(rows) == "2 ranks: mem.copy up to 216 GB/s at 1 KiB, 12.1 GB/s at 256 MiB."


def test_only_bandwidths() -> None:
    rows = [
        row(
            "mpi.bandwidth",
            1e5,
            bytes=size,
            sized=True,
            headline="bandwidth",
            facets=(Rate(bandwidth=1e5 * size),),
        )
        for size in (8, 1 << 20)
    ]
    assert said(rows) == "Open MPI 4.1.4, 2 ranks: mpi.bandwidth up to 105 GB/s at 1 MiB."


def test_kernels_have_rates() -> None:
    rows = [
        row("npb.cg", 1e9, None, mpi=A, headline="operations", facets=(Rate(mops=812.0),), role="kernel"),
        row("npb.ft", 1e9, 0.01, mpi=A, headline="operations", facets=(Rate(mops=500.0),), role="kernel"),
    ]
    assert said(rows) == "NPB with Open MPI 4.1.4, 2 ranks: cg 812 Mop/s (no interval); ft 500 Mop/s."


def test_the_timer_is_told_only_if_there_is_nothing_else() -> None:
    timer = row("self.clock", 18.4, ranks=1, role="instrument")
    assert said([timer, pingpong(8, 204)]).count("\n") == 0
    assert said([timer]) == "self.clock 18.4 ns."


def test_folders_are_named() -> None:
    folders = {"old": Made([pingpong(8, 200)]), "new": Made([pingpong(8, 300)])}
    rivals = rivals_of({name: made.rows for name, made in folders.items()})
    assert headline(folders, compare(rivals, by_turns=False, asked=Question())) == (
        "old, Open MPI 4.1.4, 2 ranks: mpi.pingpong 200 ns at 8 B.",
        "mpi.pingpong: new takes 1.50 times as long as old: slower.",
    )


def test_no_setting_is_told_of_times_that_are_uncertain() -> None:
    """Two launches that a busy machine threw apart made the library's choice 13800 times as long."""
    free, set_ = ({"OMPI_MCA_coll_tuned_bcast_algorithm": word} for word in ("-", "binomial"))
    rows = [
        row("mpi.bcast", 3.75e6, 9.0, 2, bytes=8, sized=True, env=free),
        row("mpi.bcast", 273.0, 0.06, 2, bytes=8, sized=True, env=set_, point=1),
    ]
    (line,) = [line for line in said(rows).splitlines() if "setting" in line]
    assert line.endswith("too few launches to tell which setting is the fastest in 1 test case.")


@pytest.mark.parametrize(
    ("count", "told"),
    [
        *(
            (
                few,
                (
                    "too few launches to tell which setting is the fastest in 1 test case; so far the "
                    "library's own choice took up to 1.50 times as long, in mpi.bcast 8 B."
                ),
            )
            for few in (1, 2)
        ),
        (
            16,
            (
                "the library's own choice is not the fastest in 1 of 1 test case, and takes 1.50 times as "
                "long as X_ALGORITHM=chain in mpi.bcast 8 B."
            ),
        ),
    ],
)
def test_settings_are_told_by_what_the_librarys_own_choice_loses(count: int, told: str) -> None:
    rows = [
        row("mpi.bcast", ns, count=count, bytes=8, sized=True, env={"X_ALGORITHM": value}, point=i)
        for i, (value, ns) in enumerate((("-", 300.0), ("chain", 200.0)))
    ]
    assert said(rows) == f"Open MPI 4.1.4: {told}"


def test_of_many_settings_the_usual_ones_are_told() -> None:
    usual = row("omp.barrier", 263.0, threads=2)
    asleep = row("omp.barrier", 27_200.0, threads=2, omp={"wait_policy": "passive"})
    assert "263 ns" in said([asleep, usual])
    assert "27.2 us" not in said([asleep, usual])
    assert "27.2 us" in said([asleep])


def test_one_thread_is_told_where_more_were_asked_for_and_are_too_uncertain() -> None:
    one, two = row("omp.barrier", 575.0, ranks=1), row("omp.barrier", 15_400.0, 1.2, ranks=1, threads=2)
    region = row("omp.parallel", 705.0, ranks=1, threads=2)
    assert said([one, two, region]).startswith(
        "OpenMP: barrier 575 ns (1 thread); parallel 705 ns (2 threads)."
    )


def test_rows_of_one_launch_are_told_where_those_of_several_tell_nothing() -> None:
    """A budget cut the second launch, of which one row was measured, too uncertain to be told."""
    rows = [row("mpi.bcast", 140_000.0, None, 1), row("mpi.comm_dup", 2e7, 9.0, 2)]
    assert said(rows).startswith("Open MPI 4.1.4, 2 ranks: mpi.bcast 140 us (no interval).")
    sure = row("mpi.barrier", 300.0)
    assert said([*rows, sure]).startswith("Open MPI 4.1.4, 2 ranks: mpi.barrier 300 ns.")


def test_a_placement_is_told_where_it_is_one_of_several_that_were_asked_for() -> None:
    same, near = (Placement("list", cpus) for cpus in ((1, 1), (0, 1)))
    rows = [replace(pingpong(8, 746), placed=same), replace(pingpong(8, 333, 0.4), placed=near)]
    assert "mpi.pingpong 746 ns at 8 B (list 1,1)." in said(rows)
    assert "(list" not in said(rows[:1])


def test_threads_are_told_of_each_op_where_they_differ() -> None:
    mutex, create = row("pthread.mutex", 141.0, ranks=1, threads=2), row("pthread.create", 7690.0, ranks=1)
    assert said([mutex, create]) == "Pthreads: mutex 141 ns (2 threads); create 7.69 us."
    assert said([mutex, replace(create, threads=2)]) == "Pthreads, 2 threads: mutex 141 ns; create 7.69 us."
