/* The laws of MiniMD against what is found the slow way: sums over all sites of a crystal, and bisection. */
#include "test.h"

#include "kernels/app/minimd.h"

#include <math.h>

/* Over all sites within the cut-off of one, of a face-centred crystal whose cells have side a. */
static double sum_sites(double (*g)(double), double a, double cut, bool times_r)
{
    const int far = (int)(2 * cut / a) + 1;
    double sum = 0;
    for (int x = -far; x <= far; ++x)
        for (int y = -far; y <= far; ++y)
            for (int z = -far; z <= far; ++z) {
                const double r = a / 2 * sqrt(x * x + y * y + z * z);
                if ((x + y + z) % 2 == 0 && r > 0 && r < cut)
                    sum += times_r ? r * g(r) : g(r);
            }
    return sum;
}

static double side_of(const struct minimd_law *law, double spread)
{
    double low = 2.5, high = 5.5; /* denser, and less dense, than any in the table */
    for (int i = 0; i < 60; ++i) {
        const double middle = (low + high) / 2;
        if (sum_sites(law->spread, middle, law->cut, false) > spread)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static bool near(double is, double expected, double allowed)
{
    return fabs(is - expected) <= allowed;
}

static void test_a_crystal_of_pairs(void)
{
    const struct minimd_law *lj = &minimd_lj;
    for (double density = 0.5; density < 1.3; density += 0.0837) {
        const double a = cbrt(MINIMD_FCC / density);
        const double energy = 0.5 * sum_sites(lj->pair, a, lj->cut, false);
        const double pressure = -0.5 * sum_sites(lj->pair_slope, a, lj->cut, true) * density / 3;
        CHECK(near(minimd_crystal_energy(lj, density), energy, 1e-13 * fabs(energy)));
        CHECK(near(minimd_crystal_pressure(lj, density), pressure, 1e-12 * fabs(energy)));
    }
    /* what the original prints of its crystal, without what moves */
    CHECK(near(minimd_crystal_energy(lj, lj->density), -6.773368, 5e-7));
}

/* F gives the crystal the energy that it should have, and its slope the pressure: at densities between those
 * of the table, too. */
static void test_embedding(void)
{
    const double VALUE = 1e-8, SLOPE = 1e-6; /* eV: a cubic is off by the fourth power of a step, its slope by
                                                the third */
    const struct minimd_law *law = &minimd_copper;
    struct kernel_env env = {0};
    struct minimd_tables tables;
    CHECK(minimd_tables_make(&env, law, &tables) == 0);
    const struct minimd_table *table = &tables.embedding;
    for (double step = 0; step <= (double)table->steps; step += 20.48 * 0.77) {
        const double spread = table->first + step / table->per_unit, a = side_of(law, spread);
        const double density = MINIMD_FCC / (a * a * a);
        const double value =
            minimd_crystal_energy(law, density) - 0.5 * sum_sites(law->pair, a, law->cut, false);
        const double slope = (-3 * minimd_crystal_pressure(law, density) / density -
                              0.5 * sum_sites(law->pair_slope, a, law->cut, true)) /
                             sum_sites(law->spread_slope, a, law->cut, true);
        CHECK(near(minimd_embedding(table, spread, false), value, VALUE));
        CHECK(near(minimd_embedding(table, spread, true), slope, SLOPE));
    }
    minimd_tables_free(&tables);
}

/* What the original prints after 100 steps of boxes of 8, 16 and 32 cells: seven digits. */
static void test_the_trace_of_the_original(void)
{
    static const struct minimd_known printed[] = {{8, 7.202854e-01, -5.698504e+00, 6.538913e-01},
                                                  {16, 7.664122e-01, -5.772278e+00, 9.799079e-02},
                                                  {32, 8.200911e-01, -5.852702e+00, -1.873921e-01}};
    const double DIGITS = 5e-7;
    for (size_t i = 0; i < sizeof printed / sizeof printed[0]; ++i) {
        const struct minimd_known *is = &minimd_lj.known[i], *was = &printed[i];
        CHECK(is->cells == was->cells);
        CHECK(near(is->temperature, was->temperature, DIGITS * was->temperature));
        CHECK(near(is->energy, was->energy, DIGITS * fabs(was->energy)));
        CHECK(near(is->pressure, was->pressure, DIGITS * fabs(was->pressure)));
    }
}

int main(void)
{
    test_the_trace_of_the_original();
    test_a_crystal_of_pairs();
    test_embedding();
    return test_result();
}
