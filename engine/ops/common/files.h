/* The folder of a test case's files, which --files names: all that ops read and write is in it.
 *
 * The package gives a campaign a folder of its own in that of the user, by a name that no other has. Only a
 * folder that is ours alone is used, so that nobody can put a link in the place of a file. */
#ifndef OPS_COMMON_FILES_H
#define OPS_COMMON_FILES_H

#include "base/json.h"
#include "team/team.h"

#include <stddef.h>
#include <stdint.h>

enum { FILES_PATH_MAX = 4096, FILES_WORD_MAX = 64, FILES_OPTIONS_MAX = 256 };

/* What a folder is on. */
struct files_facts {
    char type[FILES_WORD_MAX];       /* "ext4" */
    char options[FILES_OPTIONS_MAX]; /* of its mount */
    int64_t free_bytes, total_bytes;
};

/* Make it where it is not there; a descriptor of it. `folder` NULL: --files was not given. Collective: no
 * rank goes on before all have removed the files of the test case before. ERR_UNSUPPORTED, ERR_SYSTEM. */
int files_open(const struct team *team, const char *folder, const char *op, int *descriptor);

/* Find what it is on; what the kernel does not tell is "" or -1. */
void files_look(int descriptor, struct files_facts *facts);

/* What is under a type of file system: "memory", "local", "network"; NULL: not known. */
const char *files_kind(const char *type);

/* Check that all ranks together, each with so many bytes, take at most FILES_SHARE of what is free there; as
 * if all of them wrote to one file system. Collective. ERR_UNSUPPORTED. */
enum { FILES_SHARE = 4 }; /* a quarter */
int files_room(const struct team *team, int descriptor, const char *folder, int64_t bytes);

/* "files": the folder and its facts. */
void files_describe(const char *folder, const struct files_facts *facts, struct json *j);

/* Open a file in the folder: a regular one that is new or was made by this test case. -1 and errno. */
int files_file(int descriptor, const char *name, int flags);

/* Why the file system takes no byte at an offset of such a file, by trying: an errno; 0: it takes one. */
int files_refusal(int descriptor, const char *name, int64_t offset);

/* Remove all that is in it. */
void files_clear(int descriptor);

/* Remove a campaign's folder with all its files; one that has another name, or is not ours, stays.
 * ERR_SYSTEM, ERR_INPUT. */
int files_remove(const char *folder);

/* Keep "CALL of FILE in FOLDER failed: why", with what to do. Returns ERR_SYSTEM. */
int files_failed(const char *call, const char *name, const char *folder, int error);

#endif
