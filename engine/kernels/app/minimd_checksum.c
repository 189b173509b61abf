/* Messages that show that they are whole. A wrong position of a ghost hardly shows in half lists, which pull
 * at both atoms of a pair alike. So each message ends with a seal: a sum of its bits that depends on their
 * order, and on how many messages there were, so that an old message is not taken for a new one. */
#include "kernels/app/app.h"
#include "kernels/app/minimd.h"

#include <string.h>

void minimd_seal(double *data, const int64_t *counts, const int64_t *slots, int links, int wide,
                 uint64_t turn)
{
    for (int i = 0; i < links; data += wide * slots[i++] + 1) {
        const uint64_t made = app_seal(data, wide * counts[i], turn);
        memcpy(data + wide * counts[i], &made, sizeof made);
    }
}

int minimd_check_seals(const double *data, const int64_t *counts, const int64_t *slots, const int *from,
                       int links, int wide, uint64_t turn)
{
    for (int i = 0; i < links; data += wide * slots[i++] + 1) {
        const uint64_t made = app_seal(data, wide * counts[i], turn);
        if (memcmp(data + wide * counts[i], &made, sizeof made) != 0)
            return err_say(ERR_WRONG, "app.minimd: a message of %lld atoms is not what rank %d has sent",
                           (long long)counts[i], from[i]);
    }
    return 0;
}
