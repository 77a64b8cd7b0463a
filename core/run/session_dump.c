/* SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "run/session.h"
#include "vulkan/dump.h"
#include "vulkan/selector.h"

#include <string.h>

/* Constants and macros of the request, with memory from the arena. */
static bool read_values(const json_t *request, struct arena *arena,
                        struct assay_kernel_params *kernel, struct assay_error *error)
{
    const json_t *constants = json_object_get(request, "constants");
    const json_t *defines = json_object_get(request, "defines");
    kernel->constant_count = json_array_size(constants);
    kernel->define_count = json_array_size(defines);
    struct assay_constant *values = arena_alloc(arena,
                                                (kernel->constant_count + 1) * sizeof(*values));
    struct assay_define *macros = arena_alloc(arena, (kernel->define_count + 1) * sizeof(*macros));
    if (!values || !macros)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a kernel");
    for (size_t i = 0; i < kernel->constant_count; i++) {
        const json_t *row = json_array_get(constants, i);
        values[i] = (struct assay_constant){json_text(row, "name", ""),
                                            json_number(row, "value", 0)};
    }
    for (size_t i = 0; i < kernel->define_count; i++) {
        const json_t *row = json_array_get(defines, i);
        macros[i] = (struct assay_define){json_text(row, "name", ""), json_text(row, "value", "")};
    }
    kernel->constants = values;
    kernel->defines = macros;
    return true;
}

/* A device of its own. NULL without an error where there is none at all: `none` says why. */
static struct assay_device *open_device(struct session *session, const char *selector,
                                        size_t *index, struct assay_error *none,
                                        struct assay_error *error)
{
    struct vulkan_device_params params = {
        .physical = index, .member_count = 1, .executables = true};
    if (!session_open_vulkan(session, none)) {
        if (none->status != ASSAY_NO_DEVICE || selector)
            *error = *none;
        return NULL;
    }
    if (vulkan_select(session->inventory, selector, index, none))
        return device_create(session->instance, &params, error);
    if (json_array_size(session->inventory) > 0)
        assay_fail(error, ASSAY_INVALID, "%s", none->text); /* another name helps */
    else if (selector)
        *error = *none;
    return NULL;
}

static json_t *device_json(const struct session *session, size_t index)
{
    const json_t *device = json_array_get(session->inventory, index);
    return json_pack("{s:I, s:O*, s:O*, s:O*}", "index", (json_int_t)index, "name",
                     json_object_get(device, "name"), "label", json_object_get(device, "label"),
                     "driver", json_object_get(device, "driver"));
}

json_t *session_dump(struct session *session, const json_t *request, struct assay_error *error)
{
    struct assay_kernel_params kernel = {.size = sizeof(kernel),
                                         .source = json_text(request, "source", "")};
    struct arena *arena = arena_create();
    struct assay_device *device = NULL;
    struct assay_error none = {0};
    json_t *answer = NULL;
    size_t index = 0;
    if (!arena)
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a kernel");
    else if (read_values(request, arena, &kernel, error))
        device = open_device(session, json_text(request, "device", NULL), &index, &none, error);
    if (error->status == ASSAY_OK) {
        struct dump_params params = {.kernel = &kernel,
                                     .search = &session->search,
                                     .device = device,
                                     .no_device = none.text,
                                     .directory = json_text(request, "directory", "."),
                                     .stem = json_text(request, "stem", "kernel")};
        answer = dump_kernel(&params, error);
    }
    if (answer && (json_object_set_new(answer, "tell", json_string("dump")) != 0 ||
                   json_object_set_new(answer, "device",
                                       device ? device_json(session, index) : json_null()) != 0)) {
        json_decref(answer);
        answer = NULL;
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a kernel");
    }
    if (device && device->lost)
        session->ended = session->lost = true;
    device_destroy(&device);
    arena_destroy(&arena);
    return answer;
}
