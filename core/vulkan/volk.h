/* SPDX-License-Identifier: MIT */
/* volk without prototypes; VOLK_IMPLEMENTATION is defined in volk.c alone. */
#ifndef VULKAN_VOLK_H
#define VULKAN_VOLK_H

#ifndef VK_NO_PROTOTYPES
#define VK_NO_PROTOTYPES
#endif
#include <volk.h>

#endif
