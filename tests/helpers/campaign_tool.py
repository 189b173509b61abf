"""A campaign in a process of its own, for tests that kill it: `campaign_tool.py FOLDER ENGINE`, as JSON.

Points on two ranks, as many as the variable POINTS says, in as many launches as LAUNCHES says, of SAMPLES of
5 ms each, or of as many as last a third of a second. With RETRY failures are measured again. Goes on with
what is there. Exit code 3 when a point failed. Notes go to stderr. Samples are long: ranks that share cores
with others wait for a turn at each.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import msgspec

from steelyard.base.errors import SteelyardError
from steelyard.campaign.folder import finished, open_folder
from steelyard.campaign.jobs import CampaignSetup
from steelyard.campaign.lock import locked
from steelyard.campaign.run import run_campaign
from steelyard.engines.build import Engine, describe
from steelyard.engines.description import ops_of
from steelyard.plan.plan import Measure, Plan
from steelyard.plan.resolve import resolve
from steelyard.system.machine import read_machine


def main() -> None:
    """Run it."""
    folder, engine = Path(sys.argv[1]), msgspec.json.decode(sys.argv[2], type=Engine)
    mpi = engine.mpi.name if engine.mpi else None
    ops, machine = ops_of(describe(engine), describe(engine) if mpi else None), read_machine()
    params: dict[str, float | str | tuple[float | str, ...]] = {
        "ns": tuple(5e6 + i for i in range(int(os.environ.get("POINTS", "3")))),
        "count": float(os.environ.get("SAMPLES", "66")),
    }
    measure = Measure(
        ops=("self.spin",), ranks=2, rule="fixed", params=params, engine="mpi" if mpi else "solo"
    )
    plan = Plan(
        measure=(measure,),
        launches=int(os.environ.get("LAUNCHES", "1")),
        oversubscribe=True,
        seed=1,
        hang_after=os.environ.get("HANG_AFTER", "60s"),
    )
    points = resolve(plan, ops, [mpi] if mpi else [], 2)
    campaign = open_folder(folder, plan, points, machine)
    with locked(folder) as lock:
        print(*lock.notes, sep="\n", file=sys.stderr)
        run_campaign(
            folder, plan, campaign, CampaignSetup({mpi: engine}, ops, machine), lambda _: None, lock=lock,
            retry_failed="RETRY" in os.environ,
        )  # fmt: skip
    sys.exit(3 if any(end.status == "failed" for end in finished(folder).values()) else 0)


if __name__ == "__main__":
    try:
        main()
    except SteelyardError as error:
        print(f"steelyard: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
