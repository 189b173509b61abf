#include "team/team_mpi.h"

#include "base/err.h"
#include "base/json.h"
#include "base/num.h"
#include "base/system_time.h"
#include "team/hosts.h"
#include "team/team_mpi_ft.h"
#include "team/team_mpi_tools.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char team_kind[] = "mpi";

static double wtime(void) /* MPI_Wtime may be a macro */
{
    return MPI_Wtime();
}
double (*const team_wtime)(void) = wtime;

enum { TAG_BARRIER = 1, TAG_MAX, TAG_MESSAGE };

struct own {
    MPI_Comm whole;     /* of what the launch started, or of what is left of it */
    MPI_Comm ops, team; /* two contexts: messages of the one cannot match receives of the other */
    bool owns_ops;      /* of a lane: not those of the whole */
    int thread_level;
    struct tools *tools;
};

static const struct {
    const char *name, *constant;
    int level;
} levels[] = {{"single", "MPI_THREAD_SINGLE", MPI_THREAD_SINGLE},
              {"funneled", "MPI_THREAD_FUNNELED", MPI_THREAD_FUNNELED},
              {"serialized", "MPI_THREAD_SERIALIZED", MPI_THREAD_SERIALIZED},
              {"multiple", "MPI_THREAD_MULTIPLE", MPI_THREAD_MULTIPLE}};
enum { LEVELS = sizeof levels / sizeof levels[0] };

int team_mpi_err(int code, const char *call)
{
    if (code == MPI_SUCCESS)
        return 0;
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0, class = MPI_ERR_OTHER;
    MPI_Error_string(code, text, &length);
    MPI_Error_class(code, &class);
    bool unsupported = class == MPI_ERR_UNSUPPORTED_OPERATION;
    return err_say(unsupported ? ERR_UNSUPPORTED : ERR_MPI, "%s failed: %.180s", call, text);
}

MPI_Comm team_comm(const struct team *team)
{
    return ((const struct own *)team->own)->ops;
}

static MPI_Comm comm_of(const struct team *team)
{
    return ((const struct own *)team->own)->team;
}

static int level_of(const char *name, int *level)
{
    for (int i = 0; i < LEVELS; ++i)
        if (strcmp(name, levels[i].name) == 0) {
            *level = levels[i].level;
            return 0;
        }
    return err_say(ERR_INPUT, "'%s' is no thread level; use single, funneled, serialized or multiple", name);
}

static const char *level_name(int level)
{
    for (int i = 0; i < LEVELS; ++i)
        if (levels[i].level == level)
            return levels[i].name;
    return "unknown";
}

int team_threads_allowed(const char *op, int threads)
{
    int level = MPI_THREAD_SINGLE, at = 0;
    int err = team_mpi_err(MPI_Query_thread(&level), "MPI_Query_thread");
    while (at < LEVELS - 1 && levels[at].level != level)
        ++at;
    if (!err && threads > 1 && level < MPI_THREAD_MULTIPLE)
        err = err_say(ERR_UNSUPPORTED,
                      "%s calls MPI from %d threads at once, and this launch was provided %s; give "
                      "--thread-level multiple, or take an MPI that provides it",
                      op, threads, levels[at].constant);
    return err;
}

#ifdef SMPI_H /* there is no clock yet, and after MPI_Finalize it is the machine's again */
enum { HAS_FIRST = false, FINALIZE_TIMED = false };
#else
enum { HAS_FIRST = true, FINALIZE_TIMED = true };
#endif

static struct footprint footprint_timed(int64_t *took_ns)
{
    const int64_t begin = system_time_ns(CLOCK_MONOTONIC);
    const struct footprint now = memory_footprint();
    *took_ns = system_time_ns(CLOCK_MONOTONIC) - begin;
    return now;
}

static int count_ranks(struct team *team)
{
    const MPI_Comm whole = ((const struct own *)team->own)->whole;
    int err = team_mpi_err(MPI_Comm_set_errhandler(whole, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    err = err ? err : team_mpi_err(MPI_Comm_rank(whole, &team->rank), "MPI_Comm_rank");
    return err ? err : team_mpi_err(MPI_Comm_size(whole, &team->size), "MPI_Comm_size");
}

/* Leave the ranks that have died since. */
static int lose_ranks(struct team *team)
{
    struct own *own = team->own;
    if (team->loses == 0)
        return 0;
    int err = team_mpi_err(MPIX_Comm_shrink(MPI_COMM_WORLD, &own->whole), "MPIX_Comm_shrink");
    return err ? err : count_ranks(team);
}

int team_open(struct team *team, const char *thread_level, int ranks, team_early *early, void *data)
{
    (void)ranks; /* its launcher has started them */
    int wanted = MPI_THREAD_SINGLE;
    int err = level_of(thread_level, &wanted);
    if (err)
        return err;
    struct own *own = calloc(1, sizeof *own);
    if (!own)
        return err_say(ERR_NOMEM, "no memory for the team");
    *team = (struct team){.own = own, .size = 1};
    team->before_init = footprint_timed(&team->before_init_ns);
    team->init_begin_ns = system_time_ns(CLOCK_MONOTONIC);
    err = tools_open(wanted, &own->tools);
    if (!err)
        err = team_mpi_err(MPI_Init_thread(NULL, NULL, wanted, &own->thread_level), "MPI_Init_thread");
    team->init_end_ns = system_time_ns(CLOCK_MONOTONIC);
    team->after_init = footprint_timed(&team->after_init_ns);
    own->whole = MPI_COMM_WORLD;
    err = err ? err : count_ranks(team);
    if (!err && early && HAS_FIRST)
        err = early(team, data);
    err = err ? err : lose_ranks(team);
    if (!err)
        err = team_mpi_err(MPI_Comm_dup(own->whole, &own->ops), "MPI_Comm_dup");
    if (!err)
        err = team_mpi_err(MPI_Comm_dup(own->whole, &own->team), "MPI_Comm_dup");
    if (!err)
        tools_watch(own->tools, own->ops);
    if (!err && own->thread_level < wanted)
        err = err_say(ERR_UNSUPPORTED, "thread level %s was asked for, this MPI gives %s; use a lower one",
                      thread_level, level_name(own->thread_level));
    return err ? err : hosts_open(team);
}

int team_close(struct team *team)
{
    struct own *own = team->own;
    hosts_close(team);
    int err = team_mpi_err(MPI_Comm_free(&own->ops), "MPI_Comm_free");
    if (!err)
        err = team_mpi_err(MPI_Comm_free(&own->team), "MPI_Comm_free");
    if (!err && team->loses > 0)
        err = team_mpi_err(MPI_Comm_free(&own->whole), "MPI_Comm_free");
    tools_close(own->tools);
    const int64_t begin = system_time_ns(CLOCK_MONOTONIC);
    if (!err)
        err = team_mpi_err(MPI_Finalize(), "MPI_Finalize");
    team->finalize_ns = FINALIZE_TIMED ? system_time_ns(CLOCK_MONOTONIC) - begin : 0;
    free(own);
    return err;
}

int team_lane_open(const struct team *team, bool own_comm, struct team *lane)
{
    const struct own *whole = team->own;
    struct own *own = malloc(sizeof *own);
    if (!own)
        return err_say(ERR_NOMEM, "no memory for the team of a thread");
    *own = *whole;
    *lane = *team;
    lane->own = own;
    int err = team_mpi_err(MPI_Comm_dup(whole->team, &own->team), "MPI_Comm_dup");
    if (!err && own_comm) {
        err = team_mpi_err(MPI_Comm_dup(whole->ops, &own->ops), "MPI_Comm_dup");
        own->owns_ops = !err;
    }
    if (err)
        free(own);
    return err;
}

int team_lane_use(struct team *lane, MPI_Comm comm, bool owned)
{
    struct own *own = lane->own;
    const int rc = own->owns_ops ? MPI_Comm_free(&own->ops) : MPI_SUCCESS;
    own->ops = comm;
    own->owns_ops = owned;
    return team_mpi_err(rc, "MPI_Comm_free");
}

void team_lane_close(struct team *lane)
{
    struct own *own = lane->own;
    if (own->owns_ops)
        MPI_Comm_free(&own->ops);
    MPI_Comm_free(&own->team);
    free(own);
}

void team_abort(const struct team *team, int code)
{
    (void)team;
    MPI_Abort(MPI_COMM_WORLD, code);
    _exit(code); /* MPICH 5 may return; by abort() a signal would seem to be the cause */
}

int team_barrier(const struct team *team)
{
    MPI_Comm comm = comm_of(team);
    int rc = MPI_SUCCESS;
    char out = 0, in = 0;
    for (int distance = 1; distance < team->size && rc == MPI_SUCCESS; distance *= 2) {
        int to = (team->rank + distance) % team->size;
        int from = (team->rank - distance + team->size) % team->size;
        rc = MPI_Sendrecv(&out, 0, MPI_BYTE, to, TAG_BARRIER, &in, 0, MPI_BYTE, from, TAG_BARRIER, comm,
                          MPI_STATUS_IGNORE);
    }
    return team_mpi_err(rc, "the team's barrier");
}

int team_library_barrier(const struct team *team)
{
    return team_mpi_err(MPI_Barrier(comm_of(team)), "MPI_Barrier");
}

int team_send(const struct team *team, int to, const void *data, size_t bytes)
{
    int count = 0;
    int err = num_to_int(bytes, &count);
    return err ? err
               : team_mpi_err(MPI_Send(data, count, MPI_BYTE, to, TAG_MESSAGE, comm_of(team)),
                              "the team's message");
}

int team_recv(const struct team *team, int from, void *data, size_t bytes)
{
    int count = 0;
    int err = num_to_int(bytes, &count);
    return err ? err
               : team_mpi_err(
                     MPI_Recv(data, count, MPI_BYTE, from, TAG_MESSAGE, comm_of(team), MPI_STATUS_IGNORE),
                     "the team's message");
}

/* Dissemination again: a maximum does not mind hearing of the same rank twice. */
int team_max(const struct team *team, int64_t *value)
{
    int rc = MPI_SUCCESS;
    for (int distance = 1; distance < team->size && rc == MPI_SUCCESS; distance *= 2) {
        int to = (team->rank + distance) % team->size;
        int from = (team->rank - distance + team->size) % team->size;
        int64_t out = *value, in = *value;
        rc = MPI_Sendrecv(&out, sizeof out, MPI_BYTE, to, TAG_MAX, &in, sizeof in, MPI_BYTE, from, TAG_MAX,
                          comm_of(team), MPI_STATUS_IGNORE);
        *value = in > *value ? in : *value;
    }
    return team_mpi_err(rc, "the team's maximum");
}

/* Its step, and whether all ranks read the same. */
static void wtime_write(struct json *j)
{
    int *is_global = NULL, found = 0;
    json_double(j, "wtick_ns", 1e9 * MPI_Wtick());
    if (MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL, &is_global, &found) == MPI_SUCCESS)
        json_bool(j, "wtime_is_global", found && *is_global);
}

static void describe(struct json *j, const struct own *own)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "", standard[16] = "";
    int length = 0, version = 0, subversion = 0;
    MPI_Get_library_version(library, &length);
    MPI_Get_version(&version, &subversion);
    snprintf(standard, sizeof standard, "%d.%d", version, subversion);
    json_open(j, "mpi", '{');
    json_string(j, "library", library);
    json_string(j, "version", standard);
    if (own) {
        json_string(j, "thread_level", level_name(own->thread_level));
        wtime_write(j);
        tools_write(own->tools, j);
    }
    json_close(j, '}');
}

void team_describe(struct json *j)
{
    describe(j, NULL);
}

void team_record(const struct team *team, struct json *j)
{
    describe(j, team->own);
}

void team_queues(const struct team *team, struct json *j)
{
    tools_values(((const struct own *)team->own)->tools, j);
}
