/* SPDX-License-Identifier: MIT */
/* The two workloads of the plugin. */
#ifndef MEMORY_H
#define MEMORY_H

#include <assay/assay.h>

extern const struct assay_workload memory_capacity, memory_fragments;

#endif
