/* SPDX-License-Identifier: MIT */
/* What is asked of a plugin, in the layout of registry_take, before anything of it is used. Errors
 * are ASSAY_INTERNAL and name the plugin, the workload and the row. */
#ifndef EXPERIMENT_REGISTRY_CHECK_H
#define EXPERIMENT_REGISTRY_CHECK_H

#include <assay/plugin.h>

#include "base/error.h"

bool registry_check_plugin(const struct assay_plugin *plugin, struct assay_error *error);
bool registry_check_workload(const struct assay_plugin *plugin,
                             const struct assay_workload *workload, struct assay_error *error);
bool registry_check_sensor(const struct assay_plugin *plugin, const struct assay_sensor *sensor,
                           struct assay_error *error);

#endif
