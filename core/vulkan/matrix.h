/* SPDX-License-Identifier: MIT */
/* Shapes of cooperative matrices. */
#ifndef VULKAN_MATRIX_H
#define VULKAN_MATRIX_H

#include "vulkan/device.h"

/* Fills the set's shapes: those for a subgroup, of types that are elements, that every member has;
 * none where a member lacks the feature. */
bool matrix_list_shapes(struct assay_device *device, struct assay_error *error);

#endif
