/* Options and parameters as rows: a name, a unit, a range, a default, one line of help. */
#ifndef BASE_OPT_H
#define BASE_OPT_H

#include <stddef.h>

struct json;

/* A number that is set for an op, a method or a stop rule. */
struct param {
    const char *name, *unit, *summary;
    double normal, least, most;
    const char *const *words; /* names of its values, up to NULL: the value is an index; NULL: a number */
    const int *bytes;         /* for types of data: bytes of an element of each word; 0: it fits no size */
    /* The values that the ranks, threads and bytes of a test case allow: a word of the package's table of
     * bounds (plan/bounds.py); NULL: all from `least` to `most`. */
    const char *all;
};

/* A row whose value is one of `list`, a NULL-terminated array of names; the first is the default. */
#define PARAM_WORDS(word, text, list)                                                                        \
    {.name = word, .unit = "", .summary = text, .most = sizeof list / sizeof list[0] - 2, .words = list}

/* Types of data, with the size of an element of each. */
#define PARAM_TYPES(word, text, list, sizes)                                                                 \
    {.name = word,                                                                                           \
     .unit = "",                                                                                             \
     .summary = text,                                                                                        \
     .most = sizeof list / sizeof list[0] - 2,                                                               \
     .words = list,                                                                                          \
     .bytes = sizes}

enum { PARAMS_MAX = 24 }; /* of one op, method or rule */

/* A table of them ends at a row without a name; no table at all is NULL. */
size_t param_count(const struct param *params);

/* Every value to its default. */
void param_defaults(const struct param *params, double values[PARAMS_MAX]);

/* The index of the row with that name, or -1. */
int param_find(const struct param *params, const char *name);

/* The value of the row with that name; `absent` where there is none. */
double param_value(const struct param *params, const double *values, const char *name, double absent);

/* The value that a text gives to a row: one of its words, or a number in its range. ERR_INPUT. */
int param_read(const struct param *row, const char *text, double *value);

/* {"name": value, ...} of the values, or [{"name", "unit", ...}, ...] of the rows. */
void param_values_json(struct json *j, const char *key, const struct param *params,
                       const double values[PARAMS_MAX]);
void param_rows_json(struct json *j, const char *key, const struct param *params);

/* A command-line option "--name VALUE" that lands as text in a struct. */
struct opt {
    const char *name, *value, *summary;
    size_t offset; /* of a `const char *` in the struct of options */
};

/* Take the options out of argv[1..]; what is no option stays, in order. ERR_INPUT for an unknown or cut
 * one. */
int opt_take(const struct opt *opts, void *target, int *argc, char **argv);

#endif
