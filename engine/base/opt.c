#include "base/opt.h"

#include "base/err.h"
#include "base/json.h"

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

void param_values_json(struct json *j, const char *key, const struct param *params,
                       const double values[PARAMS_MAX])
{
    json_open(j, key, '{');
    for (size_t i = 0; i < param_count(params); ++i)
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
        json_double(j, "default", params[i].normal);
        json_double(j, "least", params[i].least);
        json_double(j, "most", params[i].most);
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
