/* SPDX-License-Identifier: MIT */
/* Which device each case gets, decided and said before anything runs. */
#ifndef CLI_SELECTION_H
#define CLI_SELECTION_H

#include "experiment/plan.h"

/* Whether a selected case needs a device. */
bool selection_needs_device(const struct plan *plan);
/* Resolves every selector that a selected case has (plan->device where it names none). `found` is
 * what supervisor_devices gave. Adds to `said` a line for each device picked. False:
 * ASSAY_NO_DEVICE when there is none at all, ASSAY_INVALID when a name is absent or ambiguous.
 * *only_cpu: every selector was given by name and picked a CPU. */
bool selection_resolve(const struct plan *plan, const json_t *found, struct text *said,
                       bool *only_cpu, struct assay_error *error);
/* Leaves of the cases that measure peaks those that suit the class of their device. */
void selection_fit_peaks(struct plan *plan, const json_t *found);
/* The devices that selected cases of the plan get, each once, as the inventory has them. New
 * reference. */
json_t *selection_devices(const struct plan *plan, const json_t *found);
/* Adds a line for each GPU on the PCI bus that no Vulkan driver serves, each with `prefix` in
 * front; one line when the bus cannot be read. Returns how many. */
size_t selection_add_unserved(const json_t *found, const char *prefix, struct text *out);

#endif
