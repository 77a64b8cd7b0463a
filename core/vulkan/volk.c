/* SPDX-License-Identifier: MIT */
/* The one copy of volk's functions. */
#define VOLK_IMPLEMENTATION
#include "vulkan/volk.h"
