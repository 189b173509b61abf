/* A library to preload that spoils calls of MPI, or ends or stops the rank that makes them.
 *
 * FAULTS has the faults, with `;` between them, each as `call=MPI_Put,kind=drop,at=3,rank=0`. Its words:
 *
 * call: its name, as MPI_Put.
 * kind: drop, late (made when the next call is), duplicate, truncate (an element less), shift (a byte
 * further, at the target or in what is sent), corrupt (the first byte), delay (10 ms before it), kill, hang.
 * bytes: only those that move so many bytes count, so that faults of one launch meet their own test cases.
 * byte: which byte is corrupted, from 0, the first one where it is not given.
 * rank: of which rank; each where it is not given.
 * thread: only those of one thread of a rank count, from 0, as they first make such a call.
 * at: which of them, from 1; those of all threads of a rank are counted together.
 * every: 1 is that one and all after it.
 *
 * A call with a request that is spoiled is made without one. What is fetched and corrupted are bytes. What
 * MPI_Startall sends, and MPI_Neighbor_alltoallw to its first neighbour, is only corrupted: where it lies. So
 * is what MPI_Allreduce is given, if it is of MPI_DOUBLE: by whole numbers ranks agree. */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum kind { NONE, DROP, LATE, DUPLICATE, TRUNCATE, SHIFT, CORRUPT, DELAY, KILL, HANG, KINDS };
static const char *const words[KINDS] = {"none",  "drop",    "late",  "duplicate", "truncate",
                                         "shift", "corrupt", "delay", "kill",      "hang"};

enum { MOST_FAULTS = 64, ANY = -1 };
static struct fault {
    const char *call;
    enum kind kind;
    long bytes, byte, at, rank, thread, every;
    atomic_long calls, threads; /* that count, so far */
} faults[MOST_FAULTS];
static int fault_count;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Thread_local long numbers[MOST_FAULTS]; /* of this thread, from 1, among those that a fault counts */

static enum kind kind_of(const char *word)
{
    for (int k = 0; k < KINDS; ++k)
        if (strcmp(word, words[k]) == 0)
            return (enum kind)k;
    abort();
}

/* Take `name=value` into a fault. */
static void read_word(struct fault *f, char *word)
{
    const struct {
        const char *name;
        long *number;
    } known[] = {{"bytes", &f->bytes}, {"byte", &f->byte},     {"at", &f->at},
                 {"rank", &f->rank},   {"thread", &f->thread}, {"every", &f->every}};
    char *value = strchr(word, '=');
    if (!value)
        abort();
    *value++ = '\0';
    for (size_t i = 0; i < sizeof known / sizeof known[0]; ++i)
        if (strcmp(word, known[i].name) == 0)
            *known[i].number = strtol(value, NULL, 10);
    if (strcmp(word, "call") == 0)
        f->call = value;
    if (strcmp(word, "kind") == 0)
        f->kind = kind_of(value);
}

static void read_wishes(void)
{
    const char *wish = getenv("FAULTS");
    char *text = wish ? strdup(wish) : NULL, *rest = NULL; /* names stay in it */
    for (char *one = text ? strtok_r(text, ";", &rest) : NULL; one; one = strtok_r(NULL, ";", &rest)) {
        if (fault_count == MOST_FAULTS)
            abort();
        struct fault *f = &faults[fault_count++];
        f->call = "", f->bytes = ANY, f->at = 1, f->rank = ANY, f->thread = ANY;
        char *further = NULL;
        for (char *word = strtok_r(one, ",", &further); word; word = strtok_r(NULL, ",", &further))
            read_word(f, word);
    }
}

static void wait_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

/* Is it this call, which moves so many bytes, that a fault is for? */
static bool is_met(int i, const char *call, long bytes, int rank)
{
    struct fault *f = &faults[i];
    if (f->kind == NONE || strcmp(call, f->call) != 0 || (f->bytes != ANY && bytes != f->bytes))
        return false;
    if (numbers[i] == 0)
        numbers[i] = atomic_fetch_add(&f->threads, 1) + 1;
    if (f->thread != ANY && numbers[i] != f->thread + 1)
        return false;
    const long which = atomic_fetch_add(&f->calls, 1) + 1;
    return (f->rank == ANY || rank == f->rank) && (which == f->at || (which > f->at && f->every != 0));
}

/* What is to become of this call: the fault that spoils it, NULL if none does. */
static const struct fault *meet(const char *call, long bytes)
{
    pthread_once(&once, read_wishes);
    int rank = 0;
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const struct fault *found = NULL;
    for (int i = 0; i < fault_count; ++i)
        if (is_met(i, call, bytes, rank))
            found = &faults[i];
    const enum kind kind = found ? found->kind : NONE;
    if (kind == DELAY)
        wait_ms(10);
    if (kind == KILL)
        kill(getpid(), SIGKILL);
    while (kind == HANG)
        wait_ms(1000);
    return kind == DELAY ? NULL : found;
}

/* ---- calls ---- */

struct args {
    const void *origin, *compare;
    void *result;
    int count, peer, tag;
    MPI_Datatype type;
    MPI_Aint there;
    MPI_Op op;
    MPI_Win win;
    MPI_Comm comm;
    MPI_Request *request;
    int received, from, other_tag; /* of MPI_Sendrecv: what comes, into `result` */
    MPI_Datatype other_type;
    MPI_Status *status;
};

typedef int make(const struct args *a);

#define THERE a->peer, a->there, a->count, a->type
#define SENT a->origin, a->count, a->type
#define FETCHED a->result, a->count, a->type

#define MAKE(name, ...)                                                                                      \
    static int name(const struct args *a)                                                                    \
    {                                                                                                        \
        return __VA_ARGS__;                                                                                  \
    }

MAKE(put, PMPI_Put(SENT, THERE, a->win))
MAKE(rput, PMPI_Rput(SENT, THERE, a->win, a->request))
MAKE(get, PMPI_Get(FETCHED, THERE, a->win))
MAKE(rget, PMPI_Rget(FETCHED, THERE, a->win, a->request))
MAKE(accumulate, PMPI_Accumulate(SENT, THERE, a->op, a->win))
MAKE(raccumulate, PMPI_Raccumulate(SENT, THERE, a->op, a->win, a->request))
MAKE(get_accumulate, PMPI_Get_accumulate(SENT, FETCHED, THERE, a->op, a->win))
MAKE(rget_accumulate, PMPI_Rget_accumulate(SENT, FETCHED, THERE, a->op, a->win, a->request))
MAKE(fetch_and_op, a->count == 0
                       ? MPI_SUCCESS
                       : PMPI_Fetch_and_op(a->origin, a->result, a->type, a->peer, a->there, a->op, a->win))
MAKE(swap, a->count == 0
               ? MPI_SUCCESS
               : PMPI_Compare_and_swap(a->origin, a->compare, a->result, a->type, a->peer, a->there, a->win))
MAKE(send_, PMPI_Send(SENT, a->peer, a->tag, a->comm))
MAKE(isend, PMPI_Isend(SENT, a->peer, a->tag, a->comm, a->request))
MAKE(sendrecv, PMPI_Sendrecv(SENT, a->peer, a->tag, a->result, a->received, a->other_type, a->from,
                             a->other_tag, a->comm, a->status))

/* ---- faults ---- */

static struct {
    struct args args;
    make *make; /* NULL: none waits */
} late;

static size_t bytes_of(const struct args *a)
{
    int size = 0;
    PMPI_Type_size(a->type, &size);
    return (size_t)a->count * (size_t)size;
}

/* The same with another byte; nobody frees it. */
static const void *corrupted(const struct args *a, long byte)
{
    const size_t bytes = bytes_of(a);
    unsigned char *copy = malloc(bytes > 0 ? bytes : 1);
    if (!copy)
        abort();
    memcpy(copy, a->origin, bytes);
    copy[byte] ^= 0xff;
    return copy;
}

/* A fetch whose first byte is the second one: contents are such that these differ. */
static int fetch_corrupted(struct args a, make *plain)
{
    const int count = a.count;
    a.count = 1, a.there += 1;
    int rc = plain(&a);
    a.count = count - 1, a.result = (char *)a.result + 1;
    return rc == MPI_SUCCESS ? plain(&a) : rc;
}

/* `whole` is the call, `plain` the same without a request. */
static int spoil(const char *name, struct args a, make *plain, make *whole)
{
    if (late.make && late.args.win == a.win && late.args.comm == a.comm)
        late.make(&late.args);
    late.make = NULL; /* of another window, which may be gone, it is never made */
    const struct fault *fault = meet(name, (long)bytes_of(&a));
    if (!fault)
        return whole(&a);
    const enum kind kind = fault->kind;
    if (a.request)
        *a.request = MPI_REQUEST_NULL;
    if (kind == LATE) {
        late.args = a;
        late.make = plain;
    }
    if (kind == DROP || kind == LATE)
        return MPI_SUCCESS;
    if (kind == DUPLICATE)
        plain(&a);
    if (kind == TRUNCATE && a.count > 0)
        --a.count;
    if (kind == SHIFT && a.comm == MPI_COMM_NULL)
        a.there += 1;
    else if (kind == SHIFT)
        a.origin = (const char *)a.origin + 1;
    if (kind == CORRUPT && !a.origin)
        return fetch_corrupted(a, plain);
    if (kind == CORRUPT)
        a.origin = corrupted(&a, fault->byte);
    return plain(&a);
}

#define SPOILED(name, plain, whole, ...)                                                                     \
    return spoil(name, (struct args){.comm = MPI_COMM_NULL, __VA_ARGS__}, plain, whole)
#define TARGET .peer = target, .there = there, .win = win
#define UNUSED (void)tn, (void)tt

int MPI_Put(const void *o, int n, MPI_Datatype t, int target, MPI_Aint there, int tn, MPI_Datatype tt,
            MPI_Win win)
{
    UNUSED;
    SPOILED("MPI_Put", put, put, .origin = o, .count = n, .type = t, TARGET);
}

int MPI_Rput(const void *o, int n, MPI_Datatype t, int target, MPI_Aint there, int tn, MPI_Datatype tt,
             MPI_Win win, MPI_Request *q)
{
    UNUSED;
    SPOILED("MPI_Rput", put, rput, .origin = o, .count = n, .type = t, TARGET, .request = q);
}

int MPI_Get(void *r, int n, MPI_Datatype t, int target, MPI_Aint there, int tn, MPI_Datatype tt, MPI_Win win)
{
    UNUSED;
    SPOILED("MPI_Get", get, get, .result = r, .count = n, .type = t, TARGET);
}

int MPI_Rget(void *r, int n, MPI_Datatype t, int target, MPI_Aint there, int tn, MPI_Datatype tt, MPI_Win win,
             MPI_Request *q)
{
    UNUSED;
    SPOILED("MPI_Rget", get, rget, .result = r, .count = n, .type = t, TARGET, .request = q);
}

int MPI_Accumulate(const void *o, int n, MPI_Datatype t, int target, MPI_Aint there, int tn, MPI_Datatype tt,
                   MPI_Op op, MPI_Win win)
{
    UNUSED;
    SPOILED("MPI_Accumulate", accumulate, accumulate, .origin = o, .count = n, .type = t, .op = op, TARGET);
}

int MPI_Raccumulate(const void *o, int n, MPI_Datatype t, int target, MPI_Aint there, int tn, MPI_Datatype tt,
                    MPI_Op op, MPI_Win win, MPI_Request *q)
{
    UNUSED;
    SPOILED("MPI_Raccumulate", accumulate, raccumulate, .origin = o, .count = n, .type = t, .op = op, TARGET,
            .request = q);
}

int MPI_Get_accumulate(const void *o, int n, MPI_Datatype t, void *r, int rn, MPI_Datatype rt, int target,
                       MPI_Aint there, int tn, MPI_Datatype tt, MPI_Op op, MPI_Win win)
{
    UNUSED, (void)rn, (void)rt;
    SPOILED("MPI_Get_accumulate", get_accumulate, get_accumulate, .origin = o, .result = r, .count = n,
            .type = t, .op = op, TARGET);
}

int MPI_Rget_accumulate(const void *o, int n, MPI_Datatype t, void *r, int rn, MPI_Datatype rt, int target,
                        MPI_Aint there, int tn, MPI_Datatype tt, MPI_Op op, MPI_Win win, MPI_Request *q)
{
    UNUSED, (void)rn, (void)rt;
    SPOILED("MPI_Rget_accumulate", get_accumulate, rget_accumulate, .origin = o, .result = r, .count = n,
            .type = t, .op = op, TARGET, .request = q);
}

int MPI_Fetch_and_op(const void *o, void *r, MPI_Datatype t, int target, MPI_Aint there, MPI_Op op,
                     MPI_Win win)
{
    SPOILED("MPI_Fetch_and_op", fetch_and_op, fetch_and_op, .origin = o, .result = r, .count = 1, .type = t,
            .op = op, TARGET);
}

int MPI_Compare_and_swap(const void *o, const void *c, void *r, MPI_Datatype t, int target, MPI_Aint there,
                         MPI_Win win)
{
    SPOILED("MPI_Compare_and_swap", swap, swap, .origin = o, .compare = c, .result = r, .count = 1, .type = t,
            TARGET);
}

static struct args sent(const void *o, int n, MPI_Datatype t, int peer, int tag, MPI_Comm comm)
{
    return (struct args){
        .origin = o, .count = n, .type = t, .peer = peer, .tag = tag, .comm = comm, .win = MPI_WIN_NULL};
}

int MPI_Send(const void *o, int n, MPI_Datatype t, int peer, int tag, MPI_Comm comm)
{
    return spoil("MPI_Send", sent(o, n, t, peer, tag, comm), send_, send_);
}

int MPI_Isend(const void *o, int n, MPI_Datatype t, int peer, int tag, MPI_Comm comm, MPI_Request *q)
{
    struct args a = sent(o, n, t, peer, tag, comm);
    a.request = q;
    return spoil("MPI_Isend", a, send_, isend);
}

int MPI_Sendrecv(const void *o, int n, MPI_Datatype t, int peer, int tag, void *r, int rn, MPI_Datatype rt,
                 int from, int other_tag, MPI_Comm comm, MPI_Status *status)
{
    struct args a = sent(o, n, t, peer, tag, comm);
    a.result = r;
    a.received = rn;
    a.other_type = rt;
    a.from = from;
    a.other_tag = other_tag;
    a.status = status;
    return spoil("MPI_Sendrecv", a, sendrecv, sendrecv);
}

/* ---- what lies where it is sent from ---- */

/* One byte of it, in place: those who send it have it anew each time. */
static void spoil_in_place(const char *name, const void *data, long bytes)
{
    const struct fault *fault = meet(name, bytes);
    if (fault && fault->kind == CORRUPT)
        ((unsigned char *)(uintptr_t)data)[fault->byte] ^= 0xff;
}

int MPI_Neighbor_alltoallw(const void *o, const int n[], const MPI_Aint at[], const MPI_Datatype t[], void *r,
                           const int rn[], const MPI_Aint rat[], const MPI_Datatype rt[], MPI_Comm comm)
{
    int size = 0;
    PMPI_Type_size(t[0], &size);
    spoil_in_place("MPI_Neighbor_alltoallw", (const char *)o + at[0], (long)n[0] * size);
    return PMPI_Neighbor_alltoallw(o, n, at, t, r, rn, rat, rt, comm);
}

int MPI_Allreduce(const void *o, void *r, int n, MPI_Datatype t, MPI_Op op, MPI_Comm comm)
{
    if (t == MPI_DOUBLE)
        spoil_in_place("MPI_Allreduce", o == MPI_IN_PLACE ? r : o, (long)n * (long)sizeof(double));
    return PMPI_Allreduce(o, r, n, t, op, comm);
}

/* Sends that are started again and again. */
enum { MOST_KEPT = 4096 };
static struct {
    MPI_Request request;
    const void *data;
    long bytes;
} kept[MOST_KEPT];
static int kept_count;
static pthread_mutex_t keeping = PTHREAD_MUTEX_INITIALIZER;

static void keep(const void *data, MPI_Count count, MPI_Datatype type, MPI_Request request)
{
    int size = 0;
    PMPI_Type_size(type, &size);
    pthread_mutex_lock(&keeping);
    if (kept_count == MOST_KEPT)
        abort();
    kept[kept_count].request = request;
    kept[kept_count].data = data;
    kept[kept_count++].bytes = (long)count * size;
    pthread_mutex_unlock(&keeping);
}

/* The last one with this request: those before are freed. */
static void spoil_kept(MPI_Request request)
{
    pthread_mutex_lock(&keeping);
    int i = kept_count - 1;
    while (i >= 0 && kept[i].request != request)
        --i;
    pthread_mutex_unlock(&keeping);
    if (i >= 0)
        spoil_in_place("MPI_Startall", kept[i].data, kept[i].bytes);
}

int MPI_Send_init(const void *o, int n, MPI_Datatype t, int peer, int tag, MPI_Comm comm, MPI_Request *q)
{
    const int rc = PMPI_Send_init(o, n, t, peer, tag, comm, q);
    keep(o, n, t, *q);
    return rc;
}

#if MPI_VERSION >= 4
int MPI_Psend_init(const void *o, int parts, MPI_Count n, MPI_Datatype t, int peer, int tag, MPI_Comm comm,
                   MPI_Info info, MPI_Request *q)
{
    const int rc = PMPI_Psend_init(o, parts, n, t, peer, tag, comm, info, q);
    keep(o, parts * n, t, *q);
    return rc;
}
#endif

int MPI_Startall(int n, MPI_Request q[])
{
    for (int i = 0; i < n; ++i)
        spoil_kept(q[i]);
    return PMPI_Startall(n, q);
}
