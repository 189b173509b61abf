/* MG's problem: the right-hand side v has charges at the ten points that the generator gives its lowest
 * numbers and at the ten with its highest. */
#include "kernels/npb/mg.h"

#include <string.h>

/* `found` has the most extreme numbers so far, the least extreme first. */
static void consider(struct mg_charge found[MG_CHARGES], int sign, struct mg_charge c)
{
    int at = 0;
    while (at < MG_CHARGES && (sign == MG_HIGHEST ? c.value > found[at].value : c.value < found[at].value))
        ++at;
    if (at == 0)
        return;
    memmove(found, found + 1, (size_t)(at - 1) * sizeof *found);
    found[at - 1] = c;
}

static void clear(struct mg_charges *charges)
{
    for (int c = 0; c < MG_CHARGES; ++c) {
        charges->of[MG_LOWEST][c] = (struct mg_charge){2, -1}; /* numbers are between 0 and 1 */
        charges->of[MG_HIGHEST][c] = (struct mg_charge){-1, -1};
    }
}

/* The numbers of this rank's box: the generator's, in the order of indices. */
static void find_own(const struct mg_level *top, double *line, struct mg_charges *own)
{
    clear(own);
    for (int64_t k = 0; k < top->n[MG_Z]; ++k)
        for (int64_t j = 0; j < top->n[MG_Y]; ++j) {
            int64_t index =
                top->first[MG_X] + top->edge * (top->first[MG_Y] + j + top->edge * (top->first[MG_Z] + k));
            uint64_t x = NPB_SEED * npb_power(NPB_MULTIPLIER, (uint64_t)index) & NPB_MASK;
            npb_fill(&x, NPB_MULTIPLIER, (size_t)top->n[MG_X], line);
            for (int64_t i = 0; i < top->n[MG_X]; ++i)
                for (int sign = 0; sign < MG_SIGNS; ++sign)
                    consider(own->of[sign], sign, (struct mg_charge){line[i], index + i});
        }
}

/* Each rank finds those of its box, and all choose from what all have found. */
int mg_find_charges(const struct mg_grid *grid, double *line, struct mg_charges *all,
                    struct mg_charges *found)
{
    const struct comm *comm = &grid->env->comm;
    struct mg_charges own;
    find_own(&grid->level[grid->top], line, &own);
    int err = comm_allgather(comm, &own, sizeof own, all);
    if (err)
        return err;
    clear(found);
    for (int rank = 0; rank < comm->size; ++rank)
        for (int sign = 0; sign < MG_SIGNS; ++sign)
            for (int c = 0; c < MG_CHARGES; ++c)
                if (all[rank].of[sign][c].index >= 0)
                    consider(found->of[sign], sign, all[rank].of[sign][c]);
    return 0;
}

void mg_put_charges(const struct mg_charges *charges, const struct mg_level *top, struct mg_field v)
{
    for (int sign = 0; sign < MG_SIGNS; ++sign)
        for (int c = 0; c < MG_CHARGES; ++c) {
            int64_t index = charges->of[sign][c].index, edge = top->edge;
            int64_t x = index % edge - top->first[MG_X], y = index / edge % edge - top->first[MG_Y],
                    z = index / edge / edge - top->first[MG_Z];
            if (x >= 0 && x < top->n[MG_X] && y >= 0 && y < top->n[MG_Y] && z >= 0 && z < top->n[MG_Z])
                v.at[x + y * v.row + z * v.plane] = sign == MG_HIGHEST ? 1 : -1;
        }
}
