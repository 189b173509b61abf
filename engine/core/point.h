/* A point: one value on every axis. */
#ifndef CORE_POINT_H
#define CORE_POINT_H

#include "base/opt.h"
#include "core/retention.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct delays;
struct first;
struct method;
struct op;
struct stop_rule;

struct point {
    int id;
    const struct op *op;
    const struct method *method;
    const struct stop_rule *rule;
    size_t bytes;
    int threads;
    int plant;                   /* for tests: the rank whose `verify` corrupts what it received; -1: none */
    bool brief;                  /* for tests: warm up by few repetitions */
    uint64_t seed;               /* for all random choices, the same on all ranks */
    double work_per_us;          /* of the launch, where the op `works` */
    enum keep keep;              /* of the launch */
    const struct delays *delays; /* of the launch, to replay (base/delays.h); NULL: none */
    const char *files;           /* of the launch: the folder of its files; NULL: none */
    const struct first *first;   /* of the launch: what it did before all else; NULL: nothing */
    double op_params[PARAMS_MAX], method_params[PARAMS_MAX], rule_params[PARAMS_MAX];
};

/* Read a point from words such as "op=mpi.bcast bytes=8 method=barrier"; `line` is cut into pieces. The words
 * op, bytes, threads, method, rule, plant, warm_up and point are the axes; any other word is a parameter of
 * the op, the method or the rule. ERR_INPUT. */
int point_parse(char *line, const struct op *ops, size_t op_count, struct point *point);

#endif
