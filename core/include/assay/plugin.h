/* SPDX-License-Identifier: MIT */
/* What a plugin hands over: one constant struct, returned by one function, the only symbol that it
 * needs to export. Built-in plugins use the same door. */
#ifndef ASSAY_PLUGIN_H
#define ASSAY_PLUGIN_H

#include <assay/sensor.h>
#include <assay/workload.h>

ASSAY_BEGIN_DECLARATIONS

/* Everything it points to stays valid and unchanged until the process ends. */
struct assay_plugin {
    size_t size;         /* sizeof(struct assay_plugin) */
    unsigned abi;        /* ASSAY_ABI */
    const char *name;    /* a Lua identifier */
    const char *version; /* as people write it: "1.2"; goes into the record */
    /* Optional where there are sensors; NULL-terminated */
    const struct assay_workload *const *workloads;
    /* Optional where there are workloads; NULL-terminated */
    const struct assay_sensor *const *sensors;
};

/* The entry point: called once in a worker process, from its main thread, after the constructors of
 * the library. It must not touch Vulkan or start threads: a plugin is also loaded to be listed.
 * What it returns is checked, and stays valid until the process ends; a NULL is an error. */
typedef const struct assay_plugin *assay_plugin_entry(void);

/* Begins the definition of the entry point:
 *     ASSAY_PLUGIN_ENTRY(memory) { return &plugin; }
 * In a library it is the function `assay_plugin_get`; where plugins are built into the program
 * (ASSAY_PLUGIN_BUILTIN) they are told apart by the name, a C identifier. */
#ifdef ASSAY_PLUGIN_BUILTIN
#define ASSAY_PLUGIN_SYMBOL(name) assay_plugin_##name
#else
#define ASSAY_PLUGIN_SYMBOL(name) assay_plugin_get
#endif
/* Parts of ASSAY_PLUGIN_ENTRY. */
#ifdef __cplusplus
#define ASSAY_PLUGIN_LINKAGE extern "C"
#else
#define ASSAY_PLUGIN_LINKAGE
#endif
#define ASSAY_PLUGIN_ENTRY(name)                                                                   \
    ASSAY_PLUGIN_LINKAGE ASSAY_API assay_plugin_entry ASSAY_PLUGIN_SYMBOL(name);                   \
    ASSAY_PLUGIN_LINKAGE const struct assay_plugin *ASSAY_PLUGIN_SYMBOL(name)(void)

ASSAY_END_DECLARATIONS

#endif
