/* SPDX-License-Identifier: MIT */
/* How much memory can really be had, and what is left of it in one piece. */
#include "memory.h"

static const struct assay_workload *const workloads[] = {&memory_capacity, &memory_fragments, NULL};
static const struct assay_plugin plugin = {.size = sizeof(plugin),
                                           .abi = ASSAY_ABI,
                                           .name = "memory",
                                           .version = "1",
                                           .workloads = workloads};

ASSAY_PLUGIN_ENTRY(memory)
{
    return &plugin;
}
