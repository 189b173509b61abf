/* What the temperature must be. In the cube, whose side x = 1 is held at 1 and all others at 0, it is a sum
 * of waves across, that die away from the hot side (Carslaw and Jaeger, Conduction of Heat in Solids, 1959,
 * section 6.2):
 *
 *     u = sum over odd m, n of c_m c_n sin(m pi y) sin(n pi z) sinh(g x) / sinh(g),
 *     c_m = 4 / (m pi),  g = pi sqrt(m m + n n)
 *
 * On a mesh of equal boxes with sides hx, hy, hz the equations of the elements have the same solution with
 * other numbers: rows of trilinear elements are sums of products of one row along each axis,
 *
 *     K = (-1, 2, -1) / h  and  M = (1, 4, 1) h / 6,    Kx My Mz + Mx Ky Mz + Mx My Kz,
 *
 * whose eigenvectors across are sin(m pi j / n), with eigenvalues k = 4 s / h of K and (1 - 2 s / 3) h of M,
 * s = sin^2(m pi / 2 n). The hot side is a sum of n - 1 of them, with c_m = 2 / n cot(m pi / 2 n). Along x
 * stays (Kx + l Mx) X = 0, l the sum of k / m over y and z; so X_i is a sum of powers of q and 1 / q,
 *
 *     q + 1 / q = 2 (1 + t / 3) / (1 - t / 6),    t = l hx^2
 *
 * as it is of the cube with q = exp(-g hx). This is exact: the discretisation is in c and q. */
#include "kernels/app/minife.h"

#include "base/err.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

static const double PI = 3.14159265358979323846;
static const double NOTHING = DBL_EPSILON * DBL_EPSILON; /* of a wave that is left out */

/* As many as the cube has: shorter ones are below 1e-16 where it is compared, in the half that is farther
 * from the hot side: exp(-25 pi / 2). */
enum { BODY_WAVES = 12 };

/* Waves along y or z, the odd ones. */
struct waves {
    int64_t elements; /* of the box along it */
    int64_t first, own;
    int64_t count;
    double *c;    /* of each wave */
    double *rate; /* of each: the square of what it dies away by */
    double *sine; /* [wave][own node], times c */
};

static void wave_of(enum minife_law law, int64_t elements, int64_t m, double *c, double *rate)
{
    const double half = PI * (double)m / 2, n = (double)elements;
    if (law == MINIFE_BODY) {
        *c = 2 / half;
        *rate = 4 * half * half;
    } else {
        const double s = sin(half / n) * sin(half / n);
        *c = 2 / n / tan(half / n);
        *rate = 4 * s * n * n / (1 - 2 * s / 3);
    }
}

static int waves_open(enum minife_law law, const struct brick *b, int axis, struct waves *w)
{
    *w = (struct waves){.elements = b->whole[axis] - 1, .first = b->first[axis], .own = b->cells[axis]};
    w->count = law == MINIFE_BODY ? BODY_WAVES : w->elements / 2;
    w->c = calloc((size_t)w->count, sizeof *w->c);
    w->rate = calloc((size_t)w->count, sizeof *w->rate);
    w->sine = calloc((size_t)(w->count * w->own), sizeof *w->sine);
    if (!w->c || !w->rate || !w->sine)
        return err_say(ERR_NOMEM, "no memory for the solution of app.minife");
    for (int64_t i = 0; i < w->count; ++i) {
        const int64_t m = 2 * i + 1, turn = 2 * w->elements;
        wave_of(law, w->elements, m, &w->c[i], &w->rate[i]);
        for (int64_t j = 0; j < w->own; ++j)
            w->sine[i * w->own + j] =
                w->c[i] * sin(PI * (double)(m * (w->first + j) % turn) / (double)w->elements);
    }
    return 0;
}

static void waves_close(struct waves *w)
{
    free(w->c);
    free(w->rate);
    free(w->sine);
}

/* How much of a wave is left in layer i of `elements` along x. */
static double left_of(enum minife_law law, double rate, int64_t elements, int64_t i)
{
    const double h = 1 / (double)elements, t = rate * h * h;
    const double q = law == MINIFE_BODY ? exp(-sqrt(t)) : (1 - t / 6) / (1 + t / 3 + sqrt(t * (1 + t / 12)));
    return pow(q, (double)(elements - i)) * (1 - pow(q, 2.0 * (double)i)) /
           (1 - pow(q, 2.0 * (double)elements));
}

/* Layer x of the box: exact[z][y] = sum over n of sine_n(z) (sum over m of left sine_m(y)). */
static void add_waves(enum minife_law law, const struct waves *y, const struct waves *z, int64_t elements,
                      int64_t x, double *along, double *exact, int64_t stride)
{
    for (int64_t i = 0; i < z->own * y->own; ++i)
        exact[i * stride] = 0;
    for (int64_t n = 0; n < z->count; ++n) {
        for (int64_t j = 0; j < y->own; ++j)
            along[j] = 0;
        for (int64_t m = 0; m < y->count; ++m) {
            const double left = left_of(law, y->rate[m] + z->rate[n], elements, x);
            for (int64_t j = 0; j < y->own && fabs(left) > NOTHING; ++j)
                along[j] += left * y->sine[m * y->own + j];
        }
        for (int64_t k = 0; k < z->own; ++k)
            for (int64_t j = 0; j < y->own; ++j)
                exact[(k * y->own + j) * stride] += z->sine[n * z->own + k] * along[j];
    }
}

int minife_exact(const struct brick *b, enum minife_law law, double *exact)
{
    const int64_t elements = b->whole[BRICK_X] - 1, stride = b->cells[BRICK_X];
    struct waves y = {0}, z = {0};
    double *along = calloc((size_t)b->cells[BRICK_Y], sizeof *along);
    int err = along ? 0 : err_say(ERR_NOMEM, "no memory for the solution of app.minife");
    if (!err)
        err = waves_open(law, b, BRICK_Y, &y);
    if (!err)
        err = waves_open(law, b, BRICK_Z, &z);
    for (int64_t i = 0; i < stride && !err; ++i)
        if (law == MINIFE_MESH || minife_far(b, i))
            add_waves(law, &y, &z, elements, b->first[BRICK_X] + i, along, exact + i, stride);
    waves_close(&y);
    waves_close(&z);
    free(along);
    return err;
}

bool minife_far(const struct brick *b, int64_t i)
{
    return 2 * (b->first[BRICK_X] + i) <= b->whole[BRICK_X] - 1;
}

/* Those of free nodes, by the same waves. Each is linear in s of each axis: the least and the largest are
 * where these are. */
void minife_eigenvalues(const int64_t elements[GRID_DIMS], double *least, double *most)
{
    *least = INFINITY;
    *most = 0;
    for (int end = 0; end < 1 << GRID_DIMS; ++end) {
        double k[GRID_DIMS], m[GRID_DIMS];
        for (int d = 0; d < GRID_DIMS; ++d) {
            const double n = (double)elements[d], wave = end >> d & 1 ? n - 1 : 1;
            const double s = sin(PI * wave / 2 / n) * sin(PI * wave / 2 / n);
            k[d] = 4 * s * n;
            m[d] = (1 - 2 * s / 3) / n;
        }
        const double value = k[0] * m[1] * m[2] + m[0] * k[1] * m[2] + m[0] * m[1] * k[2];
        *least = fmin(*least, value);
        *most = fmax(*most, value);
    }
}
