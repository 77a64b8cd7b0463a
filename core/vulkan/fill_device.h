/* SPDX-License-Identifier: MIT */
/* Fills of large buffers of device memory, by a shader that computes what fill_bytes does, bit by
 * bit. Outside of all measurement; every wait is bounded. */
#ifndef VULKAN_FILL_DEVICE_H
#define VULKAN_FILL_DEVICE_H

#include "vulkan/buffer.h"

/* Smaller ones are filled by the host. */
#define FILL_DEVICE_BYTES (UINT64_C(4) << 20)

struct fill_device; /* of a device: kernels, made at their first use */

/* False: the host has to do it, or (then the error is filled) something failed. Kinds that the
 * shader does not know (sequences, data), fp64 where the device has none, and bounds so small that
 * denormal numbers may arise are the host's; so is all of a fill whose samples differ from the
 * host's. */
bool fill_device_restore(struct assay_buffer *buffer, const struct assay_fill *fill, uint64_t seed,
                         struct assay_error *error);
/* Fills done so since the process started. */
size_t fill_device_count(void);
void fill_device_destroy(struct assay_device *device);

#endif
