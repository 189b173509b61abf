"""Is a machine well: made-up folders whose machine is, or has one fault that must be named."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from commands import Steelyard, steelyard_of
from make_records import MACHINE, FakePoint, steady, write_folder
from steelyard.accept import CRITERIA, Acceptance, Topic, Weighed, accept
from steelyard.accept.junit import junit_xml
from steelyard.accept.sheets import acceptance_sentences, acceptance_sheet
from steelyard.records.campaign_file import Placement
from steelyard.records.schema import End
from steelyard.results.load import load
from steelyard.results.rows import rows_of
from steelyard.show.terminal import Paper, sheet_text

CORES, LAUNCHES = 8, 6
PAIRS = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


def paces(slow: dict[int, float], spread: float = 0.01) -> Callable[[np.random.Generator], tuple[float, ...]]:
    """Of each core in a launch: alike but for the slow ones, which take so many times as long."""
    return lambda rng: tuple(
        slow.get(rank, 1.0) * float(np.exp(spread * rng.standard_normal())) for rank in range(CORES)
    )


def machine(
    slow_core: float = 1.0, slow_link: float = 1.0, lost: float = 0.0, mpi_ns: float = 300.0
) -> list[FakePoint]:
    """What a machine of 8 cores gives: core 5 and the link 1 - 3 may be slow, core 2 may lose time."""

    def quanta(rng: np.random.Generator, launch: int) -> np.ndarray[Any, np.dtype[np.float64]]:
        took = 1e6 * (1 + 1e-4 * rng.random(200))
        return np.asarray(np.where(np.arange(200) % 10 == 0, took * (1 + 10 * lost), took))

    few = {"count": 200}
    return [
        FakePoint("mpi.pingpong", steady(mpi_ns, **few)),
        FakePoint("shm.flag", steady(130.0, **few), mpi=None),
        FakePoint(
            "mem.stream.triad",
            steady(4e6, **few, spread=0.01),
            bytes=48 << 20,
            ranks=CORES,
            mpi=None,
            reps=1,
            paces=paces({5: slow_core}),
        ),
        FakePoint("noise.fwq", quanta, bytes=0, ranks=CORES, mpi=None, reps=1, pace=(1.0,) * CORES),
        FakePoint("npb.cg", steady(5e7, **few), bytes=0, role="kernel", params={"class": "W"}, reps=1),
        *(
            FakePoint(
                "mpi.pingpong",
                steady(400.0 * (slow_link if pair == (1, 3) else 1.0), **few, between=0.01),
                placement=Placement(kind="shared-l3", cpus=pair, interrupts=()),
            )
            for pair in PAIRS
        ),
    ]


def weighed(folder: Path, points: Sequence[FakePoint], **options: Any) -> Weighed:
    """The folder of such points, read."""
    options = {"launches": LAUNCHES} | options
    measured = load(write_folder(folder, points, **options))
    return Weighed(measured, rows_of(measured), folder.name)


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
        row.topic: "well" for row in CRITERIA if row.topic != "reference"
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
        ({"mpi_ns": 20.0}, "roofs", "Faster than what it is made of"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_fault_is_named_in_its_topic_alone(
    tmp_path: Path, fault: dict[str, float], name: str, said: str
) -> None:
    found = accept(weighed(tmp_path / "out", machine(**fault)))
    assert [one.topic for one in found.topics if one.verdict == "not well"] == [name]
    assert said in topic(found, name).evidence
    assert topic(found, name).remedy
    assert found.verdict == "not well"


def test_how_much_slower_is_within_what_is_said(tmp_path: Path) -> None:
    evidence = topic(accept(weighed(tmp_path / "out", machine(slow_core=1.2))), "cores").evidence
    words = evidence.replace("(", "").replace(")", "").split()
    assert evidence.endswith("slower in mem.stream.triad 48 MiB on 8 ranks than its 7 sisters.")
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
    points[4] = replace(points[4], ends={n: End(point=4, status="failed", why=why) for n in range(1, 7)})
    found = accept(weighed(tmp_path / "out", points))
    assert (topic(found, "kernels").verdict, topic(found, "answers").verdict) == ("not well", "well")


def test_two_cores_cannot_tell_which_is_odd(tmp_path: Path) -> None:
    triad = FakePoint("mem.stream.triad", steady(4e6, count=100), bytes=1 << 20, mpi=None, reps=1)
    found = topic(accept(weighed(tmp_path / "out", [triad])), "cores")
    assert found.verdict == "cannot tell"
    assert found.evidence.startswith("2 cores of a kind")


def test_few_launches_cannot_tell(tmp_path: Path) -> None:
    found = accept(weighed(tmp_path / "out", machine(slow_core=1.5), launches=4))
    assert topic(found, "cores").verdict == "cannot tell"
    assert "4 launches; 5 can tell" in topic(found, "cores").evidence


def test_where_nothing_was_measured_nothing_can_be_told(tmp_path: Path) -> None:
    points = [replace(one, ends={1: End(point=0, status="skipped", why="unsupported")}) for one in machine()]
    found = accept(weighed(tmp_path / "out", points, launches=1, machine={}))
    assert {one.verdict for one in found.topics if one.topic != "quiet"} == {"cannot tell"}


# ---- a reference ------------------------------------------------------------------------------------------


def test_a_reference_that_is_20_percent_faster_is_told(tmp_path: Path) -> None:
    def folder(name: str, factor: float, seed: int) -> Weighed:
        point = FakePoint("mpi.pingpong", steady(factor * 300, count=200, between=0.005))
        return weighed(tmp_path / name, [point], launches=12, seed=seed)

    found = topic(accept(folder("now", 1.2, 1), folder("before", 1.0, 2)), "reference")
    assert found.verdict == "not well"
    assert "now is slower than before (1.2" in found.evidence


def test_an_equal_reference_is_well(tmp_path: Path) -> None:
    def folder(name: str, seed: int) -> Weighed:
        point = FakePoint("mpi.pingpong", steady(300, count=200, between=0.003))
        return weighed(tmp_path / name, [point], launches=30, seed=seed)

    assert topic(accept(folder("now", 1), folder("before", 2)), "reference").verdict == "well"


def test_a_reference_of_another_kind_of_machine_is_not_guessed_with(well: Weighed, tmp_path: Path) -> None:
    other = weighed(tmp_path / "other", machine(), machine=MACHINE | {"cpu_model": "Intel"})
    found = topic(accept(well, other), "reference")
    assert found.verdict == "cannot tell"
    assert "Intel" in found.evidence


# ---- in words ---------------------------------------------------------------------------------------------


def test_a_terminal_of_80_columns_has_a_line_a_topic(well: Weighed) -> None:
    found = accept(well)
    lines = sheet_text(acceptance_sheet(found, well.name), Paper(80, False)).splitlines()
    assert lines[0].startswith("well: well: 9 of 9 topics are well")
    assert len(lines) == 2 + len(found.topics)
    assert max(map(len, lines)) <= 80
    assert not list(acceptance_sentences(found))


def test_what_is_not_well_comes_with_what_to_do(tmp_path: Path) -> None:
    found = accept(weighed(tmp_path / "out", machine(slow_core=1.2)))
    (sentence,) = acceptance_sentences(found)
    assert sentence.startswith("cores, not well: Core 5 is ")
    assert "take it out of use" in sentence
    assert junit_xml("t", found, False).count(b"<failure") == 1


# ---- the command ------------------------------------------------------------------------------------------


def test_exit_codes(steelyard: Steelyard, well: Weighed, tmp_path: Path) -> None:
    assert steelyard("accept", well.measured.folder).code == 0
    slow = weighed(tmp_path / "slow", machine(slow_link=1.3))
    assert steelyard("accept", slow.measured.folder).code == 1
    one = weighed(tmp_path / "one", machine()[:1])
    assert steelyard("accept", one.measured.folder).code == 0
    assert steelyard("accept", one.measured.folder, "--strict").code == 4


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["{none}"], "there is no results folder"),
        (["{well}", "--reference", "{well}"], "would be its own reference"),
        (["{well}", "--reference", "{none}"], "there is no results folder"),
        (["{well}", "--mpi", "mpich"], "is measured already"),
        (["{well}", "--junit", "{none}/a/b.xml"], "give --junit another place"),
        (["--time-budget", "soon", "--out", "{none}"], "soon"),
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
