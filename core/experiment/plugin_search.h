/* SPDX-License-Identifier: MIT */
/* Where plugins are. Files are only found and hashed here, never loaded. */
#ifndef EXPERIMENT_PLUGIN_SEARCH_H
#define EXPERIMENT_PLUGIN_SEARCH_H

#include "base/error.h"
#include "base/hash.h"
#include "base/text.h"

struct plugin_file {
    const char *path;          /* absolute, without links */
    char hash[HASH_HEX_BYTES]; /* of its bytes; empty when it cannot be read */
    const char *unreadable;    /* why, or NULL */
};

/* In this order: the directories and files of ASSAY_PLUGIN_PATH (with ':' between), the files
 * `given` (NULL-terminated), $XDG_DATA_HOME/assay/plugins (~/.local/share/assay/plugins), and the
 * directory that assay was installed with. In a directory a plugin is a file NAME.so, or a
 * directory NAME with NAME.so or, in Lua, init.lua in it; what starts with a dot is passed over.
 * They go by name. A file that is found twice counts once. ASSAY_INVALID: one that was named is not
 * there. */
struct plugin_search;
struct plugin_search *plugin_search_create(const char *const *given, struct assay_error *error);
void plugin_search_destroy(struct plugin_search **search);
size_t plugin_search_count(const struct plugin_search *search);
const struct plugin_file *plugin_search_at(const struct plugin_search *search, size_t index);

/* Whether the plugin is a folder with init.lua; adds the folder's name, which is the plugin's. */
bool plugin_folder_name(const char *path, struct text *name);

#endif
