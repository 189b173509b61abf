/* What the simulated applications BT and SP (and any other on the same equations) have in common: RNR-94-007,
 * chapter 3, "A methodology for benchmarking some CFD kernels". A fluid in the unit cube with five unknowns
 * at each point of a grid, driven towards a polynomial that is known, by steps of
 *
 *     [I - dt Dx] [I - dt Dy] [I - dt Dz] dU = dt (R(U) - R(U*)),   U <- U + dU
 *
 * R is the right-hand side: differences of the fluxes and dissipation of fourth order. D are approximations
 * of its derivatives in one direction each: systems along lines of points, which is what the applications
 * differ in.
 *
 * Ranks form a grid of up to three dimensions, each with a box of the inner points and two layers of its
 * neighbours' points around it. A line of points that passes several ranks is solved by all of them in turn,
 * many lines one behind the other as in a pipeline: so any count of ranks solves the same systems, by the
 * same operations, with the same result. */
#ifndef KERNELS_NPB_CFD_H
#define KERNELS_NPB_CFD_H

#include "kernels/npb/npb.h"

#include <math.h>
#include <stddef.h>

/* A piece of a HOT function: compiled with it, and as it is. */
#define CFD_PIECE static inline __attribute__((always_inline))

/* For a point: density, momentum along x, y, z, total energy. */
enum { RHO, MX, MY, MZ, ENERGY, CFD_UNKNOWNS };

/* Directions: axes of the grid. */
enum { CFD_X, CFD_Y, CFD_Z, CFD_AXES };

enum {
    CFD_REACH = 2, /* a difference of fourth order looks two points far */
    CFD_LANES = 8, /* lines that are solved together, as vectors */
    CFD_LEFT = 8, /* numbers before the inner points of a row: the halo, and a cache line begins after them */
};

/* The gas: ratio of specific heats, less one; viscosity and heat conduction. */
#define CFD_C1 1.4
#define CFD_C2 0.4
#define CFD_VISCOSITY 0.1      /* c3 c4 */
#define CFD_PRANDTL 1.96       /* c1 c5 */
#define CFD_NORMAL (4.0 / 3.0) /* viscosity along the direction of a derivative, over that across */
#define CFD_DISSIPATION 0.25   /* epsilon, of fourth order; d = 1 is the largest, over 4 */
extern const double cfd_second[CFD_AXES]; /* d, of second order */

struct cfd_problem {
    int points, steps; /* of each edge; of time */
    double dt;
};

/* Ranks along each axis. */
struct cfd_grid {
    int ranks[CFD_AXES];
};

/* As few of x as possible, because vectors lie along x, and y and z as near to each other as possible. False:
 * some rank would have fewer than CFD_REACH points along an axis. */
bool cfd_grid(const struct cfd_problem *problem, int ranks, struct cfd_grid *grid);

/* A sentence for that, and its error. */
int cfd_refuse(const struct kernel_env *env, const struct cfd_problem *problem);

struct cfd_fields {
    double *u, *rhs, *forcing;
};

/* One rank's box. Fields are rows of x for each unknown in turn, so that vectors of points are in one piece:
 * u[z][y][unknown][x]. */
struct cfd {
    struct kernel_env *env;
    struct cfd_problem problem;
    struct cfd_grid grid;
    int before[CFD_AXES], after[CFD_AXES];     /* ranks that are next; -1: none */
    int64_t first[CFD_AXES], count[CFD_AXES];  /* inner points of this rank, by number in the whole grid */
    ptrdiff_t step[CFD_AXES], unknown, origin; /* from a point to the next; from an unknown; to point 0 0 0 */
    size_t total;                              /* numbers in a field */
    struct cfd_fields f;
    double *damping[CFD_AXES]; /* weights of the fourth difference, by point: [-2 .. 2][point] */
    double *dt_inside;         /* along x: dt at inner points, else 0 */
    double *derived;           /* scratch of cfd_rhs(), for each thread */
    size_t derived_each;
    double *face[CFD_AXES][2][2]; /* before and after, to send and received */
    struct comm_plan *halo;
};

/* The place of point (x, y, z) of the box in a field. */
static inline ptrdiff_t cfd_at(const struct cfd *c, int64_t x, int64_t y, int64_t z)
{
    return c->origin + x * c->step[CFD_X] + y * c->step[CFD_Y] + z * c->step[CFD_Z];
}

/* Numbers of a row, up to full vectors. */
static inline int64_t cfd_round(int64_t count)
{
    return (count + CFD_LANES - 1) / CFD_LANES * CFD_LANES;
}

/* Set this rank's place and the size of its fields; nothing is allocated yet. */
void cfd_prepare(struct kernel_env *env, const struct cfd_problem *problem, const struct cfd_grid *grid,
                 struct cfd *c);

/* Bytes that cfd_open() allocates. */
double cfd_memory(struct cfd *c);

/* At a point of the cube: U*, and U at time 0 where there is no wall. */
void cfd_exact(const double at[CFD_AXES], double u[CFD_UNKNOWNS]);
void cfd_blend(const double at[CFD_AXES], double u[CFD_UNKNOWNS]);

/* For a prepared one. Makes the forcing as well: U* is put in and - R(U*) is kept. Collective; if only others
 * have failed it returns 0 without a plan of the halo. */
int cfd_open(struct cfd *c);
void cfd_close(struct cfd *c);

/* Set U at time 0: interpolated between the faces of the cube, where it is U*. */
void cfd_start(struct cfd *c);

/* Fetch the layers of neighbours into u. */
int cfd_exchange(struct cfd *c);

/* rhs <- dt (R(U) - R(U*)), from u with its halo (cfd_rhs.c). */
void cfd_rhs(struct cfd *c);
size_t cfd_derived_each(const struct cfd *c);

/* Root mean squares over all inner points of each unknown: of R(U) - R(U*), and of U - U*. Values 0 .. 9. */
int cfd_answer(struct cfd *c, double values[KERNEL_VALUES_MAX], int *count);

extern const char *const cfd_names[];
extern const struct param cfd_params[];

/* ---- lines (cfd_sweep.c) ------------------------------------------------------------------------------- */

/* CFD_LANES lines along an axis, side by side; the last ones of a plane may be fewer. */
struct cfd_lines {
    int axis;
    int64_t length;  /* points on this rank */
    ptrdiff_t first; /* where the first point of lane 0 is in a field */
    ptrdiff_t step;  /* from a point to the next of its line */
    ptrdiff_t side;  /* from a line to the next; 1: they are contiguous, and those beyond the last are
                        harmless */
    ptrdiff_t unknown;
    int lanes;
};

/* The work on lines: forward, then back. `kept` passes data from the one to the other, `kept_each` numbers
 * for each point and lane. `carry` comes from the rank before (or after, going back; 0 at the wall) and goes
 * on to the next one, `carry_forward` or `carry_back` numbers for each lane. */
struct cfd_sweep {
    size_t kept_each, carry_forward, carry_back;
    void (*forward)(const struct cfd *c, const struct cfd_lines *lines, double *kept, double *carry);
    void (*back)(const struct cfd *c, const struct cfd_lines *lines, double *kept, double *carry);
};

/* Memory of sweeps. */
struct cfd_pipe {
    double *kept, *message;
    size_t kept_slot; /* numbers of `kept` for CFD_LANES lines */
};
double cfd_pipe_memory(const struct cfd *c, const struct cfd_sweep *sweep);
int cfd_pipe_open(const struct cfd *c, const struct cfd_sweep *sweep, struct cfd_pipe *pipe);
void cfd_pipe_close(struct cfd_pipe *pipe);

/* All lines along an axis. */
int cfd_sweep(const struct cfd *c, const struct cfd_sweep *sweep, const struct cfd_pipe *pipe, int axis);

/* ---- such an application (cfd_adi.c) ------------------------------------------------------------------- */

/* Each step: halo, right-hand side, the lines of x, y and z; those of z end with U <- U + dU. It is the `own`
 * of a kernel. */
struct cfd_adi {
    const struct cfd_problem *problems; /* of each class */
    struct cfd_sweep sweep;
};

/* As those of struct kernel. */
int cfd_adi_ranks(const struct kernel_env *env);
double cfd_adi_memory(const struct kernel_env *env);
int cfd_adi_open(struct kernel_env *env, void **state);
void cfd_adi_close(void *state);
int cfd_adi_reset(void *state);
int cfd_adi_solve(void *state);
int cfd_adi_answer(void *state, double values[KERNEL_VALUES_MAX], int *count);

/* Phases of it. */
enum {
    CFD_PHASE_HALO,
    CFD_PHASE_RHS,
    CFD_PHASE_X,
    CFD_PHASE_Y,
    CFD_PHASE_Z,
    CFD_PHASE_PIPELINE, /* waiting for the rank before or after in a sweep, and sending to it */
    CFD_PHASES
};
extern const struct phase cfd_phases[CFD_PHASES + 1];

#endif
