#define _GNU_SOURCE
#include "test.h"

#include "base/binding.h"
#include "base/err.h"
#include "base/gate.h"
#include "base/pool.h"
#include "base/yield.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum { LANES = 3, ROUNDS = 1000, MEETINGS = 60 };

struct tally {
    atomic_int of_lane[LANES];
};

static void count(void *arg, int lane)
{
    atomic_fetch_add(&((struct tally *)arg)->of_lane[lane], 1);
}

static void test_rounds(void)
{
    struct tally tally = {0};
    struct pool *pool = NULL;
    CHECK(pool_open(LANES, &pool) == 0);
    for (int round = 1; round <= ROUNDS; ++round) {
        pool_run(pool, count, &tally);
        for (int lane = 0; lane < LANES; ++lane) /* all are done when pool_run returns */
            CHECK(atomic_load(&tally.of_lane[lane]) == round);
    }
    pool_close(pool);
    CHECK(pool_open(1, &pool) == 0);
    pool_run(pool, count, &tally);
    CHECK(atomic_load(&tally.of_lane[0]) == ROUNDS + 1);
    pool_close(pool);
}

/* ---- gates ------------------------------------------------------------------------------------------- */

struct meeting {
    struct gate gate;
    int64_t sum; /* lane 0 alone changes it, between two gates */
    int wrong[LANES], why[LANES];
    int leaves; /* after so many rounds lane 0 comes no more; 0: it does not leave */
};

static void meet(void *arg, int lane)
{
    struct meeting *m = arg;
    for (int64_t round = 1; round <= MEETINGS && !m->why[lane]; ++round) {
        if (lane == 0 && m->leaves == round) {
            gate_break(&m->gate, 7);
            gate_break(&m->gate, 8);
            m->why[lane] = 7;
            return;
        }
        if (lane == 0)
            ++m->sum;
        m->why[lane] = gate_wait(&m->gate);
        if (!m->why[lane])
            m->wrong[lane] += m->sum != round;
        if (!m->why[lane])
            m->why[lane] = gate_wait(&m->gate);
    }
}

static void test_gate(void)
{
    struct pool *pool = NULL;
    CHECK(pool_open(LANES, &pool) == 0);
    for (int leaves = 0; leaves <= MEETINGS; leaves += MEETINGS / 2) {
        struct meeting m = {.leaves = leaves};
        gate_open(&m.gate, LANES);
        pool_run(pool, meet, &m);
        CHECK(m.sum == (leaves ? leaves - 1 : MEETINGS));
        for (int lane = 0; lane < LANES; ++lane) {
            CHECK(m.wrong[lane] == 0);
            CHECK(m.why[lane] == (leaves ? 7 : 0));
        }
    }
    pool_close(pool);
}

static void test_yields(void)
{
    int64_t before = yield_count();
    CHECK(sched_yield() == 0);
    CHECK(sched_yield() == 0);
    CHECK(yield_count() - before == 2);
    yield_disable();
    CHECK(sched_yield() == 0 && yield_disabled());
    CHECK(yield_count() - before == 3);
}

/* ---- where lanes are --------------------------------------------------------------------------------- */

struct seen {
    char cpus[LANES][128];
};

static void look(void *arg, int lane)
{
    binding_allowed(((struct seen *)arg)->cpus[lane], sizeof((struct seen *)arg)->cpus[lane]);
}

static int first_cpu(void)
{
    cpu_set_t set;
    int cpu = 0;
    CHECK(sched_getaffinity(0, sizeof set, &set) == 0);
    while (!CPU_ISSET((size_t)cpu, &set))
        ++cpu;
    return cpu;
}

static void test_lanes_are_where_they_were_asked_to_be(void)
{
    struct seen seen;
    struct pool *pool = NULL;
    char before[128], after[128], one[16];
    int cpu = first_cpu();
    snprintf(one, sizeof one, "%d", cpu);
    binding_allowed(before, sizeof before);
    CHECK(pool_open_on(LANES, (const int[]){cpu, -1, cpu}, &pool) == 0);
    pool_run(pool, look, &seen);
    CHECK(strcmp(seen.cpus[0], one) == 0);
    CHECK(strcmp(seen.cpus[1], before) == 0);
    CHECK(strcmp(seen.cpus[2], one) == 0);
    pool_close(pool);
    binding_allowed(after, sizeof after);
    CHECK(strcmp(after, before) == 0);
    CHECK(pool_open_on(2, (const int[]){cpu, CPU_SETSIZE - 1}, &pool) == ERR_INPUT);
    binding_allowed(after, sizeof after);
    CHECK(strcmp(after, before) == 0);
    CHECK(binding_refused() == NULL);
}

static void test_lists_that_are_none(void)
{
    static const char *const wrong[] = {"",   ",",   "0,",  ",0",  "x",   "0x", "-1",
                                        "0-", "1-0", "0;1", "0 1", "0/x", "/",  "0,9999"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; ++i)
        CHECK(binding_set(wrong[i], 1) == ERR_INPUT);
    CHECK(binding_set("0/0", 2) == ERR_INPUT); /* there are but two ranks */
    CHECK(!binding_is_set());
    CHECK(binding_set("0/1", -1) == 0); /* whose they are is not known yet */
    CHECK(!binding_is_set());
}

static void test_a_list_places_lanes_in_its_order(void)
{
    struct seen seen;
    struct pool *pool = NULL;
    char text[64], one[16], after[128];
    int cpu = first_cpu();
    snprintf(one, sizeof one, "%d", cpu);
    snprintf(text, sizeof text, "%d,%d/%d,%d", CPU_SETSIZE - 1, cpu, cpu, cpu);
    CHECK(binding_set(text, 0) == ERR_INPUT); /* there is no such CPU */
    CHECK(binding_set(text, 1) == 0);
    CHECK(binding_is_set());
    CHECK(binding_cpu(0) == cpu && binding_cpu(1) == cpu && binding_cpu(2) == -1);
    CHECK(pool_open(LANES, &pool) == 0);
    pool_run(pool, look, &seen);
    for (int lane = 0; lane < LANES; ++lane)
        CHECK(strcmp(seen.cpus[lane], one) == 0);
    pool_close(pool);
    binding_allowed(after, sizeof after);
    CHECK(strcmp(after, one) == 0);
}

int main(void)
{
    test_rounds();
    test_gate();
    test_lanes_are_where_they_were_asked_to_be();
    test_lists_that_are_none();
    test_a_list_places_lanes_in_its_order();
    test_yields();
    return test_result();
}
