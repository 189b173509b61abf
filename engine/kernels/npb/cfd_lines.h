/* Points of CFD_LANES lines, side by side as vectors: into and out of fields. */
#ifndef KERNELS_NPB_CFD_LINES_H
#define KERNELS_NPB_CFD_LINES_H

#include "kernels/npb/cfd.h"

/* The unknowns at a point of each lane. */
struct cfd_vector {
    double v[CFD_UNKNOWNS][CFD_LANES];
};

/* Where the unknowns of point i are; of lines that are not beside each other in memory, of lane k. */
CFD_PIECE ptrdiff_t cfd_point(const struct cfd_lines *l, int64_t i)
{
    return l->first + i * l->step;
}

CFD_PIECE ptrdiff_t cfd_lane(const struct cfd_lines *l, int k)
{
    return (k < l->lanes ? k : l->lanes - 1) * l->side;
}

CFD_PIECE void cfd_load(const struct cfd_lines *l, const double *field, const ptrdiff_t *order, int64_t i,
                        struct cfd_vector *restrict to)
{
    const double *from = field + cfd_point(l, i);
    for (int m = 0; m < CFD_UNKNOWNS; ++m)
        if (l->side == 1)
            for (int k = 0; k < CFD_LANES; ++k)
                to->v[m][k] = from[order[m] + k];
        else
            for (int k = 0; k < CFD_LANES; ++k)
                to->v[m][k] = from[order[m] + cfd_lane(l, k)];
}

/* field <- x, or field <- field + x. */
CFD_PIECE void cfd_store(const struct cfd_lines *l, double *restrict field, const ptrdiff_t *order, int64_t i,
                         const struct cfd_vector *restrict x, bool add)
{
    double *to = field + cfd_point(l, i);
    for (int m = 0; m < CFD_UNKNOWNS; ++m)
        if (l->side == 1)
            for (int k = 0; k < CFD_LANES; ++k)
                to[order[m] + k] = (add ? to[order[m] + k] : 0) + x->v[m][k];
        else
            for (int k = 0; k < l->lanes; ++k)
                to[order[m] + k * l->side] = x->v[m][k];
}

#endif
