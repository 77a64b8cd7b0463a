/* SPDX-License-Identifier: MIT */
/* How a failure travels: functions that can fail return bool (true is success) or a pointer (NULL
 * is failure) and fill one `struct assay_error` at the first cause. Later calls on a filled error
 * keep the first cause. */
#ifndef ASSAY_ERROR_H
#define ASSAY_ERROR_H

#include <assay/api.h>

ASSAY_BEGIN_DECLARATIONS

/* The first cause of a failure; decides the status of the case. */
enum assay_status {
    ASSAY_OK,
    ASSAY_INVALID,     /* what the user asked for is wrong: a value, a name, a file */
    ASSAY_UNSUPPORTED, /* right in itself, but not on this device: the case becomes a skip with this
                          text */
    ASSAY_NO_DEVICE,   /* no Vulkan device, or none that fits the selector */
    ASSAY_OUT_OF_MEMORY, /* host or device memory */
    ASSAY_DEVICE_LOST,
    ASSAY_TIMEOUT,      /* a wait reached its limit */
    ASSAY_WRONG_RESULT, /* verification found a wrong element */
    ASSAY_SCRIPT,       /* an error in the user's Lua or GLSL; the text starts with FILE:LINE: */
    ASSAY_VALIDATION,   /* a validation layer spoke */
    ASSAY_SYSTEM,       /* an operating system call failed */
    ASSAY_VULKAN,       /* a Vulkan call failed in a way that has no status of its own */
    ASSAY_CRASH,        /* the worker process died; set by the supervisor only */
    ASSAY_INTERNAL,     /* a defect of assay itself */
};

/* Opaque to plugins; one belongs to one call chain of one thread. */
struct assay_error;

/* Fills `error` unless it holds an earlier cause (NULL is allowed: the failure is then only
 * returned): the `status` becomes that of the case (never ASSAY_OK), with `source_file` and
 * `source_line`, its line, kept for defects; all texts are copied. Any thread. `text` says what is
 * wrong, what is allowed and what to do, without a trailing full stop or newline. Always returns
 * false, so that `return assay_fail(...)` reads well. */
ASSAY_API bool assay_error_set(struct assay_error *error, enum assay_status status,
                               const char *source_file, int source_line, const char *text, ...)
    ASSAY_PRINTF(5, 6);

/* The same, from here. */
#define assay_fail(error, status, ...)                                                             \
    assay_error_set((error), (status), __FILE__, __LINE__, __VA_ARGS__)

ASSAY_END_DECLARATIONS

#endif
