/* The collectives of OpenSHMEM: what their rows (coll_rows.c) and their life (coll.c) share. */
#ifndef OPS_SHMEM_COLL_H
#define OPS_SHMEM_COLL_H

#include "core/op.h"
#include "team/compat_shmem.h"

#include <shmem.h>

enum { COLL_SETS = 2, COLL_STEP = 2, COLL_KINDS_MOST = 6 };

/* What a rank has afterwards. */
enum answer { CAME, FROM_ROOT, FROM_ROOT_TO_ALL, FROM_EACH, MY_FROM_EACH, OVER_ALL };

enum number_kind { SUM, PROD, MIN, MAX, AND, OR, XOR };

struct coll;

struct coll_row {
    const char *name, *summary;
    void (*calls[COLL_KINDS_MOST])(struct coll *c);
    enum answer answer;
    enum op_flow flow;
    const struct param *params;
    bool sends_all; /* a block for each rank */
    bool strided;
    bool on_team; /* of OpenSHMEM 1.5; else on an active set */
    enum number_kind combined;
};

struct coll {
    const struct coll_row *row;
    const struct team *team;
    void (*call)(struct coll *c);
    int64_t (*load)(const void *at); /* of a reduction */
    void (*store)(void *at, int64_t value);
    size_t count, element; /* of a block */
    int size, set, generation;
    bool planted;
    long *sync[COLL_SETS];
    void *work[COLL_SETS];
    uint64_t *came; /* [rank]: what each rank put before it entered a barrier */
    char *source, *dest;
    size_t source_bytes, dest_bytes;
    int64_t moved;
    compat_team handle; /* of a row that is on a team */
    bool is_split;      /* the team is its own */
};

/* Types of numbers, in the order of the words of `type`; the bytes of those of `width`. */
struct coll_kind {
    const char *word;
    size_t size;
    int64_t (*load)(const void *at);
    void (*store)(void *at, int64_t value);
};
extern const struct coll_kind coll_kinds[COLL_KINDS_MOST];
extern const int coll_width_bytes[2];

/* The parameters of those that move numbers; of a barrier on a team COLL_TEAM alone. */
enum { COLL_TYPE };
extern const char *const coll_teams[3];
enum { TEAM_WORLD, TEAM_SPLIT };

int coll_setup(const struct op_env *env, void **state);
int coll_run(void *state, int64_t reps);
int coll_verify(void *state);
int coll_check(void *state);
void coll_teardown(void *state);

#endif
