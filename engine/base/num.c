#include "base/num.h"

#include "base/err.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

int num_size(const char *text, size_t *bytes)
{
    static const struct {
        const char *suffix;
        int shift;
    } suffixes[] = {{"", 0},     {"B", 0},   {"Ki", 10},  {"KiB", 10}, {"Mi", 20},
                    {"MiB", 20}, {"Gi", 30}, {"GiB", 30}, {"Ti", 40},  {"TiB", 40}};
    char *end = NULL;
    errno = 0;
    unsigned long long count = strtoull(text, &end, 10);
    if (end != text && text[0] != '-' && errno == 0)
        for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; ++i)
            if (strcmp(end, suffixes[i].suffix) == 0 && count <= SIZE_MAX >> suffixes[i].shift) {
                *bytes = (size_t)count << suffixes[i].shift;
                return 0;
            }
    return err_say(ERR_INPUT, "'%s' is not a size; write bytes as 8, 1Ki or 4Mi", text);
}

int num_int(const char *text, const char *what, int64_t least, int64_t most, int64_t *value)
{
    char *end = NULL;
    errno = 0;
    long long n = strtoll(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || n < least || n > most)
        return err_say(ERR_INPUT, "%s must be a whole number from %lld to %lld, not '%s'", what,
                       (long long)least, (long long)most, text);
    *value = n;
    return 0;
}

int num_double(const char *text, const char *what, double least, double most, double *value)
{
    char *end = NULL;
    double x = strtod(text, &end);
    if (end == text || *end != '\0' || !isfinite(x) || x < least || x > most)
        return err_say(ERR_INPUT, "%s must be a number from %g to %g, not '%s'", what, least, most, text);
    *value = x;
    return 0;
}

int num_multiply(size_t a, size_t b, size_t *product)
{
    if (a != 0 && b > SIZE_MAX / a)
        return err_say(ERR_NOMEM, "%zu times %zu bytes is more than any memory", a, b);
    *product = a * b;
    return 0;
}

int num_to_int(size_t count, int *narrow)
{
    if (count > INT_MAX)
        return err_say(ERR_UNSUPPORTED, "%zu elements are more than MPI's int count can say (2147483647)",
                       count);
    *narrow = (int)count;
    return 0;
}

int num_compare_ints(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

int num_compare_doubles(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
