/* SPDX-License-Identifier: MIT */
/* Files, directories and processes. What is not POSIX (prctl, /proc/self/exe) stays in os_*.c. */
#ifndef BASE_OS_H
#define BASE_OS_H

#include "base/error.h"
#include "base/text.h"

#include <sys/types.h>

/* Whole file, at most max_bytes (else ASSAY_INVALID). What is no regular file is refused. */
bool os_file_read(const char *path, size_t max_bytes, struct text *out, struct assay_error *error);
/* Written beside and renamed: readers see the old or the new file, never a part. What is there and
 * no regular file (/dev/stdout) is written to. */
bool os_file_write_atomic(const char *path, const void *data, size_t count,
                          struct assay_error *error);
/* All of it, EINTR and short writes handled; sets errno on failure. */
bool os_write_all(int fd, const void *data, size_t count);
/* Opens the file, made where it is not there, and locks it against all that do the same; a process
 * that ends gives its locks back, and so does close(). Waits at most limit_ns: ASSAY_TIMEOUT.
 * Returns the descriptor, or -1 with error. */
int os_lock_take(const char *path, int64_t limit_ns, struct assay_error *error);
bool os_make_directories(const char *path, struct assay_error *error);
/* A new directory in $TMPDIR (/tmp), its path into the empty `directory`; empty still on failure.
 */
bool os_make_temporary(struct text *directory, struct assay_error *error);
bool os_is_file(const char *path);
bool os_is_directory(const char *path);
/* "dir/name"; name unchanged when it is absolute or dir empty. */
void os_path_join(struct text *out, const char *directory, const char *name);
/* Directory part of a path ("." when there is none), and the last part without extension. */
void os_path_directory(struct text *out, const char *path);
void os_path_stem(struct text *out, const char *path);
/* $XDG_CACHE_HOME/assay or $HOME/.cache/assay; false when neither variable is set and absolute. */
bool os_cache_directory(struct text *out);
bool os_executable_path(struct text *out, struct assay_error *error);
/* What a user types to run this program again from here: its name when $PATH finds it, else its
 * path (relative where it lies below the working directory). */
void os_executable_command(struct text *out);
/* Where the GLSL that comes with assay is: $ASSAY_SHADER_DIR, the install tree beside the
 * executable, else the source tree it was built from. */
bool os_shader_directory(struct text *out, struct assay_error *error);

/* $XDG_DATA_HOME/assay or $HOME/.local/share/assay; false as for os_cache_directory. */
bool os_data_directory(struct text *out);
/* Where plugins are that were installed with assay: beside the executable's install tree, else in
 * the build tree. Either may have none. */
bool os_plugin_directory(struct text *out, struct assay_error *error);

/* Bytes of memory that this process can still have: what the machine has available, less where its
 * control group (version 2) allows less. UINT64_MAX when neither is known. */
uint64_t os_memory_available(void);

/* The processor's model: "model name" on x86, else what the kernel calls the machine. */
void os_cpu_name(struct text *out);
/* Processors that this process may run on. */
unsigned os_cpu_count(void);

/* A child that talks over two inherited descriptors: it reads requests on fd 3 and writes answers
 * on fd 4. Its stdin is input_fd, its stdout and stderr go to log_fd. It dies with its parent
 * (PR_SET_PDEATHSIG), more exactly with the thread that started it, and is in a process group of
 * its own: Ctrl-C reaches the parent alone. */
struct os_process;
struct os_process_params {
    const char *const *argv; /* NULL-terminated; argv[0] is the path */
    int log_fd;              /* -1: /dev/null */
    int input_fd;            /* 0 or less: /dev/null */
};
struct os_process *os_process_start(const struct os_process_params *params,
                                    struct assay_error *error);
int os_process_input(const struct os_process *process);  /* we write requests here */
int os_process_output(const struct os_process *process); /* we read answers here */
pid_t os_process_id(const struct os_process *process);
void os_process_kill(struct os_process *process);
/* Waits at most limit_ns. True when it ended: `*how` gets "exited with status 3" or "was killed by
 * signal 11 (Segmentation fault)", valid until destroy. */
bool os_process_wait(struct os_process *process, int64_t limit_ns, const char **how);
/* The exit status of one that ended; -1 when a signal ended it, or it has not ended. */
int os_process_status(const struct os_process *process);
/* Kills and reaps what is left; waits at most 5 s for it. */
void os_process_destroy(struct os_process **process);

/* The first executable `name` in $PATH; false when there is none. */
bool os_program_find(const char *name, struct text *path);
/* Runs a program to its end, without a shell: `input` on its stdin, what it prints on stdout and
 * stderr added to `out`. ASSAY_SYSTEM when it fails (with the end of what it printed) or takes
 * longer than limit_ns. */
bool os_program_run(const char *const *argv, const void *input, size_t count, int64_t limit_ns,
                    struct text *out, struct assay_error *error);

/* Files to be told of when they change, appear or vanish, also by renames. One thread. */
struct os_watch;
struct os_watch *os_watch_create(struct assay_error *error);
void os_watch_destroy(struct os_watch **watch);
/* What changes from here on counts; what changed before is forgotten. Paths stay watched. */
void os_watch_begin(struct os_watch *watch);
/* A path, there or not; one more time is no harm. A file that is newer than the last begin counts
 * as changed. */
bool os_watch_add(struct os_watch *watch, const char *path, struct assay_error *error);
size_t os_watch_count(const struct os_watch *watch); /* of paths that are files now */
/* Waits until a path has changed and nothing more has for quiet_ns. The path, valid until the next
 * begin; NULL once *interrupted is not 0. */
const char *os_watch_wait(struct os_watch *watch, int64_t quiet_ns,
                          const volatile int *interrupted);

#endif
