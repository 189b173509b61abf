#include "base/system_time.h"

int64_t system_time_ns(clockid_t id)
{
    struct timespec now;
    return clock_gettime(id, &now) == 0 ? (int64_t)now.tv_sec * 1000000000 + now.tv_nsec : 0;
}
