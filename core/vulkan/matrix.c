/* SPDX-License-Identifier: MIT */
#include "vulkan/matrix.h"

#include <stdlib.h>

#ifdef VK_KHR_cooperative_matrix

static bool element_of(VkComponentTypeKHR type, enum assay_element *element)
{
    switch ((int)type) {
    case VK_COMPONENT_TYPE_FLOAT16_KHR:
        *element = ASSAY_ELEMENT_HALF;
        return true;
    case VK_COMPONENT_TYPE_FLOAT32_KHR:
        *element = ASSAY_ELEMENT_FLOAT;
        return true;
    case VK_COMPONENT_TYPE_FLOAT64_KHR:
        *element = ASSAY_ELEMENT_DOUBLE;
        return true;
    case VK_COMPONENT_TYPE_SINT8_KHR:
        *element = ASSAY_ELEMENT_INT8;
        return true;
    case VK_COMPONENT_TYPE_SINT16_KHR:
        *element = ASSAY_ELEMENT_INT16;
        return true;
    case VK_COMPONENT_TYPE_SINT32_KHR:
        *element = ASSAY_ELEMENT_INT32;
        return true;
    case VK_COMPONENT_TYPE_SINT64_KHR:
        *element = ASSAY_ELEMENT_INT64;
        return true;
    case VK_COMPONENT_TYPE_UINT8_KHR:
        *element = ASSAY_ELEMENT_UINT8;
        return true;
    case VK_COMPONENT_TYPE_UINT16_KHR:
        *element = ASSAY_ELEMENT_UINT16;
        return true;
    case VK_COMPONENT_TYPE_UINT32_KHR:
        *element = ASSAY_ELEMENT_UINT32;
        return true;
    case VK_COMPONENT_TYPE_UINT64_KHR:
        *element = ASSAY_ELEMENT_UINT64;
        return true;
    default:
        return false;
    }
}

/* False for a shape that assay has no words for. */
static bool shape_of(const VkCooperativeMatrixPropertiesKHR *properties,
                     struct assay_matrix_shape *shape)
{
    *shape = (struct assay_matrix_shape){
        .m = properties->MSize,
        .n = properties->NSize,
        .k = properties->KSize,
        .saturating = properties->saturatingAccumulation,
    };
    return properties->scope == VK_SCOPE_SUBGROUP_KHR && element_of(properties->AType, &shape->a) &&
           element_of(properties->BType, &shape->b) && element_of(properties->CType, &shape->c) &&
           element_of(properties->ResultType, &shape->r);
}

static bool is_same(const struct assay_matrix_shape *x, const struct assay_matrix_shape *y)
{
    return x->m == y->m && x->n == y->n && x->k == y->k && x->a == y->a && x->b == y->b &&
           x->c == y->c && x->r == y->r && x->saturating == y->saturating;
}

/* Malloc'ed; NULL: failed. */
static VkCooperativeMatrixPropertiesKHR *list(const struct vulkan_device *member, uint32_t *count,
                                              struct assay_error *error)
{
    const VkPhysicalDevice physical = member->physical->handle;
    *count = 0;
    VkResult result = vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR(physical, count, NULL);
    VkCooperativeMatrixPropertiesKHR *all = calloc((size_t)*count + 1, sizeof(*all));
    if (all == NULL) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of memory for %u shapes", *count);
        return NULL;
    }
    for (uint32_t i = 0; i < *count; i++)
        all[i].sType = VK_STRUCTURE_TYPE_COOPERATIVE_MATRIX_PROPERTIES_KHR;
    if (result == VK_SUCCESS && *count > 0)
        result = vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR(physical, count, all);
    if (result == VK_SUCCESS)
        return all;
    free(all);
    device_fail(NULL, result, "vkGetPhysicalDeviceCooperativeMatrixPropertiesKHR", error);
    return NULL;
}

static bool has_shape(const VkCooperativeMatrixPropertiesKHR *all, uint32_t count,
                      const struct assay_matrix_shape *wanted)
{
    struct assay_matrix_shape shape;
    for (uint32_t i = 0; i < count; i++)
        if (shape_of(&all[i], &shape) && is_same(&shape, wanted))
            return true;
    return false;
}

/* The first member gives the shapes, the others take away. */
static bool narrow(struct assay_device *device, const VkCooperativeMatrixPropertiesKHR *all,
                   uint32_t count, bool first, struct assay_error *error)
{
    size_t kept = 0;
    if (first) {
        device->shapes = calloc((size_t)count + 1, sizeof(*device->shapes));
        if (device->shapes == NULL)
            return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of memory for %u shapes", count);
        for (uint32_t i = 0; i < count; i++)
            kept += shape_of(&all[i], &device->shapes[kept]);
    } else {
        for (size_t i = 0; i < device->shape_count; i++)
            if (has_shape(all, count, &device->shapes[i]))
                device->shapes[kept++] = device->shapes[i];
    }
    device->shape_count = kept;
    return true;
}

bool matrix_list_shapes(struct assay_device *device, struct assay_error *error)
{
    if (!assay_device_has(device, ASSAY_FEATURE_COOPERATIVE_MATRIX, NULL))
        return true;
    for (unsigned m = 0; m < device->member_count; m++) {
        uint32_t count;
        VkCooperativeMatrixPropertiesKHR *all = list(device->members[m], &count, error);
        const bool done = all != NULL && narrow(device, all, count, m == 0, error);
        free(all);
        if (!done)
            return false;
    }
    return true;
}

#else

/* No device of this build has the feature. */
bool matrix_list_shapes(struct assay_device *device, struct assay_error *error)
{
    (void)device;
    (void)error;
    return true;
}

#endif

const struct assay_matrix_shape *assay_device_matrix_shape(const struct assay_device *device,
                                                           size_t index)
{
    return index < device->shape_count ? &device->shapes[index] : NULL;
}
