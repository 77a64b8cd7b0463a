/* SPDX-License-Identifier: MIT */
/* A built-in workload with parameters as a user writes them. */
#ifndef TESTS_WORKLOAD_FIXTURE_H
#define TESTS_WORKLOAD_FIXTURE_H

#include "base/options.h"
#include "experiment/registry.h"

#include <string.h>

struct workload_fixture {
    struct registry *registry;
    const struct assay_workload *workload;
    struct arena *arena;
};

static inline bool workload_open(struct workload_fixture *fixture, const char *name,
                                 struct assay_error *error)
{
    fixture->arena = arena_create();
    fixture->registry = registry_create(registry_builtin, error);
    if (!fixture->registry)
        return false;
    fixture->workload = registry_find(fixture->registry, name);
    return fixture->workload && fixture->arena;
}

static inline void workload_close(struct workload_fixture *fixture)
{
    registry_destroy(&fixture->registry);
    arena_destroy(&fixture->arena);
}

/* Settings are name, value, ..., NULL. NULL with the error of the parameter or of their
 * combination. */
static inline void *workload_params(struct workload_fixture *fixture, const char *const *settings,
                                    struct assay_error *error)
{
    const struct assay_workload *workload = fixture->workload;
    void *params = arena_alloc(fixture->arena, workload->params_size);
    memcpy(params, registry_defaults(fixture->registry, workload), workload->params_size);
    for (size_t i = 0; settings[i]; i += 2) {
        struct option_value value;
        int index = option_find(workload->options, settings[i]);
        if (index < 0) {
            option_unknown(workload->options, workload->name, settings[i], error);
            return NULL;
        }
        if (!option_parse(workload->options[index], settings[i + 1], fixture->arena, &value, error))
            return NULL;
        option_store(workload->options[index], &value, params);
    }
    return workload->check && !workload->check(params, error) ? NULL : params;
}

#endif
