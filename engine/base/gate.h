/* Where threads of a pool meet during their work: none goes on before all have come. */
#ifndef BASE_GATE_H
#define BASE_GATE_H

#include "base/wait.h"

#include <stdatomic.h>

enum { GATE_LINE = 128 }; /* two cache lines, which processors fetch together */

struct gate {
    _Alignas(GATE_LINE) atomic_int come; /* of this round */
    _Alignas(GATE_LINE) atomic_uint round;
    atomic_int broken; /* 0, or the reason why it broke */
    int threads;
};

static inline void gate_open(struct gate *gate, int threads)
{
    atomic_init(&gate->come, 0);
    atomic_init(&gate->round, 0);
    atomic_init(&gate->broken, 0);
    gate->threads = threads;
}

/* A thread that will not come any more gives a reason other than 0, so that no thread waits for it. */
static inline void gate_break(struct gate *gate, int why)
{
    int whole = 0;
    atomic_compare_exchange_strong(&gate->broken, &whole, why);
}

/* 0, or the reason of the first thread that broke the gate; then some may go on before others have come. */
static inline int gate_wait(struct gate *gate)
{
    const unsigned round = atomic_load_explicit(&gate->round, memory_order_acquire);
    if (atomic_fetch_add_explicit(&gate->come, 1, memory_order_acq_rel) + 1 == gate->threads) {
        atomic_store_explicit(&gate->come, 0, memory_order_relaxed);
        atomic_store_explicit(&gate->round, round + 1, memory_order_release);
    } else {
        int looks = 0;
        while (atomic_load_explicit(&gate->round, memory_order_acquire) == round &&
               !atomic_load_explicit(&gate->broken, memory_order_acquire))
            wait_a_little(&looks);
    }
    return atomic_load_explicit(&gate->broken, memory_order_acquire);
}

#endif
