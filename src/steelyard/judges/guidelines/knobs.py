"""Variables of libraries that choose the algorithm of a collective, as a remedy.

Names and values are those of `ompi_info --param coll tuned --level 9` of Open MPI 4.1 and of the control
variables of MPICH 4 and 5. `ompi_info` or `mpivars` list the values of a build.
"""

from __future__ import annotations

# Collectives with a choice in coll_tuned -> its name for the algorithm of each composition.
_TUNED: dict[str, dict[str, str]] = {
    "allgather": {"bcasts": "1 (linear)"},
    "allgatherv": {"gatherv_bcast": "1 (default)"},
    "allreduce": {
        "reduce_bcast": "2 (nonoverlapping)",
        "reduce_scatter_block_allgather": "6 (rabenseifner)",
        "reduce_scatter_allgatherv": "6 (rabenseifner)",
    },
    "alltoall": {"messages": "1 (linear)"},
    "alltoallv": {"messages": "1 (basic_linear)"},
    "barrier": {"messages": "4 (bruck)"},
    "bcast": {
        "scatter_allgather": "8 (scatter_allgather)",
        "scatterv_allgatherv": "8 (scatter_allgather)",
        "halves": "3 (pipeline)",
    },
    "exscan": {},
    "gather": {"messages": "1 (basic_linear)"},
    "reduce": {
        "gather_reduce_local": "1 (linear)",
        "reduce_scatter_block_gather": "7 (rabenseifner)",
        "reduce_scatter_gatherv": "7 (rabenseifner)",
        "halves": "3 (pipeline)",
    },
    "reduce_scatter": {"reduce_scatterv": "1 (non-overlapping)"},
    "reduce_scatter_block": {"reduce_scatter": "1 (basic_linear)"},
    "scan": {},
    "scatter": {"messages": "1 (basic_linear)"},
}
_CVARS: dict[str, dict[str, str]] = {
    "allreduce": {
        "reduce_scatter_block_allgather": "reduce_scatter_allgather",
        "reduce_scatter_allgatherv": "reduce_scatter_allgather",
    },
    "alltoall": {"messages": "scattered"},
    "barrier": {"messages": "dissemination"},
    "bcast": {
        "scatter_allgather": "scatter_recursive_doubling_allgather",
        "scatterv_allgatherv": "scatter_recursive_doubling_allgather",
    },
    "reduce": {
        "reduce_scatter_block_gather": "reduce_scatter_gather",
        "reduce_scatter_gatherv": "reduce_scatter_gather",
    },
    **{name: {} for name in ("allgather", "allgatherv", "alltoallv", "alltoallw", "exscan", "gather")},
    **{name: {} for name in ("gatherv", "reduce_scatter", "reduce_scatter_block", "scan", "scatter")},
    "scatterv": {},
}


def knob_words(mpi: str | None, collective: str, by: str = "") -> str:
    """Write the setting of a library that may be faster, `MPIR_CVAR_BCAST_INTRA_ALGORITHM=binomial`; else
    nothing.

    mpi: the name of an MPI in rows, `openmpi-4.1.4`. by: the parts of a mock-up; empty if the collective is
    compared with no composition.
    """
    family = (mpi or "").partition("-")[0]
    if family == "openmpi" and collective in _TUNED:
        value = _TUNED[collective].get(by, "N ('ompi_info --param coll tuned --level 9' lists them)")
        variable = f"OMPI_MCA_coll_tuned_{collective}_algorithm"
        return f"OMPI_MCA_coll_tuned_use_dynamic_rules=1 {variable}={value}"
    if family == "mpich" and collective in _CVARS:
        value = _CVARS[collective].get(by, "another algorithm (the user's guide lists them)")
        return f"MPIR_CVAR_{collective.upper()}_INTRA_ALGORITHM={value}"
    return ""
