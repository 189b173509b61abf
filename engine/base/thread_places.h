/* The places of the threads of the last team at its end, for the records: as the kernel says, and as
 * intended. */
#ifndef BASE_THREAD_PLACES_H
#define BASE_THREAD_PLACES_H

struct json;

enum { THREAD_PLACES_MAX = 4096, LANE_CPUS_MAX = 128 };

struct thread_place {
    char seen[LANE_CPUS_MAX];
    char meant[LANE_CPUS_MAX]; /* "": it was not bound */
};

/* Read where the calling thread may run; `meant` is where it belongs. */
void lane_look(struct thread_place *lane, const char *meant);

/* Keep those of a team, as many as fit, until others are kept or these are cleared. */
void thread_places_keep(const struct thread_place *lanes, int count);
void thread_places_forget(void);

/* The CPUs of each lane, separated by '|'; "" if none were kept. */
const char *thread_places_seen(void);
const char *thread_places_meant(void);

/* Write such a text as an array, which is empty if none were kept. */
void thread_places_json(struct json *j, const char *name, const char *text);

#endif
