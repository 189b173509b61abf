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
 * All messages are those of plans. The number of ghosts changes when lists are made anew. So each message has
 * a slot with some atoms to spare, which goes out whole; plans are opened anew when a slot is too small.
 * Behind the atoms of each message is a seal. */
#include "kernels/app/minimd_ghosts.h"

#include <stdlib.h>
#include <string.h>

/* ---- plans -----------------------------------------------------------------------------------------------
 */

int64_t minimd_sum(const int64_t *counts, int links)
{
    int64_t sum = 0;
    for (int i = 0; i < links; ++i)
        sum += counts[i];
    return sum;
}

int minimd_slots_plan(struct minimd_ghosts *g, const struct slots *slots, int links, int wide, bool home,
                      int failed, struct comm_plan **plan)
{
    struct comm_link all[GRID_STEPS];
    double *send = g->out, *recv = g->in;
    for (int i = 0; i < links; ++i) {
        const int64_t out = wide * slots->out[i] + 1, in = wide * slots->in[i] + 1;
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

/* A message has its number twice, in both halves: so that one that was changed shows. */
int minimd_counts_carry(struct minimd_ghosts *g)
{
    enum { HALF = 32 };
    for (int i = 0; i < GRID_STEPS; ++i)
        g->out_count[i] |= g->out_count[i] << HALF;
    int err = comm_run(g->count);
    for (int i = 0; i < GRID_STEPS; ++i) {
        const int64_t in = g->in_count[i], count = in >> HALF;
        g->out_count[i] >>= HALF;
        if (!err && (count < 0 || in != (count | count << HALF)))
            err = err_say(ERR_WRONG, "app.minimd: a number of atoms, %lld, is not what rank %d has sent",
                          (long long)in, g->from[i]);
        g->in_count[i] = count;
    }
    if (err)
        memset(g->in_count, 0, sizeof g->in_count);
    return err;
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
            err = minimd_slots_plan(g, &g->copies, g->links, carries[i].wide, carries[i].home, err,
                                    &g->carry[i]);
    return err;
}

int minimd_no_room(const char *what, int64_t count)
{
    return err_say(ERR_WRONG, "app.minimd: a rank has %lld %s, more than atoms of this density can be",
                   (long long)count, what);
}

int minimd_slots_fit(struct minimd_ghosts *g, struct slots *slots, int links, int spare, int failed,
                     bool *anew, bool *stop)
{
    enum { FITS, SMALL, FAILED };
    int64_t worst = failed ? FAILED : FITS;
    for (int i = 0; i < links && !failed; ++i)
        if (g->out_count[i] > slots->out[i] || g->in_count[i] > slots->in[i])
            worst = SMALL;
    const int broken = team_max(g->env->comm.team, &worst);
    *stop = broken || worst == FAILED;
    *anew = !*stop && worst == SMALL;
    for (int i = 0; i < links && *anew; ++i) {
        slots->out[i] = g->out_count[i] + g->out_count[i] / SPARE_SHARE + spare;
        slots->in[i] = g->in_count[i] + g->in_count[i] / SPARE_SHARE + spare;
    }
    return failed ? failed : broken;
}

/* ---- room ------------------------------------------------------------------------------------------------
 */

/* Numbers, and seals. A migrant takes more than a copy; there are far fewer, but where atoms are few. */
static int64_t room_of(const struct minimd_box *box)
{
    const int64_t copies = box->ghost_room + box->ghost_room / SPARE_SHARE;
    return VECTOR * copies + GRID_STEPS * (MIGRANT * SPARE_MIGRANTS + 1);
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
    comm_plan_close(g->migrate);
    comm_plan_close(g->count);
    free(g->chosen);
    free(g->out);
    free(g->in);
    free(g);
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

/* The plans of copies, with slots that have room for them; none where a rank has an error. */
static int fit_carries(struct minimd_ghosts *g, int failed)
{
    bool anew, stop;
    int err = minimd_slots_fit(g, &g->copies, g->links, SPARE_COPIES, failed, &anew, &stop);
    if (!anew && !stop)
        return err;
    close_carries(g);
    if (!stop)
        err = open_carries(g, err);
    if (!g->carry[MINIMD_POSITIONS])
        g->copies = (struct slots){0};
    return err;
}

int minimd_ghosts_choose(struct minimd_ghosts *g, struct minimd_atoms *a)
{
    int64_t at = 0;
    memset(g->out_count, 0, sizeof g->out_count);
    for (int i = 0; i < g->links; at += g->out_count[i++])
        g->out_count[i] = choose(g, a, g->steps[i], g->chosen + at, g->box->ghost_room - at);
    int err = at < g->box->ghost_room ? 0 : minimd_no_room("copies of its atoms elsewhere", at);
    const int carried = minimd_counts_carry(g);
    a->ghosts = minimd_sum(g->in_count, g->links);
    if (!err && a->ghosts > g->box->ghost_room)
        err = minimd_no_room("copies of others' atoms", a->ghosts);
    err = fit_carries(g, err ? err : carried);
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
    double *slot = g->out;
    const int32_t *atom = g->chosen;
    for (int i = 0; i < g->links; slot += wide * g->copies.out[i++] + 1) {
        const double *shift = moved ? g->shift[i] : still;
        for (int64_t k = 0; k < g->out_count[i]; ++k, ++atom)
            for (int w = 0; w < wide; ++w)
                slot[wide * k + w] = p.data[p.stride * (int64_t)*atom + w] + shift[w];
    }
}

static void add_home(const struct minimd_ghosts *g, struct place p, int wide)
{
    const double *slot = g->out;
    const int32_t *atom = g->chosen;
    for (int i = 0; i < g->links; slot += wide * g->copies.out[i++] + 1)
        for (int64_t k = 0; k < g->out_count[i]; ++k, ++atom)
            for (int w = 0; w < wide; ++w)
                p.data[p.stride * (int64_t)*atom + w] += slot[wide * k + w];
}

/* Between the ghosts of an array and the messages that bring them, or take them home. */
static void copy_ghosts(const struct minimd_ghosts *g, double *ghosts, int stride, int wide, bool home)
{
    const size_t bytes = (size_t)wide * sizeof *ghosts;
    double *slot = g->in;
    for (int i = 0; i < g->links; slot += wide * g->copies.in[i++] + 1)
        for (int64_t k = 0; k < g->in_count[i]; ++k, ghosts += stride)
            memcpy(home ? slot + wide * k : ghosts, home ? ghosts : slot + wide * k, bytes);
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
    const struct slots *const room = &g->copies;
    if (home)
        minimd_seal(g->in, g->in_count, room->in, g->links, wide, ++g->turn);
    else
        minimd_seal(g->out, g->out_count, room->out, g->links, wide, ++g->turn);
    int err = comm_run(g->carry[what]);
    if (!err)
        err = home ? minimd_check_seals(g->out, g->out_count, room->out, g->to, g->links, wide, g->turn)
                   : minimd_check_seals(g->in, g->in_count, room->in, g->from, g->links, wide, g->turn);
    if (home)
        add_home(g, p, wide);
    else
        copy_ghosts(g, ghosts, p.stride, wide, false);
    return err;
}
