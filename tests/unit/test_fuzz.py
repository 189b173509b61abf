"""Random damage of what is read: no traceback, no number that changes without a word, and bounds.

Each case may take 2 s of CPU time and 500 MiB. `STEELYARD_FUZZ=10000 .venv/bin/pytest -rP
tests/unit/test_fuzz.py` tries so many cases of each kind, from a seed that it prints;
`STEELYARD_FUZZ_SEED` gives one.
"""

from __future__ import annotations

import contextlib
import functools
import io
import os
import random
import shutil
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import msgspec
import pytest

from bounds import OverBoundsError, bounded
from damages import OF_JSON, OF_TEXT, OF_VALUES, Damage
from make_records import FakePoint, steady, write_folder
from record_lines import unsealed
from steelyard.base.errors import InputError, SteelyardError
from steelyard.cli.show import print_results, tell_diagnostics
from steelyard.export.formats import results_document, write_results
from steelyard.judges.history.digest import NAME as NIGHT
from steelyard.judges.history.digest import known_night
from steelyard.plan.plan import read_plan
from steelyard.records.campaign_file import read_campaign, write_campaign
from steelyard.results.row import Row
from steelyard.session.results import read_results

_CASES, _FURTHER = 60, 2000  # of each of six kinds of file
_ASKED = int(os.environ.get("STEELYARD_FUZZ", "0"))
_SEED = int(os.environ.get("STEELYARD_FUZZ_SEED", random.SystemRandom().randrange(2**32)))
_SEEDS = [
    pytest.param(7, _CASES, id="usual"),
    pytest.param(8, _FURTHER, id="further", marks=pytest.mark.further),
    *([pytest.param(_SEED, _ASKED, id="asked")] if _ASKED else []),
]
_REFUSED = "refused"
_PLAN = """
name = "mine"
launches = 3
time_budget = "2m"
[[measure]]
ops = ["mpi.bcast", "mpi.pingpong"]
bytes = "8..64"
ranks = [2, 4]
params = {window = [8, 64]}
env = {UCX_TLS = "tcp"}
"""


@dataclass(frozen=True, slots=True)
class _Kind:
    """Files of a kind, by patterns; what becomes of a folder in which one is damaged, and must be seen."""

    files: tuple[str, ...]
    damages: tuple[Damage, ...]
    outcome: Callable[[Path, Path], str]  # (damaged folder, clean folder)
    outcomes: frozenset[str]


def _shown(folder: Path) -> tuple[dict[int, Row], str]:
    """The rows, and all that is said of damage; a warning of NumPy is as bad as a traceback."""
    with warnings.catch_warnings(), contextlib.redirect_stdout(io.StringIO()) as out:
        warnings.simplefilter("error")
        results = read_results(folder)
        read, found = results.read, results.diagnostics
        msgspec.json.encode(results_document(results.exported()))
        print_results([read])
        with contextlib.redirect_stderr(out):
            tell_diagnostics(found)
    assert "\x1b]" not in out.getvalue()
    told = ("damaged", "missing", "not-measured", "cut-line")
    return {row.point: row for row in read.rows}, " ".join(one.evidence for one in found if one.name in told)


@functools.cache
def _rows_of(clean: Path) -> dict[int, Row]:
    return _shown(clean)[0]


def _told(folder: Path, clean: Path) -> str:
    """No number changes unless something is said."""
    before = _rows_of(clean)
    rows, told = _shown(folder)
    changed = [before[point].op for point in before if rows.get(point) != before[point]]
    assert told or not changed, f"{changed} changed, and nothing is said"
    assert len(told) < 5000
    return "told" if changed else "same"


def _read(folder: Path, _: Path) -> str:
    """Whoever leaves out the checksums may write any numbers."""
    _shown(folder)
    return "read"


def _night_is_the_same(folder: Path, clean: Path) -> str:
    assert known_night(folder, b"key").rows == known_night(clean, b"key").rows
    return "same"


def _planned(folder: Path, _: Path) -> str:
    read_plan(folder / "mine.toml")
    return "read"


_KINDS = {
    "records": _Kind(("records/*.jsonl",), OF_JSON, _told, frozenset({"told", "same"})),
    "records without checksums": _Kind(("unsealed/records/*.jsonl",), OF_VALUES, _read, frozenset({"read"})),
    "campaign.json": _Kind(("campaign.json",), OF_JSON, _told, frozenset({_REFUSED, "same"})),
    "campaign.json without a checksum": _Kind(
        ("unsealed/campaign.json",), OF_VALUES, _read, frozenset({_REFUSED, "read"})
    ),
    # What is exported is not read again; what is kept of nights is rows in JSON, too.
    "results.json": _Kind(("results.json", NIGHT), OF_JSON, _night_is_the_same, frozenset({"same"})),
    "plan": _Kind(("mine.toml",), OF_TEXT, _planned, frozenset({_REFUSED, "read"})),
}


@pytest.fixture(scope="module")
def clean(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with all that is read, and one of an older version in it, without checksums."""
    points = [
        FakePoint("mpi.bcast", steady(1e3, count=30)),
        FakePoint("mpi.allreduce", steady(2e3, count=30), clock_error=9, method="epoch"),
        FakePoint("mpi.pingpong", steady(500.0, count=30), report="message", method="each"),
        FakePoint("self.empty", steady(20.0, count=30), ranks=1, mpi=None),
    ]
    folder = write_folder(tmp_path_factory.mktemp("fuzz") / "out", points, launches=2, plan={"launches": 2})
    shutil.copytree(folder, folder / "unsealed")
    for path in (folder / "unsealed/records").iterdir():
        path.write_text(unsealed(path.read_text()))
    write_campaign(folder, read_campaign(folder))
    write_results(read_results(folder).exported())
    known_night(folder, b"key")
    (folder / "mine.toml").write_text(_PLAN)
    return folder


def _outcome(kind: _Kind, name: str, folder: Path, clean: Path) -> str:
    """What becomes of a folder of which a file is damaged; a sentence is short."""
    inner = Path(name).parts[0] == "unsealed"
    try:
        return kind.outcome(*(path / "unsealed" if inner else path for path in (folder, clean)))
    except SteelyardError as error:
        sentence = str(error)
    assert len(sentence) < 2000
    assert "\n" not in sentence
    return _REFUSED


@pytest.mark.parametrize(("seed", "cases"), _SEEDS)
@pytest.mark.parametrize("which", _KINDS)
def test_damage_is_told_and_changes_no_number(
    clean: Path, tmp_path: Path, which: str, seed: int, cases: int
) -> None:
    kind = _KINDS[which]
    names = sorted(str(path.relative_to(clean)) for pattern in kind.files for path in clean.glob(pattern))
    whole = {name: (clean / name).read_bytes() for name in names}
    folder = shutil.copytree(clean, tmp_path / "out")
    seen: Counter[str] = Counter()
    for case in range(cases):
        rng = random.Random(f"{seed}/{case}")
        name, damage = rng.choice(names), rng.choice(kind.damages)
        data = damage(rng, whole[name])
        (folder / name).write_bytes(data)
        try:
            with bounded():
                seen[_outcome(kind, name, folder, clean)] += 1
        except (Exception, OverBoundsError) as error:
            (tmp_path / "failing").write_bytes(data)
            what = f"seed {seed}, case {case}, {damage.__name__} of {name}"
            raise AssertionError(f"{what} ({tmp_path}/failing): {error!r}") from error
        (folder / name).write_bytes(whole[name])
    print(f"{which}: seed {seed}, {cases} cases: {dict(seen)}")
    assert kind.outcomes <= set(seen) <= kind.outcomes | {_REFUSED}


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        ("x" * 1_000_000 + " = 1", r", line 1: it has no key 'x{97}\.\.\.'"),
        ('"(" = 1', r", line 1: it has no key '\('"),
        ("launches = " + "9" * 5000, " has a number of too many digits; give fewer"),
        ("#" * (1 << 20) + "\n", " has more than 1048576 bytes; give another one"),
    ],
)
def test_what_was_found_in_plans(tmp_path: Path, plan: str, words: str) -> None:
    (tmp_path / "mine.toml").write_text(plan)
    with pytest.raises(InputError, match=r"mine\.toml" + words), bounded():
        read_plan(tmp_path / "mine.toml")


_LONG = "x" * 5000
_ONE = '[[measure]]\nops = ["self.empty"]\n'


@pytest.mark.parametrize(
    "plan",
    [
        f'{_ONE}env = {{ "9{_LONG}" = "1" }}',
        f'{_ONE}env = {{ {_LONG} = "\\u0007" }}',
        f'{_ONE}env = {{ A = "\\u0007 {"x " * 2500}" }}',
        f'{_ONE}env = {{ TOKEN_{_LONG} = ["a", "b"] }}',
        f"""{_ONE}wrapper = "'{"x " * 2500}" """,
        f'{_ONE}wrapper = "\\u0007{"x " * 2500}"',
        f'{_ONE}modules = "${_LONG}"',
        f'{_ONE}thread_level = "{_LONG}"',
        f'{_ONE}omp = {{ {_LONG} = "" }}',
        f'arms = {{ {_LONG} = ["\\u0007"] }}\n{_ONE}',
        f"seed = -1{'0' * 4000}\n{_ONE}",
        f'include = ["{_LONG}"]\n{_ONE}',
        f'include = ["{"x" * 300}.toml"]\n{_ONE}',
        f'[[measure]]\nops = ["{"x" * 300}.so"]\n',
    ],
    ids=range(14),
)
def test_a_sentence_about_a_plan_quotes_what_somebody_reads(tmp_path: Path, plan: str) -> None:
    (tmp_path / "mine.toml").write_text(plan)
    with pytest.raises(InputError) as refused:
        read_plan(tmp_path / "mine.toml")
    assert len(str(refused.value)) < 1000


def _turn() -> None:
    while True:
        pass


def _hide() -> None:
    with contextlib.suppress(Exception):
        _turn()


def _fill() -> list[bytearray]:
    """Ask for 4 GiB in pieces: what the process has freed before may hold the first of them."""
    return [bytearray(64 << 20) for _ in range(64)]


@pytest.mark.parametrize(
    ("take", "words"),
    [(_turn, "0.05 s of CPU"), (_hide, "0.05 s of CPU"), (_fill, "32 MiB")],
)
def test_bounds_are_bounds(take: Callable[[], object], words: str) -> None:
    with pytest.raises(OverBoundsError, match=words), bounded(seconds=0.05, memory=32 << 20):
        take()
