/* SPDX-License-Identifier: MIT */
/* VK_KHR_pipeline_executable_properties. */
#include "base/json.h"
#include "base/os.h"
#include "vulkan/dump.h"

#include <math.h>
#include <stdlib.h>

/* What is being asked for. */
struct inquiry {
    const struct assay_kernel *kernel;
    const struct vulkan_device *member;
    const struct dump_params *params;
    unsigned files; /* written so far */
};

static bool no_memory(struct assay_error *error)
{
    return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a pipeline");
}

static json_t *statistic_value(const VkPipelineExecutableStatisticKHR *statistic)
{
    switch (statistic->format) {
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_BOOL32_KHR:
        return json_boolean(statistic->value.b32);
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_INT64_KHR:
        return json_integer((json_int_t)statistic->value.i64);
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_UINT64_KHR:
        if (statistic->value.u64 <= INT64_MAX)
            return json_integer((json_int_t)statistic->value.u64);
        return json_real((double)statistic->value.u64);
    case VK_PIPELINE_EXECUTABLE_STATISTIC_FORMAT_FLOAT64_KHR:
        return isfinite(statistic->value.f64) ? json_real(statistic->value.f64) : json_null();
    default:
        return json_null();
    }
}

static VkPipelineExecutableInfoKHR executable_info(const struct inquiry *inquiry, uint32_t index)
{
    return (VkPipelineExecutableInfoKHR){.sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INFO_KHR,
                                         .pipeline = inquiry->kernel->pipeline[0],
                                         .executableIndex = index};
}

static json_t *statistics(const struct inquiry *inquiry, uint32_t index, struct assay_error *error)
{
    const struct vulkan_device *member = inquiry->member;
    const VkPipelineExecutableInfoKHR info = executable_info(inquiry, index);
    uint32_t count = 0;
    VkResult result = member->vk.vkGetPipelineExecutableStatisticsKHR(member->handle, &info, &count,
                                                                      NULL);
    VkPipelineExecutableStatisticKHR *rows = calloc((size_t)count + 1, sizeof(*rows));
    json_t *array = json_array();
    for (uint32_t i = 0; rows && i < count; i++)
        rows[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_STATISTIC_KHR;
    if (result == VK_SUCCESS && rows)
        result = member->vk.vkGetPipelineExecutableStatisticsKHR(member->handle, &info, &count,
                                                                 rows);
    if (result != VK_SUCCESS || !rows || !array) {
        if (result != VK_SUCCESS)
            device_fail(inquiry->kernel->device, result, "vkGetPipelineExecutableStatisticsKHR",
                        error);
        no_memory(error);
        json_decref(array);
        free(rows);
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(array,
                              json_pack("{s:o, s:o, s:o}", "name", json_clean_string(rows[i].name),
                                        "description", json_clean_string(rows[i].description),
                                        "value", statistic_value(&rows[i])));
    free(rows);
    return array;
}

/* {"name", "description", "file", "bytes"}, the file written. A text's last byte is its NUL. */
static json_t *keep(struct inquiry *inquiry,
                    const VkPipelineExecutableInternalRepresentationKHR *row,
                    struct assay_error *error)
{
    struct text file = {0}, path = {0};
    size_t bytes = row->dataSize;
    const char *data = row->pData;
    if (row->isText && bytes > 0 && data[bytes - 1] == '\0')
        bytes--;
    text_addf(&file, "%s.pipeline-%u.%s", inquiry->params->stem, ++inquiry->files,
              row->isText ? "txt" : "bin");
    os_path_join(&path, inquiry->params->directory, text_string(&file));
    json_t *json = NULL;
    if (os_file_write_atomic(text_string(&path), data, bytes, error))
        json = json_pack("{s:o, s:o, s:o, s:I}", "name", json_clean_string(row->name),
                         "description", json_clean_string(row->description), "file",
                         json_clean_string(text_string(&file)), "bytes", (json_int_t)bytes);
    text_free(&file);
    text_free(&path);
    return json;
}

/* Sizes, then contents, of all representations; NULL with `*result` or out of memory. */
static VkPipelineExecutableInternalRepresentationKHR *
fetch(const struct inquiry *inquiry, uint32_t index, uint32_t *count, VkResult *result)
{
    const struct vulkan_device *member = inquiry->member;
    const VkPipelineExecutableInfoKHR info = executable_info(inquiry, index);
    PFN_vkGetPipelineExecutableInternalRepresentationsKHR get =
        member->vk.vkGetPipelineExecutableInternalRepresentationsKHR;
    *result = get(member->handle, &info, count, NULL);
    VkPipelineExecutableInternalRepresentationKHR *rows = calloc((size_t)*count + 1, sizeof(*rows));
    for (uint32_t i = 0; rows && i < *count; i++)
        rows[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_INTERNAL_REPRESENTATION_KHR;
    if (*result != VK_SUCCESS || !rows)
        goto fail;
    *result = get(member->handle, &info, count, rows);
    for (uint32_t i = 0; *result == VK_SUCCESS && i < *count; i++)
        if (!(rows[i].pData = malloc(rows[i].dataSize + 1)))
            goto fail;
    if (*result == VK_SUCCESS)
        *result = get(member->handle, &info, count, rows);
    if (*result == VK_SUCCESS)
        return rows;
fail:
    for (uint32_t i = 0; rows && i < *count; i++)
        free(rows[i].pData);
    free(rows);
    return NULL;
}

static json_t *representations(struct inquiry *inquiry, uint32_t index, struct assay_error *error)
{
    uint32_t count = 0;
    VkResult result;
    VkPipelineExecutableInternalRepresentationKHR *rows = fetch(inquiry, index, &count, &result);
    if (!rows) {
        if (result != VK_SUCCESS)
            device_fail(inquiry->kernel->device, result,
                        "vkGetPipelineExecutableInternalRepresentationsKHR", error);
        no_memory(error);
        return NULL;
    }
    json_t *array = json_array();
    bool good = array != NULL;
    for (uint32_t i = 0; i < count; i++) {
        json_t *row = good ? keep(inquiry, &rows[i], error) : NULL;
        good = row && json_array_append_new(array, row) == 0;
        free(rows[i].pData);
    }
    free(rows);
    if (good)
        return array;
    no_memory(error);
    json_decref(array);
    return NULL;
}

static json_t *executable(struct inquiry *inquiry, uint32_t index,
                          const VkPipelineExecutablePropertiesKHR *row, struct assay_error *error)
{
    json_t *numbers = statistics(inquiry, index, error);
    json_t *texts = numbers ? representations(inquiry, index, error) : NULL;
    if (!texts) {
        json_decref(numbers);
        return NULL;
    }
    json_t *size = row->subgroupSize > 0 ? json_integer(row->subgroupSize) : json_null();
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "name", json_clean_string(row->name),
                     "description", json_clean_string(row->description), "subgroup_size", size,
                     "statistics", numbers, "representations", texts);
}

json_t *dump_pipeline(const struct assay_kernel *kernel, const struct dump_params *params,
                      struct assay_error *error)
{
    struct inquiry inquiry = {
        .kernel = kernel, .member = kernel->device->members[0], .params = params};
    const VkPipelineInfoKHR info = {.sType = VK_STRUCTURE_TYPE_PIPELINE_INFO_KHR,
                                    .pipeline = kernel->pipeline[0]};
    const struct vulkan_device *member = inquiry.member;
    uint32_t count = 0;
    VkResult result = member->vk.vkGetPipelineExecutablePropertiesKHR(member->handle, &info, &count,
                                                                      NULL);
    VkPipelineExecutablePropertiesKHR *rows = calloc((size_t)count + 1, sizeof(*rows));
    json_t *array = json_array();
    bool good = rows && array;
    for (uint32_t i = 0; rows && i < count; i++)
        rows[i].sType = VK_STRUCTURE_TYPE_PIPELINE_EXECUTABLE_PROPERTIES_KHR;
    if (result == VK_SUCCESS && good)
        result = member->vk.vkGetPipelineExecutablePropertiesKHR(member->handle, &info, &count,
                                                                 rows);
    if (result != VK_SUCCESS)
        good = device_fail(kernel->device, result, "vkGetPipelineExecutablePropertiesKHR", error);
    for (uint32_t i = 0; rows && good && i < count; i++) {
        json_t *row = executable(&inquiry, i, &rows[i], error);
        good = row && json_array_append_new(array, row) == 0;
    }
    free(rows);
    if (good)
        return array;
    no_memory(error);
    json_decref(array);
    return NULL;
}
