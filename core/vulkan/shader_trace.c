/* SPDX-License-Identifier: MIT */
#include "vulkan/shader.h"

#include <string.h>

static bool holds(const struct text *list, const char *path)
{
    for (size_t at = 0; at < list->length; at += strlen(list->data + at) + 1)
        if (strcmp(list->data + at, path) == 0)
            return true;
    return false;
}

void shader_trace_add(struct shader_trace *trace, const char *path, bool there)
{
    if (trace == NULL)
        return;
    struct text *list = there ? &trace->read : &trace->absent;
    if (!holds(list, path))
        text_add_bytes(list, path, strlen(path) + 1);
}

void shader_trace_free(struct shader_trace *trace)
{
    text_free(&trace->read);
    text_free(&trace->absent);
}
