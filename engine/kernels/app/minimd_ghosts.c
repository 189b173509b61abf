/* What ranks tell each other in MiniMD. Space is divided, a brick for each rank (Plimpton 1995, section 5).
 * An atom that leaves its brick goes to the rank next to it. Atoms near a side of the brick have copies,
 * ghosts, on the rank beyond it; copies across an end of the periodic box are a box away, and may be a rank's
 * own.
 *
 * With full lists each rank has ghosts beyond all 26 sides, edges and corners. With half lists 13 will do, no
 * two of which are opposite: of the two ranks that have a pair's atoms, one sees the other beyond one of
 * them. It finds the force of both, and sends home what is not its own (K. Bowers, R. Dror and D. Shaw, J.
 * Comp. Phys. 221, 2007, section 2: the half-shell method).
 *
 * All messages are those of plans. Since the number of ghosts changes when lists are made anew, so do plans.
 * Each message ends with a seal. */
#include "kernels/app/minimd.h"

#include <stdlib.h>
#include <string.h>

enum { VECTOR = 3, MIGRANT = 2 * VECTOR + 1 }; /* numbers in a message: position, velocity, number */

/* Link i is the shift to step i: out to the rank there, in from the opposite one. */
struct minimd_ghosts {
    struct kernel_env *env;
    const struct minimd_box *box;
    bool half, embedded;
    int links; /* that carry ghosts: those to lower steps, or all */
    int steps[GRID_STEPS][GRID_DIMS];
    int to[GRID_STEPS], from[GRID_STEPS];
    double shift[GRID_STEPS][GRID_DIMS]; /* of copies that go there */
    int64_t out_count[GRID_STEPS], in_count[GRID_STEPS];
    struct comm_plan *count, *carry[MINIMD_CARRIES];
    int32_t *chosen;  /* own atoms that have copies, link by link */
    double *out, *in; /* what goes to copies, and what comes; home it is the other way */
    int64_t room;     /* numbers in each */
    uint64_t turn;    /* messages so far that were sealed, on all ranks alike */
};

/* ---- plans -----------------------------------------------------------------------------------------------
 */

static int64_t sum_of(const int64_t *counts, int links)
{
    int64_t sum = 0;
    for (int i = 0; i < links; ++i)
        sum += counts[i];
    return sum;
}

/* `wide` numbers for each atom that is counted and a seal, out to in, or home again. */
static int open_plan(struct minimd_ghosts *g, int links, int wide, bool home, int failed,
                     struct comm_plan **plan)
{
    struct comm_link all[GRID_STEPS];
    double *send = g->out, *recv = g->in;
    for (int i = 0; i < links; ++i) {
        const int64_t out = wide * g->out_count[i] + 1, in = wide * g->in_count[i] + 1;
        const size_t out_bytes = (size_t)out * sizeof *send, in_bytes = (size_t)in * sizeof *recv;
        all[i] = home ? (struct comm_link){g->from[i], g->to[i], i, recv, send, in_bytes, out_bytes}
                      : (struct comm_link){g->to[i], g->from[i], i, send, recv, out_bytes, in_bytes};
        send += out;
        recv += in;
    }
    return comm_plan_exchange(&g->env->comm, g->env->back, all, (size_t)links, failed, plan);
}

static int open_count(struct minimd_ghosts *g, int failed)
{
    struct comm_link all[GRID_STEPS];
    for (int i = 0; i < GRID_STEPS; ++i)
        all[i] = (struct comm_link){g->to[i],        g->from[i],     i, &g->out_count[i], &g->in_count[i],
                                    sizeof(int64_t), sizeof(int64_t)};
    return comm_plan_exchange(&g->env->comm, g->env->back, all, GRID_STEPS, failed, &g->count);
}

/* How carries differ. */
static const struct {
    int wide;
    bool home, half, embedded; /* towards the owner; for half lists alone; for embedded laws alone */
} carries[MINIMD_CARRIES] = {
    [MINIMD_POSITIONS] = {.wide = VECTOR},
    [MINIMD_SLOPES] = {.wide = 1, .embedded = true},
    [MINIMD_FORCES] = {.wide = VECTOR, .home = true, .half = true},
    [MINIMD_DENSITIES] = {.wide = 1, .home = true, .half = true, .embedded = true},
};

static void close_carries(struct minimd_ghosts *g)
{
    for (int i = 0; i < MINIMD_CARRIES; ++i) {
        comm_plan_close(g->carry[i]);
        g->carry[i] = NULL;
    }
}

static int open_carries(struct minimd_ghosts *g, int failed)
{
    int err = failed;
    for (int i = 0; i < MINIMD_CARRIES; ++i)
        if ((g->half || !carries[i].half) && (g->embedded || !carries[i].embedded))
            err = open_plan(g, g->links, carries[i].wide, carries[i].home, err, &g->carry[i]);
    return err;
}

/* ---- room ------------------------------------------------------------------------------------------------
 */

/* Numbers, and seals. A migrant takes more than a copy; there are far fewer, but where atoms are few. */
static int64_t room_of(const struct minimd_box *box)
{
    return VECTOR * box->ghost_room + MIGRANT + GRID_STEPS;
}

double minimd_ghosts_memory(const struct minimd_box *box)
{
    return 2 * sizeof(double) * (double)room_of(box) + sizeof(int32_t) * (double)box->ghost_room;
}

/* Who is where, and how far copies that go there are moved: by a box, where the step leaves it. */
static void find_neighbours(struct minimd_ghosts *g)
{
    const struct minimd_box *box = g->box;
    grid_steps(GRID_DIMS, true, g->steps);
    for (int i = 0; i < GRID_STEPS; ++i) {
        g->to[i] = grid_neighbour(&box->ranks, g->env->comm.rank, g->steps[i]);
        g->from[GRID_STEPS - 1 - i] = g->to[i];
        for (int d = 0; d < GRID_DIMS; ++d) {
            const int at = box->at[d] + g->steps[i][d];
            g->shift[i][d] = at < 0 ? box->length[d] : at >= box->ranks.extent[d] ? -box->length[d] : 0;
        }
    }
}

int minimd_ghosts_open(struct kernel_env *env, const struct minimd_box *box, bool half, bool embedded,
                       int failed, struct minimd_ghosts **ghosts)
{
    struct minimd_ghosts *g = calloc(1, sizeof *g), none = {.env = env};
    int err = failed ? failed : g ? 0 : err_say(ERR_NOMEM, "no memory for the neighbours of a rank");
    if (!err) {
        *g = (struct minimd_ghosts){.env = env, .box = box, .half = half, .embedded = embedded};
        g->links = half ? GRID_STEPS / 2 : GRID_STEPS;
        g->room = room_of(box);
        find_neighbours(g);
        err = kernel_alloc(env, (size_t)g->room, sizeof *g->out, &g->out);
    }
    if (!err)
        err = kernel_alloc(env, (size_t)g->room, sizeof *g->in, &g->in);
    if (!err)
        err = kernel_alloc(env, (size_t)box->ghost_room, sizeof *g->chosen, &g->chosen);
    err = open_count(g ? g : &none, err);
    *ghosts = g;
    return err;
}

void minimd_ghosts_close(struct minimd_ghosts *g)
{
    if (!g)
        return;
    close_carries(g);
    comm_plan_close(g->count);
    free(g->chosen);
    free(g->out);
    free(g->in);
    free(g);
}

/* ---- atoms that move -------------------------------------------------------------------------------------
 */

static int no_room(const char *what, int64_t count)
{
    return err_say(ERR_WRONG, "app.minimd: a rank has %lld %s, more than atoms of this density can be",
                   (long long)count, what);
}

/* Steps are in the order of their digits -1, 0, 1, without the one that stays, which is -1 here. */
static int row_of(const int step[GRID_DIMS])
{
    const int all = ((step[X] + 1) * 3 + step[Y] + 1) * 3 + step[Z] + 1, stay = GRID_STEPS / 2;
    return all == stay ? -1 : all < stay ? all : all - 1;
}

/* Back into the box, and which step leads to the brick that it is in now; GRID_STEPS where none does. */
static int step_of(const struct minimd_box *box, double *x)
{
    int step[GRID_DIMS];
    for (int d = 0; d < GRID_DIMS; ++d) {
        const int extent = box->ranks.extent[d];
        x[d] += x[d] < 0 ? box->length[d] : x[d] >= box->length[d] ? -box->length[d] : 0;
        if (!(x[d] >= 0 && x[d] <= box->length[d]))
            return GRID_STEPS;
        step[d] = minimd_brick(box, d, x[d]) - box->at[d];
        if (extent > 1 && (step[d] == extent - 1 || step[d] == 1 - extent))
            step[d] = step[d] > 0 ? -1 : 1;
        if (step[d] < -1 || step[d] > 1)
            return GRID_STEPS;
    }
    return row_of(step);
}

static void put_migrant(double *to, const struct minimd_atoms *a, int64_t i)
{
    memcpy(to, a->x + WIDE * i, VECTOR * sizeof *to);
    memcpy(to + VECTOR, a->v + WIDE * i, VECTOR * sizeof *to);
    to[2 * VECTOR] = a->number[i];
}

static void take_migrant(const double *from, const struct minimd_atoms *a, int64_t i)
{
    memcpy(a->x + WIDE * i, from, VECTOR * sizeof *from);
    memcpy(a->v + WIDE * i, from + VECTOR, VECTOR * sizeof *from);
    a->x[WIDE * i + VECTOR] = a->v[WIDE * i + VECTOR] = 0;
    a->number[i] = from[2 * VECTOR];
}

/* Those that leave, sorted by links into `out`, are taken out of the atoms. Their links are in `slope`, which
 * nobody needs now. */
static int pack_migrants(struct minimd_ghosts *g, struct minimd_atoms *a)
{
    int64_t next[GRID_STEPS], at = 0, kept = 0;
    int32_t *const link = (int32_t *)a->slope;
    memset(g->out_count, 0, sizeof g->out_count);
    for (int64_t i = 0; i < a->own; ++i) {
        link[i] = step_of(g->box, a->x + WIDE * i);
        if (link[i] == GRID_STEPS)
            return err_say(ERR_WRONG, "app.minimd: atom %.0f has moved further than to the next rank's brick",
                           a->number[i]);
        if (link[i] >= 0)
            ++g->out_count[link[i]];
    }
    for (int i = 0; i < GRID_STEPS; at += g->out_count[i++])
        next[i] = at;
    if (MIGRANT * at + GRID_STEPS > g->room)
        return no_room("atoms that leave it at once", at);
    for (int64_t i = 0; i < a->own; ++i)
        if (link[i] >= 0)
            put_migrant(g->out + MIGRANT * next[link[i]]++ + link[i], a, i);
        else {
            memmove(a->x + WIDE * kept, a->x + WIDE * i, WIDE * sizeof *a->x);
            memmove(a->v + WIDE * kept, a->v + WIDE * i, WIDE * sizeof *a->v);
            a->number[kept++] = a->number[i];
        }
    a->own = kept;
    return 0;
}

int minimd_migrate(struct minimd_ghosts *g, struct minimd_atoms *a)
{
    struct comm_plan *plan = NULL;
    int err = pack_migrants(g, a), carried = comm_run(g->count);
    const int64_t come = sum_of(g->in_count, GRID_STEPS);
    if (!err && (MIGRANT * come + GRID_STEPS > g->room || a->own + come > g->box->own_room))
        err = no_room("atoms after others have come", a->own + come);
    err = open_plan(g, GRID_STEPS, MIGRANT, false, err ? err : carried, &plan);
    if (!plan)
        return err;
    minimd_seal(g->out, g->out_count, GRID_STEPS, MIGRANT, ++g->turn);
    err = comm_run(plan);
    comm_plan_close(plan);
    const double *from = g->in;
    for (int i = 0; i < GRID_STEPS && !err; ++i, ++from)
        for (int64_t k = 0; k < g->in_count[i]; ++k, from += MIGRANT)
            take_migrant(from, a, a->own++);
    return err ? err : minimd_check_seals(g->in, g->in_count, g->from, GRID_STEPS, MIGRANT, g->turn);
}

/* ---- copies ----------------------------------------------------------------------------------------------
 */

/* Own atoms that are as near to the side, edge or corner at a step as lists reach. */
static int64_t choose(const struct minimd_ghosts *g, const struct minimd_atoms *a, const int step[GRID_DIMS],
                      int32_t *chosen, int64_t room)
{
    const struct minimd_box *box = g->box;
    double low[GRID_DIMS], high[GRID_DIMS];
    int64_t n = 0;
    for (int d = 0; d < GRID_DIMS; ++d) {
        low[d] = step[d] > 0 ? box->high[d] - box->reach : -box->length[d];
        high[d] = step[d] < 0 ? box->low[d] + box->reach : 2 * box->length[d];
    }
    for (int64_t i = 0; i < a->own && n < room; ++i) {
        const double *x = a->x + WIDE * i;
        chosen[n] = (int32_t)i;
        n += (x[X] >= low[X]) & (x[X] <= high[X]) & (x[Y] >= low[Y]) & (x[Y] <= high[Y]) & (x[Z] >= low[Z]) &
             (x[Z] <= high[Z]);
    }
    return n;
}

int minimd_ghosts_choose(struct minimd_ghosts *g, struct minimd_atoms *a)
{
    int64_t at = 0;
    memset(g->out_count, 0, sizeof g->out_count);
    close_carries(g);
    for (int i = 0; i < g->links; at += g->out_count[i++])
        g->out_count[i] = choose(g, a, g->steps[i], g->chosen + at, g->box->ghost_room - at);
    int err = at < g->box->ghost_room ? 0 : no_room("copies of its atoms elsewhere", at);
    const int carried = comm_run(g->count);
    a->ghosts = sum_of(g->in_count, g->links);
    if (!err && a->ghosts > g->box->ghost_room)
        err = no_room("copies of others' atoms", a->ghosts);
    err = open_carries(g, err ? err : carried);
    if (!g->carry[MINIMD_POSITIONS])
        a->ghosts = 0; /* on all ranks: one of them knows why */
    return err ? err : minimd_carry(g, MINIMD_POSITIONS, a);
}

/* Numbers of an atom stand in an array `stride` apart; of them `wide` are carried. */
struct place {
    double *data;
    int stride;
};

static struct place place_of(const struct minimd_atoms *a, enum minimd_carry what)
{
    const struct place places[MINIMD_CARRIES] = {[MINIMD_POSITIONS] = {a->x, WIDE},
                                                 [MINIMD_SLOPES] = {a->slope, 1},
                                                 [MINIMD_FORCES] = {a->f, WIDE},
                                                 [MINIMD_DENSITIES] = {a->density, 1}};
    return places[what];
}

static void pack_out(const struct minimd_ghosts *g, struct place p, int wide, bool moved)
{
    static const double still[GRID_DIMS] = {0};
    double *to = g->out;
    const int32_t *atom = g->chosen;
    for (int i = 0; i < g->links; ++i, ++to) {
        const double *shift = moved ? g->shift[i] : still;
        for (int64_t k = 0; k < g->out_count[i]; ++k, ++atom, to += wide)
            for (int w = 0; w < wide; ++w)
                to[w] = p.data[p.stride * (int64_t)*atom + w] + shift[w];
    }
}

static void add_home(const struct minimd_ghosts *g, struct place p, int wide)
{
    const double *from = g->out;
    const int32_t *atom = g->chosen;
    for (int i = 0; i < g->links; ++i, ++from)
        for (int64_t k = 0; k < g->out_count[i]; ++k, ++atom, from += wide)
            for (int w = 0; w < wide; ++w)
                p.data[p.stride * (int64_t)*atom + w] += from[w];
}

/* Between the ghosts of an array and the messages that bring them, or take them home. */
static void copy_ghosts(const struct minimd_ghosts *g, double *ghosts, int stride, int wide, bool home)
{
    const size_t bytes = (size_t)wide * sizeof *ghosts;
    double *in = g->in;
    for (int i = 0; i < g->links; ++i, ++in)
        for (int64_t k = 0; k < g->in_count[i]; ++k, in += wide, ghosts += stride)
            memcpy(home ? in : ghosts, home ? ghosts : in, bytes);
}

int minimd_carry(struct minimd_ghosts *g, enum minimd_carry what, struct minimd_atoms *a)
{
    const int wide = carries[what].wide;
    const bool home = carries[what].home;
    const struct place p = place_of(a, what);
    double *const ghosts = p.data + p.stride * a->own;
    if (!g->carry[what])
        return 0;
    if (home)
        copy_ghosts(g, ghosts, p.stride, wide, true);
    else
        pack_out(g, p, wide, what == MINIMD_POSITIONS);
    minimd_seal(home ? g->in : g->out, home ? g->in_count : g->out_count, g->links, wide, ++g->turn);
    int err = comm_run(g->carry[what]);
    if (!err)
        err = home ? minimd_check_seals(g->out, g->out_count, g->to, g->links, wide, g->turn)
                   : minimd_check_seals(g->in, g->in_count, g->from, g->links, wide, g->turn);
    if (home)
        add_home(g, p, wide);
    else
        copy_ghosts(g, ghosts, p.stride, wide, false);
    return err;
}
