/* SPDX-License-Identifier: MIT */
/* Host sides of buffers that a stage uploads or downloads whole or in part: made when the first
 * upload or download is recorded, pinned for uploads, cached (where there is such memory) for
 * downloads. The fill of an uploaded buffer moves to its host side; the buffer itself is poisoned
 * when slots are restored, so that only the upload can bring the contents. */
#ifndef VULKAN_PARTNER_H
#define VULKAN_PARTNER_H

#include "vulkan/command.h"

/* Ranges as in assay_command_copy; bytes 0: to the end. Partial uploads leave the fill of the
 * buffer as it is. */
bool partner_upload(struct assay_command *command, struct assay_buffer *buffer, uint64_t offset,
                    uint64_t bytes, struct assay_error *error);
bool partner_download(struct assay_command *command, struct assay_buffer *buffer, uint64_t offset,
                      uint64_t bytes, struct assay_error *error);
/* Reads what the download delivered; of a buffer that is not downloaded, the buffer itself. */
bool partner_read(struct assay_buffer *buffer, uint64_t offset, uint64_t bytes, void *host,
                  struct assay_error *error);

#endif
