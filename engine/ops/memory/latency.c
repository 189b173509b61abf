/* mem.latency: a chain of loads, each from the address that the load before it returned. It passes through
 * all cache lines of a working set in one random cycle (Sattolo 1986), which no prefetcher follows. */
#define _GNU_SOURCE
#include "ops/families.h"

#include "base/err.h"
#include "base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LINE = 64 };

struct node {
    _Alignas(LINE) const struct node *next;
};

struct chase {
    struct node *nodes;
    const struct node *at;
    size_t count;
    bool planted;
};

static int run(void *state, int64_t reps)
{
    struct chase *c = state;
    const struct node *at = c->at;
    for (int64_t i = 0; i < reps; ++i) {
        at = at->next;
        __asm__ volatile("" : "+r"(at));
    }
    c->at = at;
    return 0;
}

/* From any node it takes exactly `count` loads to return to it. So all nodes have been loaded. */
static int verify(void *state)
{
    struct chase *c = state;
    const struct node *first = c->at;
    size_t loads = 0;
    do {
        run(c, 1);
        ++loads;
    } while (c->at != first && loads < c->count);
    loads ^= c->planted;
    if (c->at != first || loads != c->count)
        return err_say(ERR_WRONG, "the chase through %zu cache lines comes back after %zu loads", c->count,
                       loads);
    return 0;
}

static void teardown(void *state)
{
    struct chase *c = state;
    if (c->nodes)
        munmap(c->nodes, c->count * sizeof *c->nodes);
    free(c);
}

static void link_all(struct chase *c)
{
    struct node *nodes = c->nodes;
    for (size_t i = 0; i < c->count; ++i)
        nodes[i].next = &nodes[i];
    for (size_t i = c->count - 1; i > 0; --i) {
        const size_t j = hash_mix(i) % i;
        const struct node *other = nodes[i].next;
        nodes[i].next = nodes[j].next;
        nodes[j].next = other;
    }
    c->at = nodes;
}

static const struct param params[] = {NODE_PARAM, {0}};

static int setup(const struct op_env *env, void **state)
{
    if (env->bytes < 2 * LINE)
        return err_say(ERR_UNSUPPORTED, "%s needs two cache lines, %d bytes, at least", env->op->name,
                       2 * LINE);
    struct chase *c = calloc(1, sizeof *c);
    if (!c)
        return err_say(ERR_NOMEM, "no memory for the state of %s", env->op->name);
    c->count = env->bytes / LINE;
    c->planted = env->planted;
    void *memory =
        mmap(NULL, c->count * sizeof *c->nodes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        teardown(c);
        return err_say(ERR_NOMEM, "no memory for a working set of %zu bytes: %s", env->bytes,
                       strerror(errno));
    }
    c->nodes = memory;
    const int err = node_keep((enum node_choice)(int)env->params[0], memory, c->count * sizeof *c->nodes);
    if (err) {
        teardown(c);
        return err;
    }
    link_all(c);
    *state = c;
    return 0;
}

static void op_at(size_t i, struct op *op)
{
    (void)i;
    *op = (struct op){
        .name = "mem.latency",
        .family = "memory",
        .summary = "one load, at an address that the previous load returned, at random in a working set",
        .class = OP_LOCAL,
        .role = ROLE_LATENCY,
        .report = OP_SLOWEST,
        .parts = 1,
        .default_bytes = "4Ki..256Mi",
        .params = params,
        .setup = setup,
        .run = run,
        .verify = verify,
        .teardown = teardown,
    };
}

const struct op_family mem_latency_ops = {.count = 1, .op_at = op_at};
