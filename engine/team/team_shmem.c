/* A team over OpenSHMEM alone. Its messages are puts and flags in symmetric memory: each rank has a slot for
 * every other one, which the sender fills and the receiver empties, in pieces where a message is longer.
 * Ranks call the team's functions in one order, so what comes next from a rank is what is waited for. */
#include "team/team_shmem.h"

#include "base/err.h"
#include "base/json.h"
#include "base/system_time.h"
#include "base/wait.h"
#include "team/hosts.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char team_kind[] = "shmem";
double (*const team_wtime)(void) = NULL;

enum {
    SLOT = 4096,
    PIECE = SLOT - (int)sizeof(uint64_t),
    PAGE = 4096,
    NUMBER_SHIFT = 32, /* in a flag: the number of the piece, above the bytes of the whole message */
};

struct slot {
    uint64_t full; /* a flag: the piece that came last */
    char data[PIECE];
};

struct piece { /* its first page; what an op gets begins at the second */
    struct piece *next;
    size_t bytes;
};

struct own {
    struct slot *slots;        /* symmetric: [the rank that sends to this one] */
    uint64_t *emptied;         /* symmetric: [rank]: the flag of this rank's last piece that it has taken */
    uint64_t *sent, *received; /* [rank]: the flags of the last pieces */
    struct piece *pieces;      /* symmetric: what ops have taken, in the order in which they take it */
    struct piece **next;       /* where the next one hangs */
    int thread_level;
};

static const struct {
    const char *name, *constant;
    int level;
} levels[] = {{"single", "SHMEM_THREAD_SINGLE", SHMEM_THREAD_SINGLE},
              {"funneled", "SHMEM_THREAD_FUNNELED", SHMEM_THREAD_FUNNELED},
              {"serialized", "SHMEM_THREAD_SERIALIZED", SHMEM_THREAD_SERIALIZED},
              {"multiple", "SHMEM_THREAD_MULTIPLE", SHMEM_THREAD_MULTIPLE}};
enum { LEVELS = sizeof levels / sizeof levels[0] };

/* The row of a level by its name; -1: there is none. */
static int level_named(const char *name)
{
    for (int i = 0; i < LEVELS; ++i)
        if (strcmp(name, levels[i].name) == 0)
            return i;
    return -1;
}

/* The highest row that a provided level reaches. */
static int level_reached(int level)
{
    int at = 0;
    while (at < LEVELS - 1 && levels[at].level != level)
        ++at;
    return at;
}

int team_threads_allowed(const char *op, int threads)
{
    int level = SHMEM_THREAD_SINGLE;
    shmem_query_thread(&level);
    return threads == 1 || level == SHMEM_THREAD_MULTIPLE
               ? 0
               : err_say(ERR_UNSUPPORTED,
                         "%s calls OpenSHMEM from %d threads at once, and this launch was provided %s; give "
                         "--thread-level multiple, or take a library that provides it",
                         op, threads, levels[level_reached(level)].constant);
}

/* ---- symmetric memory -------------------------------------------------------------------------------- */

/* The size of the heap: the variable that sets it, and what it is without. And who brings what others put: by
 * the standard nobody has to call for it, but Open MPI wants the rank that waits in its calls. */
static const struct library {
    const char *vendor, *variable, *usual;
    bool brings_in_waits;
} libraries[] = {{"open-mpi", "SHMEM_SYMMETRIC_HEAP_SIZE", "256M", true},
                 {"", "SHMEM_SYMMETRIC_SIZE", "the library's own", false}}; /* OpenSHMEM 1.4, section 7 */

static const struct library *this_library(void)
{
    const struct library *library = libraries;
    while (!strstr(SHMEM_VENDOR_STRING, library->vendor))
        ++library;
    return library;
}

static const char *heap_size(void)
{
    return getenv(this_library()->variable);
}

static int heap_too_small(size_t bytes)
{
    const struct library *library = this_library();
    return err_say(ERR_NOMEM,
                   "the symmetric heap has no room for %zu bytes: its size is %s; set %s to more, as in "
                   "--env %s=2G",
                   bytes, heap_size() ? heap_size() : library->usual, library->variable, library->variable);
}

/* Collective, as all that frees symmetric memory. */
static void free_pieces(struct piece **from)
{
    for (struct piece *piece; (piece = *from);) {
        *from = piece->next;
        shmem_free(piece);
    }
}

int team_symmetric_more(const struct team *team, size_t bytes, void **memory)
{
    struct own *own = team->own;
    struct piece **at = own->next;
    *memory = NULL;
    if (*at && (*at)->bytes < bytes)
        free_pieces(at);
    if (!*at) {
        *at = shmem_align(PAGE, PAGE + bytes);
        if (!*at)
            return heap_too_small(bytes);
        **at = (struct piece){.bytes = bytes};
    }
    *memory = (char *)*at + PAGE;
    own->next = &(*at)->next;
    return 0;
}

int team_symmetric(const struct team *team, size_t bytes, void **memory)
{
    struct own *own = team->own;
    own->next = &own->pieces;
    return team_symmetric_more(team, bytes, memory);
}

static int take_slots(struct own *own, int size)
{
    const size_t ranks = (size_t)size;
    own->slots = shmem_calloc(ranks, sizeof *own->slots);
    own->emptied = own->slots ? shmem_calloc(ranks, sizeof *own->emptied) : NULL;
    own->sent = calloc(ranks, sizeof *own->sent);
    own->received = calloc(ranks, sizeof *own->received);
    if (!own->emptied)
        return heap_too_small(ranks * sizeof *own->slots);
    return own->sent && own->received ? 0 : err_say(ERR_NOMEM, "no memory for the team");
}

/* ---- its life ---------------------------------------------------------------------------------------- */

int team_open(struct team *team, const char *thread_level, int ranks, team_early *early, void *data)
{
    (void)ranks; /* its launcher has started them */
    const int wanted = level_named(thread_level);
    if (wanted < 0)
        return err_say(ERR_INPUT, "'%s' is no thread level; use single, funneled, serialized or multiple",
                       thread_level);
    struct own *own = calloc(1, sizeof *own);
    if (!own)
        return err_say(ERR_NOMEM, "no memory for the team");
    own->next = &own->pieces;
    *team = (struct team){.own = own, .size = 1, .init_begin_ns = system_time_ns(CLOCK_MONOTONIC)};
    if (shmem_init_thread(levels[wanted].level, &own->thread_level) != 0)
        return err_say(ERR_SYSTEM, "shmem_init_thread failed; run with the launcher of this library");
    team->init_end_ns = system_time_ns(CLOCK_MONOTONIC);
    team->rank = shmem_my_pe();
    team->size = shmem_n_pes();
    if (level_reached(own->thread_level) < wanted)
        return err_say(ERR_UNSUPPORTED,
                       "thread level %s was asked for, this OpenSHMEM gives %s; use a lower one",
                       thread_level, levels[level_reached(own->thread_level)].name);
    int err = early ? early(team, data) : 0;
    err = err ? err : take_slots(own, team->size);
    shmem_barrier_all(); /* or a message may come before there is room for it */
    return err ? err : hosts_open(team);
}

int team_close(struct team *team)
{
    struct own *own = team->own;
    hosts_close(team);
    free_pieces(&own->pieces);
    shmem_free(own->emptied);
    shmem_free(own->slots);
    free(own->sent);
    free(own->received);
    free(own);
    const int64_t begin = system_time_ns(CLOCK_MONOTONIC);
    shmem_finalize();
    team->finalize_ns = system_time_ns(CLOCK_MONOTONIC) - begin;
    return 0;
}

void team_abort(const struct team *team, int code)
{
    (void)team;
    shmem_global_exit(code);
    _exit(code);
}

/* ---- messages ---------------------------------------------------------------------------------------- */

static uint64_t number_of(uint64_t flag)
{
    return flag >> NUMBER_SHIFT;
}

/* The flag of the piece after that of `flag`. Numbers begin anew after 2^32. */
static uint64_t flag_after(uint64_t flag, size_t bytes)
{
    return (number_of(flag) + 1) << NUMBER_SHIFT | (uint64_t)bytes;
}

/* Until the flag is another than `old`. Where the library must be waited in, by shmem_wait_until, for Open
 * MPI's shmem_test brings nothing; else by looks between which others get the core. */
static void await_change(uint64_t *flag, uint64_t old)
{
    if (this_library()->brings_in_waits)
        shmem_uint64_wait_until(flag, SHMEM_CMP_NE, old);
    for (int looks = 0; __atomic_load_n(flag, __ATOMIC_ACQUIRE) == old;)
        wait_a_little(&looks);
}

int team_send(const struct team *team, int to, const void *data, size_t bytes)
{
    struct own *own = team->own;
    size_t sent = 0;
    if (bytes >> NUMBER_SHIFT)
        return err_say(ERR_SYSTEM, "a message of the team has %zu bytes, which are too many", bytes);
    do {
        const size_t piece = bytes - sent < PIECE ? bytes - sent : PIECE;
        const uint64_t flag = flag_after(own->sent[to], bytes);
        for (uint64_t last; (last = own->emptied[to]) != own->sent[to];)
            await_change(&own->emptied[to], last);
        if (piece > 0) {
            shmem_putmem(own->slots[team->rank].data, (const char *)data + sent, piece, to);
            shmem_fence();
        }
        shmem_uint64_p(&own->slots[team->rank].full, flag, to);
        own->sent[to] = flag;
        sent += piece;
    } while (sent < bytes);
    return 0;
}

int team_recv(const struct team *team, int from, void *data, size_t bytes)
{
    struct own *own = team->own;
    struct slot *slot = &own->slots[from];
    size_t received = 0;
    do {
        const size_t piece = bytes - received < PIECE ? bytes - received : PIECE;
        const uint64_t flag = flag_after(own->received[from], bytes);
        await_change(&slot->full, own->received[from]);
        if (slot->full != flag)
            return err_say(ERR_SYSTEM, "rank %d waits for %zu bytes from rank %d, which sends %llu",
                           team->rank, bytes, from, (unsigned long long)(uint32_t)slot->full);
        if (piece > 0)
            memcpy((char *)data + received, slot->data, piece);
        own->received[from] = flag;
        /* OpenSHMEM orders puts, not loads: the copy is over before the sender may write there again. */
        atomic_thread_fence(memory_order_release);
        shmem_uint64_p(&own->emptied[team->rank], flag, from);
        received += piece;
    } while (received < bytes);
    return 0;
}

int team_library_barrier(const struct team *team)
{
    (void)team;
    shmem_barrier_all();
    return 0;
}

/* ---- what it is -------------------------------------------------------------------------------------- */

static void describe(struct json *j, const struct own *own)
{
    char version[16];
    snprintf(version, sizeof version, "%d.%d", SHMEM_MAJOR_VERSION, SHMEM_MINOR_VERSION);
    json_string(j, "mpi", NULL);
    json_open(j, "shmem", '{');
    json_string(j, "library", SHMEM_VENDOR_STRING);
    json_string(j, "version", version);
    if (own) {
        json_string(j, "thread_level", levels[level_reached(own->thread_level)].name);
        json_string(j, "heap", heap_size());
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
    (void)team, (void)j;
}
