/* Atoms that leave their rank's brick go to the rank next to it, where lists are made anew. */
#include "kernels/app/minimd_ghosts.h"

#include <string.h>

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

/* Which link each atom leaves by, if it does, in `slope`, which nobody needs now. */
static int count_migrants(struct minimd_ghosts *g, const struct minimd_atoms *a)
{
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
    return 0;
}

/* Those that leave are taken out of the atoms, into the slots of their links. */
static void pack_migrants(struct minimd_ghosts *g, struct minimd_atoms *a)
{
    double *next[GRID_STEPS], *at = g->out;
    int64_t kept = 0;
    const int32_t *const link = (const int32_t *)a->slope;
    for (int i = 0; i < GRID_STEPS; at += MIGRANT * g->migrants.out[i++] + 1)
        next[i] = at;
    for (int64_t i = 0; i < a->own; ++i)
        if (link[i] >= 0) {
            put_migrant(next[link[i]], a, i);
            next[link[i]] += MIGRANT;
        } else {
            memmove(a->x + WIDE * kept, a->x + WIDE * i, WIDE * sizeof *a->x);
            memmove(a->v + WIDE * kept, a->v + WIDE * i, WIDE * sizeof *a->v);
            a->number[kept++] = a->number[i];
        }
    a->own = kept;
}

static void take_migrants(const struct minimd_ghosts *g, struct minimd_atoms *a)
{
    const double *at = g->in;
    for (int i = 0; i < GRID_STEPS; at += MIGRANT * g->migrants.in[i++] + 1)
        for (int64_t k = 0; k < g->in_count[i]; ++k)
            take_migrant(at + MIGRANT * k, a, a->own++);
}

/* The plan of migrants, with slots that have room for them; NULL where a rank has an error. */
static int open_migrate(struct minimd_ghosts *g, int failed)
{
    bool anew, stop;
    int err = minimd_slots_fit(g, &g->migrants, GRID_STEPS, SPARE_MIGRANTS, failed, &anew, &stop);
    if (!anew && !stop)
        return err;
    comm_plan_close(g->migrate);
    g->migrate = NULL;
    const int64_t slots = minimd_sum(g->migrants.out, GRID_STEPS),
                  others = minimd_sum(g->migrants.in, GRID_STEPS);
    if (!err && MIGRANT * (slots > others ? slots : others) + GRID_STEPS > g->room)
        err = minimd_no_room("atoms that leave it at once", minimd_sum(g->out_count, GRID_STEPS));
    if (!stop)
        err = minimd_slots_plan(g, &g->migrants, GRID_STEPS, MIGRANT, false, err, &g->migrate);
    if (!g->migrate)
        g->migrants = (struct slots){0};
    return err;
}

int minimd_migrate(struct minimd_ghosts *g, struct minimd_atoms *a)
{
    int err = count_migrants(g, a), carried = minimd_counts_carry(g);
    const int64_t come = minimd_sum(g->in_count, GRID_STEPS);
    if (!err && a->own + come > g->box->own_room)
        err = minimd_no_room("atoms after others have come", a->own + come);
    err = open_migrate(g, err ? err : carried);
    if (!g->migrate)
        return err;
    pack_migrants(g, a);
    minimd_seal(g->out, g->out_count, g->migrants.out, GRID_STEPS, MIGRANT, ++g->turn);
    err = comm_run(g->migrate);
    if (err)
        return err;
    take_migrants(g, a);
    return minimd_check_seals(g->in, g->in_count, g->migrants.in, g->from, GRID_STEPS, MIGRANT, g->turn);
}
