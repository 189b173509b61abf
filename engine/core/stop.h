/* Stop rules: when the samples are enough. A rule sees one value per sample, only on rank 0. */
#ifndef CORE_STOP_H
#define CORE_STOP_H

#include "base/opt.h"

#include <stddef.h>
#include <stdint.h>

enum stop {
    STOP_NOT_YET,
    STOP_SETTLED,   /* the rule's aim is reached */
    STOP_UNSETTLED, /* it cannot be reached with the allowed number of samples */
    STOP_TIME,      /* it cannot be reached in the allowed time */
};

/* The values so far, kept by the caller of the rule. */
struct series {
    double *values;
    size_t count, capacity;
    size_t rejected;  /* samples that gave no value */
    double tick;      /* the values are about multiples of this; 0 if it is not known */
    double seconds;   /* spent so far */
    double limit_s;   /* set by the rule: it ends about then, if not before */
    size_t next_look; /* set by the rule: it need not look before so many values */
};

struct stop_rule {
    const char *name, *summary;
    const struct param *params;
    enum stop (*done)(struct series *s, const double *params);
};

struct json;

/* "stop_rules": the table, for `describe`. */
void stop_rules_describe(struct json *j);

/* The table, the default first; it ends at NULL. */
extern const struct stop_rule *const stop_rules[];

const struct stop_rule *stop_find(const char *name);

/* The flag of the record: "SETTLED", "UNSETTLED", "TIME". */
const char *stop_flag(enum stop stop);

/* ERR_NOMEM. */
int series_add(struct series *s, double value);
void series_free(struct series *s);

extern const struct stop_rule stop_median;
extern const struct stop_rule stop_quantile;
extern const struct stop_rule stop_fixed;

#endif
