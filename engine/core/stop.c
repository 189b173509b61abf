#include "core/stop.h"

#include "base/err.h"
#include "base/json.h"

#include <stdlib.h>
#include <string.h>

const struct stop_rule *const stop_rules[] = {
    &stop_median,
    &stop_quantile,
    &stop_fixed,
    NULL,
};

const struct stop_rule *stop_find(const char *name)
{
    for (size_t i = 0; stop_rules[i]; ++i)
        if (strcmp(stop_rules[i]->name, name) == 0)
            return stop_rules[i];
    return NULL;
}

const char *stop_flag(enum stop stop)
{
    static const char *const flags[] = {[STOP_NOT_YET] = "UNSETTLED",
                                        [STOP_SETTLED] = "SETTLED",
                                        [STOP_UNSETTLED] = "UNSETTLED",
                                        [STOP_TIME] = "TIME"};
    return flags[stop];
}

int series_add(struct series *s, double value)
{
    enum { FIRST_CAPACITY = 1024 };
    if (s->count == s->capacity) {
        size_t capacity = s->capacity ? 2 * s->capacity : FIRST_CAPACITY;
        double *grown = realloc(s->values, capacity * sizeof *grown);
        if (!grown)
            return err_say(ERR_NOMEM, "no memory for %zu samples", capacity);
        s->values = grown;
        s->capacity = capacity;
    }
    s->values[s->count++] = value;
    return 0;
}

void series_free(struct series *s)
{
    free(s->values);
    *s = (struct series){0};
}

void stop_rules_describe(struct json *j)
{
    json_open(j, "stop_rules", '[');
    for (size_t i = 0; stop_rules[i]; ++i) {
        json_open(j, NULL, '{');
        json_string(j, "name", stop_rules[i]->name);
        json_string(j, "summary", stop_rules[i]->summary);
        param_rows_json(j, "params", stop_rules[i]->params);
        json_close(j, '}');
    }
    json_close(j, ']');
}
