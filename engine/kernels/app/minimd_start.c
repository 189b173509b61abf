/* How MiniMD begins: a face-centred cubic crystal, and velocities drawn by the numbers of atoms. */
#include "kernels/app/minimd.h"

#include "base/hash.h"

#include <math.h>

/* Sites have whole coordinates in halves of a cell, whose sum is even. Site 2c of a row of cells is its c-th
 * cell's corner. The brick's are those that minimd_brick() says are in it. */
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
                atoms->number[n++] = (double)((x * 2 * box->cells[Y] + y) * box->cells[Z] + z / 2);
            }
    atoms->own = n;
    atoms->ghosts = 0;
}

/* Coordinate d of an atom's velocity before it is scaled: whole, evenly between -2^15 and 2^15. */
static int64_t draw(double number, int d)
{
    enum { BITS = 16 };
    const uint64_t hash = hash_mix((uint64_t)number * GRID_DIMS + (uint64_t)d);
    return (int64_t)(hash >> (64 - BITS)) - (INT64_C(1) << (BITS - 1));
}

/* Sums of whole numbers are exact in any order: so all ranks find the same mean and the same scale, to the
 * last bit, however many they are. The mean goes, so that nothing drifts; the scale gives the temperature, of
 * which each atom but one has three halves. */
int minimd_heat(const struct kernel_env *env, const struct minimd_law *law, const struct minimd_box *box,
                struct minimd_atoms *atoms)
{
    int64_t sums[GRID_DIMS + 1] = {0}; /* of each coordinate, and of squares */
    for (int64_t i = 0; i < atoms->own; ++i)
        for (int d = 0; d < GRID_DIMS; ++d) {
            const int64_t drawn = draw(atoms->number[i], d);
            sums[d] += drawn;
            sums[GRID_DIMS] += drawn * drawn;
        }
    int err = comm_sum_ints(&env->comm, sums, GRID_DIMS + 1);
    const double count = (double)box->atoms;
    double mean[GRID_DIMS], squares = (double)sums[GRID_DIMS];
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
