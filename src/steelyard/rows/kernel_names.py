"""Names of kernels by what differs among them."""

from __future__ import annotations

from collections.abc import Sequence

from steelyard.records.fields import Params
from steelyard.rows.labels import Fact, Facts, VaryingFact, count_fact, param_facts

KERNEL_PARAMS = ("class", "backend")  # parameters of a kernel that are shown


BACKEND = "param backend"


def kernel_facts(kernel: str, params: Params, ranks: int, threads: int) -> Facts:
    """Make the facts of a kernel: its name, class and back end, ranks and threads."""
    told = param_facts({key: params[key] for key in KERNEL_PARAMS if key in params})
    teams = {"ranks": count_fact("rank", ranks), "threads": count_fact("thread", threads)}
    return {"op": Fact("kernel", kernel, "", is_usual=True), **told, **teams}


def kernel_name(varying: Sequence[VaryingFact], i: int, kernel: str) -> str:
    """`npb.cg class=S`: a kernel with what distinguishes it; a backend only if a kernel has several."""
    told = [axis.facts[i].said for axis in varying if axis.key not in ("op", BACKEND)]
    backends = next((axis for axis in varying if axis.key == BACKEND), None)
    ops = next((axis.facts for axis in varying if axis.key == "op"), None)
    if backends and len({*zip(ops or backends.facts, backends.facts, strict=True)}) > len({*(ops or ())}):
        told.append(backends.facts[i].said)
    return " ".join(word for word in (kernel, *told) if word)
