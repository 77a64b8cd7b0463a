/* SPDX-License-Identifier: MIT */
/* What a kernel is, for `assay dump`: its SPIR-V, its interface, and what the driver tells of the
 * pipeline that it made of it. */
#ifndef VULKAN_DUMP_H
#define VULKAN_DUMP_H

#include "vulkan/kernel.h"

#include <jansson.h>

struct dump_params {
    const struct assay_kernel_params *kernel;
    const struct shader_search *search;
    struct assay_device *device; /* opened with `executables`; NULL: none */
    const char *no_device;       /* then: why */
    const char *directory;       /* where files go: STEM.spv, STEM.pipeline-N.txt (or .bin) */
    const char *stem;
};

/* {"kernel": {"name", "source_hash", "file", "words", "entry", "capabilities": [numbers],
 * "local_size": [x, y, z], "local_size_ids": [constant's id or null, ...], "shared_bytes",
 * "bindings": [{"set", "binding", "kind", "instance", "block", "member", "access", "fixed_bytes",
 * "stride_bytes"}], "push_bytes", "push_constants": [{"name", "offset", "bytes", "type"}],
 * "constants": [{"id", "name", "type", "default", "value"}]},
 * "pipeline": dump_pipeline's or null, "pipeline_missing": why it is null, or null}.
 * New reference. A kernel that this device cannot have is no failure: the pipeline is missing. */
json_t *dump_kernel(const struct dump_params *params, struct assay_error *error);

/* [{"name", "description", "subgroup_size" or null, "statistics": [{"name", "description",
 * "value"}], "representations": [{"name", "description", "file", "bytes"}]}], one a part of the
 * first member's pipeline. Inside vulkan only; the member has no `no_executables`. */
json_t *dump_pipeline(const struct assay_kernel *kernel, const struct dump_params *params,
                      struct assay_error *error);

#endif
