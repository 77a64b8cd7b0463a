/* SPDX-License-Identifier: MIT */
/* All of the public interface but the raw Vulkan handles (assay/vulkan.h). */
#ifndef ASSAY_ASSAY_H
#define ASSAY_ASSAY_H

#include <assay/api.h>
#include <assay/buffer.h>
#include <assay/command.h>
#include <assay/device.h>
#include <assay/element.h>
#include <assay/error.h>
#include <assay/kernel.h>
#include <assay/option.h>
#include <assay/plugin.h>
#include <assay/sensor.h>
#include <assay/slot.h>
#include <assay/verification.h>
#include <assay/workload.h>

#endif
