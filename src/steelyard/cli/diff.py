"""`steelyard diff`: differences in the settings of two runs; `steelyard rerun`: a campaign measured again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from steelyard.base.errors import InputError
from steelyard.base.files import real_path
from steelyard.base.printable import shortened
from steelyard.campaign.folder import default_folder
from steelyard.campaign.started_programs import started_by
from steelyard.cli.consent import ask_to_start
from steelyard.cli.console import print_table, say_aside, say_json
from steelyard.cli.options import JsonFlag, TimeBudget, YesFlag, launches_option
from steelyard.cli.run import finish, measure_and_show
from steelyard.judges.history.settings import differences, settings_of
from steelyard.plan.remeasure import plan_of, with_secrets
from steelyard.records.campaign_file import CampaignFile, holds_campaign, read_campaign
from steelyard.records.command_line import command
from steelyard.records.read import read_folder
from steelyard.records.results_folder import check_results_folder
from steelyard.render.table import Table, plain_lines, words
from steelyard.rows.host_words import hosts_of

EXAMPLES = {
    "diff": ("steelyard diff results/monday results/tuesday",),
    "rerun": ("steelyard rerun results/monday --out results/again",),
}
_OF_FOLDER = "the plan is that of the folder, and report.html there has its command"
ELSEWHERE = {"rerun": dict.fromkeys(("--dry-run", "-n", "--bytes", "--mpi"), _OF_FOLDER)}
_DIFFERS = 1  # exit code, as of diff(1)
_LONGEST = 60  # letters of a value: longer ones are cut


@dataclass(frozen=True)
class DiffOptions:
    """The options of `steelyard diff`."""

    first: Annotated[Path, typer.Argument(metavar="DIR", help="a results folder")]
    second: Annotated[Path, typer.Argument(metavar="DIR", help="another one")]
    json: JsonFlag = False


def diff(options: DiffOptions) -> None:
    """Print what differs between the plans, machines, libraries and settings of two runs."""
    one, other = _settings(options.first), _settings(options.second)
    found = differences(one, other)
    if options.json:
        rows = [{"name": name, "first": a, "second": b} for name, a, b in found]
        say_json({"first": str(options.first), "second": str(options.second), "differences": rows})
    elif found:
        print_table(
            Table(
                f"settings of {options.first} and {options.second}",
                f"{len(found)} of {len(one | other)} differ",
                (words("setting"), words("first"), words("second")),
                plain_lines((name, shortened(a, _LONGEST), shortened(b, _LONGEST)) for name, a, b in found),
            )
        )
    else:
        say_aside(f"no setting differs, of {len(one)}")
    if found:
        raise typer.Exit(_DIFFERS)


def _settings(folder: Path) -> dict[str, str]:
    """List all settings in the records of a folder. Raises InputError."""
    campaign = _campaign(folder)
    files = read_folder(folder, samples=False)
    machine = {key: campaign.machine.get(key) for key in ("host", "cpu_model")}
    hosts = sorted(hosts_of(files))
    told = {
        **flat_plan(campaign.plan),
        **{name: str(value) for name, value in machine.items() if value},
        **({"hosts": ", ".join(hosts)} if len(hosts) > 1 else {}),
        "format of records": str(campaign.schema),
    }
    return {**told, **settings_of(campaign.machine, files)}


def _campaign(folder: Path) -> CampaignFile:
    check_results_folder(folder)
    if not holds_campaign(folder):
        raise InputError(f"there is no results folder '{folder}'; give one that 'steelyard run' wrote")
    return read_campaign(folder)


def flat_plan(plan: Mapping[str, Any]) -> dict[str, str]:
    """Flatten a plan into settings: `plan launches`, `measure 1 env UCX_TLS`; without those not given."""
    found: dict[str, str] = {}
    for key, value in plan.items():
        if key == "measure" and isinstance(value, list):
            for number, measure in enumerate(value, 1):
                found |= _flat(f"measure {number}", measure)
        else:
            found |= _flat(f"plan {key}", value)
    return found


def _flat(name: str, value: Any) -> dict[str, str]:
    if isinstance(value, dict):
        return {
            key: text for inner, one in value.items() for key, text in _flat(f"{name} {inner}", one).items()
        }
    if value is None or value in ([], "", False):
        return {}
    return {name: value if isinstance(value, str) else msgspec.json.encode(value).decode()}


@dataclass(frozen=True)
class RerunOptions:
    """The options of `steelyard rerun`."""

    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="a results folder, whose plan and seed are taken")
    ]
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="results folder, resumed if it is there; default: results/NAME-DATE-TIME"
        ),
    ] = None
    launches: Annotated[int | None, launches_option("number of launches; default: as many as there")] = None
    time_budget: TimeBudget = None
    yes: YesFlag = False


def rerun(options: RerunOptions) -> None:
    """Measure a campaign again as it was planned, with its seed, into another folder."""
    campaign = _campaign(options.folder)
    plan = plan_of(campaign)
    plan = msgspec.structs.replace(
        plan,
        launches=options.launches or plan.most_launches,
        time_budget=options.time_budget or plan.time_budget,
    )
    out = options.out or default_folder(plan)
    if real_path(out) == real_path(options.folder):
        raise InputError(f"'{out}' holds what is to be measured again; give --out another name")
    ask_to_start(options.folder, started_by(plan), options.yes)
    ended = measure_and_show(with_secrets(plan), out)
    say_aside(f"settings: {command('diff', str(options.folder), str(out))}")
    finish(ended, out)
