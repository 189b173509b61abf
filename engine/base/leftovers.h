/* Files of shared memory that a rank shares with others of its launch, and that would stay if it is ended. */
#ifndef BASE_LEFTOVERS_H
#define BASE_LEFTOVERS_H

/* From now on a SIGTERM, by which launchers end ranks, removes the names of such files that this process has
 * mapped or open, and then kills as before. system/leftovers.py has the same names, for what dies of less. */
void leftovers_watch(void);

/* Remove them now; a handler of a signal may call it. */
void leftovers_remove(void);

#endif
