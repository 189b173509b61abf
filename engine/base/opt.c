#include "base/opt.h"

#include "base/err.h"
#include "base/json.h"
#include "base/num.h"

#include <string.h>

size_t param_count(const struct param *params)
{
    size_t count = 0;
    while (params && params[count].name)
        ++count;
    return count;
}

void param_defaults(const struct param *params, double values[PARAMS_MAX])
{
    for (size_t i = 0; i < PARAMS_MAX; ++i)
        values[i] = 0;
    for (size_t i = 0; i < param_count(params); ++i)
        values[i] = params[i].normal;
}

int param_find(const struct param *params, const char *name)
{
    for (size_t i = 0; i < param_count(params); ++i)
        if (strcmp(params[i].name, name) == 0)
            return (int)i;
    return -1;
}

double param_value(const struct param *params, const double *values, const char *name, double absent)
{
    const int row = param_find(params, name);
    return row < 0 ? absent : values[row];
}

int param_read(const struct param *row, const char *text, double *value)
{
    if (!row->words)
        return num_double(text, row->name, row->least, row->most, value);
    for (int i = 0; row->words[i]; ++i)
        if (strcmp(row->words[i], text) == 0) {
            *value = i;
            return 0;
        }
    return err_say(ERR_INPUT, "%s cannot be '%s'; see 'describe'", row->name, text);
}

void param_values_json(struct json *j, const char *key, const struct param *params,
                       const double values[PARAMS_MAX])
{
    json_open(j, key, '{');
    for (size_t i = 0; i < param_count(params); ++i)
        if (params[i].words)
            json_string(j, params[i].name, params[i].words[(int)values[i]]);
        else
            json_double(j, params[i].name, values[i]);
    json_close(j, '}');
}

void param_rows_json(struct json *j, const char *key, const struct param *params)
{
    json_open(j, key, '[');
    for (size_t i = 0; i < param_count(params); ++i) {
        json_open(j, NULL, '{');
        json_string(j, "name", params[i].name);
        json_string(j, "unit", params[i].unit);
        if (params[i].words) {
            json_string(j, "default", params[i].words[(int)params[i].normal]);
            json_open(j, "words", '[');
            for (int w = 0; params[i].words[w]; ++w)
                json_string(j, NULL, params[i].words[w]);
            json_close(j, ']');
            if (params[i].bytes) {
                json_open(j, "word_bytes", '[');
                for (int w = 0; params[i].words[w]; ++w)
                    json_int(j, NULL, params[i].bytes[w]);
                json_close(j, ']');
            }
        } else {
            json_double(j, "default", params[i].normal);
            json_double(j, "least", params[i].least);
            json_double(j, "most", params[i].most);
            if (params[i].all)
                json_string(j, "all", params[i].all);
        }
        json_string(j, "summary", params[i].summary);
        json_close(j, '}');
    }
    json_close(j, ']');
}

int opt_take(const struct opt *opts, void *target, int *argc, char **argv)
{
    int kept = 1;
    for (int i = 1; i < *argc; ++i) {
        if (strncmp(argv[i], "--", 2) != 0) {
            argv[kept++] = argv[i];
            continue;
        }
        const struct opt *o = opts;
        while (o->name && strcmp(o->name, argv[i]) != 0)
            ++o;
        if (!o->name)
            return err_say(ERR_INPUT, "there is no option %s; see 'help'", argv[i]);
        if (i + 1 >= *argc)
            return err_say(ERR_INPUT, "%s needs a value: %s %s", o->name, o->name, o->value);
        *(const char **)((char *)target + o->offset) = argv[++i];
    }
    *argc = kept;
    return 0;
}
