/* SPDX-License-Identifier: MIT */
/* Device choice by UUID, PCI address, name, driver, class word or index. Pure: works on the
 * inventory's JSON, so both processes can use it. */
#ifndef VULKAN_SELECTOR_H
#define VULKAN_SELECTOR_H

#include "base/error.h"

#include <jansson.h>

/* selector NULL or "": the best class present; a tie within the class is refused with the list.
 * Else, tried in this order: a whole number (index, out of range refused with the range), `cpu` /
 * `gpu`, a UUID (or 8+ leading hex digits), a PCI address (with or without domain), the exact name,
 * a part of the name or of the driver's name (case ignored). More than one match or none is refused
 * with the list. Devices that are `unusable` never match by class; naming one is refused with its
 * reason. ASSAY_NO_DEVICE on failure. */
bool vulkan_select(const json_t *inventory, const char *selector, size_t *index,
                   struct assay_error *error);

#endif
