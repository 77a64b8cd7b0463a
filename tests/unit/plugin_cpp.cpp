/* SPDX-License-Identifier: MIT */
/* A plugin in C++, against the public headers alone. */
#include <assay/assay.h>
#include <assay/vulkan.h>

namespace {
int64_t duration_ns(const assay_stage *, void *, int64_t)
{
    return 1000;
}

bool check(const void *, assay_error *error)
{
    return assay_fail(error, ASSAY_INVALID, "%s cannot be had", "this");
}

void *create(assay_slot *, const void *, assay_error *)
{
    static int self;
    return &self;
}

void destroy(void **self)
{
    *self = nullptr;
}

const assay_plugin *make()
{
    static assay_stage stage{};
    stage.size = sizeof(stage);
    stage.name = "pass";
    stage.help = "a microsecond";
    stage.kind = ASSAY_STAGE_MODEL;
    stage.duration_ns = duration_ns;
    static const assay_stage *const stages[] = {&stage, nullptr};
    static const assay_option *const options[] = {nullptr};
    static assay_workload workload{};
    workload.size = sizeof(workload);
    workload.name = "cpp";
    workload.version = "1";
    workload.summary = "written in C++";
    workload.options = options;
    workload.params_size = 1;
    workload.stages = stages;
    workload.check = check;
    workload.create = create;
    workload.destroy = destroy;
    static const assay_workload *const workloads[] = {&workload, nullptr};
    static assay_plugin plugin{};
    plugin.size = sizeof(plugin);
    plugin.abi = ASSAY_ABI;
    plugin.name = "cpp";
    plugin.version = "1";
    plugin.workloads = workloads;
    return &plugin;
}
} // namespace

ASSAY_PLUGIN_ENTRY(cpp)
{
    return make();
}
