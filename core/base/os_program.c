/* SPDX-License-Identifier: MIT */
/* Other programs, run to their end. */
#include "base/os.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TAIL_BYTES 500 /* of what a program printed, in an error */

bool os_program_find(const char *name, struct text *path)
{
    for (const char *at = getenv("PATH"); at && *at;) {
        size_t length = strcspn(at, ":");
        struct text directory = {0};
        text_add_bytes(&directory, at, length);
        text_clear(path);
        os_path_join(path, length ? text_string(&directory) : ".", name);
        text_free(&directory);
        if (os_is_file(text_string(path)) && access(text_string(path), X_OK) == 0)
            return true;
        at += length + (at[length] == ':');
    }
    return false;
}

static bool read_all(int fd, struct text *out)
{
    char buffer[65536];
    ssize_t got;
    if (lseek(fd, 0, SEEK_SET) < 0)
        return false;
    while ((got = read(fd, buffer, sizeof(buffer))) > 0)
        text_add_bytes(out, buffer, (size_t)got);
    return got == 0 && !out->failed;
}

static bool fail_program(const char *program, const char *how, const struct text *printed,
                         struct assay_error *error)
{
    const char *end = text_string(printed);
    if (printed->length > TAIL_BYTES)
        end += printed->length - TAIL_BYTES;
    struct text clean = {0};
    text_add_clean(&clean, end);
    while (clean.length && clean.data[clean.length - 1] == ' ')
        clean.data[--clean.length] = '\0';
    assay_fail(error, ASSAY_SYSTEM, "%s %s%s%s", program, how, clean.length ? ": " : "",
               text_string(&clean));
    text_free(&clean);
    return false;
}

bool os_program_run(const char *const *argv, const void *input, size_t count, int64_t limit_ns,
                    struct text *out, struct assay_error *error)
{
    struct os_process *process = NULL;
    struct text printed = {0};
    const char *how = NULL;
    bool good = false;
    int from = memfd_create("input", MFD_CLOEXEC), to = memfd_create("output", MFD_CLOEXEC);
    if (from < 0 || to < 0 || !os_write_all(from, input, count) || lseek(from, 0, SEEK_SET) < 0) {
        error_fail_errno(error, "cannot hand %s its input", argv[0]);
        goto end;
    }
    struct os_process_params params = {.argv = argv, .log_fd = to, .input_fd = from};
    process = os_process_start(&params, error);
    if (!process)
        goto end;
    bool ended = os_process_wait(process, limit_ns, &how);
    if (!read_all(to, &printed))
        error_fail_errno(error, "cannot read what %s printed", argv[0]);
    else if (!ended)
        fail_program(argv[0], "did not end in time", &printed, error);
    else if (strcmp(how, "exited with status 0") != 0)
        fail_program(argv[0], how, &printed, error);
    else
        good = true;
    if (good)
        text_add_bytes(out, text_string(&printed), printed.length);
end:
    os_process_destroy(&process);
    text_free(&printed);
    if (from >= 0)
        close(from);
    if (to >= 0)
        close(to);
    return good;
}
