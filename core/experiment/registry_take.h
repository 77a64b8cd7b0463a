/* SPDX-License-Identifier: MIT */
/* A plugin's structs, brought to the layout that this assay knows. */
#ifndef EXPERIMENT_REGISTRY_TAKE_H
#define EXPERIMENT_REGISTRY_TAKE_H

#include <assay/plugin.h>

#include "base/text.h"

/* Checks ABI and sizes, and copies what needs it; tables and copies live in the arena, texts and
 * hooks stay the plugin's. ASSAY_INTERNAL with both numbers when it does not fit. NULL with error.
 */
const struct assay_plugin *registry_take(const struct assay_plugin *given, struct arena *arena,
                                         struct assay_error *error);

#endif
