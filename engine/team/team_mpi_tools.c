#define _GNU_SOURCE
#include "team/team_mpi_tools.h"

#include "base/err.h"
#include "base/json.h"
#include "base/secret.h"
#include "base/variables.h"
#include "team/team_mpi.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#ifdef SMPI_H /* SimGrid has no tools interface */
int tools_open(int thread_level, struct tools **tools)
{
    (void)thread_level;
    *tools = NULL;
    return 0;
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

/* What the names of their variables in the environment begin with. */
static const char open_mpi_prefix[] = "OMPI_MCA_", mpich_prefix[] = "MPIR_CVAR_";

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

static bool is_open_mpi(void)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    MPI_Get_library_version(library, &length);
    return strncmp(library, "Open MPI", strlen("Open MPI")) == 0;
}

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
    bool b;
    char text[TEXT_MAX];
};

/* Whether a variable is 0 or empty: then the library chooses by itself. */
static bool is_own_choice(const union value *value, MPI_Datatype type)
{
    if (type == MPI_CHAR)
        return !value->text[0] || strcmp(value->text, "auto") == 0;
    return (type == MPI_INT && value->i == 0) || (type == MPI_C_BOOL && !value->b);
}

/* A control variable, as far as it can be looked at. */
struct cvar {
    int index;
    char name[TOOLS_NAME_MAX];
    MPI_Datatype type;
    MPI_T_enum names; /* of its values, or MPI_T_ENUM_NULL */
    int bound;
};

static bool cvar_find(int index, struct cvar *c)
{
    char text[TOOLS_NAME_MAX];
    int length = sizeof c->name, text_length = sizeof text, verbosity, scope;
    *c = (struct cvar){.index = index};
    return MPI_T_cvar_get_info(index, c->name, &length, &verbosity, &c->type, &c->names, text, &text_length,
                               &c->bound, &scope) == MPI_SUCCESS &&
           c->bound == MPI_T_BIND_NO_OBJECT;
}

/* The value of a control variable; false if it is neither one number nor a text. */
static bool cvar_read(const struct cvar *c, union value *value)
{
    MPI_T_cvar_handle handle;
    int count = 0;
    memset(value, 0, sizeof *value);
    if (MPI_T_cvar_handle_alloc(c->index, NULL, &handle, &count) != MPI_SUCCESS)
        return false;
    bool is_read = (c->type == MPI_CHAR ? count < TEXT_MAX : count == 1) &&
                   MPI_T_cvar_read(handle, value) == MPI_SUCCESS;
    MPI_T_cvar_handle_free(&handle);
    return is_read;
}

static void cvar_write(struct json *j, const char *key, const struct cvar *c, const union value *value)
{
    if (c->type == MPI_CHAR) {
        char *shown = secret_masked(c->name, strlen(c->name), value->text);
        json_string(j, key, shown);
        free(shown);
    } else if (c->type == MPI_INT)
        json_int(j, key, value->i);
    else if (c->type == MPI_C_BOOL)
        json_int(j, key, value->b);
    else if (c->type == MPI_UNSIGNED)
        json_int(j, key, (int64_t)value->u);
    else if (c->type == MPI_UNSIGNED_LONG)
        json_int(j, key, (int64_t)value->ul);
    else if (c->type == MPI_UNSIGNED_LONG_LONG)
        json_int(j, key, (int64_t)value->ull);
    else if (c->type == MPI_COUNT)
        json_int(j, key, (int64_t)value->count);
    else if (c->type == MPI_DOUBLE)
        json_double(j, key, value->d);
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
        struct cvar c;
        union value value;
        if (!cvar_find(i, &c))
            continue;
        const bool speaks = speaks_of(c.name, words) && kept < TOOLS_MOST;
        if ((speaks || chooses(c.name)) && cvar_read(&c, &value) &&
            (speaks || !is_own_choice(&value, c.type)))
            cvar_write(j, c.name, &c, &value);
        kept += speaks;
    }
    json_close(j, '}');
}

/* The name that the library has for the value of a variable; NULL: there is none. */
static const char *value_name(const struct cvar *c, const union value *value, char name[TOOLS_NAME_MAX])
{
    int items = 0, length = TOOLS_NAME_MAX;
    if (c->names == MPI_T_ENUM_NULL || c->type != MPI_INT ||
        MPI_T_enum_get_info(c->names, &items, name, &length) != MPI_SUCCESS)
        return NULL;
    for (int i = 0; i < items; ++i) {
        int one = 0;
        length = TOOLS_NAME_MAX;
        if (MPI_T_enum_get_item(c->names, i, &one, name, &length) == MPI_SUCCESS && one == value->i)
            return name;
    }
    return NULL;
}

/* The value that the library has for a variable of the environment. */
static void given_write(struct json *j, const char *variable, int index)
{
    char name[TOOLS_NAME_MAX];
    struct cvar c;
    union value value;
    if (!cvar_find(index, &c) || !cvar_read(&c, &value))
        return;
    const char *named = value_name(&c, &value, name);
    char *text = c.type == MPI_CHAR ? secret_masked(variable, strlen(variable), value.text) : NULL;
    if (named || text)
        json_string(j, variable, named ? named : text);
    else
        cvar_write(j, variable, &c, &value);
    free(text);
}

/* Variables of the environment for this library, by what it makes of them: with `known` their names and the
 * values that it has, else the names that it does not know. */
static void variables_write(struct json *j, const char *prefix, size_t stripped, bool known)
{
    extern char **environ;
    for (char **e = environ; *e; ++e) {
        char variable[TOOLS_NAME_MAX];
        const size_t length = strcspn(*e, "=");
        int index = 0;
        if (strncmp(*e, prefix, strlen(prefix)) != 0 || length >= sizeof variable || !variable_is_setting(*e))
            continue;
        memcpy(variable, *e, length);
        variable[length] = '\0';
        const bool is_found = MPI_T_cvar_get_index(variable + stripped, &index) == MPI_SUCCESS;
        if (is_found && known)
            given_write(j, variable, index);
        else if (!is_found && !known)
            json_string(j, NULL, variable);
    }
}

/* Open MPI takes OMPI_MCA_btl for its variable btl; MPICH and its relatives have the whole name. */
static void settings_write(struct json *j)
{
    const char *prefix = is_open_mpi() ? open_mpi_prefix : mpich_prefix;
    const size_t stripped = is_open_mpi() ? strlen(prefix) : 0;
    json_open(j, "given", '{');
    variables_write(j, prefix, stripped, true);
    json_close(j, '}');
    json_open(j, "unknown", '[');
    variables_write(j, prefix, stripped, false);
    json_close(j, ']');
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

/* A value that MPICH does not take is the usual reason; not all of its builds say which one it was. */
static int refused_say(int code)
{
    extern char **environ;
    char names[ERR_TEXT_MAX / 2] = "", said[ERR_TEXT_MAX];
    size_t used = 0;
    for (char **e = environ; *e && used < sizeof names; ++e)
        if (strncmp(*e, mpich_prefix, strlen(mpich_prefix)) == 0 && variable_is_setting(*e)) {
            const int length = (int)strcspn(*e, "=");
            used +=
                (size_t)snprintf(names + used, sizeof names - used, "%s%.*s", used ? ", " : "", length, *e);
        }
    const int err = team_mpi_err(code, "MPI_T_init_thread");
    if (!names[0])
        return err;
    snprintf(said, sizeof said, "%s", err_text());
    return err_say(ERR_MPI, "%.120s; look at the value of %s", said, names);
}

int tools_open(int thread_level, struct tools **tools)
{
    int provided = 0;
    struct tools *t = *tools = calloc(1, sizeof *t);
    if (!t)
        return 0;
    t->session = MPI_T_PVAR_SESSION_NULL;
    const int code = MPI_T_init_thread(thread_level, &provided);
    if (code == MPI_SUCCESS)
        return 0;
    free(t);
    *tools = NULL;
    return is_open_mpi() ? 0 : refused_say(code);
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
    settings_write(j);
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
