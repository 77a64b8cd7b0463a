/* SPDX-License-Identifier: MIT */
/* Reading and writing memory that the host cannot see, in pieces of ASSAY_STAGING_BYTES through a
 * buffer that it can. Outside of all measurement. Each wait is bounded. One thread a device. */
#ifndef VULKAN_STAGING_H
#define VULKAN_STAGING_H

#include "vulkan/buffer.h"

struct staging;

bool staging_read(struct assay_buffer *buffer, uint64_t offset, uint64_t bytes, void *host,
                  struct assay_error *error);
bool staging_write(struct assay_buffer *buffer, uint64_t offset, uint64_t bytes, const void *host,
                   struct assay_error *error);
/* Writes the buffer's fill or poison. */
bool staging_restore(struct assay_buffer *buffer, struct assay_error *error);
void staging_destroy(struct assay_device *device);

#endif
