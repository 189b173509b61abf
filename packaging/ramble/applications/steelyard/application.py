# Copyright Steelyard contributors. SPDX-License-Identifier: BSD-3-Clause

from ramble.appkit import *


class Steelyard(ExecutableApplication):
    """Benchmarks for MPI, threads and files that say how far each number can be trusted"""

    name = "steelyard"

    tags("synthetic-benchmarks")

    software_spec("steelyard", pkg_spec="steelyard", package_manager="spack*")
    required_package("steelyard", package_manager="spack*")

    # It starts the launches of ranks by itself, several of each test case.
    executable(
        "measure",
        "steelyard run {what} -n {n_ranks} {options} --out {experiment_run_dir}/results --to influx",
        use_mpi=False,
    )
    workload("ops", executable="measure")
    workload_variable("what", default="mpi.pingpong", description="ops, or a plan", workload="ops")
    workload_variable(
        "options",
        default="--launches 5 --time-budget 5m",
        description="further options of steelyard run",
        workload="ops",
    )

    # A line for each test case: its tags, a blank, its numbers.
    figure_of_merit_context("case", regex=r"^steelyard,(?P<case>\S+) ", output_format="{case}")
    for number, units in (
        ("time", "seconds"),
        ("time_low", "seconds"),
        ("time_high", "seconds"),
        ("time_p99", "seconds"),
        ("bandwidth", "bytes_per_second"),
    ):
        figure_of_merit(
            number,
            fom_regex=rf"^steelyard,\S+ (?:\S*,)?{number}_{units}=(?P<value>[0-9.e+-]+)",
            group_name="value",
            units=units.replace("_per_", "/"),
            contexts=["case"],
        )

    # Ramble takes one expression for each.
    success_criteria("measured", mode="string", match=r"^steelyard,.*\bended=1\.0", file="{log_file}")
    success_criteria(
        "none_failed",
        mode="string",
        anti_match=r"^steelyard,.*\b(?:ended|verified)=0\.0",
        file="{log_file}",
    )
