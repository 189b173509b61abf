/* What the collectives share: a row of calls becomes an op for each form.
 *
 *   rows              the rows of ranks that are all alike
 *   neighbour_rows    the rows over the neighbours of a graph
 *   setup.c           what the parameters ask for: groups, types, roots, delays
 *   blocks.c          the blocks of the buffers, and their memory
 *   form.c            the forms: what is timed
 *   check.c           what the answer must be */
#ifndef OPS_MPI_COLL_COLL_H
#define OPS_MPI_COLL_COLL_H

#include "comm/compat_mpi.h"
#include "comm/counts.h"
#include "comm/graph.h"
#include "core/op.h"
#include "ops/mpi/coll/reduction.h"
#include "ops/mpi/overlap/overlap.h"

/* The number of blocks of a buffer: ALL is one for each rank, or neighbour. */
enum blocks { NONE, ONE, ALL };

/* The contents of a block of the answer: data of one rank, or numbers reduced over ranks. */
enum answer {
    FROM_ROOT,     /* the root's block for all */
    MY_FROM_ROOT,  /* the root's block for me */
    FROM_BLOCK,    /* block b is the b-th rank's for all */
    MY_FROM_BLOCK, /* block b is the b-th rank's for me */
    OVER_ALL,      /* over all ranks; of the block for me, if each sends several */
    UP_TO_ME,      /* over ranks 0 to me */
    BELOW_ME       /* over ranks 0 to the one before me */
};

/* Can blocks differ in size? */
enum shape {
    EQUAL,
    BY_RANK, /* block b has share b, drawn once */
    BY_PAIR  /* each rank draws the shares of the blocks that it sends */
};

/* The place of MPI_IN_PLACE; nowhere without a parameter `inplace`. */
enum place { PLACE_NOWHERE, PLACE_SEND, PLACE_ROOT_SEND, PLACE_ROOT_RECV };

/* Room beside the buffers: a block, those of all ranks, a part of a block cut into one for each rank, or all
 * parts, as large as the largest of them. */
enum coll_room { ROOM_NONE, ROOM_BLOCK, ROOM_ALL, ROOM_PART, ROOM_PARTS };

struct coll;

/* Further data of a composition of calls, in `own` of struct coll. */
struct coll_aside {
    int (*open)(const struct op_env *env, struct coll *c); /* after blocks are planned; communicates with
                                                              no rank */
    void (*clear)(struct coll *c);                         /* before answers are checked */
    void (*close)(struct coll *c);                         /* also after open() has failed */
};

struct coll_row {
    const char *name, *summary;
    enum blocks send_root, send_other, recv_root, recv_other;
    enum answer answer;
    enum shape shape;
    enum place place;
    enum op_flow flow;
    const struct param (*params)[PARAMS_MAX + 1]; /* of an op; of one with work (COLL_PARAMS) */
    bool neighbours;                              /* the blocks are of the neighbours in a graph */
    bool in_bytes;                                /* displacements are in bytes, not in elements */
    const char *missing;                          /* in any form */
    const struct coll_aside *aside;               /* of a composition; else NULL */
    enum coll_room room[2];                       /* likewise */
    int (*call)(const struct coll *c);
    int (*start)(const struct coll *c, MPI_Request *request);
    int (*init)(const struct coll *c, MPI_Request *request);
};

/* What changes with the root and the set of buffers. */
struct turn {
    int root;
    char *out, *in;   /* the buffers: of what this rank sends, of what it receives */
    const void *send; /* as the call takes them: NULL, a buffer or MPI_IN_PLACE */
    void *recv;
};

/* The blocks of a buffer: their number, places and owners. */
struct side {
    enum blocks blocks;
    int count;       /* blocks */
    const int *peer; /* the rank at the other end of each; NULL: block b is rank b's */
    size_t *at;      /* the beginning of each, in bytes; at[count] is the end of the last one */
    int one;         /* elements of the first block */
    int all;         /* of all blocks, if calls are irregular */
    int *counts;     /* arguments of irregular calls: the elements of each block, */
    int *displs;     /* its beginning in elements, or in bytes for ...w, */
    MPI_Aint *aints; /* the same for neighbours' ...w, */
    MPI_Datatype *types;
    size_t stride; /* bytes from the buffer of a set to that of the next */
    char *data;    /* those of all sets */
};

struct coll {
    const struct coll_row *row;
    int (*run)(void *state, int64_t reps); /* the plain one of the form, or the varied one */
    int (*once)(struct coll *c);           /* of a form, with the arguments in `turn` */
    void (*before)(struct coll *c);        /* each repetition of a varied run */
    MPI_Comm comm;                         /* of the group */
    bool own_comm, planted, in_place;
    int rank, size;    /* in the group */
    int first, stride; /* rank r of the group is rank first + r * stride of all */
    int count;         /* elements in a block, on average */
    size_t element;    /* its bytes */
    MPI_Datatype type;
    struct reduction sum; /* of a reduction */
    struct graph graph;   /* of neighbours */
    int *sources, *targets;
    struct side send, recv;
    size_t recv_bytes;        /* room in a receive buffer */
    int sets;                 /* of buffers */
    struct turn turn, *turns; /* this repetition's; those of all */
    int turn_count, turn_at;  /* the next one */
    int64_t *delays_ns;       /* before each repetition, cyclically */
    int delay_count, delay_at;
    MPI_Request *requests; /* persistent: one for each turn */
    MPI_Request *request;  /* this repetition's */
    struct overlap work;   /* between start and completion; empty in forms without work */
    void *own;             /* a composition's */
};

/* All ranks alike. */
#define ALL_SEND(n) .send_root = n, .send_other = n
#define ALL_RECV(n) .recv_root = n, .recv_other = n

/* The three calls of a collective from one list of arguments, in parentheses. */
#define COLL_LIST(...) __VA_ARGS__
#define COLL_CALLS(lower, Upper, args)                                                                       \
    static int lower##_call(const struct coll *c)                                                            \
    {                                                                                                        \
        return MPI_##Upper args;                                                                             \
    }                                                                                                        \
    static int lower##_start(const struct coll *c, MPI_Request *request)                                     \
    {                                                                                                        \
        return MPI_I##lower(COLL_LIST args, request);                                                        \
    }                                                                                                        \
    static int lower##_init(const struct coll *c, MPI_Request *request)                                      \
    {                                                                                                        \
        (void)c, (void)request;                                                                              \
        return MPI4_INIT(Upper, COLL_LIST args, MPI_INFO_NULL, request);                                     \
    }

#define COLL_CALLED(lower) .name = #lower, .call = lower##_call, .start = lower##_start, .init = lower##_init

/* ---- parameters: a row of a family's table each ------------------------------------------------------- */

extern const char *const coll_no_yes[3], *const coll_roots[3], *const coll_splits[3], *const coll_arrivals[7];

#define COLL_NUMBER(word, of_unit, text, usual, from, to)                                                    \
    {.name = word, .unit = of_unit, .summary = text, .normal = usual, .least = from, .most = to}
/* The same for a number that the number of ranks limits; base/opt.h has the words. */
#define COLL_BOUND(word, text, usual, from, values)                                                          \
    {.name = word, .unit = "", .summary = text, .normal = usual, .least = from, .most = 1e6, .all = values}
#define COLL_IN_PLACE PARAM_WORDS("inplace", "use MPI_IN_PLACE", coll_no_yes)
#define COLL_ROOTED                                                                                          \
    COLL_BOUND("root", "the root of each group", 0, 0, "members"),                                           \
        PARAM_WORDS("roots", "rotate: the root moves on by a rank with each repetition", coll_roots)
#define COLL_REDUCED                                                                                         \
    PARAM_WORDS("operator", "reduction operator; user: a user-defined one that is not commutative",          \
                reduce_op_words),                                                                            \
        PARAM_TYPES("type", "type of the elements; not given: the first number that fits the size",          \
                    number_type_words, number_type_bytes)
#define COLL_SEED COLL_NUMBER("seed", "", "seed of all that is random", 1, 0, 1e9)
#define COLL_TYPE PARAM_TYPES("type", "type of the elements", data_type_words, data_type_bytes)
#define COLL_COUNTS                                                                                          \
    PARAM_WORDS("counts",                                                                                    \
                "sizes of the blocks: even, or irregular with the mean that bytes gives; whole: even, and "  \
                "bytes are of all blocks together",                                                          \
                counts_words),                                                                               \
        COLL_SEED
#define COLL_BUFFERS                                                                                         \
    COLL_NUMBER("buffers", "", "sets of buffers, used in turn; 1: hot in cache", 1, 1, 65536), BUFFERS_PARAMS
#define COLL_TOGETHER                                                                                        \
    COLL_BOUND("groups", "number of communicators that do it at once", 1, 1, "groups"),                      \
        PARAM_WORDS("split", "block: consecutive ranks form a group; cyclic: every n-th rank", coll_splits), \
        PARAM_WORDS("arrival", "when ranks arrive at each repetition", coll_arrivals),                       \
        COLL_NUMBER("delay_us", "us", "time until the last rank arrives", 100, 0, 1e6),                      \
        COLL_BOUND("late_rank", "the late rank of each group; -1: the last", -1, -1, "late_ranks")

/* The table of an op's parameters, and that of the same op with work. */
#define COLL_PARAMS(name, ...)                                                                               \
    static const struct param name[2][PARAMS_MAX + 1] = {{__VA_ARGS__, COLL_TOGETHER, {0}},                  \
                                                         {OVERLAP_PARAMS, __VA_ARGS__, COLL_TOGETHER, {0}}}

/* The value of a parameter; `absent` if the op has none of that name. */
double coll_param(const struct op_env *env, const char *name, double absent);

/* ---- ops --------------------------------------------------------------------------------------------- */

/* Row i / COLL_FORMS in form i % COLL_FORMS, without its family. */
enum { COLL_FORMS = 3 };
void coll_op_at(const struct coll_row *rows, size_t i, struct op *op);

/* Row i / COLL_OVERLAPS in form i % COLL_OVERLAPS with work, of the family `overlap`. */
enum { COLL_OVERLAPS = 2 };
void coll_overlap_at(const struct coll_row *rows, size_t i, struct op *op);

/* Allocate all that the parameters ask for, and fill nothing. `persistent`: with requests; `works`: with
 * work. */
int coll_setup(const struct op_env *env, bool persistent, bool works, struct coll **out);
void coll_teardown(void *state);

int coll_verify(void *state);
double coll_moved(const struct op_env *env);

/* Zeros, at least one; if *err is 0 and there is no memory, the error is reported and set. */
void *coll_array(size_t count, size_t size, int *err);

/* Both sides and their memory. */
int coll_plan_blocks(const struct op_env *env, struct coll *c);

/* Is this rank's input in the other buffer, or its answer, with this root? */
bool coll_sends_in_place(const struct coll *c, int root);
bool coll_recvs_in_place(const struct coll *c, int root);

enum blocks coll_sends(const struct coll *c, int root);
enum blocks coll_recvs(const struct coll *c, int root);

static inline bool coll_reduces(const struct coll_row *row)
{
    return row->answer >= OVER_ALL;
}

static inline bool coll_sized(const struct coll_row *row)
{
    return row->recv_root != NONE || row->recv_other != NONE;
}

#endif
