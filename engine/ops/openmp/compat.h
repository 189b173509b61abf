/* OpenMP, or the reason why it is missing; and parts that a compiler's OpenMP lacks. */
#ifndef OPS_OPENMP_COMPAT_H
#define OPS_OPENMP_COMPAT_H

#ifdef _OPENMP
#include <omp.h>
#define OMP_MISSING NULL
#else
#define OMP_MISSING "this engine was built by a compiler without OpenMP"
#define omp_get_thread_num() 0
#define omp_get_num_threads() 1
#define omp_get_level() 0
#define omp_get_ancestor_thread_num(level) ((void)(level), 0)
#define omp_get_cancellation() 0
#define omp_get_max_task_priority() 0
#define omp_get_max_active_levels() 1
#define omp_set_max_active_levels(levels) ((void)(levels))
#define omp_get_initial_device() 0
#define omp_get_schedule(kind, chunk) (*(kind) = 0, *(chunk) = 0)
#define omp_set_schedule(kind, chunk) ((void)(kind), (void)(chunk))
#define omp_init_lock(lock) ((void)(lock))
#define omp_init_nest_lock(lock) ((void)(lock))
#define omp_destroy_lock(lock) ((void)(lock))
#define omp_destroy_nest_lock(lock) ((void)(lock))
#define omp_set_lock(lock) ((void)(lock))
#define omp_unset_lock(lock) ((void)(lock))
#define omp_set_nest_lock(lock) ((void)(lock))
#define omp_unset_nest_lock(lock) ((void)(lock))
#define omp_sched_static 1
enum {
    omp_lock_hint_none,
    omp_lock_hint_uncontended,
    omp_lock_hint_contended,
    omp_lock_hint_speculative = 4
};
enum { STEELYARD_NO_OPENMP };
#define omp_sched_t int
#define omp_lock_t int
#define omp_nest_lock_t int
#define omp_lock_hint_t int
#endif

/* A directive from the words in a macro's arguments. */
#define OMP_DO(...) _Pragma(#__VA_ARGS__)

/* gcc had these before its _OPENMP said so: it still says 4.5 (201511). */
#if defined(_OPENMP) && (_OPENMP >= 202011 || (defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12))
#define OMP_MASKED _Pragma("omp masked")
#define OMP_MASKED_IS "masked"
#define OMP_COMPARE_MISSING NULL
#define OMP_ATOMIC_COMPARE _Pragma("omp atomic compare")
#define OMP_ATOMIC_COMPARE_SEQ _Pragma("omp atomic compare seq_cst")
#else
#define OMP_MASKED _Pragma("omp master")
#define OMP_MASKED_IS "master, because this compiler has no masked"
#define OMP_COMPARE_MISSING "the compiler's OpenMP has no atomic compare, which is of OpenMP 5.1"
#define OMP_ATOMIC_COMPARE _Pragma("omp critical")
#define OMP_ATOMIC_COMPARE_SEQ _Pragma("omp critical")
#endif

/* gcc's omp.h declares them, its libgomp lacks them. */
#if defined(_OPENMP) && defined(__clang__)
#define OMP_HINTS_MISSING NULL
#define OMP_LOCK_INIT(lock, hint) omp_init_lock_with_hint(lock, hint)
#define OMP_NEST_LOCK_INIT(lock, hint) omp_init_nest_lock_with_hint(lock, hint)
#else
#define OMP_HINTS_MISSING "the run-time system of this compiler takes no hints for locks; give hint=none"
#define OMP_LOCK_INIT(lock, hint) ((void)(hint), omp_init_lock(lock))
#define OMP_NEST_LOCK_INIT(lock, hint) ((void)(hint), omp_init_nest_lock(lock))
#endif

#if defined(_OPENMP) && (_OPENMP >= 201811 || (defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 10))
#define OMP_SCAN_MISSING OMP_MISSING
#define OMP_FOR_INSCAN _Pragma("omp for reduction(inscan, + : sum)")
#define OMP_SCAN_INCLUSIVE _Pragma("omp scan inclusive(sum)")
#define OMP_SCAN_EXCLUSIVE _Pragma("omp scan exclusive(sum)")
#define OMP_TEAMS_MISSING OMP_MISSING
#define OMP_FLUSH_ACQUIRE _Pragma("omp flush acquire")
#define OMP_FLUSH_RELEASE _Pragma("omp flush release")
#define OMP_FLUSH_ACQ_REL _Pragma("omp flush acq_rel")
#else
#define OMP_SCAN_MISSING "the compiler's OpenMP has no scan, which is of OpenMP 5.0"
#define OMP_FOR_INSCAN _Pragma("omp single")
#define OMP_SCAN_INCLUSIVE
#define OMP_SCAN_EXCLUSIVE
#define OMP_TEAMS_MISSING "the compiler's OpenMP has no teams on the host, which are of OpenMP 5.0"
#define OMP_FLUSH_ACQUIRE _Pragma("omp flush")
#define OMP_FLUSH_RELEASE _Pragma("omp flush")
#define OMP_FLUSH_ACQ_REL _Pragma("omp flush")
#endif

#endif
