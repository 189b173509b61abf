#define _GNU_SOURCE
#include "ops/common/files.h"

#include "base/err.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <unistd.h>

int files_failed(const char *call, const char *name, const char *folder, int error)
{
    const char *remedy = error == ENOSPC || error == EDQUOT ? "; make room there, or give smaller --bytes"
                         : error == EFBIG                   ? "; see ulimit -f, or give smaller --bytes"
                         : error == EROFS || error == EACCES || error == EPERM
                             ? "; give --files a folder that can be written"
                         : error == EINVAL ? "; this file system may not do that"
                                           : "";
    return err_say(ERR_SYSTEM, "%s of %s in %.100s failed: %s%s", call, name, folder, strerror(error),
                   remedy);
}

/* Nobody but this user can put anything into it. */
static bool is_ours(int descriptor)
{
    struct stat stat;
    return fstat(descriptor, &stat) == 0 && stat.st_uid == geteuid() && !(stat.st_mode & (S_IWGRP | S_IWOTH));
}

static int folder_open(const char *folder)
{
    return open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

int files_open(const struct team *team, const char *folder, const char *op, int *descriptor)
{
    *descriptor = -1;
    signal(SIGXFSZ,
           SIG_IGN); /* a limit on the size of files (ulimit -f) is an error of the call then: EFBIG */
    const int met = team_barrier(team);
    if (met)
        return met;
    if (!folder)
        return err_say(ERR_UNSUPPORTED, "%s needs a folder for its files; give one with --files", op);
    if (mkdir(folder, S_IRWXU) != 0 && errno != EEXIST)
        return files_failed("mkdir", "a folder", folder, errno);
    *descriptor = folder_open(folder);
    if (*descriptor < 0)
        return files_failed("open", "the folder", folder, errno);
    if (is_ours(*descriptor))
        return 0;
    close(*descriptor);
    *descriptor = -1;
    return err_say(ERR_SYSTEM, "%.150s is not a folder of this user alone; give --files another", folder);
}

/* The line of a mount: numbers, device, root, place, options, ..., "-", type, source, options of the file
 * system (proc(5), mountinfo). */
static bool read_mount(char *line, unsigned major_of, unsigned minor_of, struct files_facts *facts)
{
    unsigned major_here = 0, minor_here = 0;
    if (sscanf(line, "%*d %*d %u:%u", &major_here, &minor_here) != 2 || major_here != major_of ||
        minor_here != minor_of)
        return false;
    char *own = strstr(line, " - "), options[FILES_OPTIONS_MAX] = "", more[FILES_OPTIONS_MAX] = "";
    if (!own || sscanf(line, "%*d %*d %*s %*s %*s %255s", options) != 1 ||
        sscanf(own + 3, "%63s %*s %255s", facts->type, more) < 1)
        return false;
    snprintf(facts->options, sizeof facts->options, "%.120s%s%.120s", options, more[0] ? "," : "", more);
    return true;
}

void files_look(int descriptor, struct files_facts *facts)
{
    struct stat stat;
    struct statvfs space;
    *facts = (struct files_facts){.free_bytes = -1, .total_bytes = -1};
    if (fstatvfs(descriptor, &space) == 0) {
        facts->free_bytes = (int64_t)(space.f_bavail * space.f_frsize);
        facts->total_bytes = (int64_t)(space.f_blocks * space.f_frsize);
    }
    FILE *mounts = fstat(descriptor, &stat) == 0 ? fopen("/proc/self/mountinfo", "r") : NULL;
    char *line = NULL;
    size_t room = 0;
    bool found = false;
    while (mounts && !found && getline(&line, &room, mounts) > 0)
        found = read_mount(line, major(stat.st_dev), minor(stat.st_dev), facts);
    free(line);
    if (mounts)
        fclose(mounts);
}

const char *files_kind(const char *type)
{
    static const struct {
        const char *kind, *types[24];
    } kinds[] = {
        {"memory", {"tmpfs", "ramfs", "hugetlbfs", "devtmpfs"}},
        {"local",
         {"ext2", "ext3", "ext4", "xfs", "btrfs", "zfs", "f2fs", "jfs", "reiserfs", "bcachefs", "vfat",
          "exfat", "ntfs", "ntfs3", "fuseblk", "nilfs2"}},
        {"network", {"nfs",      "nfs4",      "cifs",           "smb3",       "smbfs", "lustre",   "gpfs",
                     "beegfs",   "ceph",      "fuse.ceph",      "afs",        "gfs2",  "ocfs2",    "pvfs2",
                     "orangefs", "glusterfs", "fuse.glusterfs", "fuse.sshfs", "9p",    "virtiofs", "panfs",
                     "wekafs",   "fuse.daos"}},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i)
        for (const char *const *known = kinds[i].types; *known; ++known)
            if (strcmp(type, *known) == 0)
                return kinds[i].kind;
    return NULL;
}

int files_room(const struct team *team, int descriptor, const char *folder, int64_t bytes)
{
    struct files_facts facts;
    int64_t most = bytes;
    int err = team_max(team, &most);
    files_look(descriptor, &facts);
    const int64_t wanted = most * team->size;
    if (err || facts.free_bytes < 0 || wanted <= facts.free_bytes / FILES_SHARE)
        return err;
    return err_say(
        ERR_UNSUPPORTED,
        "%lld bytes of files are more than a quarter of the %lld that are free in %.100s; make room there, "
        "or give smaller --bytes",
        (long long)wanted, (long long)facts.free_bytes, folder);
}

void files_describe(const char *folder, const struct files_facts *facts, struct json *j)
{
    json_open(j, "files", '{');
    json_string(j, "folder", folder);
    json_string(j, "type", facts->type[0] ? facts->type : NULL);
    json_string(j, "kind", files_kind(facts->type));
    json_string(j, "options", facts->options[0] ? facts->options : NULL);
    if (facts->free_bytes >= 0) {
        json_int(j, "free_bytes", facts->free_bytes);
        json_int(j, "total_bytes", facts->total_bytes);
    }
    json_close(j, '}');
}

int files_file(int descriptor, const char *name, int flags)
{
    return openat(descriptor, name, flags | O_NOFOLLOW | O_CLOEXEC, S_IRUSR | S_IWUSR);
}

int files_refusal(int descriptor, const char *name, int64_t offset)
{
    const int file = files_file(descriptor, name, O_WRONLY);
    const int error = file < 0 || pwrite(file, "", 1, (off_t)offset) < 0 ? errno : 0;
    if (file >= 0)
        close(file);
    return error;
}

/* Remove what a name in the folder means: a file, or a folder with all that is in it. */
static void remove_entry(int folder, const char *name)
{
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || unlinkat(folder, name, 0) == 0)
        return;
    const int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (inner < 0)
        return;
    files_clear(inner);
    close(inner);
    unlinkat(folder, name, AT_REMOVEDIR);
}

void files_clear(int descriptor)
{
    const int copy = openat(descriptor, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *listing = copy >= 0 ? fdopendir(copy) : NULL;
    for (struct dirent *entry; listing && (entry = readdir(listing));)
        remove_entry(descriptor, entry->d_name);
    if (listing)
        closedir(listing);
    else if (copy >= 0)
        close(copy);
}

int files_remove(const char *folder)
{
    static const char prefix[] = "steelyard-files-";
    const char *slash = strrchr(folder, '/'), *last = slash ? slash + 1 : folder;
    if (strncmp(last, prefix, sizeof prefix - 1) != 0)
        return err_say(ERR_INPUT, "%.150s is not named %s... as a campaign's folder of files is; it stays",
                       folder, prefix);
    const int descriptor = folder_open(folder);
    if (descriptor < 0)
        return errno == ENOENT ? 0 : files_failed("open", "the folder", folder, errno);
    const bool ours = is_ours(descriptor);
    if (ours)
        files_clear(descriptor);
    close(descriptor);
    if (!ours)
        return err_say(ERR_INPUT, "%.150s is not a folder of this user alone; it stays", folder);
    return rmdir(folder) == 0 || errno == ENOENT ? 0 : files_failed("rmdir", "the folder", folder, errno);
}
