/* SPDX-License-Identifier: MIT */
/* The one copy of volk's functions. */
#define VOLK_IMPLEMENTATION
#include <assay/api.h>

#include "vulkan/volk.h"

/* With AddressSanitizer drivers and layers stay loaded, so that what they leak carries their names
 * in its report and can be told from our leaks (tests/lsan.supp). */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define KEEP_MODULES
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(KEEP_MODULES)
ASSAY_API int dlclose(void *handle)
{
    (void)handle;
    return 0;
}
#endif
