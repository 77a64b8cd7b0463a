/* SPDX-License-Identifier: MIT */
/* What a plugin hands over: one constant struct, returned by one function. Built-in plugins use the
 * same door. */
#ifndef ASSAY_PLUGIN_H
#define ASSAY_PLUGIN_H

#include <assay/workload.h>

ASSAY_BEGIN_DECLARATIONS

struct assay_plugin {
    size_t size;  /* sizeof(struct assay_plugin) */
    unsigned abi; /* ASSAY_ABI */
    const char *name, *version;
    const struct assay_workload *const *workloads; /* NULL-terminated */
};

/* Type of the entry point. The function of built-in plugin NAME is `assay_plugin_NAME`. */
typedef const struct assay_plugin *assay_plugin_entry(void);

ASSAY_END_DECLARATIONS

#endif
