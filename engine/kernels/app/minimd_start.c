/* How MiniMD begins: a face-centred cubic crystal, and velocities drawn by the numbers of atoms. Both are
 * those of the original, atom by atom: so what it prints after some steps is what atoms must have here. */
#include "kernels/app/minimd.h"

#include <math.h>

/* Sites have whole coordinates in halves of a cell, whose sum is even. An atom's number is that of its site
 * among all with whole coordinates, x fastest. The brick's are those that minimd_brick() says are in it. */
void minimd_place(const struct minimd_box *box, struct minimd_atoms *atoms)
{
    const double half = box->cell / 2;
    int64_t first[GRID_DIMS], end[GRID_DIMS], n = 0;
    for (int d = 0; d < GRID_DIMS; ++d) {
        first[d] = (int64_t)(box->low[d] / half) - 1;
        end[d] = (int64_t)(box->high[d] / half) + 2;
        first[d] = first[d] < 0 ? 0 : first[d];
        end[d] = end[d] > 2 * box->cells[d] ? 2 * box->cells[d] : end[d];
        while (first[d] < end[d] && minimd_brick(box, d, (double)first[d] * half) < box->at[d])
            ++first[d];
        while (first[d] < end[d] && minimd_brick(box, d, (double)(end[d] - 1) * half) > box->at[d])
            --end[d];
    }
    for (int64_t x = first[X]; x < end[X]; ++x)
        for (int64_t y = first[Y]; y < end[Y]; ++y)
            for (int64_t z = first[Z] + ((x + y + first[Z]) & 1); z < end[Z]; z += 2) {
                double *at = atoms->x + WIDE * n;
                at[X] = (double)x * half;
                at[Y] = (double)y * half;
                at[Z] = (double)z * half;
                at[WIDE - 1] = 0;
                atoms->number[n++] = (double)((z * 2 * box->cells[Y] + y) * 2 * box->cells[X] + x);
            }
    atoms->own = n;
    atoms->ghosts = 0;
}

/* Coordinate d of an atom's velocity before it is moved and scaled, below 2^31: a number of the minimal
 * standard generator (S. Park and K. Miller, Comm. ACM 31, 1988), x = 7^5 x mod 2^31 - 1. It begins with the
 * atom's number, counted from 1; every sixth is taken. */
static int64_t draw(double number, int d)
{
    const int64_t FACTOR = 16807, PRIME = INT32_MAX;
    enum { EVERY = 6 };
    int64_t x = ((int64_t)number + 1) % PRIME;
    for (int i = 0; i < EVERY * (d + 1); ++i)
        x = FACTOR * x % PRIME;
    return x;
}

/* Sums of whole numbers are exact in any order: so all ranks find the same mean and the same scale, to the
 * last bit, however many they are. Squares go in halves, whose sums over 2^31 atoms stay below 2^63. The mean
 * goes, so that nothing drifts; the scale gives the temperature, of which each atom but one has three halves.
 */
int minimd_heat(const struct kernel_env *env, const struct minimd_law *law, const struct minimd_box *box,
                struct minimd_atoms *atoms)
{
    enum { LOW = GRID_DIMS, HIGH, SUMS, HALF = 31 };
    int64_t sums[SUMS] = {0}; /* of each coordinate, and of squares */
    for (int64_t i = 0; i < atoms->own; ++i)
        for (int d = 0; d < GRID_DIMS; ++d) {
            const int64_t drawn = draw(atoms->number[i], d);
            sums[d] += drawn;
            sums[LOW] += drawn * drawn & INT32_MAX;
            sums[HIGH] += drawn * drawn >> HALF;
        }
    int err = comm_sum_ints(&env->comm, sums, SUMS);
    const double count = (double)box->atoms;
    double mean[GRID_DIMS], squares = ldexp((double)sums[HIGH], HALF) + (double)sums[LOW];
    for (int d = 0; d < GRID_DIMS; ++d) {
        mean[d] = (double)sums[d] / count;
        squares -= count * mean[d] * mean[d];
    }
    const double scale = sqrt(3 * (count - 1) * law->boltzmann * law->temperature / (law->mass * squares));
    for (int64_t i = 0; i < atoms->own; ++i) {
        for (int d = 0; d < GRID_DIMS; ++d)
            atoms->v[WIDE * i + d] = scale * ((double)draw(atoms->number[i], d) - mean[d]);
        atoms->v[WIDE * i + WIDE - 1] = 0;
    }
    return err;
}
