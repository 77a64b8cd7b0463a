/* SPDX-License-Identifier: MIT */
/* The library of a C plugin. Worker process only: opening it runs its constructors, which may crash
 * or never return. */
#ifndef EXPERIMENT_PLUGIN_OPEN_H
#define EXPERIMENT_PLUGIN_OPEN_H

#include <assay/plugin.h>

#define PLUGIN_SYMBOL "assay_plugin_get"

/* Opens the library, with all its symbols bound and none of them seen by others, and finds its
 * entry point; it stays open until the process ends. ASSAY_INTERNAL says which of these it is: no
 * library, one for another machine, a function that this assay lacks, a library that it needs and
 * that is not there, no entry point. */
assay_plugin_entry *plugin_open(const char *file, struct assay_error *error);

#endif
