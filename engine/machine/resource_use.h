/* What a process uses while it measures: CPU time, context switches, events that the processor counts,
 * energy. */
#ifndef MACHINE_USED_H
#define MACHINE_USED_H

#include "time/clock.h"

#include <stdint.h>

enum used_field {
    USED_TOOK_NS, /* the time itself */
    USED_USER_NS,
    USED_SYSTEM_NS, /* CPU time of all threads */
    USED_VOLUNTARY,
    USED_INVOLUNTARY, /* context switches of all threads: to wait, and because another one ran */
    USED_YIELDS,      /* calls of sched_yield() by this thread */
    USED_CYCLES,
    USED_INSTRUCTIONS,
    USED_CACHE_MISSES,
    USED_TLB_MISSES, /* of the thread that opened the meter, and of those that it made since, outside the
                        kernel */
    USED_ENERGY_UJ,  /* of all packages of the host, by whatever ran there */
    USED_FIELDS
};
extern const char *const used_names[USED_FIELDS];

/* Amounts; -1: the system does not tell. */
struct used {
    int64_t value[USED_FIELDS];
};

enum { USED_EVENTS = USED_TLB_MISSES - USED_CYCLES + 1, USED_PACKAGES_MOST = 16 };

struct used_meter {
    int events[USED_EVENTS]; /* open files of events; -1: not to be had */
    const char *root;        /* of the kernel's files: "" except in tests */
    struct used last;
    int64_t energy_uj[USED_PACKAGES_MOST]; /* of each package, at the last reading */
};

/* Nothing of it fails: what cannot be had is -1. */
void used_open(const char *root, struct used_meter *meter);
void used_close(struct used_meter *meter);

/* Begin an interval, and end it: `used` is what it took. */
void used_begin(struct used_meter *meter, const struct clock *clock);
void used_end(struct used_meter *meter, const struct clock *clock, struct used *used);

#endif
