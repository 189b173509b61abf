#define _GNU_SOURCE
#include "base/libraries.h"

#include "base/hash.h"
#include "base/json.h"

#include <inttypes.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { ID_MOST = 32, NOTE_ALIGN = 4 }; /* bytes of a build id: SHA-1 has 20 */

struct build_id {
    unsigned char bytes[ID_MOST];
    size_t length; /* 0: there is none */
};

static size_t aligned(size_t length)
{
    return (length + NOTE_ALIGN - 1) / NOTE_ALIGN * NOTE_ALIGN;
}

/* The build id among the notes of a segment. */
static void read_notes(const char *at, size_t length, struct build_id *id)
{
    ElfW(Nhdr) note;
    while (length >= sizeof note) {
        memcpy(&note, at, sizeof note);
        const size_t name = sizeof note, value = name + aligned(note.n_namesz);
        const size_t end = value + aligned(note.n_descsz);
        if (end > length)
            return;
        if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof "GNU" &&
            memcmp(at + name, "GNU", sizeof "GNU") == 0 && note.n_descsz <= ID_MOST) {
            memcpy(id->bytes, at + value, note.n_descsz);
            id->length = note.n_descsz;
            return;
        }
        at += end;
        length -= end;
    }
}

static struct build_id read_id(const struct dl_phdr_info *loaded)
{
    struct build_id id = {.length = 0};
    for (int i = 0; i < loaded->dlpi_phnum && id.length == 0; ++i) {
        const ElfW(Phdr) *segment = &loaded->dlpi_phdr[i];
        if (segment->p_type == PT_NOTE)
            read_notes((const char *)(loaded->dlpi_addr + segment->p_vaddr), segment->p_memsz, &id);
    }
    return id;
}

/* The kernel's own part of a process is no file; its build id is the kernel's. */
static bool is_file(const struct dl_phdr_info *loaded)
{
    return strncmp(loaded->dlpi_name, "linux-vdso", strlen("linux-vdso")) != 0;
}

struct listing {
    struct json *j;
    struct build_id last; /* of what was written last */
};

static bool is_same(const struct build_id *a, const struct build_id *b)
{
    return a->length > 0 && a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
}

/* A library has megabytes, and a launch begins when they are through: a word takes five cycles. */
static uint64_t hash_on(uint64_t hash, const unsigned char *bytes, size_t length)
{
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t word;
    for (; length >= sizeof word; bytes += sizeof word, length -= sizeof word) {
        memcpy(&word, bytes, sizeof word);
        hash = (hash ^ word) * factor;
        hash = hash << 29 | hash >> 35;
    }
    word = length;
    memcpy(&word, bytes, length);
    return hash_mix(hash ^ word);
}

/* What is hashed nobody can have written to since it was loaded. */
static uint64_t hash_of_contents(const struct dl_phdr_info *loaded)
{
    uint64_t hash = 0;
    for (int i = 0; i < loaded->dlpi_phnum; ++i) {
        const ElfW(Phdr) *segment = &loaded->dlpi_phdr[i];
        if (segment->p_type == PT_LOAD && (segment->p_flags & (PF_R | PF_W)) == PF_R)
            hash = hash_on(hash, (const unsigned char *)(loaded->dlpi_addr + segment->p_vaddr),
                           segment->p_filesz);
    }
    return hash;
}

/* A simulator loads a copy of the program for each rank, one after the other: the first one is listed. */
static int write_one(struct dl_phdr_info *loaded, size_t size, void *data)
{
    static const char digits[] = "0123456789abcdef";
    struct listing *listing = data;
    struct json *j = listing->j;
    char text[2 * ID_MOST + 1] = "";
    (void)size;
    const struct build_id id = read_id(loaded);
    if (!is_file(loaded) || is_same(&id, &listing->last))
        return 0;
    listing->last = id;
    for (size_t i = 0; i < id.length; ++i) {
        text[2 * i] = digits[id.bytes[i] >> 4];
        text[2 * i + 1] = digits[id.bytes[i] & 15];
    }
    json_open(j, NULL, '{');
    json_string(j, "path", loaded->dlpi_name);
    json_string(j, "build_id", id.length > 0 ? text : NULL);
    if (id.length == 0) {
        snprintf(text, sizeof text, "%016" PRIx64, hash_of_contents(loaded));
        json_string(j, "hash", text);
    }
    json_close(j, '}');
    return 0;
}

static uint64_t hash_of(const struct dl_phdr_info *loaded)
{
    const struct build_id id = read_id(loaded);
    return id.length > 0 ? hash_on(0, id.bytes, id.length) : hash_of_contents(loaded);
}

/* The order in which libraries were loaded may differ: numbers are added up. */
static int add_one(struct dl_phdr_info *loaded, size_t size, void *data)
{
    uint64_t *sum = data;
    (void)size;
    *sum += is_file(loaded) ? hash_of(loaded) : 0;
    return 0;
}

/* The program is the first. */
static int take_first(struct dl_phdr_info *loaded, size_t size, void *data)
{
    uint64_t *hash = data;
    (void)size;
    *hash = hash_of(loaded);
    return 1;
}

void libraries_json(struct json *j, const char *key)
{
    json_open(j, key, '[');
    dl_iterate_phdr(write_one, &(struct listing){.j = j});
    json_close(j, ']');
}

uint64_t libraries_hash(void)
{
    uint64_t sum = 0;
    dl_iterate_phdr(add_one, &sum);
    return sum;
}

uint64_t program_hash(void)
{
    uint64_t hash = 0;
    dl_iterate_phdr(take_first, &hash);
    return hash;
}
