"""`steelyard accept`: is this machine well?"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from steelyard.base.errors import InputError
from steelyard.base.plural import joined
from steelyard.cli.console import paper, print_laid_out, print_table, say_aside, tell, tell_counted
from steelyard.cli.options import (
    JsonFlag,
    JunitFile,
    MpiNames,
    RetryWord,
    StrictFlag,
    check_retry,
    launches_option,
    listed,
)
from steelyard.cli.show import OnScreen, print_closing
from steelyard.cli.verdict_output import exit_judged, say_judgement, write_junit

if TYPE_CHECKING:
    from steelyard.analyses.overview import ReadFolder
    from steelyard.judges.accept import Acceptance, Weighed

EXAMPLES = {
    "accept": (
        "steelyard accept",
        "steelyard accept --reference results/last-year --junit accept.xml",
        "steelyard accept results/acceptance-20261124-010203 --strict",
        "steelyard accept --hosts 1,8",
        "steelyard accept --files /scratch --reference results/last-year",
        "steelyard accept --limits site.toml",
    )
}
_REFERENCE = "what was measured before, to compare with, is --reference DIR"
_PLANNED = "what would be measured: steelyard plan show acceptance"
_HOSTS = "hosts are --hosts 1,8, each with a rank for each core"
_SET = "what is measured with a variable is accepted from its folder: steelyard run acceptance --help"
ELSEWHERE = {
    "accept": {
        **dict.fromkeys(("--against", "--baseline"), _REFERENCE),
        **dict.fromkeys(("-n", "-np", "-N", "--ranks", "--nodes", "--nnodes"), _HOSTS),
        **dict.fromkeys(("--env", "-x", "-genv"), _SET),
        "--dry-run": _PLANNED,
    }
}


@dataclass(frozen=True)
class AcceptOptions:
    """The options of `steelyard accept`; the measuring ones apply if no folder is given."""

    folder: Annotated[
        Path | None,
        typer.Argument(metavar="[DIR]", help="judge this results folder; without: measure the plan first"),
    ] = None
    reference: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="a folder of the same plan, of this machine or one of its kind"),
    ] = None
    limits: Annotated[
        Path | None,
        typer.Option(metavar="FILE.toml", help="a site's own limits: times below, rates above"),
    ] = None
    mpi: MpiNames = None
    hosts: Annotated[
        str | None,
        typer.Option(
            metavar="N,...",
            help="numbers of hosts of an allocation; 1,8 also measures one host alone",
        ),
    ] = None
    files: Annotated[
        list[str] | None,
        typer.Option(
            metavar="DIR,...",
            help="folders of file systems, to judge files, too: in a folder of their own there, and removed",
        ),
    ] = None
    launches: Annotated[int | None, launches_option("number of launches; default: the plan's")] = None
    time_budget: Annotated[
        str | None, typer.Option(metavar="TIME", help="for all launches: 5m, 20m; default: the plan's")
    ] = None
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="results folder, resumed if it is there; default: results/acceptance-...",
        ),
    ] = None
    retry: RetryWord = None
    strict: StrictFlag = False
    junit: JunitFile = None
    json: JsonFlag = False


def accept(options: AcceptOptions) -> None:
    """Judge whether a machine is well: measure it, ten minutes at most, or take an existing folder.

    The exit code is 1 if it is not well, 4 with --strict if that is undecided, 2 or 3 if it was not judged.
    """
    from steelyard.judges.accept import accept as accept_weighed
    from steelyard.judges.accept import read_limits
    from steelyard.judges.accept.criterion import ACCEPTED
    from steelyard.judges.accept.tables import judged_topics
    from steelyard.session.accept import read_folder, weighed

    _check(options)
    limits = read_limits(options.limits) if options.limits is not None else ()
    reference = weighed(read_folder(options.reference)) if options.reference is not None else None
    read = _measured(options) if options.folder is None else read_folder(options.folder)
    candidate, folder = weighed(read), read.measured.folder
    found = accept_weighed(candidate, reference, limits)
    write_junit(options.junit, f"steelyard accept {folder}", ACCEPTED, judged_topics(found), options.strict)
    answer = None
    if options.json:
        say_judgement(found)
    else:
        answer = print_acceptance(candidate, found)
    is_new = options.folder is None or reference is not None or limits != ()
    if is_new and (options.folder is None or os.access(folder, os.W_OK)):
        from steelyard.report import report_measured

        line = tell_counted if options.json else say_aside
        lines = line(f"report:  {report_measured(read, candidate.found, found)}")
        answer = answer and answer.followed_by(lines)
    if answer is not None:
        print_closing(answer)
    exit_judged(ACCEPTED, (topic.verdict for topic in found.topics), options.strict)


def _check(options: AcceptOptions) -> None:
    """Raise InputError for options that contradict each other."""
    from steelyard.session.accept import check_reference

    folder, reference = options.folder or options.out, options.reference
    measuring = ("mpi", "hosts", "files", "launches", "time_budget", "out", "retry")
    given = [f"--{name.replace('_', '-')}" for name in measuring if getattr(options, name) is not None]
    if options.folder and given:
        raise InputError(f"'{folder}' is measured already; leave {joined(given)} out")
    check_reference(folder, reference)
    check_retry(options.retry, options.out)


def print_acceptance(weighed: Weighed, acceptance: Acceptance) -> OnScreen:
    """Print the verdict and why, a line for each topic, and below it the reasons and remedies."""
    from steelyard.judges.accept.tables import acceptance_sentences, acceptance_table, head_facts
    from steelyard.render.terminal import prose_text

    verdict = f"{weighed.name}: {acceptance.verdict}: {acceptance.why}."
    lines = 0
    for sentence in (verdict, *head_facts(acceptance)):
        lines += print_laid_out(prose_text(sentence, paper(), indent="  "))
    lines += say_aside("") + print_table(acceptance_table(acceptance))
    for sentence in acceptance_sentences(acceptance):
        lines += say_aside("") + print_laid_out(prose_text(sentence, paper()))
    return OnScreen((verdict,), lines)


def _measured(options: AcceptOptions) -> ReadFolder:
    """Measure the plan into a folder now. Raises InputError."""
    from steelyard.campaign.folder import default_folder
    from steelyard.cli.measure import measured
    from steelyard.judges.accept import PLAN
    from steelyard.plan.arguments import asked_plan
    from steelyard.plan.settings import read_around

    given = {"launches": options.launches, "time_budget": options.time_budget}
    changes = {name: value for name, value in given.items() if value is not None}
    around = read_around({"files": options.files})
    plan = asked_plan((PLAN,), (), {"ranks": None, "hosts": options.hosts, **around}, None, ())
    plan = msgspec.structs.replace(plan, mpi=listed(options.mpi), **changes)
    folder = options.out or default_folder(plan)
    results = measured(plan, folder, retry_failed=options.retry is not None)
    tell(f"results: {folder}")
    return results.read
