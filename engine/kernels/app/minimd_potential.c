/* What atoms do to each other in MiniMD.
 *
 * Lennard-Jones: phi(r) = 4 (r^-12 - r^-6), in units of its own, cut off at 2.5.
 *
 * An embedded-atom method (M. Daw and M. Baskes, Phys. Rev. B 29, 1984): the energy of atom i is
 *
 *     F(rho_i) + 1/2 sum over j of phi(r_ij),   rho_i = sum over j of f(r_ij)
 *
 * Copper here is that of R. Johnson (Phys. Rev. B 37, 1988): phi and f fall exponentially, and F is what
 * makes the energy of a crystal follow the law of J. Rose and others (Phys. Rev. B 29, 1984) when it is
 * stretched or squeezed:
 *
 *     E(a) = -E_c (1 + a*) exp(-a*),   a* = alpha (a / a_0 - 1)
 *
 * Johnson's atoms see their nearest neighbours alone. These see three shells, so phi and f end at the cut-off
 * with value and slope 0 (Allen and Tildesley, section 5.2.4), and F is found with all shells, as S. Foiles,
 * M. Baskes and M. Daw do it (Phys. Rev. B 33, 1986). Lengths are in Angstrom, energies in eV, times in ps.
 */
#include "kernels/app/minimd.h"

#include <math.h>
#include <stdlib.h>

/* ---- Lennard-Jones ---------------------------------------------------------------------------------------
 */

static double lj_pair(double r)
{
    const double r6 = 1 / (r * r * r * r * r * r);
    return 4 * r6 * (r6 - 1);
}

static double lj_slope(double r)
{
    const double r6 = 1 / (r * r * r * r * r * r);
    return -48 * r6 * (r6 - 0.5) / r;
}

/* As one rank finds them, in the digits that the original prints, and in further ones. The lists' kind, ranks
 * and threads change the order of sums alone. */
static const struct minimd_known lj_known[] = {
    {8, 0.720285374658896, -5.69850439373149, 0.653891299849235},
    {16, 0.766412206625953, -5.77227824934862, 0.0979907871450773},
    {32, 0.820091112318353, -5.85270237583461, -0.187392051166435},
    {0},
};

/* A liquid like argon near its triple point, but hot (L. Verlet, Phys. Rev. 159, 1967): a crystal that melts.
 */
const struct minimd_law minimd_lj = {
    .name = "lj",
    .mass = 1,
    .boltzmann = 1,
    .pressure_unit = 1,
    .density = 0.8442,
    .temperature = 1.44,
    .step = 0.005,
    .cut = 2.5,
    .skin = 0.3,
    .pair = lj_pair,
    .pair_slope = lj_slope,
    .known = lj_known,
};

/* ---- copper ----------------------------------------------------------------------------------------------
 */

#define COPPER_CUT 4.95
static const double SIDE = 3.615, COHESION = 3.54, STIFFNESS = 5.09; /* a_0, E_c, alpha */
static const double PAIR_AT_NEAREST = 0.59, PAIR_FALL = 8.00, SPREAD_FALL = 5.85;

/* exp(-fall (r / nearest - 1)), or its derivative, without what it has at the cut-off. */
static double falling(double r, double fall, bool slope)
{
    const double nearest = SIDE / sqrt(2);
    const double end = exp(-fall * (COPPER_CUT / nearest - 1)), end_slope = -fall / nearest * end;
    const double value = exp(-fall * (r / nearest - 1));
    if (r >= COPPER_CUT)
        return 0;
    return slope ? -fall / nearest * value - end_slope : value - end - (r - COPPER_CUT) * end_slope;
}

static double copper_pair(double r)
{
    return PAIR_AT_NEAREST * falling(r, PAIR_FALL, false);
}

static double copper_slope(double r)
{
    return PAIR_AT_NEAREST * falling(r, PAIR_FALL, true);
}

static double copper_spread(double r)
{
    return falling(r, SPREAD_FALL, false);
}

static double copper_spread_slope(double r)
{
    return falling(r, SPREAD_FALL, true);
}

static const struct minimd_known copper_known[] = {
    {8, 222.897362379820, -3.34218325321404, -128579.414639017},
    {16, 211.429648569296, -3.34068062824916, -129734.775502077},
    {32, 241.083302851047, -3.34451167536964, -121191.317015113},
    {0},
};

/* The crystal starts stretched, at 3.844 A. */
const struct minimd_law minimd_copper = {
    .name = "eam",
    .mass = 63.546 * 1.03642697e-4, /* from atomic mass units */
    .boltzmann = 8.617333e-5,
    .pressure_unit = 1.602177e6, /* bar */
    .density = 0.07041125,
    .temperature = 600,
    .step = 0.001,
    .cut = COPPER_CUT,
    .skin = 1.0,
    .embedded = true,
    .pair = copper_pair,
    .pair_slope = copper_slope,
    .spread = copper_spread,
    .spread_slope = copper_spread_slope,
    .known = copper_known,
};

/* ---- crystals --------------------------------------------------------------------------------------------
 */

/* How many atoms of a face-centred crystal are sqrt(m / 2) cells away from one, m = 1, 2, ... (Conway and
 * Sloane, Sphere Packings, Lattices and Groups, 1999, chapter 4): as far as laws reach, and further. */
static const double shell_atoms[] = {12, 6, 24, 12, 24, 8, 48, 6, 36, 24};
enum { SHELLS = sizeof shell_atoms / sizeof shell_atoms[0] };

/* Over the neighbours of an atom of a face-centred crystal whose cells have side a: the sum of g(r), or, with
 * `times_r`, of r g(r). */
static double shells(double (*g)(double), double a, double cut, bool times_r)
{
    double sum = 0;
    for (int m = 1; m <= SHELLS; ++m) {
        const double r = a * sqrt(m / 2.0);
        if (r >= cut)
            break;
        sum += shell_atoms[m - 1] * (times_r ? r * g(r) : g(r));
    }
    return sum;
}

static double side_of(double density)
{
    return cbrt(MINIMD_FCC / density);
}

static double rose(double a, bool slope)
{
    const double stretch = STIFFNESS * (a / SIDE - 1);
    return slope ? COHESION * stretch * exp(-stretch) * STIFFNESS / SIDE
                 : -COHESION * (1 + stretch) * exp(-stretch);
}

double minimd_crystal_energy(const struct minimd_law *law, double density)
{
    const double a = side_of(density);
    return law->embedded ? rose(a, false) : 0.5 * shells(law->pair, a, law->cut, false);
}

/* -dE/dV, by a dE/da = 3 V dE/dV. */
double minimd_crystal_pressure(const struct minimd_law *law, double density)
{
    const double a = side_of(density);
    const double stretched =
        law->embedded ? a * rose(a, true) : 0.5 * shells(law->pair_slope, a, law->cut, true);
    return -stretched * density / 3;
}

/* ---- tables ----------------------------------------------------------------------------------------------
 */

/* Steps of r^2 and of the density. The cubics are off by the fourth power of a step: 1e-10 of the values. */
enum { NEAR_STEPS = 1024, EMBEDDING_STEPS = 2048, CUBIC = 4 };
static const double LEAST_R = 1.2;                         /* nearer than any two atoms come */
static const double MOST_STRETCHED = 5, MOST_SQUEEZED = 3; /* sides of cells: F is a line beyond */

double minimd_tables_memory(void)
{
    return (2.0 * NEAR_STEPS + EMBEDDING_STEPS) * CUBIC * sizeof(double);
}

/* The cubic in t, 0 to 1 along a step of width h. */
static void put_cubic(double *c, double h, const double value[2], const double slope[2])
{
    const double rise = value[1] - value[0];
    c[0] = value[0];
    c[1] = h * slope[0];
    c[2] = 3 * rise - h * (2 * slope[0] + slope[1]);
    c[3] = -2 * rise + h * (slope[0] + slope[1]);
}

/* By s = r^2, whose slope is that by r over 2 r. */
static void put_near(double *c, double s, double h, double (*value)(double), double (*slope)(double))
{
    const double r[2] = {sqrt(s), sqrt(s + h)};
    put_cubic(c, h, (double[]){value(r[0]), value(r[1])},
              (double[]){slope(r[0]) / (2 * r[0]), slope(r[1]) / (2 * r[1])});
}

/* The side of the crystal that has a density, by Newton's method from another side. The density is convex
 * and falls as sides grow: so after a step the side is too short, and then grows up to the right one. */
static double side_at(const struct minimd_law *law, double density, double a)
{
    const double NEAR = 1e-9; /* what is left after a step is some of its square */
    enum { MOST_STEPS = 100 };
    double step = a;
    for (int i = 0; i < MOST_STEPS && fabs(step) > NEAR * a; ++i) {
        step = a * (density - shells(law->spread, a, law->cut, false)) /
               shells(law->spread_slope, a, law->cut, true);
        a += step;
    }
    return a;
}

/* F and its slope by the density where that is one of a crystal with this side. */
static void embedding_of(const struct minimd_law *law, double a, double *value, double *slope)
{
    *value = rose(a, false) - 0.5 * shells(law->pair, a, law->cut, false);
    *slope = (a * rose(a, true) - 0.5 * shells(law->pair_slope, a, law->cut, true)) /
             shells(law->spread_slope, a, law->cut, true);
}

static void fill(const struct minimd_law *law, struct minimd_tables *tables)
{
    struct minimd_table *near = &tables->near, *f = &tables->embedding;
    for (int64_t i = 0; i < near->steps; ++i) {
        const double h = 1 / near->per_unit, s = near->first + (double)i * h;
        put_near(near->cubic + 2 * CUBIC * i, s, h, law->pair, law->pair_slope);
        put_near(near->cubic + 2 * CUBIC * i + CUBIC, s, h, law->spread, law->spread_slope);
    }
    double value[2], slope[2], a = MOST_STRETCHED;
    embedding_of(law, a, &value[0], &slope[0]);
    for (int64_t i = 0; i < f->steps; ++i) {
        const double h = 1 / f->per_unit;
        a = side_at(law, f->first + (double)(i + 1) * h, a);
        embedding_of(law, a, &value[1], &slope[1]);
        put_cubic(f->cubic + CUBIC * i, h, value, slope);
        value[0] = value[1];
        slope[0] = slope[1];
    }
}

int minimd_tables_make(struct kernel_env *env, const struct minimd_law *law, struct minimd_tables *tables)
{
    *tables = (struct minimd_tables){0};
    if (!law->embedded)
        return 0;
    struct minimd_table *near = &tables->near, *f = &tables->embedding;
    near->steps = NEAR_STEPS;
    near->first = LEAST_R * LEAST_R;
    near->per_unit = NEAR_STEPS / (law->cut * law->cut - near->first);
    f->steps = EMBEDDING_STEPS;
    f->first = shells(law->spread, MOST_STRETCHED, law->cut, false);
    f->per_unit = EMBEDDING_STEPS / (shells(law->spread, MOST_SQUEEZED, law->cut, false) - f->first);
    int err = kernel_alloc(env, 2 * NEAR_STEPS * CUBIC, sizeof(double), &near->cubic);
    if (!err)
        err = kernel_alloc(env, EMBEDDING_STEPS * CUBIC, sizeof(double), &f->cubic);
    if (!err)
        fill(law, tables);
    return err;
}

void minimd_tables_free(struct minimd_tables *tables)
{
    free(tables->near.cubic);
    free(tables->embedding.cubic);
    *tables = (struct minimd_tables){0};
}

double minimd_embedding(const struct minimd_table *table, double density, bool slope)
{
    const double place = (density - table->first) * table->per_unit, last = (double)table->steps;
    const double inside = place < 0 ? 0 : place > last ? last : place;
    const int64_t i = inside < last ? (int64_t)inside : table->steps - 1;
    const double *c = table->cubic + CUBIC * i, t = inside - (double)i;
    const double along = c[1] + t * (2 * c[2] + 3 * t * c[3]);
    return slope ? along * table->per_unit
                 : c[0] + t * (c[1] + t * (c[2] + t * c[3])) + (place - inside) * along;
}
