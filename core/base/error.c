/* SPDX-License-Identifier: MIT */
#include "base/error.h"

#include "base/format.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const char *const status_names[] = {
    [ASSAY_OK] = "ok",
    [ASSAY_INVALID] = "invalid",
    [ASSAY_UNSUPPORTED] = "unsupported",
    [ASSAY_NO_DEVICE] = "no device",
    [ASSAY_OUT_OF_MEMORY] = "out of memory",
    [ASSAY_DEVICE_LOST] = "device lost",
    [ASSAY_TIMEOUT] = "timeout",
    [ASSAY_WRONG_RESULT] = "wrong result",
    [ASSAY_SCRIPT] = "script error",
    [ASSAY_VALIDATION] = "validation",
    [ASSAY_SYSTEM] = "system error",
    [ASSAY_VULKAN] = "vulkan error",
    [ASSAY_CRASH] = "crash",
    [ASSAY_INTERNAL] = "internal error",
};
#define STATUS_COUNT (sizeof status_names / sizeof *status_names)

const char *error_status_name(enum assay_status status)
{
    if ((size_t)status >= STATUS_COUNT)
        return status_names[ASSAY_INTERNAL];
    return status_names[status];
}

enum assay_status error_status_from_name(const char *name)
{
    for (size_t i = 0; name && i < STATUS_COUNT; i++)
        if (strcmp(name, status_names[i]) == 0)
            return (enum assay_status)i;
    return ASSAY_INTERNAL;
}

/* A cut may have hit the middle of a UTF-8 sequence: JSON would refuse the text. */
static void drop_partial_character(char *text)
{
    size_t length = strlen(text);
    size_t tail = 0;
    while (tail < 3 && tail < length && ((unsigned char)text[length - 1 - tail] & 0xC0) == 0x80)
        tail++;
    if (tail == length)
        return;
    unsigned char lead = (unsigned char)text[length - 1 - tail];
    size_t wanted = lead >= 0xF0 ? 3 : lead >= 0xE0 ? 2 : lead >= 0xC0 ? 1 : 0;
    if (wanted > tail)
        text[length - 1 - tail] = '\0';
}

static void fill(struct assay_error *error, enum assay_status status, const char *source_file,
                 int source_line, const char *text, va_list arguments)
{
    error->status = status == ASSAY_OK ? ASSAY_INTERNAL : status;
    error->file = source_file;
    error->line = source_line;
    int length = format_c(error->text, sizeof error->text, text, arguments);
    if (length < 0)
        error->text[0] = '\0';
    else if ((size_t)length >= sizeof error->text)
        drop_partial_character(error->text);
}

bool assay_error_set(struct assay_error *error, enum assay_status status, const char *source_file,
                     int source_line, const char *text, ...)
{
    if (!error || error->status != ASSAY_OK)
        return false;
    va_list arguments;
    va_start(arguments, text);
    fill(error, status, source_file, source_line, text, arguments);
    va_end(arguments);
    return false;
}

void error_prefix(struct assay_error *error, const char *context, ...)
{
    if (!error || error->status == ASSAY_OK)
        return;
    char before[ERROR_TEXT_BYTES];
    memcpy(before, error->text, sizeof before);
    va_list arguments;
    va_start(arguments, context);
    int length = format_c(error->text, sizeof error->text, context, arguments);
    va_end(arguments);
    size_t used = length < 0 ? 0 : (size_t)length;
    if (used < sizeof error->text) {
        int rest = snprintf(error->text + used, sizeof error->text - used, ": %s", before);
        used += rest < 0 ? 0 : (size_t)rest;
    }
    if (used >= sizeof error->text)
        drop_partial_character(error->text);
}

bool error_system(struct assay_error *error, int errnum, const char *source_file, int source_line,
                  const char *text, ...)
{
    if (!error || error->status != ASSAY_OK)
        return false;
    va_list arguments;
    va_start(arguments, text);
    fill(error, errnum == ENOMEM ? ASSAY_OUT_OF_MEMORY : ASSAY_SYSTEM, source_file, source_line,
         text, arguments);
    va_end(arguments);
    char reason[256];
    /* The GNU form: it may return a static string instead of filling the buffer. */
    const char *words = strerror_r(errnum, reason, sizeof reason);
    size_t used = strlen(error->text);
    int length = snprintf(error->text + used, sizeof error->text - used, ": %s", words);
    if (length >= 0 && (size_t)length >= sizeof error->text - used)
        drop_partial_character(error->text);
    return false;
}
