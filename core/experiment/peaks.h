/* SPDX-License-Identifier: MIT */
/* The cases by which a device's peaks are measured: an experiment of ordinary cases that stands
 * before those that need them. Its workloads are `copy` and `arithmetic`; a build without them has
 * no peaks. */
#ifndef EXPERIMENT_PEAKS_H
#define EXPERIMENT_PEAKS_H

#include "experiment/plan.h"

/* Adds the experiment "peaks" (of a device that the script names: "peaks on DEVICE") unless it is
 * there. Both kinds of rows are planned: for CPUs and for other devices. */
bool peaks_plan(struct plan *plan, const char *device, const char *script, int line,
                struct assay_error *error);
/* Whether an experiment may not have this name. */
bool peaks_name_reserved(const char *name);
/* Keeps selected, of the experiments of peaks, those that an experiment with a selected case needs,
 * or that the script asked for while anything is selected; takes the selection from the rest. */
void peaks_select(struct plan *plan);
/* Takes the selection from those rows of an experiment of peaks that are not for such a device. */
void peaks_fit(struct plan *plan, uint32_t experiment, bool cpu);

#endif
