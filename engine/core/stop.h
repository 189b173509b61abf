/* When there is enough evidence. A rule sees one value per sample, on rank 0 alone. */
#ifndef CORE_STOP_H
#define CORE_STOP_H

#include "base/opt.h"

#include <stddef.h>
#include <stdint.h>

enum stop {
    STOP_NOT_YET,
    STOP_SETTLED,   /* what the rule asks for is reached */
    STOP_UNSETTLED, /* it cannot be reached with as many samples as are allowed */
    STOP_TIME,      /* nor in as much time */
};

/* The values so far, kept by whoever runs the rule. */
struct series {
    double *values;
    size_t count, capacity;
    size_t rejected;  /* samples that gave no value */
    double tick;      /* the values are multiples of this, or near; 0 when that is not known */
    double seconds;   /* spent so far */
    double limit_s;   /* set by the rule: it ends about then, if not before */
    size_t next_look; /* set by the rule: before so many values it has no use for looking */
};

struct stop_rule {
    const char *name, *summary;
    const struct param *params;
    enum stop (*done)(struct series *s, const double *params);
};

struct json;

/* "stop_rules": what there is, for `describe`. */
void stop_rules_describe(struct json *j);

/* The table, the default first; it ends at NULL. */
extern const struct stop_rule *const stop_rules[];

const struct stop_rule *stop_find(const char *name);

/* The flag of the record: "SETTLED", "UNSETTLED", "TIME". */
const char *stop_flag(enum stop stop);

/* ERR_NOMEM. */
int series_add(struct series *s, double value);
void series_free(struct series *s);

extern const struct stop_rule stop_median, stop_quantile, stop_fixed;

#endif
