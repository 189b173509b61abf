"""Batch systems: how each is asked for hosts, given a job and asked about it, a row each.

Every command is a list of words and never a line for a shell. What a job's script holds is quoted where the
script is made (campaign/batch.py).
"""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from steelyard.base.errors import InputError

JobPhase = Literal["pending", "running", "over", "unknown"]


class Wanted(Struct, frozen=True):
    """A job: so many whole hosts for so many minutes, on each of which so many CPUs are used."""

    name: str
    hosts: int
    cpus: int
    minutes: int
    script: str  # absolute paths, of plain letters
    log: str
    account: str | None = None
    partition: str | None = None
    words: tuple[str, ...] = ()  # for the command that submits, as they are

    @property
    def clock(self) -> str:
        """The minutes as hours and minutes, `01:30:00`."""
        return f"{self.minutes // 60:02d}:{self.minutes % 60:02d}:00"


class JobState(Struct, frozen=True):
    """Where a job is, and what the batch system says of it in its own words."""

    phase: JobPhase
    words: str = ""


class BatchSystem(Struct, frozen=True):
    """How a batch system is spoken to.

    `submit` gives the command; `job_id` finds the job's name in its answer. `ask` are commands that tell of a
    job, tried in turn until `read` makes something of an answer. `cancel` is the command that ends one.
    """

    name: str
    submit: Callable[[Wanted], tuple[str, ...]]
    job_id: re.Pattern[str]
    ask: tuple[tuple[str, ...], ...]  # to which the job's name is added
    read: Callable[[str], JobState | None]
    cancel: tuple[str, ...]
    tried: bool = True  # on a real system; else only on recorded answers


def _option(flag: str, value: str | None) -> tuple[str, ...]:
    """`--account=A` in one word, `-A A` in two; nothing without a value."""
    if value is None:
        return ()
    return (f"{flag}{value}",) if flag.endswith("=") else (flag, value)


def _submit_slurm(wanted: Wanted) -> tuple[str, ...]:
    asked = (
        f"--job-name={wanted.name}",
        f"--nodes={wanted.hosts}",
        "--exclusive",
        f"--time={wanted.minutes}",
    )
    whose = (*_option("--account=", wanted.account), *_option("--partition=", wanted.partition))
    where = (f"--output={wanted.log}", "--open-mode=append")
    return ("sbatch", "--parsable", *asked, *where, *whose, *wanted.words, wanted.script)


def _submit_pbs(wanted: Wanted) -> tuple[str, ...]:
    """Without mpiprocs the file of hosts has a line for each."""
    chunk = f"select={wanted.hosts}:ncpus={wanted.cpus}:mpiprocs={wanted.cpus}"
    asked = ("-N", wanted.name, "-l", chunk, "-l", "place=scatter:excl", "-l", f"walltime={wanted.clock}")
    whose = (*_option("-A", wanted.account), *_option("-q", wanted.partition))
    return ("qsub", *asked, "-j", "oe", "-o", wanted.log, *whose, *wanted.words, wanted.script)


_LSF_STRINGS = ("-R", "-w", "-m", "-E", "-Ep", "-env", "-gpu")  # options whose values are of such letters


def _submit_lsf(wanted: Wanted) -> tuple[str, ...]:
    """LSF joins the words of the command and gives them to a shell: they are quoted for it.

    Raises InputError for a word that it could take for the first of them, and a shell for more than a word.
    """
    for before, word in itertools.pairwise(("", *wanted.words)):
        if not word.startswith("-") and before not in _LSF_STRINGS and shlex.quote(word) != word:
            raise InputError(
                f"--batch-words '{word}' could reach a shell, as a command of bsub; leave it out"
            )
    slots = ("-n", str(wanted.hosts * wanted.cpus), "-R", f"span[ptile={wanted.cpus}]")
    asked = ("-J", wanted.name, *slots, "-x", "-W", str(wanted.minutes), "-o", wanted.log)
    whose = (*_option("-P", wanted.account), *_option("-q", wanted.partition))
    return ("bsub", *asked, *whose, *wanted.words, "/bin/sh", shlex.quote(wanted.script))


def _submit_flux(wanted: Wanted) -> tuple[str, ...]:
    asked = (f"--job-name={wanted.name}", f"--nodes={wanted.hosts}", "--exclusive")
    limit = (f"--time-limit={wanted.minutes}m", f"--output={wanted.log}")
    whose = (*_option("--bank=", wanted.account), *_option("--queue=", wanted.partition))
    return ("flux", "batch", *asked, *limit, *whose, *wanted.words, wanted.script)


def _in_phase(word: str, pending: str, running: str, words: str) -> JobState:
    """The phase of a state's name; one that is in neither list is an end."""
    for phase, names in (("pending", pending), ("running", running)):
        if word in names.split():
            return JobState(phase, words)  # type: ignore[arg-type]
    return JobState("over", words)


_SLURM_PENDING = "PENDING CONFIGURING REQUEUED REQUEUE_HOLD REQUEUE_FED SPECIAL_EXIT RESV_DEL_HOLD"
_SLURM_RUNNING = "RUNNING COMPLETING SUSPENDED SIGNALING STAGE_OUT STOPPED RESIZING"


def _read_slurm(text: str) -> JobState | None:
    """`PENDING Resources` of squeue, `CANCELLED by 0` of sacct, `JobState=FAILED Reason=...` of scontrol."""
    match = re.search(r"^.*?JobState=(\S+)(?: Reason=(\S+))?", text) or re.search(
        r"^\s*([A-Z_]+)\b *(.*)", text
    )
    if match is None:
        return None
    reason = "" if match[2] in (None, "None") else f" ({match[2].strip()})" if match[2].strip() else ""
    return _in_phase(match[1], _SLURM_PENDING, _SLURM_RUNNING, f"{match[1]}{reason}")


def _read_pbs(text: str) -> JobState | None:
    match = re.search(r"^\s*job_state = (\w)", text, re.MULTILINE)
    if match is None:
        return None
    code = re.search(r"^\s*Exit_status = (-?\d+)", text, re.MULTILINE)
    words = f"state {match[1]}" + (f", exit status {code[1]}" if code else "")
    return _in_phase(match[1], "Q H W T B M", "R E S U", words)


def _read_lsf(text: str) -> JobState | None:
    match = re.search(r"^\s*([A-Z]{3,6})\b *(.*)$", text, re.MULTILINE)
    if match is None:
        return None
    reason = match[2].strip(" -")
    words = f"{match[1]} ({reason})" if reason else match[1]
    return _in_phase(match[1], "PEND PSUSP WAIT", "RUN USUSP SSUSP PROV UNKWN", words)


def _read_flux(text: str) -> JobState | None:
    match = re.search(r"^\s*([A-Z]+)\b *(.*)$", text, re.MULTILINE)
    if match is None:
        return None
    return _in_phase(match[1], "NEW DEPEND PRIORITY SCHED", "RUN CLEANUP", match[2].strip(" -") or match[1])


BATCH_SYSTEMS = {
    row.name: row
    for row in (
        BatchSystem(
            name="slurm",
            submit=_submit_slurm,
            job_id=re.compile(r"^(\d+)(?:;\S+)?\s*$", re.MULTILINE),
            ask=(
                ("squeue", "--noheader", "--states=all", "--format=%T %r", "--jobs"),
                ("sacct", "--noheader", "--allocations", "--parsable2", "--format=State", "--jobs"),
                ("scontrol", "--oneliner", "show", "job"),
            ),
            read=_read_slurm,
            cancel=("scancel",),
        ),
        BatchSystem(
            name="pbs",
            submit=_submit_pbs,
            job_id=re.compile(r"^(\d+(?:\.[\w.-]+)?)\s*$", re.MULTILINE),
            ask=(("qstat", "-x", "-f"), ("qstat", "-f")),
            read=_read_pbs,
            cancel=("qdel",),
            tried=False,
        ),
        BatchSystem(
            name="lsf",
            submit=_submit_lsf,
            job_id=re.compile(r"^Job <(\d+)> is submitted", re.MULTILINE),
            ask=(("bjobs", "-noheader", "-o", "stat exit_reason"),),
            read=_read_lsf,
            cancel=("bkill",),
            tried=False,
        ),
        BatchSystem(
            name="flux",
            submit=_submit_flux,
            job_id=re.compile(r"^(\u0192?[A-Za-z0-9.]+)\s*$", re.MULTILINE),
            ask=(("flux", "jobs", "--no-header", "--format={state} {result}"),),
            read=_read_flux,
            cancel=("flux", "cancel"),
            tried=False,
        ),
    )
}
