/* SPDX-License-Identifier: MIT */
/* The inside of struct assay_error: the first cause of a failure. */
#ifndef BASE_ERROR_H
#define BASE_ERROR_H

#include <assay/error.h>

#define ERROR_TEXT_BYTES 4096

/* All zero means no error. May live on the stack; nothing to free. */
struct assay_error {
    enum assay_status status;
    int vk;           /* VkResult where a Vulkan call was the cause, else 0 */
    const char *file; /* place in assay's source that found it; static strings */
    int line;
    bool foreseen;               /* out of memory, known before any was asked for */
    char text[ERROR_TEXT_BYTES]; /* valid UTF-8 is up to the writer; cut at the end when longer */
};

/* "out of memory", "device lost", ...: the words of records and messages. Never NULL. */
const char *error_status_name(enum assay_status status);
/* Inverse of error_status_name; ASSAY_INTERNAL for an unknown name. */
enum assay_status error_status_from_name(const char *name);
/* Puts context in front of the text of a filled error: "CONTEXT: text". */
void error_prefix(struct assay_error *error, const char *context, ...) ASSAY_PRINTF(2, 3);
/* assay_fail for an OS call: appends ": strerror(errnum)"; ENOMEM becomes ASSAY_OUT_OF_MEMORY. */
bool error_system(struct assay_error *error, int errnum, const char *source_file, int source_line,
                  const char *text, ...) ASSAY_PRINTF(5, 6);
#define error_fail_errno(error, ...) error_system((error), errno, __FILE__, __LINE__, __VA_ARGS__)

#endif
