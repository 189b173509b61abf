/* What the interfaces of recorded hosts have moved: Ethernet, a bond of two, InfiniBand with two ports. */
#include "test.h"

#include "machine/interfaces.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char root[64];

/* A file below the root, with its folders. */
static void write_file(const char *path, const char *text)
{
    char command[512];
    snprintf(command, sizeof command, "mkdir -p \"$(dirname %s%s)\" && printf '%%s\\n' '%s' > %s%s", root,
             path, text, root, path);
    CHECK(system(command) == 0);
}

static void ethernet(const char *name, const char *speed, const char *rx, const char *tx)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/class/net/%s/operstate", name);
    write_file(path, "up");
    snprintf(path, sizeof path, "/sys/class/net/%s/statistics/rx_bytes", name);
    write_file(path, rx);
    snprintf(path, sizeof path, "/sys/class/net/%s/statistics/tx_bytes", name);
    write_file(path, tx);
    if (speed) {
        snprintf(path, sizeof path, "/sys/class/net/%s/speed", name);
        write_file(path, speed);
    }
}

static void check_one(const struct interface *one, const char *name, const char *kind, const char *state,
                      int64_t mbits, int64_t rx, int64_t tx)
{
    CHECK(strcmp(one->name, name) == 0 && strcmp(one->kind, kind) == 0 && strcmp(one->state, state) == 0);
    CHECK(one->mbits == mbits && one->rx_bytes == rx && one->tx_bytes == tx);
}

int main(void)
{
    struct interfaces found;
    strcpy(root, "/tmp/steelyard-interfaces-XXXXXX");
    CHECK(mkdtemp(root));
    interfaces_read(root, &found);
    CHECK(found.count == 0); /* a system without */
    ethernet("lo", NULL, "5", "5");
    ethernet("eth1", "100", "70", "80");
    ethernet("eth0", "1000", "1000000000000", "20");
    ethernet("tun0", "-1", "1", "2"); /* states no rate */
    ethernet("bond0", "1100", "1000000000070", "100");
    write_file("/sys/class/net/bond0/lower_eth0", "");
    write_file("/sys/class/net/bonding_masters", "bond0");
    write_file("/sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE");
    write_file("/sys/class/infiniband/mlx5_0/ports/1/rate", "200 Gb/sec (4X HDR)");
    write_file("/sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", "25");
    write_file("/sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data", "50");
    write_file("/sys/class/infiniband/mlx5_0/ports/2/state", "1: DOWN");
    write_file("/sys/class/infiniband/mlx5_0/ports/2/rate", "2.5 Gb/sec (1X SDR)");
    write_file("/sys/class/infiniband/mlx5_0/ports/2/counters/port_rcv_data", "0");
    write_file("/sys/class/infiniband/mlx5_0/ports/2/counters/port_xmit_data", "0");
    interfaces_read(root, &found);
    CHECK(found.count == 5);
    check_one(&found.of[0], "mlx5_0/1", "infiniband", "active", 200000, 100, 200);
    check_one(&found.of[1], "mlx5_0/2", "infiniband", "down", 2500, 0, 0);
    check_one(&found.of[2], "eth0", "net", "up", 1000, 1000000000000, 20);
    check_one(&found.of[3], "eth1", "net", "up", 100, 70, 80);
    check_one(&found.of[4], "tun0", "net", "up", -1, 1, 2);
    char command[128];
    snprintf(command, sizeof command, "rm -r %s", root);
    CHECK(system(command) == 0);
    return test_result();
}
