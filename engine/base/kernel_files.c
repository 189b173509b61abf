#include "base/kernel_files.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_MOST = 1024 };

static FILE *open_below(const char *root, const char *path)
{
    char whole[2 * CGROUP_FOLDER_MAX];
    const int length = snprintf(whole, sizeof whole, "%s%s", root, path);
    return length < (int)sizeof whole ? fopen(whole, "r") : NULL;
}

int64_t kernel_file_number(const char *root, const char *path, const char *key)
{
    FILE *file = open_below(root, path);
    char line[LINE_MOST];
    int64_t value = -1;
    while (file && value < 0 && fgets(line, sizeof line, file)) {
        const bool is_it = strncmp(line, key, strlen(key)) == 0;
        const char *at = is_it ? line + strlen(key) + strspn(line + strlen(key), " \t:") : "";
        if (*at >= '0' && *at <= '9')
            value = strtoll(at, NULL, 10);
    }
    if (file)
        fclose(file);
    return value;
}

/* Whether `word` stands in a list with commas between. */
static bool has_word(const char *list, const char *word)
{
    for (size_t length = strlen(word); *list; list += strcspn(list, ","), list += *list == ',')
        if (strncmp(list, word, length) == 0 && (list[length] == ',' || list[length] == '\0'))
            return true;
    return false;
}

/* From a line `hierarchy:controllers:path`, whose controllers are none in version 2. */
static bool cgroup_in(char *line, const char *controller, struct cgroup *out)
{
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path)
        return false;
    *path++ = '\0';
    out->version = *++controllers == '\0' ? 2 : 1;
    if (out->version == 1 && !has_word(controllers, controller))
        return false;
    out->top = snprintf(out->folder, sizeof out->folder, "/sys/fs/cgroup%s%s", out->version == 1 ? "/" : "",
                        out->version == 1 ? controller : "");
    const size_t room = sizeof out->folder - (size_t)out->top;
    return snprintf(out->folder + out->top, room, "%s", path) < (int)room;
}

int cgroups_of(const char *root, const char *controller, struct cgroup found[CGROUPS_MOST])
{
    FILE *file = open_below(root, "/proc/self/cgroup");
    char line[LINE_MOST];
    int count = 0;
    while (file && count < CGROUPS_MOST && fgets(line, sizeof line, file))
        count += cgroup_in(line, controller, &found[count]);
    if (file)
        fclose(file);
    return count;
}
