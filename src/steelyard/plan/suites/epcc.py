"""EPCC's OpenMP micro-benchmarks: names and defaults of version 4.0, read in its source."""

from __future__ import annotations

from collections.abc import Iterator

from steelyard.plan.suites.like import EVERY_CORE, Like, LikeParams

_SIZES = "8,24,72,216,648,1944,5832,17496,52488,157464,472392"  # 3^0 to 3^10 doubles
_DELAY: LikeParams = {"spin_ns": 100.0}  # as in the original, whose delay is an empty loop of 0.1 us
_FOR_ONE = (
    "by every thread; the original divides passages among the threads: multiply its time by the threads"
)
_REGION = "the original enters a region in each repetition"
_SYNC, _SCHED, _ARRAY, _TASK = "syncbench", "schedbench", "arraybench", "taskbench"


def _row(
    program: str, name: str, op: str, theirs: str, params: LikeParams | None = None, differs: str = ""
) -> Like:
    given = _DELAY if params is None else params
    return Like(f"epcc_{name}", f"omp.{op}", None, given, differs, EVERY_CORE, program, theirs)


def epcc() -> Iterator[Like]:
    """Make the rows of syncbench, schedbench, arraybench and taskbench; delays of 0.1 us in each."""
    yield from _sync()
    yield from _sched()
    for name in ("private", "firstprivate"):
        yield _array(name, _SIZES, "a region with the clause")
    yield _array("copyprivate", _SIZES, "a region with a single in it", _REGION)
    yield _array(
        "copyin", "8,64,1Ki", "a region with the clause", "other sizes, for its arrays are compiled in"
    )
    yield from _task()


def _array(name: str, sizes: str, theirs: str, differs: str = "") -> Like:
    said = f"{theirs}, on an array of 3^0 to 3^10 doubles"
    return Like(f"epcc_{name}", f"omp.{name}", sizes, _DELAY, differs, EVERY_CORE, _ARRAY, said)


def _sync() -> Iterator[Like]:
    passage = "a passage, of all threads together"
    yield _row(_SYNC, "parallel", "parallel", "a region, a delay in each thread")
    yield _row(_SYNC, "for", "for", "a loop of a delay for each thread, in one region")
    yield _row(_SYNC, "parallel_for", "parallel_for", "a region with a loop of a delay for each thread")
    yield _row(_SYNC, "barrier", "barrier", "a delay in each thread, then a barrier")
    yield _row(_SYNC, "single", "single", "one delay by one thread, and the barrier")
    yield _row(_SYNC, "critical", "critical", passage)
    yield _row(_SYNC, "ordered", "ordered", "a turn, in one loop of chunks of 1")
    yield _row(_SYNC, "lock_contended", "lock", passage)
    alone = "each thread has a lock of its own; in the original thread 0 alone takes one"
    own: LikeParams = {**_DELAY, "use": "own"}
    yield _row(_SYNC, "lock_uncontended", "lock", "thread 0 alone sets and unsets a lock", own, alone)
    double: LikeParams = {"form": "update_double"}
    atomic = "a double is added to a shared one; of all threads together"
    yield _row(_SYNC, "atomic", "atomic", atomic, double, _FOR_ONE)
    yield _row(_SYNC, "atomic_seq_cst", "atomic", atomic, {**double, "order": "seq_cst"}, _FOR_ONE)
    yield _row(_SYNC, "reduction", "reduction", "a region with a reduction of one int")


def _sched() -> Iterator[Like]:
    loop: LikeParams = {**_DELAY, "iterations": 1024.0}
    theirs = "a loop of 1024 delays for each thread"
    whole = "of the whole loop, as in the original"
    yield _row(_SCHED, "sched_static", "for", theirs, loop, whole)
    chunks = f"{whole}; --param chunk=1,2,4..."
    for name in ("static", "dynamic", "guided"):
        words: LikeParams = {**loop, "schedule": name, "chunk": 1.0}
        yield _row(_SCHED, f"sched_{name}_n", "for", theirs, words, chunks)
    for name in ("dynamic", "guided"):
        words = {**loop, "schedule": f"monotonic_{name}", "chunk": 1.0}
        yield _row(_SCHED, f"sched_monotonic_{name}_n", "for", theirs, words, chunks)
    grain = "grain is a least number here; the original gives the number of tasks"
    tasks = "a taskloop by thread 0 over 1024 delays for each thread"
    yield _row(_SCHED, "sched_taskloop_n", "taskloop", tasks, loop, grain)


def _task() -> Iterator[Like]:
    own = "a task by each thread"
    yield _row(_TASK, "parallel_task", "task", own)
    for name, creator, theirs in (
        ("master_task", "one", "thread 0 makes a task for each thread"),
        ("master_task_busy_slaves", "busy", "thread 0 makes a task, the others do a delay"),
    ):
        yield _row(_TASK, name, "task", theirs, {**_DELAY, "creator": creator})
    conditional: LikeParams = {**_DELAY, "clause": "undeferred"}
    yield _row(_TASK, "conditional_task", "task", f"{own}, if(0)", conditional)
    chain: LikeParams = {**_DELAY, "form": "own"}
    yield _row(_TASK, "parallel_task_depend", "task_depend", f"{own}, after its last one", chain)
    turns: LikeParams = {**_DELAY, "form": "turns"}
    one = "thread 0 makes a task for each thread, each after the last of the same number"
    yield _row(_TASK, "master_task_depend", "task_depend", one, turns)
    yield _row(_TASK, "task_wait", "taskwait", f"{own}, and taskwait")
    yield _row(_TASK, "task_barrier", "task_barrier", f"{own}, and a barrier")
    tree = "of a whole tree by each thread; the original gives the 64th part, of a delay"
    leaves = "trees of 63 tasks by each thread, with 64 delays in the last ones; no taskwait"
    yield _row(_TASK, "leaf_task_tree", "task_tree", leaves, None, tree)
    branch: LikeParams = {**_DELAY, "work": "branch"}
    each = "trees of 64 tasks by each thread, with a delay in each; no taskwait"
    yield _row(_TASK, "branch_task_tree", "task_tree", each, branch, tree)
