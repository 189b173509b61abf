/* The words of the ways in which ranks exchange data. */
#include "comm/comm.h"

#include <string.h>

const char *const comm_backs[COMM_BACKS + 1] = {
    [COMM_NONBLOCKING] = "nonblocking",
    [COMM_BLOCKING] = "blocking",
    [COMM_PERSISTENT] = "persistent",
    [COMM_SIGNAL] = "signal",
    [COMM_NEIGHBOUR] = "neighbour",
    [COMM_PARTITIONED] = "partitioned",
    [COMM_FENCE] = "fence",
    [COMM_PSCW] = "pscw",
    [COMM_LOCK] = "lock",
    [COMM_FLUSH] = "flush",
    [COMM_COLLECTIVE] = "collective",
    [COMM_ICOLLECTIVE] = "icollective",
    [COMM_PCOLLECTIVE] = "pcollective",
};

enum comm_back comm_back_of(const char *word)
{
    int back = 0;
    while (back < COMM_BACKS - 1 && strcmp(comm_backs[back], word) != 0)
        ++back;
    return (enum comm_back)back;
}
