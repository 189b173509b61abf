/* What a process used between two readings: CPU time where it waits and where it works, events of a counter
 * that is shared, energy of recorded files. */
#include "test.h"

#include "base/work.h"
#include "machine/resource_use.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64];

static void write_line(const char *path, const char *line)
{
    char whole[256];
    snprintf(whole, sizeof whole, "%s%s", root, path);
    FILE *file = fopen(whole, "w");
    CHECK(file);
    if (file) {
        fprintf(file, "%s\n", line);
        fclose(file);
    }
}

static void make_folders(void)
{
    static const char *const folders[] = {"",
                                          "/sys",
                                          "/sys/class",
                                          "/sys/class/powercap",
                                          "/sys/class/powercap/intel-rapl:0",
                                          "/sys/class/powercap/intel-rapl:1",
                                          "/sys/class/powercap/intel-rapl:2"};
    strcpy(root, "/tmp/steelyard-used-XXXXXX");
    CHECK(mkdtemp(root));
    for (size_t i = 1; i < sizeof folders / sizeof folders[0]; ++i) {
        char whole[256];
        snprintf(whole, sizeof whole, "%s%s", root, folders[i]);
        CHECK(mkdir(whole, 0700) == 0);
    }
}

/* A host as two packages of it show themselves, of which one counter begins anew, beside the whole platform.
 */
static void test_energy(void)
{
    struct fake_clock fake = fake_clock(10, 1);
    struct used_meter meter;
    struct used used;
    make_folders();
    used_open(root, &meter);
    used_begin(&meter, &fake.clock);
    used_end(&meter, &fake.clock, &used);
    CHECK(used.value[USED_ENERGY_UJ] == -1); /* a host without */
    write_line("/sys/class/powercap/intel-rapl:0/name", "package-0");
    write_line("/sys/class/powercap/intel-rapl:1/name", "psys");
    write_line("/sys/class/powercap/intel-rapl:2/name", "package-1");
    write_line("/sys/class/powercap/intel-rapl:0/energy_uj", "1000");
    write_line("/sys/class/powercap/intel-rapl:1/energy_uj", "1000");
    write_line("/sys/class/powercap/intel-rapl:2/energy_uj", "9000");
    write_line("/sys/class/powercap/intel-rapl:2/max_energy_range_uj", "9999");
    used_begin(&meter, &fake.clock);
    write_line("/sys/class/powercap/intel-rapl:0/energy_uj", "1500");
    write_line("/sys/class/powercap/intel-rapl:1/energy_uj", "5000");
    write_line("/sys/class/powercap/intel-rapl:2/energy_uj", "200");
    used_end(&meter, &fake.clock, &used);
    CHECK(used.value[USED_ENERGY_UJ] == 500 + 9999 - 9000 + 200 && used.value[USED_TOOK_NS] == 10);
    used_close(&meter);
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", root);
    CHECK(system(command) == 0);
}

/* What the kernel gives at two readings: a count, the time for which it was asked and that in which it was
 * counted. */
static void test_events(void)
{
    static const struct {
        int64_t readings[2][3];
        int given;
        int64_t counted;
    } rows[] = {
        {{{100, 10, 10}, {300, 20, 20}}, 2, 200},
        {{{100, 10, 10}, {300, 20, 15}}, 2, -1}, /* others had the counter meanwhile */
        {{{0, 10, 0}, {0, 20, 0}}, 2, -1},       /* and all the time */
        {{{100, 10, 10}}, 1, -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; ++i) {
        struct fake_clock fake = fake_clock(10, 1);
        struct used_meter meter = {.root = ""};
        struct used used;
        int ends[2];
        CHECK(pipe(ends) == 0);
        const size_t bytes = (size_t)rows[i].given * sizeof rows[i].readings[0];
        CHECK(write(ends[1], rows[i].readings, bytes) == (ssize_t)bytes);
        close(ends[1]);
        meter.events[0] = ends[0];
        used_begin(&meter, &fake.clock);
        used_end(&meter, &fake.clock, &used);
        CHECK(used.value[USED_CYCLES] == rows[i].counted);
        used_close(&meter);
    }
}

/* Work takes CPU time, sleep none of it and a switch. */
static void test_time(void)
{
    struct fake_clock fake = fake_clock(10, 1);
    struct used_meter meter;
    struct used slept, worked;
    used_open("", &meter);
    used_begin(&meter, &fake.clock);
    usleep(2000);
    used_end(&meter, &fake.clock, &slept);
    CHECK(slept.value[USED_VOLUNTARY] >= 1);
    used_begin(&meter, &fake.clock);
    CHECK(work_do(1, 10000000) != 0); /* some 10 ms at least */
    used_end(&meter, &fake.clock, &worked);
    const int64_t work_ns = worked.value[USED_USER_NS] + worked.value[USED_SYSTEM_NS];
    CHECK(work_ns > 1000000 && slept.value[USED_USER_NS] + slept.value[USED_SYSTEM_NS] < work_ns);
    for (int i = 0; i < USED_EVENTS; ++i) /* a machine without them says nothing */
        CHECK(worked.value[USED_CYCLES + i] == -1 || worked.value[USED_CYCLES + i] >= 0);
    used_close(&meter);
}

int main(void)
{
    test_energy();
    test_events();
    test_time();
    return test_result();
}
