/* FT, "Fourier transform": RNR-94-007, section 3.4. A partial differential equation, du/dt = alpha times the
 * Laplacian of u, in three dimensions, solved in the space of waves: one transform of random numbers, and for
 * each time step a decay of the waves, a transform back, and a checksum of 1024 numbers.
 *
 * Which rank has which numbers, and how they change hands, is in ft_layout.c. */
#include "kernels/npb/ft.h"

#include "base/err.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHECKED = 1024 };
static const double ALPHA = 1e-6;

struct size {
    int64_t n[FT_AXES];
    int steps;
};
static const struct size sizes[NPB_CLASSES] = {
    [NPB_S] = {{64, 64, 64}, 6},        [NPB_W] = {{128, 128, 32}, 6},   [NPB_A] = {{256, 256, 128}, 6},
    [NPB_B] = {{512, 256, 256}, 20},    [NPB_C] = {{512, 512, 512}, 20}, [NPB_D] = {{2048, 1024, 1024}, 25},
    [NPB_E] = {{4096, 2048, 2048}, 25},
};

struct ft {
    struct kernel_env *env;
    const struct size *size;
    struct ft_layout layout;
    double *space, *waves; /* what is transformed: the same where one rank has all */
    double *start;         /* the waves at time 0 */
    double *decay[FT_AXES], *roots[FT_AXES], *scratch;
    int64_t scratch_each;
    double sums[KERNEL_VALUES_MAX];
};

enum { PHASE_SETUP, PHASE_PLANES, PHASE_DEPTHS, PHASE_CHECKSUM, PHASE_TRANSPOSE };
static const struct phase phases[] = {
    [PHASE_SETUP] = {"setup", false},        [PHASE_PLANES] = {"planes", false},
    [PHASE_DEPTHS] = {"depths", false},      [PHASE_CHECKSUM] = {"checksum", true},
    [PHASE_TRANSPOSE] = {"transpose", true}, {0},
};

static int64_t points(const struct size *size)
{
    return size->n[FT_X] * size->n[FT_Y] * size->n[FT_Z];
}

/* ---- what is timed ------------------------------------------------------------------------------------- */

static void over(const struct ft *ft, ft_part *part, const struct ft_sweep *s, int64_t count)
{
    const int lanes = ft->env->threads;
#pragma omp parallel for num_threads(lanes) schedule(static, 1) if (lanes > 1)
    for (int i = 0; i < lanes; ++i) {
        struct share mine = share_of(count, lanes, i);
        part(s, mine.first, mine.first + mine.count, ft->scratch + i * ft->scratch_each);
    }
}

static struct ft_sweep sweep_of(const struct ft *ft, bool inverse)
{
    struct ft_sweep s = {
        .inverse = inverse, .line_at = ft->layout.line_at, .line_step = ft->layout.line_step};
    for (int axis = 0; axis < FT_AXES; ++axis)
        s.transform[axis] = (struct ft_transform){ft->size->n[axis], ft->roots[axis]};
    memcpy(s.n, ft->size->n, sizeof s.n);
    return s;
}

/* Step 1: pseudo-random numbers, real and imaginary parts in turn, x the fastest. */
static void fill_planes(const struct ft_sweep *s, int64_t from, int64_t to, double *scratch)
{
    (void)scratch;
    const int64_t nx = s->n[FT_X], ny = s->n[FT_Y];
    for (int64_t z = from; z < to; ++z) {
        uint64_t skip = 2 * (uint64_t)(nx * ny) * (uint64_t)(s->planes_before + z);
        uint64_t x = NPB_SEED * npb_power(NPB_MULTIPLIER, skip) & NPB_MASK;
        for (int64_t y = 0; y < ny; ++y)
            npb_fill(&x, NPB_MULTIPLIER, 2 * (size_t)nx, s->from + 2 * (s->line_at[y] + z * s->line_step[y]));
    }
}

static void fill(const struct ft *ft)
{
    struct ft_sweep s = sweep_of(ft, false);
    s.from = ft->space;
    s.planes_before = ft->layout.planes.first;
    over(ft, fill_planes, &s, ft->layout.planes.count);
    for (int axis = 0; axis < FT_AXES; ++axis)
        ft_make_roots(&s.transform[axis]);
    phase_end(ft->env->phases, PHASE_SETUP);
}

static int transpose(const struct ft *ft, struct comm_plan *plan)
{
    int err = comm_run(plan);
    phase_end(ft->env->phases, PHASE_TRANSPOSE);
    return err;
}

/* Step 2: the waves of the start. */
static int forward(const struct ft *ft)
{
    struct ft_sweep s = sweep_of(ft, false);
    s.from = ft->space;
    over(ft, ft_planes, &s, ft->layout.planes.count);
    phase_end(ft->env->phases, PHASE_PLANES);
    int err = transpose(ft, ft->layout.there);
    s.from = ft->layout.there ? ft->start : ft->space;
    s.to = ft->start;
    s.n[FT_Y] = ft->layout.lines.count;
    over(ft, ft_depths, &s, ft->layout.lines.count);
    phase_end(ft->env->phases, PHASE_DEPTHS);
    return err;
}

/* Step 3: exp(-4 alpha pi^2 (i^2 + j^2 + k^2) t) is a product of three; i, j, k from -n/2 to n/2 - 1. */
static void make_decay(const struct ft *ft, int t)
{
    const double PI = 3.14159265358979323846;
    const struct share mine[FT_AXES] = {{0, ft->size->n[FT_X]}, ft->layout.lines, {0, ft->size->n[FT_Z]}};
    double scale = 1;
    kernel_spoil(ft->env, &scale);
    for (int axis = 0; axis < FT_AXES; ++axis) {
        const int64_t n = ft->size->n[axis];
        for (int64_t i = 0; i < mine[axis].count; ++i) {
            int64_t at = mine[axis].first + i;
            double k = (double)(at < n / 2 ? at : at - n);
            ft->decay[axis][i] = (axis == FT_Z ? scale : 1) * exp(-4 * ALPHA * PI * PI * k * k * t);
        }
    }
}

/* Step 4, transform back; this rank's part of what step 5 adds up: numbers (j mod nx, 3 j mod ny, 5 j mod
 * nz).
 */
static int backward(const struct ft *ft)
{
    struct ft_sweep s = sweep_of(ft, true);
    s.from = ft->start;
    s.to = ft->waves;
    s.n[FT_Y] = ft->layout.lines.count;
    memcpy(s.decay, ft->decay, sizeof s.decay);
    over(ft, ft_depths, &s, ft->layout.lines.count);
    phase_end(ft->env->phases, PHASE_DEPTHS);
    int err = transpose(ft, ft->layout.back);
    s.from = ft->space;
    s.n[FT_Y] = ft->size->n[FT_Y];
    over(ft, ft_planes, &s, ft->layout.planes.count);
    phase_end(ft->env->phases, PHASE_PLANES);
    return err;
}

static int checksum(const struct ft *ft, double *sum)
{
    const int64_t *n = ft->size->n;
    sum[0] = sum[1] = 0;
    for (int64_t j = 1; j <= CHECKED; ++j) {
        int64_t x = j % n[FT_X], y = 3 * j % n[FT_Y], z = 5 * j % n[FT_Z] - ft->layout.planes.first;
        if (z < 0 || z >= ft->layout.planes.count)
            continue;
        const double *number = ft->space + 2 * (ft->layout.line_at[y] + z * ft->layout.line_step[y] + x);
        sum[0] += number[0];
        sum[1] += number[1];
    }
    int err = comm_sum(&ft->env->comm, sum, 2);
    sum[0] /= (double)points(ft->size);
    sum[1] /= (double)points(ft->size);
    phase_end(ft->env->phases, PHASE_CHECKSUM);
    return err;
}

/* As NPB times it: the start and the roots as well. */
static int solve(void *state)
{
    struct ft *ft = state;
    phase_begin(ft->env->phases);
    fill(ft);
    int err = forward(ft);
    for (int t = 1; t <= ft->size->steps && !err; ++t) {
        make_decay(ft, t);
        err = backward(ft);
        err = err ? err : checksum(ft, &ft->sums[2 * (t - 1)]);
    }
    return err;
}

/* ---- the kernel ---------------------------------------------------------------------------------------- */

static int reset(void *state)
{
    struct ft *ft = state;
    memset(ft->sums, 0, sizeof ft->sums);
    return 0;
}

static int answer(void *state, double values[KERNEL_VALUES_MAX], int *count)
{
    const struct ft *ft = state;
    *count = 2 * ft->size->steps;
    memcpy(values, ft->sums, (size_t)*count * sizeof *values);
    return 0;
}

static int ranks(const struct kernel_env *env)
{
    const int64_t *n = sizes[npb_class(env->params)].n, most = n[FT_Y] < n[FT_Z] ? n[FT_Y] : n[FT_Z];
    return env->comm.size <= most
               ? 0
               : err_say(ERR_UNSUPPORTED,
                         "npb.ft class %s has %lld planes: it takes up to so many ranks, not %d",
                         npb_classes[npb_class(env->params)], (long long)most, env->comm.size);
}

/* All but the arrays. */
static void shape(struct ft *ft, struct kernel_env *env)
{
    ft->size = &sizes[npb_class(env->params)];
    ft_layout_shape(env, ft->size->n, &ft->layout);
    int64_t longest = 0;
    for (int axis = 0; axis < FT_AXES; ++axis)
        longest = ft->size->n[axis] > longest ? ft->size->n[axis] : longest;
    ft->scratch_each = ft_scratch(longest);
}

static double memory(const struct kernel_env *env)
{
    struct ft ft = {0};
    shape(&ft, (struct kernel_env *)env);
    double numbers = (double)ft_space_points(&ft.layout) +
                     (env->comm.size > 1 ? 2 : 1) * (double)ft_wave_points(&ft.layout);
    double small = 0;
    for (int axis = 0; axis < FT_AXES; ++axis)
        small += 3 * (double)ft.size->n[axis];
    small += 2 * (double)ft.size->n[FT_Y] + (double)(env->threads * ft.scratch_each);
    return sizeof(double) * (2 * numbers + small);
}

static void close_ft(void *state)
{
    struct ft *ft = state;
    ft_layout_close(&ft->layout);
    for (int axis = 0; axis < FT_AXES; ++axis) {
        free(ft->decay[axis]);
        free(ft->roots[axis]);
    }
    if (ft->waves != ft->space)
        free(ft->waves);
    free(ft->space);
    free(ft->start);
    free(ft->scratch);
    free(ft);
}

static int open_arrays(struct ft *ft)
{
    struct kernel_env *env = ft->env;
    const int64_t *n = ft->size->n;
    const size_t number = 2 * sizeof(double);
    int err = kernel_alloc(env, (size_t)ft_space_points(&ft->layout), number, &ft->space);
    err = err ? err : kernel_alloc(env, (size_t)ft_wave_points(&ft->layout), number, &ft->start);
    if (!err && env->comm.size > 1)
        err = kernel_alloc(env, (size_t)ft_wave_points(&ft->layout), number, &ft->waves);
    else
        ft->waves = ft->space;
    for (int axis = 0; axis < FT_AXES && !err; ++axis) {
        err = kernel_alloc(env, (size_t)n[axis], sizeof(double), &ft->decay[axis]);
        err = err ? err : kernel_alloc(env, 2 * (size_t)n[axis], sizeof(double), &ft->roots[axis]);
    }
    err = err ? err
              : kernel_alloc(env, (size_t)(env->threads * ft->scratch_each), sizeof(double), &ft->scratch);
    return err ? err : ft_layout_lines(&ft->layout);
}

static int open_ft(struct kernel_env *env, void **state)
{
    struct ft *ft = calloc(1, sizeof *ft);
    int err = ft ? 0 : err_say(ERR_NOMEM, "no memory for the state of a kernel");
    bool stop = false;
    int agreed = kernel_agree(env, err, &stop);
    if (!ft || stop || agreed) {
        free(ft);
        return err ? err : agreed;
    }
    ft->env = env;
    shape(ft, env);
    err = open_arrays(ft);
    if (env->comm.size > 1)
        err = ft_layout_plans(&ft->layout, ft->space, ft->start, ft->waves, err);
    agreed = kernel_agree(env, err, &stop);
    if (stop || agreed)
        close_ft(ft);
    else
        *state = ft;
    return err ? err : agreed;
}

/* Real and imaginary part of each step. */
static const struct npb_answer references[NPB_CLASSES] = {
    [NPB_S] = {{554.6087004964, 484.5363331978, 554.6385409189, 486.5304269511, 554.6148406171,
                488.3910722336, 554.5423607415, 490.1273169046, 554.4255039624, 491.7475857993,
                554.2683411902, 493.2597244941}},
    [NPB_W] = {{567.3612178944, 529.3246849175, 563.1436885271, 528.2149986629, 559.402408997, 527.0996558037,
                556.069804702, 526.0027904925, 553.089899125, 524.9400845633, 550.4159734538,
                523.9212247086}},
    [NPB_A] = {{504.6735008193, 511.404790551, 505.9412319734, 509.8809666433, 506.9376896287, 509.8144042213,
                507.7892868474, 510.1336130759, 508.5233095391, 510.4914655194, 509.1487099959,
                510.7917842803}},
    [NPB_B] = {{517.7643571579, 507.7803458597, 515.4521291263, 508.8249431599, 514.6409228649,
                509.6208912659, 514.2378756213, 510.1023387619, 513.9626667737, 510.3976610617,
                513.7423460082, 510.5948019802, 513.5547056878, 510.7404165783, 513.3910925466,
                510.8576573661, 513.247070539,  510.9577278523, 513.1197729984, 511.0460304483,
                513.0070319283, 511.12524338,   512.9070537032, 511.1968077718, 512.8182883502,
                511.2616233064, 512.7393733383, 511.3203605551, 512.669106202,  511.3735928093,
                512.6064276004, 511.4218460548, 512.550407657,  511.465613976,  512.500233172,
                511.5053595966, 512.4551951846, 511.5415130407, 512.4146770029, 511.5744692211}},
    [NPB_C] = {{519.5078707457, 514.9019699238, 515.5422171134, 512.7578201997, 514.4678022222,
                512.2251847514, 514.0150594328, 512.1090289018, 513.755042681,  512.1143685824,
                513.5811056728, 512.1496764568, 513.4569343165, 512.1870921893, 513.3651975661,
                512.2193250322, 513.2955192805, 512.2454735794, 513.2410471738, 512.2663649603,
                513.1971141679, 512.2830879827, 513.1605205716, 512.2965869718, 513.1290734194,
                512.3075927445, 513.1012720314, 512.3166486553, 513.0760908195, 512.3241541685,
                513.0528295923, 512.3304037599, 513.0310107773, 512.3356167976, 513.0103090133,
                512.3399592211, 512.9905029333, 512.3435588985, 512.9714421109, 512.3465164008}},
    [NPB_D] = {{512.2230065252, 511.8534037109, 512.0463975765, 511.7061181082, 511.986576676,
                511.7096364601, 511.9518799488, 511.737386395,  511.9269088223, 511.7680347632,
                511.9082416858, 511.7967875532, 511.8943814638, 511.8225281841, 511.8842385057,
                511.8451629348, 511.8769435632, 511.8649119387, 511.8718203448, 511.8820803844,
                511.8683569061, 511.8969781011, 511.8661708593, 511.9098918835, 511.864976895,
                511.9210777066, 511.8645605626, 511.9307604484, 511.8647586618, 511.9391362671,
                511.8654451572, 511.9463757241, 511.8665212451, 511.9526269238, 511.8679083821,
                511.9580184108, 511.8695433664, 511.9626617538, 511.8713748264, 511.9666538138,
                511.8733606701, 511.9700787219, 511.8754661974, 511.9730095953, 511.8776626738,
                511.9755100241, 511.8799262314, 511.9776353561, 511.8822370068, 511.979433806}},
    [NPB_E] = {{512.1601045346, 511.7395998266, 512.0905403678, 511.8614716182, 512.0623229306,
                511.9074203747, 512.0438418997, 511.9345900733, 512.0311521872, 511.955132555,
                512.0226088809, 511.9720179919, 512.0169296534, 511.9861371665, 512.0131225172,
                511.9979364402, 512.0104767108, 512.0077674092, 512.0085127969, 512.0159443121,
                512.0069224127, 512.022745367,  512.0055158164, 512.0284096041, 512.0041820159,
                512.0331373793, 512.0028605402, 512.0370938679, 512.0015223011, 512.0404138831,
                512.0001570022, 512.0432068837, 511.9987650555, 512.045561586,  511.9973525091,
                512.0475499442, 511.9959279472, 512.0492304629, 511.9945006558, 512.0506508902,
                511.9930795911, 512.0518503782, 511.9916728462, 512.0528612016, 511.9902874185,
                512.0537101195, 511.9889291565, 512.0544194514, 511.9876028049, 512.0550079284}},
};

static const double *expected(const double *chosen)
{
    return references[npb_class(chosen)].values;
}

static double work(const double *chosen)
{
    const double n = (double)points(&sizes[npb_class(chosen)]), log_n = log(n);
    return n * (14.8157 + 7.19641 * log_n + (5.23518 + 7.21113 * log_n) * sizes[npb_class(chosen)].steps);
}

static const char *const names[] = {"the real part of a checksum", "the imaginary part of a checksum", NULL};
static const char *const backends[] = {"collective",  "nonblocking", "blocking", "persistent",
                                       "icollective", "pcollective", "signal",   NULL};
static const struct param params[] = {NPB_PARAMS(backends), {0}};

const struct kernel npb_ft = {
    .name = "npb.ft",
    .summary = "NAS FT: Fourier transforms in three dimensions, large blocks from all to all",
    .params = params,
    .phases = phases,
    .ranks = ranks,
    .memory = memory,
    .open = open_ft,
    .close = close_ft,
    .reset = reset,
    .solve = solve,
    .answer = answer,
    .tolerance = 1e-12,
    .value_names = names,
    .expected = expected,
    .work = work,
};
