/* The pieces of files that the workers of a test case write or read: their places, contents and checks.
 *
 * A worker is a rank, or a thread of one. In each repetition it moves all its pieces, one call for each. What
 * it reads, a worker of another rank has written; what it has written, one of another rank checks. */
#ifndef OPS_COMMON_PIECES_H
#define OPS_COMMON_PIECES_H

#include "core/op.h"
#include "ops/common/files.h"
#include "ops/common/places.h"
#include "ops/common/sectors.h"

/* The first parameters of every op that moves pieces, in this order. */
enum { PIECES_FILE, PIECES_PATTERN, PIECES_CALLS, PIECES_MEMORY, PIECES_OWN };
enum { PIECES_SHARED, PIECES_APART };
extern const char *const pieces_files[3];
enum { PIECES_EACH, PIECES_ONE };
extern const char *const pieces_memories[3];
/* The parameter `atomic` of ops of MPI-IO. */
enum { PIECES_NOT_ATOMIC, PIECES_ATOMIC, PIECES_OVERLAPPING };
extern const char *const pieces_atomic[4];
#define PIECES_CALLS_ROW                                                                                     \
    {.name = "calls",                                                                                        \
     .unit = "",                                                                                             \
     .summary = "pieces of each rank or thread in a repetition, a call for each",                            \
     .normal = 16,                                                                                           \
     .least = 1,                                                                                             \
     .most = 65536}
#define PIECES_MEMORY_ROW                                                                                    \
    PARAM_WORDS("memory",                                                                                    \
                "each: a piece has memory of its own; one: all are moved to and from the same memory",       \
                pieces_memories)
#define PIECES_PLACES_PARAMS                                                                                 \
    [PIECES_FILE] =                                                                                          \
        PARAM_WORDS("file", "shared: one file for all; own: one for each rank or thread", pieces_files),     \
    [PIECES_PATTERN] = PLACES_PARAM, [PIECES_CALLS] = PIECES_CALLS_ROW
#define PIECES_PARAMS PIECES_PLACES_PARAMS, [PIECES_MEMORY] = PIECES_MEMORY_ROW

enum { PIECES_NAME_MAX = 32 };

struct piece_lane {
    struct sectors sectors; /* whose data it moves */
    int64_t *at;            /* their places, in pieces */
    char *data;             /* memory for all of them */
    char name[PIECES_NAME_MAX];
    int file, error; /* its descriptor; the first error of a call, 0: none */
    const char *call;
    char *map; /* of an op that maps the file */
};

struct pieces {
    const struct op_env *env;
    const char *folder_name;
    int folder; /* descriptor */
    struct files_facts facts;
    int workers, threads;
    bool apart, reads;
    bool together; /* all workers have the places of the first: what they write overlaps */
    bool by_rank;  /* a rank's place decides what it reads, so another rank writes there */
    bool alike;    /* all pieces of a repetition have the same memory */
    int pattern;
    size_t piece;
    size_t apart_by; /* from the memory of a piece to that of the next: its bytes, or 0 */
    int64_t count;   /* of each worker */
    struct places places;
    struct piece_lane *lanes;
    int64_t repetition; /* of what has been written last */
    int round;
};

/* Make the folder, ask for room, place the pieces and take memory; `pattern` is that of an op without such a
 * parameter. Collective. `p` is zero at first, and is closed
 * also after a failure. As setup of ops. */
int pieces_open(struct pieces *p, const struct op_env *env, bool reads, int pattern, bool by_rank);
void pieces_close(struct pieces *p);

/* Bytes of a file, and the offset of a piece in it. */
int64_t pieces_length(const struct pieces *p);
static inline int64_t pieces_offset(const struct pieces *p, const struct piece_lane *lane, int64_t i)
{
    return lane->at[i] * (int64_t)p->piece;
}

/* The memory of a piece, and the first piece that is still there after all were read. */
static inline char *pieces_memory(const struct pieces *p, const struct piece_lane *lane, int64_t i)
{
    return lane->data + (size_t)i * p->apart_by;
}
static inline int64_t pieces_kept(const struct pieces *p)
{
    return p->reads && p->apart_by == 0 ? p->count - 1 : 0;
}

/* Give each piece memory of its own, so that all that is read can be checked, or what the parameter says. */
static inline void pieces_part(struct pieces *p, bool parted)
{
    p->apart_by = p->alike && !parted ? 0 : p->piece;
}

/* Open each lane's file by POSIX with more `flags`, at its full length. `err`: what went wrong before on
 * this rank, which then only meets the others. Collective. */
int pieces_open_files(struct pieces *p, int flags, int err);

/* Other contents for the next repetitions: in memory, or in the files if they are to be read. Collective. */
int pieces_renew(struct pieces *p);

/* Check what the last repetition has left in files or memory. Collective: all ranks come, also with an error
 * from before, which is returned, and none leaves while another looks. */
int pieces_look(struct pieces *p, int err);

/* The same where the pieces of a shared file lie in any order: each must be there, once, or have been read
 * once. */
int pieces_look_anywhere(struct pieces *p, int err);

/* The same where all workers have written the same places, each in so many calls: what a call has written
 * must be of one worker. */
int pieces_look_atomic(struct pieces *p, int calls, int err);

/* ERR_UNSUPPORTED: pieces that are moved at once cannot have the same memory. */
int pieces_at_once(const struct op_env *env);

/* ---- fields of ops ---- */

double pieces_moved(const struct op_env *env);
double pieces_work(const struct op_env *env);

#endif
