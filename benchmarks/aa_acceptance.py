"""How often does an acceptance find a fault in a machine without any, and does it find one that was planted?

Made-up results folders of machines with eight cores, alone or eight together, whose launches scatter
normally, with heavy tails or with modes, are read and judged as any folder is. 'not well' is then a false
alarm; with a fault planted it is a find, if its topic says so.

    .venv/bin/python benchmarks/aa_acceptance.py --machines 200
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from rates import rate_words

from steelyard.judges.accept import NOT_WELL, Acceptance, accept

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests/helpers"))

from made_machine import SCATTERS, machine, weighed

# What is planted, and the topic that must name it.
FAULTS: Mapping[str, tuple[Mapping[str, Any], str]] = {
    "a core 10 % slower": ({"slow_core": 1.10}, "cores"),
    "a core 20 % slower": ({"slow_core": 1.20}, "cores"),
    "a link half as slow again": ({"slow_link": 1.5}, "links"),
    "a host of 8 12 % slower": ({"hosts": 8, "slow_host": 1.12}, "hosts"),
    "an eager limit of 64 B": ({"eager": 64}, "protocol"),
}


def accepted(folder: Path, machines: int, **given: Any) -> list[Acceptance]:
    """What is said of so many machines, each with a seed of its own."""
    return list(_accepted(folder, machines, given))


def _accepted(folder: Path, machines: int, given: Mapping[str, Any]) -> Iterator[Acceptance]:
    for seed in range(machines):
        own = folder / f"machine-{seed}"
        yield accept(weighed(own, machine(**given), seed=seed))
        shutil.rmtree(own)


def topics(found: Acceptance) -> list[str]:
    """The topics in which a machine is not well."""
    return [one.topic for one in found.topics if one.verdict == NOT_WELL]


def main() -> None:
    """Print rates of alarms, and how often a fault is found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--machines", type=int, default=200)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for scatter in SCATTERS:
            found = accepted(folder, options.machines, scatter=scatter)
            alarms = sum(one.verdict == NOT_WELL for one in found)
            print(f"without fault, {scatter}: not well {rate_words(alarms, len(found))}", flush=True)
        for fault, (given, topic) in FAULTS.items():
            count = max(1, options.machines // 10)
            for scatter in SCATTERS:
                said = [topics(one) for one in accepted(folder, count, scatter=scatter, **given)]
                named = sum(topic in one for one in said)
                other = sum(set(one) - {topic} != set() for one in said)
                print(
                    f"{fault}, {scatter}: named {rate_words(named, count)}; another topic {other}", flush=True
                )


if __name__ == "__main__":
    main()
