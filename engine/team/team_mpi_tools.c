#define _GNU_SOURCE
#include "team/team_mpi_tools.h"

#include "base/json.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#ifdef SMPI_H /* SimGrid has no tools interface */
struct tools *tools_open(int thread_level)
{
    (void)thread_level;
    return NULL;
}

void tools_watch(struct tools *tools, MPI_Comm comm)
{
    (void)tools, (void)comm;
}

void tools_close(struct tools *tools)
{
    (void)tools;
}

void tools_write(const struct tools *tools, struct json *j)
{
    (void)tools, (void)j;
}

void tools_values(const struct tools *tools, struct json *j)
{
    (void)tools, (void)j;
}
#else
enum { TOOLS_MOST = 64, TOOLS_NAME_MAX = 256 };

/* A performance variable that is watched. */
struct queue {
    char name[TOOLS_NAME_MAX];
    int class, count;
    MPI_Datatype type;
    MPI_T_pvar_handle handle;
};

struct tools {
    MPI_Comm comm; /* lives as long as a variable is bound to it */
    MPI_T_pvar_session session;
    struct queue queues[TOOLS_MOST];
    int count;
};

/* Whether a name, in any case, holds one of the words. */
static bool speaks_of(const char *name, const char *const *words)
{
    while (*words && !strcasestr(name, *words))
        ++words;
    return *words != NULL;
}

enum { TEXT_MAX = 4096 };
union value {
    int i;
    unsigned u;
    unsigned long ul;
    unsigned long long ull;
    MPI_Count count;
    double d;
    char text[TEXT_MAX];
};

/* Whether a variable is 0 or empty: then the library chooses by itself. */
static bool is_own_choice(const union value *value, MPI_Datatype type)
{
    if (type == MPI_CHAR)
        return !value->text[0] || strcmp(value->text, "auto") == 0;
    return type == MPI_INT && value->i == 0;
}

/* The value of a control variable, if it is one number or a text; with `set` only one that is not the
 * library's own choice. */
static void cvar_write(struct json *j, int index, const char *name, MPI_Datatype type, bool set)
{
    union value value;
    MPI_T_cvar_handle handle;
    int count = 0;
    memset(&value, 0, sizeof value);
    if (MPI_T_cvar_handle_alloc(index, NULL, &handle, &count) != MPI_SUCCESS)
        return;
    bool is_text = type == MPI_CHAR && count < TEXT_MAX;
    if ((is_text || (type != MPI_CHAR && count == 1)) && MPI_T_cvar_read(handle, &value) == MPI_SUCCESS &&
        !(set && is_own_choice(&value, type))) {
        if (is_text)
            json_string(j, name, value.text);
        else if (type == MPI_INT)
            json_int(j, name, value.i);
        else if (type == MPI_UNSIGNED)
            json_int(j, name, (int64_t)value.u);
        else if (type == MPI_UNSIGNED_LONG)
            json_int(j, name, (int64_t)value.ul);
        else if (type == MPI_UNSIGNED_LONG_LONG)
            json_int(j, name, (int64_t)value.ull);
        else if (type == MPI_COUNT)
            json_int(j, name, (int64_t)value.count);
        else if (type == MPI_DOUBLE)
            json_double(j, name, value.d);
    }
    MPI_T_cvar_handle_free(&handle);
}

/* Whether a name ends in one of the words, or is one. */
static bool chooses(const char *name)
{
    static const char *const ends[] = {"_algorithm",          "_netmod",   "_provider",
                                       "_device_collectives", "_progress", NULL};
    static const char *const whole[] = {"btl", "pml", "mtl", "coll", "osc", NULL};
    const size_t length = strlen(name);
    for (const char *const *end = ends; *end; ++end)
        if (length >= strlen(*end) && strcasecmp(name + length - strlen(*end), *end) == 0)
            return true;
    for (const char *const *one = whole; *one; ++one)
        if (strcmp(name, *one) == 0)
            return true;
    return false;
}

/* Where protocols change, eager limits and their like; and which algorithms and transports are to be used,
 * where that is said at all. */
static void cvars_write(struct json *j)
{
    static const char *const words[] = {"eager", "rndv", "rendezvous", "threshold", NULL};
    int count = 0, kept = 0;
    json_open(j, "cvars", '{');
    if (MPI_T_cvar_get_num(&count) != MPI_SUCCESS)
        count = 0;
    for (int i = 0; i < count; ++i) {
        char name[TOOLS_NAME_MAX] = "", text[TOOLS_NAME_MAX];
        int length = sizeof name, text_length = sizeof text, verbosity, bound, scope;
        MPI_Datatype type;
        MPI_T_enum names;
        if (MPI_T_cvar_get_info(i, name, &length, &verbosity, &type, &names, text, &text_length, &bound,
                                &scope) == MPI_SUCCESS &&
            bound == MPI_T_BIND_NO_OBJECT) {
            const bool speaks = speaks_of(name, words) && kept < TOOLS_MOST;
            if (speaks || chooses(name))
                cvar_write(j, i, name, type, !speaks);
            kept += speaks;
        }
    }
    json_close(j, '}');
}

/* Variable `index`, if it speaks of queues and can be watched. */
static void watch(struct tools *t, int index)
{
    static const char *const words[] = {"unexpected", "posted", "recvq", NULL};
    struct queue *q = &t->queues[t->count];
    char text[TOOLS_NAME_MAX];
    int length = sizeof q->name, text_length = sizeof text, verbosity, bound, fixed, continuous, atomic;
    MPI_T_enum names;
    if (MPI_T_pvar_get_info(index, q->name, &length, &verbosity, &q->class, &q->type, &names, text,
                            &text_length, &bound, &fixed, &continuous, &atomic) != MPI_SUCCESS ||
        !speaks_of(q->name, words) || (bound != MPI_T_BIND_NO_OBJECT && bound != MPI_T_BIND_MPI_COMM))
        return;
    void *object = bound == MPI_T_BIND_MPI_COMM ? &t->comm : NULL;
    if (MPI_T_pvar_handle_alloc(t->session, index, object, &q->handle, &q->count) != MPI_SUCCESS)
        return;
    if (continuous || MPI_T_pvar_start(t->session, q->handle) == MPI_SUCCESS)
        ++t->count;
    else
        MPI_T_pvar_handle_free(t->session, &q->handle);
}

struct tools *tools_open(int thread_level)
{
    int provided = 0;
    struct tools *t = calloc(1, sizeof *t);
    if (!t || MPI_T_init_thread(thread_level, &provided) != MPI_SUCCESS) {
        free(t);
        return NULL;
    }
    t->session = MPI_T_PVAR_SESSION_NULL;
    return t;
}

void tools_watch(struct tools *t, MPI_Comm comm)
{
    int variables = 0;
    if (!t)
        return;
    t->comm = comm;
    if (MPI_T_pvar_session_create(&t->session) != MPI_SUCCESS)
        t->session = MPI_T_PVAR_SESSION_NULL;
    else if (MPI_T_pvar_get_num(&variables) != MPI_SUCCESS)
        variables = 0;
    for (int i = 0; i < variables && t->count < TOOLS_MOST; ++i)
        watch(t, i);
}

void tools_close(struct tools *t)
{
    if (!t)
        return;
    for (int i = 0; i < t->count; ++i)
        MPI_T_pvar_handle_free(t->session, &t->queues[i].handle);
    if (t->session != MPI_T_PVAR_SESSION_NULL)
        MPI_T_pvar_session_free(&t->session);
    MPI_T_finalize();
    free(t);
}

void tools_write(const struct tools *t, struct json *j)
{
    if (!t)
        return;
    cvars_write(j);
    json_open(j, "pvars", '[');
    for (int i = 0; i < t->count; ++i)
        json_string(j, NULL, t->queues[i].name);
    json_close(j, ']');
}

/* Element i of what a variable holds. */
static double element(const void *values, MPI_Datatype type, int i)
{
    if (type == MPI_UNSIGNED)
        return ((const unsigned *)values)[i];
    if (type == MPI_INT)
        return ((const int *)values)[i];
    if (type == MPI_UNSIGNED_LONG)
        return (double)((const unsigned long *)values)[i];
    if (type == MPI_UNSIGNED_LONG_LONG)
        return (double)((const unsigned long long *)values)[i];
    if (type == MPI_COUNT)
        return (double)((const MPI_Count *)values)[i];
    return ((const double *)values)[i];
}

void tools_values(const struct tools *t, struct json *j)
{
    json_open(j, "pvars", '{');
    for (int k = 0; t && k < t->count; ++k) {
        const struct queue *q = &t->queues[k];
        const bool highest = q->class == MPI_T_PVAR_CLASS_HIGHWATERMARK;
        double value = 0;
        void *values = calloc((size_t)q->count, sizeof(unsigned long long)); /* the widest of them */
        if (values && MPI_T_pvar_read(t->session, q->handle, values) == MPI_SUCCESS) {
            for (int i = 0; i < q->count; ++i) {
                const double one = element(values, q->type, i);
                value = !highest ? value + one : one > value ? one : value;
            }
            json_double(j, q->name, value);
        }
        free(values);
    }
    json_close(j, '}');
}
#endif
