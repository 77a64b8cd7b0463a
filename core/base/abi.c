/* SPDX-License-Identifier: MIT */
#include "base/abi.h"

#include <string.h>

bool abi_copy(void *copy, size_t known, size_t first, const void *given, const char *type,
              struct assay_error *error)
{
    size_t size;
    memcpy(&size, given, sizeof(size));
    if (size > known)
        return assay_fail(error, ASSAY_INTERNAL,
                          "struct %s has %zu bytes, this assay knows %zu: it was built for a newer "
                          "assay, or `size` is not filled in",
                          type, size, known);
    if (size < first)
        return assay_fail(error, ASSAY_INTERNAL,
                          "struct %s has %zu bytes, in ABI %u it has at least %zu: set `size` to "
                          "its sizeof",
                          type, size, ASSAY_ABI, first);
    memset((char *)copy + size, 0, known - size);
    memcpy(copy, given, size);
    return true;
}
