/* FT, the parts of which are ft_lines.c (Fourier transforms of many lines at once) and ft_layout.c (which
 * rank has which numbers). */
#ifndef KERNELS_NPB_FT_H
#define KERNELS_NPB_FT_H

#include "kernels/npb/npb.h"

enum { FT_AXES = 3, FT_X = 0, FT_Y, FT_Z };

/* Lines that are transformed together, one in each lane of the vectors. All edges are multiples of it. */
enum { FT_TOGETHER = 8 };

/* A transform of `n` points, a power of two: the roots that its passes take, one after the other. */
struct ft_transform {
    int64_t n;
    double *roots; /* 2 n */
};

void ft_make_roots(const struct ft_transform *t);

/* Doubles that a lane needs for transforms of up to `n` points. */
int64_t ft_scratch(int64_t n);

/* What is done to a part of the numbers, which are complex: pairs of doubles.
 *
 * A plane in space: its line y begins line_at[y] + z * line_step[y] numbers after `from`, so that lines may
 * lie as messages want them. Waves: the number (x, y, z) stands at x + nx (y + ny z) of this rank's ny. */
struct ft_sweep {
    struct ft_transform transform[FT_AXES];
    bool inverse;
    double *from, *to;
    int64_t n[FT_AXES];    /* of what this rank has */
    int64_t planes_before; /* planes of space that ranks below have */
    const int64_t *line_at, *line_step;
    const double *decay[FT_AXES]; /* waves: factors of this rank's x, y and z; NULL: none */
};

/* Along x and y, planes from..to-1, in place in `from`. */
typedef void ft_part(const struct ft_sweep *s, int64_t from, int64_t to, double *scratch);
ft_part ft_planes;

/* Along z, lines of y = from..to-1; read from `from`, times the decay, written to `to`. */
ft_part ft_depths;

/* Where the numbers of this rank are, and how they get from planes to lines and back. */
struct ft_layout {
    struct kernel_env *env;
    int64_t n[FT_AXES];             /* of the whole problem */
    struct share planes, lines;     /* of z in space, of y of the waves */
    int64_t *line_at, *line_step;   /* as in ft_sweep */
    struct comm_plan *there, *back; /* NULL where one rank has all */
};

/* Nothing is allocated. */
void ft_layout_shape(struct kernel_env *env, const int64_t n[FT_AXES], struct ft_layout *layout);

/* Numbers that this rank has. */
int64_t ft_space_points(const struct ft_layout *layout);
int64_t ft_wave_points(const struct ft_layout *layout);

/* Where lines begin. ERR_NOMEM. */
int ft_layout_lines(struct ft_layout *layout);

/* Ways between the arrays: from `space` to `start`, and from `waves` to `space`. As comm_plan_alltoallv(). */
int ft_layout_plans(struct ft_layout *layout, double *space, double *start, double *waves, int failed);
void ft_layout_close(struct ft_layout *layout);

#endif
