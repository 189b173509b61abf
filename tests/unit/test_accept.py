"""Is a machine well: made-up folders whose machine is, or has one fault that must be named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from commands import Steelyard, steelyard_of
from loaded import load_benchmark
from made_machine import machine, weighed
from make_records import FakePoint, steady
from record_heads import MACHINE
from steelyard.analyses.hosts.model import host_matrices
from steelyard.judges.accept import CRITERIA, Acceptance, Topic, Weighed, accept
from steelyard.judges.accept.criterion import ACCEPTED
from steelyard.judges.accept.peer_groups import peer_groups_of
from steelyard.judges.accept.tables import acceptance_sentences, acceptance_table, judged_topics
from steelyard.judges.verdict import verdicts_junit
from steelyard.records.campaign_file import Placement
from steelyard.records.schema import End
from steelyard.render.terminal import Paper, table_text
from steelyard.report import write_report


def topic(found: Acceptance, name: str) -> Topic:
    """What is said of a topic."""
    return next(one for one in found.topics if one.topic == name)


@pytest.fixture(name="steelyard")
def _steelyard(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Steelyard:
    return steelyard_of(capsys, monkeypatch)


@pytest.fixture(scope="module")
def well(tmp_path_factory: pytest.TempPathFactory) -> Weighed:
    """A machine without fault."""
    return weighed(tmp_path_factory.mktemp("accept") / "well", machine())


def test_a_machine_without_fault_is_well_in_each_topic(well: Weighed) -> None:
    found = accept(well)
    assert {one.topic: one.verdict for one in found.topics} == {
        row.topic: "well"
        for row in CRITERIA
        if row.topic not in ("reference", "hosts", "files", "first use", "memory", "waiting", "congestion")
    }
    assert found.verdict == "well"
    assert all(one.evidence.endswith(".") and not one.remedy for one in found.topics)


@pytest.mark.parametrize(
    ("fault", "name", "said"),
    [
        ({"slow_core": 1.2}, "cores", "Core 5 is "),
        ({"slow_link": 1.25}, "links", "Link 1 – 3 is "),
        ({"lost": 0.03}, "noise", " in noise.fwq"),
        ({"mpi_ns": 9000.0}, "floor", "as long as shm.flag at 8 B"),
        ({"mpi_ns": 20.0}, "roofs", "Faster than its roof"),
        ({"eager": 64}, "protocol", "as long as 2 messages of 64 B in mpi.pingpong of mpich-4.0.2"),
        ({"hosts": 8, "slow_host": 1.12}, "hosts", "Host node3 is "),
        ({"hosts": 8, "slow_core": 1.2}, "cores", "Core node0:5 is "),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_fault_is_named_in_its_topic_alone(
    tmp_path: Path, fault: dict[str, Any], name: str, said: str
) -> None:
    found = accept(weighed(tmp_path / "out", machine(**fault)))
    assert [one.topic for one in found.topics if one.verdict == "not well"] == [name]
    assert said in topic(found, name).evidence
    assert topic(found, name).remedy
    assert found.verdict == "not well"


def test_how_much_slower_is_within_what_is_said(tmp_path: Path) -> None:
    evidence = topic(accept(weighed(tmp_path / "out", machine(slow_core=1.2))), "cores").evidence
    words = evidence.replace("(", "").replace(")", "").split()
    assert evidence.endswith("slower in mem.stream.triad 48 MiB on 8 ranks than its 7 peers.")
    assert float(words[5]) < 20 < float(words[7])


@pytest.mark.parametrize("why", ["wrong: rank 1, byte 3", "hang: no record for 60 s", "signal 11"])
def test_one_run_that_fails_is_not_well(tmp_path: Path, why: str) -> None:
    points = machine()
    points[0] = replace(points[0], ends={2: End(point=0, status="failed", why=why)})
    found = accept(weighed(tmp_path / "out", points))
    assert topic(found, "answers").verdict == "not well"
    assert why in topic(found, "answers").evidence
    assert "1 of " in topic(found, "answers").evidence
    assert topic(found, "kernels").verdict == "well"


def test_a_kernel_that_fails_is_a_topic_of_its_own(tmp_path: Path) -> None:
    points = machine()
    why = "wrong: zeta is 8.6, not 8.5971775078648"
    kernel = next(number for number, point in enumerate(points) if point.role == "kernel")
    ends = {n: End(point=kernel, status="failed", why=why) for n in range(1, 7)}
    points[kernel] = replace(points[kernel], ends=ends)
    found = accept(weighed(tmp_path / "out", points))
    assert (topic(found, "kernels").verdict, topic(found, "answers").verdict) == ("not well", "well")


def test_two_cores_cannot_tell_which_is_odd(tmp_path: Path) -> None:
    triad = FakePoint("mem.stream.triad", steady(4e6, count=100), bytes=1 << 20, mpi=None, reps=1)
    found = topic(accept(weighed(tmp_path / "out", [triad])), "cores")
    assert found.verdict == "cannot tell"
    assert found.evidence.startswith("2 cores of a kind")


def test_two_hosts_cannot_tell_which_is_odd(tmp_path: Path) -> None:
    found = topic(accept(weighed(tmp_path / "out", machine(hosts=2, slow_host=1.5))), "hosts")
    assert found.verdict == "cannot tell"
    assert found.evidence.startswith("2 hosts of a kind")


def test_links_of_one_core_are_said_to_end_there(tmp_path: Path) -> None:
    slow = ((0, 3), (1, 3))
    points = [
        replace(point, values=steady(600.0, count=50))
        if point.placement and point.placement.cpus in slow
        else point
        for point in machine()
    ]
    evidence = topic(accept(weighed(tmp_path / "out", points)), "links").evidence
    assert evidence.endswith("all of them end at 3.")


def test_pairs_that_exchange_messages_at_once_are_links(tmp_path: Path) -> None:
    pairs = FakePoint(
        "mpi.pattern.neighbours",
        steady(500.0, count=200),
        ranks=8,
        report="message",
        method="each",
        reps=1,
        partners=(1, 0, 3, 2, 5, 4, 7, 6),
        pace=(1.0,) * 4 + (1.5,) * 2 + (1.0,) * 2,
    )
    told = weighed(tmp_path / "out", [pairs])
    (links,) = peer_groups_of(told.measured, told.rows)
    assert (links.kind, links.names) == ("link", ("0 – 1", "2 – 3", "4 – 5", "6 – 7"))
    found = topic(accept(told), "links")
    assert (found.verdict, found.evidence[:10]) == ("not well", "Link 4 – 5")


def _rounds(slow: int | None, odd_round: float = 1.0) -> list[FakePoint]:
    """Eight hosts meet in seven rounds; all messages of one take half as long again.

    In the first round all pairs take `odd_round` times as long as in the others.
    """
    found = []
    for number in range(1, 8):
        # the tournament in which the last one stays and all others turn
        partners = [(number - rank) % 7 for rank in range(7)]
        alone = next(rank for rank in range(7) if partners[rank] == rank)
        partners = [7 if rank == alone else partners[rank] for rank in range(7)] + [alone]
        pace = tuple(1.5 if slow in (rank, other) else 1.0 for rank, other in enumerate(partners))
        found.append(
            FakePoint(
                "mpi.pattern.round_robin",
                steady(2000.0 * (odd_round if number == 1 else 1.0), count=200),
                ranks=8,
                report="message",
                method="each",
                reps=1,
                params={"round": float(number)},
                partners=tuple(partners),
                pace=pace,
            )
        )
    return found


@pytest.mark.parametrize("slow", [None, 0, 5, 7])
def test_a_host_that_is_slow_to_all_others_is_named_by_the_verdict_and_the_table(
    tmp_path: Path, slow: int | None
) -> None:
    folder = {"hosts": lambda rank: f"node{rank}", "cpus": lambda rank: "0"}
    told = weighed(tmp_path / "out", _rounds(slow, odd_round=3.0), **folder)
    hosts, links = peer_groups_of(told.measured, told.rows)
    assert (hosts.kind, set(hosts.names)) == ("host", {f"node{i}" for i in range(8)})
    assert (links.kind, len(links.names)) == ("link", 28)
    assert topic(accept(told), "links").verdict == "well"
    found = topic(accept(told), "hosts")
    (matrix,) = host_matrices(told.rows)
    assert [one.host for one in matrix.times if one.is_slower] == ([] if slow is None else [f"node{slow}"])
    if slow is None:
        assert found.verdict == "well"
    else:
        assert found.verdict == "not well"
        assert found.evidence.startswith(f"Host node{slow} is ")
        assert found.evidence.endswith(
            " slower in mpi.pattern.round_robin 8 B on 8 ranks of mpich-4.0.2 than its 7 peers."
        )


@pytest.mark.parametrize("slow", [None, 3])
def test_a_slow_host_of_pairs_one_by_one_is_named_by_the_verdict_and_the_table(
    tmp_path: Path, slow: int | None
) -> None:
    pairs = [(a, b) for a in range(5) for b in range(a + 1, 5)]
    points = [
        FakePoint(
            "mpi.pingpong",
            steady(1000.0 * (1.5 if slow in pair else 1.0), count=200, between=0.005),
            placement=Placement("other-host", hosts=(f"node{pair[0]}", f"node{pair[1]}")),
        )
        for pair in pairs
    ]
    told = weighed(tmp_path / "out", points)
    (matrix,) = host_matrices(told.rows)
    assert [one.host for one in matrix.times if one.is_slower] == ([] if slow is None else [f"node{slow}"])
    found = topic(accept(told), "hosts")
    assert found.verdict == ("well" if slow is None else "not well")
    assert slow is None or found.evidence.startswith(f"Host node{slow} is ")


def test_one_slow_link_between_hosts_is_named_and_no_host(tmp_path: Path) -> None:
    """Hosts 2 and 6 are fast to all others."""
    points = [
        replace(point, pace=tuple(2.0 if {rank, other} == {2, 6} else 1.0 for rank, other in enumerate(to)))
        for point in _rounds(None, odd_round=3.0)
        if (to := point.partners)
    ]
    folder = {"hosts": lambda rank: f"node{rank}", "cpus": lambda rank: "0"}
    found = accept(weighed(tmp_path / "out", points, **folder))
    assert topic(found, "hosts").verdict == "well"
    assert topic(found, "links").verdict == "not well"
    assert topic(found, "links").evidence.startswith("Link node2 – node6 is ")
    assert topic(found, "links").evidence.count("slower") == 1


def test_a_host_that_has_met_few_others_is_not_judged(tmp_path: Path) -> None:
    folder = {"hosts": lambda rank: f"node{rank}", "cpus": lambda rank: "0"}
    told = weighed(tmp_path / "out", _rounds(5)[:4], **folder)
    assert peer_groups_of(told.measured, told.rows) == ()


def test_ranks_that_share_cores_are_no_cores(tmp_path: Path) -> None:
    told = weighed(tmp_path / "out", machine(slow_core=1.5), cpus=lambda rank: "0-7")
    assert topic(accept(told), "cores").evidence == "No cores were measured beside each other."


def test_few_launches_cannot_tell(tmp_path: Path) -> None:
    found = accept(weighed(tmp_path / "out", machine(slow_core=1.5), launches=4))
    assert topic(found, "cores").verdict == "cannot tell"
    assert "4 launches; 5 can tell" in topic(found, "cores").evidence


def test_where_nothing_was_measured_nothing_can_be_told(tmp_path: Path) -> None:
    points = [replace(one, ends={1: End(point=0, status="skipped", why="unsupported")}) for one in machine()]
    found = accept(weighed(tmp_path / "out", points, launches=1, machine={}))
    assert {one.verdict for one in found.topics if one.topic != "quiet"} == {"cannot tell"}


# ---- a reference ------------------------------------------------------------------------------------------


def test_a_reference_that_is_faster_is_told_with_what_was_set_differently(tmp_path: Path) -> None:
    def folder(name: str, factor: float, seed: int, **options: Any) -> Weighed:
        point = FakePoint("mpi.pingpong", steady(factor * 300, count=200, between=0.005))
        return weighed(tmp_path / name, [point], launches=12, seed=seed, **options)

    before, now = folder("before", 1.0, 2), folder("now", 1.2, 1, machine=MACHINE | {"kernel": "6.18.0"})
    found = topic(accept(now, before), "reference")
    assert found.verdict == "not well"
    assert found.evidence.startswith("1 of 1 test case is slower than in before: mpi.pingpong 8 B takes 1.2")
    assert found.evidence.endswith("Set differently: kernel was 6.1.0, is 6.18.0.")


def test_an_equal_reference_is_well(tmp_path: Path) -> None:
    def folder(name: str, seed: int) -> Weighed:
        point = FakePoint("mpi.pingpong", steady(300, count=200, between=0.003))
        return weighed(tmp_path / name, [point], launches=30, seed=seed)

    assert topic(accept(folder("now", 1), folder("before", 2)), "reference").verdict == "well"


@pytest.mark.parametrize("other", [{"cpu_model": "Intel"}, {"cores": [[0], [1], [2]]}], ids=["cpu", "cores"])
def test_a_reference_of_another_kind_of_machine_is_not_guessed_with(
    well: Weighed, tmp_path: Path, other: dict[str, Any]
) -> None:
    reference = weighed(tmp_path / "other", machine()[:1], machine=MACHINE | other)
    found = topic(accept(well, reference), "reference")
    assert found.verdict == "cannot tell"
    assert "is of another kind of machine" in found.evidence


# ---- in words ---------------------------------------------------------------------------------------------


def test_a_terminal_of_80_columns_has_a_line_a_topic(well: Weighed) -> None:
    found = accept(well)
    lines = table_text(acceptance_table(found), Paper(80, False)).splitlines()
    assert lines[0].startswith("10 of 10 topics are well")
    assert len(lines) == 2 + len(found.topics)
    assert max(map(len, lines)) <= 80
    assert not list(acceptance_sentences(found))


def test_what_is_not_well_comes_with_what_to_do(tmp_path: Path) -> None:
    found = accept(weighed(tmp_path / "out", machine(slow_core=1.2)))
    (sentence,) = acceptance_sentences(found)
    assert sentence.startswith("cores, not well: Core 5 is ")
    assert "take it out of use" in sentence
    assert verdicts_junit("t", ACCEPTED, judged_topics(found), strict=False).count(b"<failure") == 1


def test_the_report_reads_as_a_letter(tmp_path: Path) -> None:
    told = weighed(tmp_path / "out", machine(slow_core=1.2))
    page = write_report([told.measured.folder], tmp_path / "report.html").read_text("utf-8")
    letter, _, rest = page.partition('<details class="rest">')
    assert "<strong>Not well: core 5 is " in letter
    assert "Machine: vm: 2 cores of AMD EPYC 7B13, " in letter
    assert "Measured: 6 launches, 2026-11-" in letter
    assert "9 of 10 topics are well, 1 is not (cores)." in letter
    assert letter.count("Core 5 is ") == 1  # in the table
    assert "take it out of use" in letter
    assert 0 < letter.count("<figure") - letter.count('<figure class="phone"') <= 5
    assert "<h2" in rest
    assert "mem.stream.triad" in rest


def test_the_report_of_another_plan_is_no_letter(tmp_path: Path) -> None:
    told = weighed(tmp_path / "out", machine()[:2], name="quick")
    page = write_report([told.measured.folder], tmp_path / "report.html").read_text("utf-8")
    assert "topics are well" not in page


# ---- the command ------------------------------------------------------------------------------------------


def test_exit_codes(steelyard: Steelyard, well: Weighed, tmp_path: Path) -> None:
    assert steelyard("accept", well.measured.folder).code == 0
    slow = weighed(tmp_path / "slow", machine(slow_link=1.3))
    assert steelyard("accept", slow.measured.folder).code == 1
    one = weighed(tmp_path / "one", machine()[:1])
    assert steelyard("accept", one.measured.folder).code == 0
    assert steelyard("accept", one.measured.folder, "--strict").code == 4


def test_a_folder_beside_a_reference_gets_its_letter_anew(steelyard: Steelyard, tmp_path: Path) -> None:
    now, before = (weighed(tmp_path / name, machine()[:1], seed=len(name)) for name in ("now", "before"))
    letter = now.measured.folder / "report.html"
    steelyard("accept", now.measured.folder)
    assert not letter.exists()
    said = steelyard("accept", now.measured.folder, "--reference", before.measured.folder)
    assert f"report:  {letter}" in said.out
    assert "reference" in said.out
    assert " than in " in letter.read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--against", "{well}"], "is --reference DIR"),
        (["{none}"], "there is no results folder"),
        (["{well}", "--reference", "{well}"], "would be its own reference"),
        (["{well}", "--reference", "{none}"], "there is no results folder"),
        (["{well}", "--mpi", "mpich"], "is measured already"),
        (["{well}", "--junit", "{none}/a/b.xml"], "give --junit another place"),
        (["--time-budget", "soon", "--out", "{none}"], "soon"),
        (["{well}", "--retry", "failed"], "leave --retry out"),
        (["--retry", "failed"], "give --out DIR that has results"),
        (["--retry", "all", "--out", "{well}"], "--retry is 'failed', not 'all'"),
    ],
)
def test_bad_input_is_one_sentence(
    steelyard: Steelyard, well: Weighed, tmp_path: Path, words: list[str], said: str
) -> None:
    names = {"{none}": str(tmp_path / "none"), "{well}": str(well.measured.folder)}
    for name, path in names.items():
        words = [word.replace(name, path) for word in words]
    ended = steelyard("accept", *words)
    assert ended.code == 2
    assert said in ended.err
    assert len(ended.err.strip().splitlines()) == 1


# ---- the promise ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scatter", ["normal", "modes"])
def test_nothing_is_said_of_machines_without_fault(tmp_path: Path, scatter: str) -> None:
    """The core of benchmarks/aa_acceptance.py."""
    found = load_benchmark("aa_acceptance").accepted(tmp_path, 3, scatter=scatter)
    assert [one for one in found if one.verdict == "not well"] == []
