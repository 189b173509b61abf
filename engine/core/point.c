#include "core/point.h"

#include "base/err.h"
#include "base/num.h"
#include "core/limits.h"
#include "core/method.h"
#include "core/op.h"
#include "core/stop.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { WORDS_MAX = 64 };

struct word {
    const char *key, *value;
};

static int split(char *line, struct word words[WORDS_MAX], int *count)
{
    char *rest = NULL;
    *count = 0;
    for (char *w = strtok_r(line, " \t\r\n", &rest); w; w = strtok_r(NULL, " \t\r\n", &rest)) {
        char *equals = strchr(w, '=');
        if (!equals || *count == WORDS_MAX)
            return err_say(ERR_INPUT, "'%s' is not of the form key=value", w);
        *equals = '\0';
        words[(*count)++] = (struct word){w, equals + 1};
    }
    return 0;
}

static const char *value_of(const struct word *words, int count, const char *key)
{
    for (int i = 0; i < count; ++i)
        if (strcmp(words[i].key, key) == 0)
            return words[i].value;
    return NULL;
}

/* Find what decides the parameters: op, method, rule. */
static int choose_rows(struct point *p, const struct word *words, int count, const struct op *ops,
                       size_t op_count)
{
    const char *op = value_of(words, count, "op"), *method = value_of(words, count, "method");
    const char *rule = value_of(words, count, "rule");
    if (!op)
        return err_say(ERR_INPUT, "a test case needs op=NAME; see 'list'");
    for (size_t i = 0; i < op_count && !p->op; ++i)
        if (strcmp(ops[i].name, op) == 0)
            p->op = &ops[i];
    if (!p->op)
        return err_say(ERR_INPUT, "there is no op '%s'; see 'list'", op);
    p->method = method ? method_find(method) : method_default(p->op);
    if (!p->method)
        return err_say(ERR_INPUT, "there is no method '%s'; see 'describe'", method);
    if (!method_suits(p->method, p->op))
        return err_say(ERR_INPUT, "the method %s does not suit %s, a %s op", p->method->name, op,
                       op_classes[p->op->class]);
    p->rule = rule ? stop_find(rule) : stop_rules[0];
    if (!p->rule)
        return err_say(ERR_INPUT, "there is no stop rule '%s'; see 'describe'", rule);
    param_defaults(p->op->params, p->op_params);
    param_defaults(p->method->params, p->method_params);
    param_defaults(p->rule->params, p->rule_params);
    return 0;
}

static int set_param(struct point *p, const struct word *w)
{
    const struct {
        const struct param *rows;
        double *values;
    } owners[] = {{p->op->params, p->op_params},
                  {p->method->params, p->method_params},
                  {p->rule->params, p->rule_params}};
    for (size_t i = 0; i < sizeof owners / sizeof owners[0]; ++i) {
        int row = param_find(owners[i].rows, w->key);
        if (row >= 0)
            return param_read(&owners[i].rows[row], w->value, &owners[i].values[row]);
    }
    return err_say(ERR_INPUT,
                   "neither %s, nor the method %s, nor the rule %s has a parameter '%s'; see 'describe'",
                   p->op->name, p->method->name, p->rule->name, w->key);
}

static int set_word(struct point *p, const struct word *w)
{
    int64_t number = 0;
    int err = 0;
    if (strcmp(w->key, "op") == 0 || strcmp(w->key, "method") == 0 || strcmp(w->key, "rule") == 0)
        return 0;
    if (strcmp(w->key, "bytes") == 0) {
        err = num_size(w->value, &p->bytes);
        if (!err && p->bytes > (size_t)MOST_BYTES)
            err = err_say(ERR_INPUT, "bytes must be at most %lld, not '%s'", (long long)MOST_BYTES, w->value);
        if (!err && p->bytes > 0 && !p->op->default_bytes)
            err = err_say(ERR_INPUT, "%s has no size; leave bytes out", p->op->name);
    } else if (strcmp(w->key, "threads") == 0) {
        err = num_int(w->value, "threads", 1, MOST_THREADS, &number);
        p->threads = (int)number;
        if (!err && p->threads > 1 && !p->op->threaded)
            err = err_say(ERR_INPUT, "%s runs in one thread, not in %d", p->op->name, p->threads);
    } else if (strcmp(w->key, "plant") == 0) {
        err = num_int(w->value, "plant", 0, INT_MAX, &number);
        p->plant = (int)number;
    } else if (strcmp(w->key, "warm_up") == 0) {
        p->brief = strcmp(w->value, "brief") == 0;
        if (!p->brief && strcmp(w->value, "steady") != 0)
            err = err_say(ERR_INPUT, "warm_up is steady or brief, not '%s'", w->value);
    } else if (strcmp(w->key, "point") == 0) {
        err = num_int(w->value, "point", 0, INT_MAX, &number);
        p->id = (int)number;
    } else
        err = set_param(p, w);
    return err;
}

int point_parse(char *line, const struct op *ops, size_t op_count, struct point *point)
{
    struct word words[WORDS_MAX];
    int count = 0;
    *point = (struct point){.threads = 1, .plant = -1};
    int err = split(line, words, &count);
    if (!err)
        err = choose_rows(point, words, count, ops, op_count);
    for (int i = 0; i < count && !err; ++i)
        err = set_word(point, &words[i]);
    return err;
}
