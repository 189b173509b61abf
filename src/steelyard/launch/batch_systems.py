"""Batch systems, a row each: how to submit a job, ask for its state, and read the hosts of an allocation.

Every command is a list of words and never a line for a shell. What a job's script holds is quoted where the
script is made (campaign/batch.py).
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from steelyard.base.errors import InputError, MeasurementError
from steelyard.base.files import read_regular
from steelyard.base.plural import counted
from steelyard.base.printable import visible
from steelyard.system.allocation import AllocatedHost, Allocation, checked_host, expand_hosts
from steelyard.system.process import run

_ASK_SECONDS = 30.0

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
    words: tuple[str, ...] = ()  # for the command that submits, unchanged

    @property
    def clock(self) -> str:
        """The minutes as hours and minutes, `01:30:00`."""
        return f"{self.minutes // 60:02d}:{self.minutes % 60:02d}:00"


class JobState(Struct, frozen=True):
    """The phase of a job, and its state in the batch system's own words."""

    phase: JobPhase
    words: str = ""


class BatchSystem(Struct, frozen=True):
    """The commands and outputs of a batch system.

    `submit` makes the command; `job_id` finds the job's name in its answer. `ask` are commands that show a
    job, tried in turn until `read` understands an answer. `cancel` is the command that ends a job. `valued`
    are the options of `submit` whose value may be the next word. The variable `inside` is set in an
    allocation, and `hosts` reads its hosts. `switches` are a command that shows the switches, and a function
    that reads each host's from its answer.
    """

    name: str
    submit: Callable[[Wanted], tuple[str, ...]]
    job_id: re.Pattern[str]
    ask: tuple[tuple[str, ...], ...]  # the job's name is added
    read: Callable[[str], JobState | None]
    cancel: tuple[str, ...]
    valued: str  # without their dash, separated by blanks
    inside: str
    hosts: Callable[[Mapping[str, str]], tuple[AllocatedHost, ...]]
    switches: tuple[tuple[str, ...], Callable[[str], dict[str, str]]] | None = None
    tried: bool = True  # on a real system; else only on recorded answers


def _option(flag: str, value: str | None) -> tuple[str, ...]:
    """Write `--account=A` in one word, `-A A` in two; nothing without a value."""
    if value is None:
        return ()
    return (f"{flag}{value}",) if flag.endswith("=") else (flag, value)


def _in_phase(word: str, pending: str, running: str, words: str) -> JobState:
    """Find the phase for the name of a state; a name in neither list is an end."""
    for phase, names in (("pending", pending), ("running", running)):
        if word in names.split():
            return JobState(phase, words)  # type: ignore[arg-type]
    return JobState("over", words)


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


_SLURM_PENDING = "PENDING CONFIGURING REQUEUED REQUEUE_HOLD REQUEUE_FED SPECIAL_EXIT RESV_DEL_HOLD"
_SLURM_RUNNING = "RUNNING COMPLETING SUSPENDED SIGNALING STAGE_OUT STOPPED RESIZING"


def _read_slurm(text: str) -> JobState | None:
    """Read `PENDING Resources` of squeue, `CANCELLED by 0` of sacct, `JobState=FAILED Reason=...` of
    scontrol.
    """
    match = re.search(r"^.*?JobState=(\S+)(?: Reason=(\S+))?", text) or re.search(
        r"^\s*([A-Z_]+)\b *(.*)", text
    )
    if match is None:
        return None
    reason = "" if match[2] in (None, "None") else f" ({match[2].strip()})" if match[2].strip() else ""
    return _in_phase(match[1], _SLURM_PENDING, _SLURM_RUNNING, f"{match[1]}{reason}")


def _hosts_slurm(environ: Mapping[str, str]) -> tuple[AllocatedHost, ...]:
    variable = "SLURM_JOB_NODELIST"
    names = expand_hosts(environ.get(variable) or environ.get("SLURM_NODELIST", ""), variable)
    text = environ.get("SLURM_JOB_CPUS_PER_NODE") or environ.get("SLURM_TASKS_PER_NODE", "")
    cpus: list[int] = []
    for part in text.split(",") if text else ():
        match = re.fullmatch(r"([0-9]{1,9})(?:\(x([0-9]{1,6})\))?", part)
        if match is None:
            raise InputError(f"SLURM_JOB_CPUS_PER_NODE is no list such as 4(x2),8: '{visible(text[:80])}'")
        cpus += [int(match[1])] * int(match[2] or 1)
    if cpus and len(cpus) != len(names):
        raise InputError(
            f"SLURM_JOB_CPUS_PER_NODE is of {counted(len(cpus), 'host')}, and {variable} of {len(names)}"
        )
    if not cpus:
        return tuple(AllocatedHost(name) for name in names)
    return tuple(AllocatedHost(name, count) for name, count in zip(names, cpus, strict=True))


def _switches_slurm(text: str) -> dict[str, str]:
    """Read the lines of the tree at level 0, whose switches connect hosts."""
    found: dict[str, str] = {}
    for match in re.finditer(r"^SwitchName=(\S+) Level=0 .*?Nodes=(\S+)", text, re.MULTILINE):
        with contextlib.suppress(InputError):
            found |= dict.fromkeys(expand_hosts(match[2], "'scontrol show topology'"), match[1])
    return found


def _submit_pbs(wanted: Wanted) -> tuple[str, ...]:
    """Submit with mpiprocs; without it the file of hosts has only one line for each."""
    chunk = f"select={wanted.hosts}:ncpus={wanted.cpus}:mpiprocs={wanted.cpus}"
    asked = ("-N", wanted.name, "-l", chunk, "-l", "place=scatter:excl", "-l", f"walltime={wanted.clock}")
    whose = (*_option("-A", wanted.account), *_option("-q", wanted.partition))
    return ("qsub", *asked, "-j", "oe", "-o", wanted.log, *whose, *wanted.words, wanted.script)


def _read_pbs(text: str) -> JobState | None:
    match = re.search(r"^\s*job_state = (\w)", text, re.MULTILINE)
    if match is None:
        return None
    code = re.search(r"^\s*Exit_status = (-?\d+)", text, re.MULTILINE)
    words = f"state {match[1]}" + (f", exit status {code[1]}" if code else "")
    return _in_phase(match[1], "Q H W T B M", "R E S U", words)


def _hosts_pbs(environ: Mapping[str, str]) -> tuple[AllocatedHost, ...]:
    """Read the hosts: a line for each rank that was asked for; single lines show no CPUs."""
    path = Path(environ["PBS_NODEFILE"])
    try:
        text = read_regular(path).decode()
    except (OSError, UnicodeDecodeError, InputError):
        raise InputError(f"PBS_NODEFILE names '{visible(str(path))}', which cannot be read") from None
    lines = Counter(checked_host(line.strip(), "PBS_NODEFILE") for line in text.splitlines() if line.strip())
    return tuple(AllocatedHost(name, count if count > 1 else None) for name, count in lines.items())


def _submit_lsf(wanted: Wanted) -> tuple[str, ...]:
    """Quote the words of the command: LSF joins them and gives them to a shell."""
    slots = ("-n", str(wanted.hosts * wanted.cpus), "-R", f"span[ptile={wanted.cpus}]")
    asked = ("-J", wanted.name, *slots, "-x", "-W", str(wanted.minutes), "-o", wanted.log)
    whose = (*_option("-P", wanted.account), *_option("-q", wanted.partition))
    return ("bsub", *asked, *whose, *wanted.words, "/bin/sh", shlex.quote(wanted.script))


def _read_lsf(text: str) -> JobState | None:
    match = re.search(r"^\s*([A-Z]{3,6})\b *(.*)$", text, re.MULTILINE)
    if match is None:
        return None
    reason = match[2].strip(" -")
    words = f"{match[1]} ({reason})" if reason else match[1]
    return _in_phase(match[1], "PEND PSUSP WAIT", "RUN USUSP SSUSP PROV UNKWN", words)


def _hosts_lsf(environ: Mapping[str, str]) -> tuple[AllocatedHost, ...]:
    variable = "LSB_MCPU_HOSTS"
    words = environ[variable].split()
    if len(words) % 2 or not all(re.fullmatch("[0-9]{1,9}", word) for word in words[1::2]):
        raise InputError(f"{variable} is no list of hosts and numbers: '{visible(environ[variable][:80])}'")
    pairs = zip(words[::2], words[1::2], strict=True)
    return tuple(AllocatedHost(checked_host(name, variable), int(cpus)) for name, cpus in pairs)


def _submit_flux(wanted: Wanted) -> tuple[str, ...]:
    asked = (f"--job-name={wanted.name}", f"--nodes={wanted.hosts}", "--exclusive")
    limit = (f"--time-limit={wanted.minutes}m", f"--output={wanted.log}")
    whose = (*_option("--bank=", wanted.account), *_option("--queue=", wanted.partition))
    return ("flux", "batch", *asked, *limit, *whose, *wanted.words, wanted.script)


def _read_flux(text: str) -> JobState | None:
    match = re.search(r"^\s*([A-Z]+)\b *(.*)$", text, re.MULTILINE)
    if match is None:
        return None
    return _in_phase(match[1], "NEW DEPEND PRIORITY SCHED", "RUN CLEANUP", match[2].strip(" -") or match[1])


def _hosts_flux(environ: Mapping[str, str]) -> tuple[AllocatedHost, ...]:
    """Ask Flux for its resources: how many hosts and cores, and the names of hosts."""
    if shutil.which("flux", path=environ.get("PATH")) is None:
        raise InputError("FLUX_URI is set, as in an allocation of flux, but there is no flux on PATH")
    argv = ["flux", "resource", "list", "-n", "-s", "up", "-o", "{nnodes} {ncores} {nodelist}"]
    done = run(argv, env=environ, timeout=_ASK_SECONDS)
    match = re.search(r"^\s*([0-9]+)\s+([0-9]+)\s+(\S+)\s*$", done.out, re.MULTILINE)
    if done.code != 0 or match is None:
        raise InputError(f"'{' '.join(argv[:3])}' did not name its hosts: {visible(done.err.strip()[:200])}")
    hosts, cores = int(match[1]), int(match[2])
    each = cores // hosts if hosts and cores % hosts == 0 else None  # the cores of each host are not shown
    return tuple(AllocatedHost(name, each) for name in expand_hosts(match[3], "'flux resource list'"))


# Flux is often started inside another system's allocation: it stands below them.
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
            valued="A B C D F G J L M N S a b c d e i m n o p q t w x",
            inside="SLURM_JOB_NODELIST",
            hosts=_hosts_slurm,
            switches=(("scontrol", "show", "topology"), _switches_slurm),
        ),
        BatchSystem(
            name="pbs",
            submit=_submit_pbs,
            job_id=re.compile(r"^(\d+(?:\.[\w.-]+)?)\s*$", re.MULTILINE),
            ask=(("qstat", "-x", "-f"), ("qstat", "-f")),
            read=_read_pbs,
            cancel=("qdel",),
            valued="A C J M N P R S W a c e j k l m o p q r u v",
            inside="PBS_NODEFILE",
            hosts=_hosts_pbs,
            tried=False,
        ),
        BatchSystem(
            name="lsf",
            submit=_submit_lsf,
            job_id=re.compile(r"^Job <(\d+)> is submitted", re.MULTILINE),
            ask=(("bjobs", "-noheader", "-o", "stat exit_reason"),),
            read=_read_lsf,
            cancel=("bkill",),
            valued=(
                "C D E Ep F G J Jd L Lp M P Q R S T U W We a app b c clusters cwd data e env eo ext f g gpu "
                "hl i is k m mig network n o oo outdir p q rnc s sla sp t u v w wa wt"
            ),
            inside="LSB_MCPU_HOSTS",
            hosts=_hosts_lsf,
            tried=False,
        ),
        BatchSystem(
            name="flux",
            submit=_submit_flux,
            job_id=re.compile(r"^(\u0192?[A-Za-z0-9.]+)\s*$", re.MULTILINE),
            ask=(("flux", "jobs", "--no-header", "--format={state} {result}"),),
            read=_read_flux,
            cancel=("flux", "cancel"),
            valued="B N S c g n o q t",
            inside="FLUX_URI",
            hosts=_hosts_flux,
            tried=False,
        ),
    )
}


def read_allocation(environ: Mapping[str, str] = os.environ) -> Allocation | None:
    """Find the allocation of this process, the innermost of several; None outside.

    Raises InputError if the variables of a batch system make no sense.
    """
    for system in reversed(BATCH_SYSTEMS.values()):
        if environ.get(system.inside):
            without = f"unset {system.inside} to measure without {system.name}"
            try:
                hosts = system.hosts(environ)
            except (InputError, MeasurementError) as error:
                raise InputError(f"{error}; {without}") from None
            if not hosts:
                raise InputError(f"{system.inside} names no host; {without}")
            return Allocation(system.name, hosts)
    return None


def with_switches(allocation: Allocation) -> Allocation:
    """Add the switch of each host to the allocation, if the batch system knows it."""
    told = BATCH_SYSTEMS[allocation.system].switches
    if told is None or shutil.which(told[0][0]) is None:
        return allocation
    argv, read = told
    try:
        done = run(argv, timeout=_ASK_SECONDS)
    except (InputError, MeasurementError):
        return allocation
    switches = read(done.out) if done.code == 0 else {}
    hosts = tuple(replace(host, switch=switches.get(host.name)) for host in allocation.hosts)
    return replace(allocation, hosts=hosts)
