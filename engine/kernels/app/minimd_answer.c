/* What MiniMD measures of its atoms, and what it must be. Energies and the virial are found anew, from the
 * laws themselves, by other loops than those that are timed: so a wrong force shows as energy that is not
 * kept, and a wrong message as momentum that is not, since what two atoms do to each other is opposite and
 * equal. */
#include "kernels/app/app.h"
#include "kernels/app/minimd.h"

#include "base/hash.h"

#include <float.h>
#include <math.h>

/* ---- measuring -------------------------------------------------------------------------------------------
 */

/* Sums over atoms: kinetic and potential energy, the virial, pairs, of momentum each coordinate and what each
 * atom has of it. */
enum { KINETIC, POTENTIAL, VIRIAL, PAIRS, MOMENTUM, MOVING = MOMENTUM + GRID_DIMS, SUMS };

static void add_motion(const struct minimd *s, double sums[SUMS])
{
    const double mass = s->law->mass;
    for (int64_t i = 0; i < s->atoms.own; ++i) {
        const double *v = s->atoms.v + WIDE * i;
        const double square = v[X] * v[X] + v[Y] * v[Y] + v[Z] * v[Z];
        sums[KINETIC] += 0.5 * mass * square;
        sums[MOVING] += mass * sqrt(square);
        for (int d = 0; d < GRID_DIMS; ++d)
            sums[MOMENTUM + d] += mass * v[d];
    }
}

/* Half of each pair in full lists, for each of its atoms. */
static void add_pairs(const struct minimd *s, double sums[SUMS])
{
    const struct minimd_law *law = s->law;
    const struct minimd_atoms *a = &s->atoms;
    const double share = s->lists.half ? 1 : 0.5;
    for (int64_t i = 0; i < a->own; ++i)
        for (int64_t k = s->lists.start[i]; k < s->lists.end[i]; ++k) {
            const double *x = a->x + WIDE * i, *y = a->x + WIDE * (int64_t)s->lists.entry[k];
            const double dx = x[X] - y[X], dy = x[Y] - y[Y], dz = x[Z] - y[Z];
            const double r = sqrt(dx * dx + dy * dy + dz * dz);
            if (!(r < law->cut))
                continue;
            double slope = law->pair_slope(r);
            if (law->embedded)
                slope += (a->slope[i] + a->slope[s->lists.entry[k]]) * law->spread_slope(r);
            sums[POTENTIAL] += share * law->pair(r);
            sums[VIRIAL] -= share * slope * r;
            sums[PAIRS] += share;
        }
    for (int64_t i = 0; i < a->own && law->embedded; ++i)
        sums[POTENTIAL] += minimd_embedding(&s->force.tables.embedding, a->density[i], false);
}

int minimd_measure(const struct minimd *s, struct minimd_state *state)
{
    const struct minimd_law *law = s->law;
    const struct minimd_box *box = &s->box;
    const double atoms = (double)box->atoms, volume = box->length[X] * box->length[Y] * box->length[Z];
    double sums[SUMS] = {0};
    add_motion(s, sums);
    add_pairs(s, sums);
    int64_t *const who = state->who;
    who[0] = s->atoms.own;
    who[1] = 0;
    for (int64_t i = 0; i < s->atoms.own; ++i)
        who[1] += (int64_t)(hash_mix((uint64_t)s->atoms.number[i]) >> 33);
    int err = comm_sum(&s->env->comm, sums, SUMS);
    err = err ? err : comm_sum_ints(&s->env->comm, who, 2);
    state->temperature = 2 * sums[KINETIC] / (3 * (atoms - 1) * law->boltzmann);
    state->energy = sums[POTENTIAL] / atoms;
    state->pressure = (2 * sums[KINETIC] + sums[VIRIAL]) / (3 * volume) * law->pressure_unit;
    state->kept = (sums[KINETIC] + sums[POTENTIAL] - sums[PAIRS] * law->pair(law->cut)) / atoms;
    state->momentum = 0;
    for (int d = 0; d < GRID_DIMS; ++d)
        state->momentum = fmax(state->momentum, fabs(sums[MOMENTUM + d]) / (sums[MOVING] / atoms));
    return err;
}

/* ---- judging ---------------------------------------------------------------------------------------------
 */

/* A value, what it must be, and how far it may be off. */
struct claim {
    const char *what;
    double value, expected, allowed;
};

static int check_claims(const struct minimd *s, const struct claim *claims, int count)
{
    for (const struct claim *c = claims; c < claims + count; ++c)
        if (!(fabs(c->value - c->expected) <= c->allowed)) /* and not a number is wrong too */
            return err_say(ERR_WRONG,
                           "%s potential=%s: %s is %.14g, expected %.14g: off by %.2g, allowed are %.2g",
                           s->env->kernel->name, s->law->name, c->what, c->value, c->expected,
                           fabs(c->value - c->expected), c->allowed);
    return 0;
}

/* The crystal's energy and pressure are known, but for what tables and sums round. */
static int judge_start(const struct minimd *s)
{
    const double CRYSTAL = 1e-7, ROUNDING = 1e-11;
    const struct minimd_law *law = s->law;
    const double t = law->temperature, energy = minimd_crystal_energy(law, law->density);
    const double gas = law->density * law->boltzmann * t * (1 - 1 / (double)s->box.atoms);
    const double pressure = (minimd_crystal_pressure(law, law->density) + gas) * law->pressure_unit;
    const struct claim claims[] = {
        {"the number of atoms at the start", (double)s->start.who[0], (double)s->box.atoms, 0},
        {"the temperature at the start", s->start.temperature, t, ROUNDING * t},
        {"the energy of an atom at the start", s->start.energy, energy, CRYSTAL * fabs(energy)},
        {"the pressure at the start", s->start.pressure, pressure, CRYSTAL * fabs(pressure)},
    };
    return check_claims(s, claims, sizeof claims / sizeof claims[0]);
}

/* What rounding may make of the momentum of all, in units of an atom's. A force is rounded apart on each of
 * two atoms, which adds up as a random walk does; and the sum over all atoms is rounded. About a hundredth of
 * this is seen. */
static double momentum_allowed(double atoms, double steps)
{
    const double WALK = 100, SUM = 2;
    return DBL_EPSILON * (WALK * sqrt(atoms * steps) + SUM * atoms);
}

/* Energy is kept but for what steps are too long (a 9000th of an atom's first kinetic energy in 100 steps,
 * more in boxes of few atoms), and for pairs that come nearer than the cut-off before lists are made anew. */
static int judge_kept(const struct minimd *s, const struct minimd_state *now)
{
    const double ENERGY_OFF = 1e-3, IN_STEPS = 100, steps = (double)s->steps;
    const double heat = 1.5 * s->law->boltzmann * s->law->temperature;
    const struct claim claims[] = {
        {"the number of atoms", (double)now->who[0], (double)s->box.atoms, 0},
        {"a sum of the numbers of atoms", (double)now->who[1], (double)s->start.who[1], 0},
        {"the momentum of all, in units of an atom's,", now->momentum, 0,
         momentum_allowed((double)s->box.atoms, steps)},
        {"kinetic and potential energy of an atom", now->kept, s->start.kept,
         ENERGY_OFF * heat * fmax(1, steps / IN_STEPS)},
    };
    return check_claims(s, claims, sizeof claims / sizeof claims[0]);
}

/* Some boxes are known after 100 steps. What sums in another order round grows as time goes on, but only by a
 * factor of thousands until then. */
static int judge_known(const struct minimd *s, const struct minimd_state *now)
{
    const double SAME = APP_ALIKE;
    const int64_t STEPS = MINIMD_KNOWN_STEPS, EVERY = 20, *cells = s->box.cells;
    const struct minimd_known *known = s->law->known;
    while (known->cells && known->cells != cells[X])
        ++known;
    if (!known->cells || cells[X] != cells[Y] || cells[Y] != cells[Z] || s->steps != STEPS ||
        s->every != EVERY)
        return 0;
    const struct claim claims[] = {
        {"the temperature after 100 steps", now->temperature, known->temperature, SAME * known->temperature},
        {"the energy of an atom after 100 steps", now->energy, known->energy, SAME * fabs(known->energy)},
        {"the pressure after 100 steps", now->pressure, known->pressure, SAME * fabs(known->pressure)},
    };
    return check_claims(s, claims, sizeof claims / sizeof claims[0]);
}

int minimd_judge(const struct minimd *s, struct minimd_state *now)
{
    int err = minimd_measure(s, now);
    err = err ? err : judge_start(s);
    err = err ? err : judge_kept(s, now);
    return err ? err : judge_known(s, now);
}
