/* SPDX-License-Identifier: MIT */
#include "vulkan/buffer.h"

#include <assay/vulkan.h>

#include "vulkan/fill.h"
#include "vulkan/fill_device.h"
#include "vulkan/memory.h"
#include "vulkan/slot.h"
#include "vulkan/staging.h"

#include "base/abi.h"
#include "base/hash.h"
#include "base/os.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOST_RESERVE_BYTES (UINT64_C(256) << 20)
#define GUARD_BYTES 64u
#define GUARD_WORD 0xa5
/* Larger ones are at the limits of heaps, where nothing is added. */
#define GUARDED_BYTES_MAX (UINT64_C(1) << 30)
#define USAGE                                                                                      \
    (VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |                         \
     VK_BUFFER_USAGE_UNIFORM_TEXEL_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_TEXEL_BUFFER_BIT |         \
     VK_BUFFER_USAGE_UNIFORM_BUFFER_BIT | VK_BUFFER_USAGE_STORAGE_BUFFER_BIT |                     \
     VK_BUFFER_USAGE_INDIRECT_BUFFER_BIT)

static uint64_t page_bytes(void)
{
    const long page = sysconf(_SC_PAGESIZE);
    return page > 0 ? (uint64_t)page : 4096;
}

/* Sizes were checked against the limits, so rounding up cannot wrap. */
static uint64_t round_up(uint64_t bytes, uint64_t alignment)
{
    return (bytes + alignment - 1) / alignment * alignment;
}

/* What may be taken of the host's memory: the rest of the machine goes on living. */
static uint64_t host_left(void)
{
    const uint64_t left = os_memory_available();
    return left > HOST_RESERVE_BYTES ? left - HOST_RESERVE_BYTES : 0;
}

static void *allocate_host(const struct assay_buffer *buffer, uint64_t bytes, uint64_t alignment,
                           struct assay_error *error)
{
    const uint64_t rounded = round_up(bytes, alignment);
    void *memory = NULL;
    if (!memory_check_host_left(buffer->params.memory, rounded, host_left(), error))
        return NULL;
    if (rounded <= SIZE_MAX && posix_memalign(&memory, (size_t)alignment, (size_t)rounded) == 0)
        return memory;
    assay_fail(error, ASSAY_OUT_OF_MEMORY, "no %llu B of host memory left",
               (unsigned long long)rounded);
    return NULL;
}

static bool imported(const struct assay_buffer *buffer)
{
    return buffer->params.memory == ASSAY_MEMORY_IMPORTED || buffer->device->member_count > 1;
}

static bool create_handle(struct assay_buffer *buffer, unsigned member, struct assay_error *error)
{
    const struct vulkan_device *device = buffer->device->members[member];
    const VkExternalMemoryBufferCreateInfo external = {
        .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
        .handleTypes = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT,
    };
    const bool concurrent = device->family_count > 1;
    const VkBufferCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
        .pNext = imported(buffer) ? &external : NULL,
        .size = buffer->params.bytes,
        .usage = USAGE,
        .sharingMode = concurrent ? VK_SHARING_MODE_CONCURRENT : VK_SHARING_MODE_EXCLUSIVE,
        .queueFamilyIndexCount = concurrent ? device->family_count : 0,
        .pQueueFamilyIndices = concurrent ? device->families : NULL,
    };
    const VkResult result = device->vk.vkCreateBuffer(device->handle, &info, NULL,
                                                      &buffer->handles[member]);
    if (result != VK_SUCCESS) {
        buffer->handles[member] = VK_NULL_HANDLE;
        return device_fail(buffer->device, result, "vkCreateBuffer", error);
    }
    device_name_object(device, VK_OBJECT_TYPE_BUFFER, (uint64_t)buffer->handles[member],
                       buffer->name);
    return true;
}

/* Allocates `bytes` of the type and binds the buffer to it. */
static bool allocate(struct assay_buffer *buffer, unsigned member, uint64_t bytes, uint32_t type,
                     const void *next, struct assay_error *error)
{
    struct vulkan_device *device = buffer->device->members[member];
    /* The driver's own rounding may take what the size alone did not. */
    if (!memory_check_allocation(device->physical, type, buffer->params.memory, bytes, error))
        return false;
    /* Drivers promise more than there is, above all those that take the host's memory. */
    if (!next && !memory_check_left(device, type, buffer->params.memory, bytes, host_left(), error))
        return false;
    const VkMemoryAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
        .pNext = next,
        .allocationSize = bytes,
        .memoryTypeIndex = type,
    };
    VkResult result = device->vk.vkAllocateMemory(device->handle, &info, NULL,
                                                  &buffer->memory[member]);
    if (result != VK_SUCCESS) {
        buffer->memory[member] = VK_NULL_HANDLE;
        char call[64];
        snprintf(call, sizeof(call), "vkAllocateMemory of %llu B", (unsigned long long)bytes);
        return device_fail(buffer->device, result, call, error);
    }
    if (!next) {
        buffer->held_bytes = bytes;
        buffer->held_heap = device->physical->memory.memoryTypes[type].heapIndex;
        device->held_bytes[buffer->held_heap] += bytes;
    }
    device_name_object(device, VK_OBJECT_TYPE_DEVICE_MEMORY, (uint64_t)buffer->memory[member],
                       buffer->name);
    result = device->vk.vkBindBufferMemory(device->handle, buffer->handles[member],
                                           buffer->memory[member], 0);
    if (result != VK_SUCCESS)
        return device_fail(buffer->device, result, "vkBindBufferMemory", error);
    return true;
}

static bool allocate_own(struct assay_buffer *buffer, struct assay_error *error)
{
    const struct vulkan_device *device = buffer->device->members[0];
    if (!create_handle(buffer, 0, error))
        return false;
    VkMemoryRequirements needs;
    device->vk.vkGetBufferMemoryRequirements(device->handle, buffer->handles[0], &needs);
    const char *why_not = NULL;
    const int type = memory_type_find(device->physical, buffer->params.memory, needs.memoryTypeBits,
                                      &why_not);
    if (type < 0)
        return assay_fail(error, ASSAY_UNSUPPORTED, "%s has no %s memory for buffers: %s",
                          device->physical->name, memory_name(buffer->params.memory), why_not);
    const VkMemoryPropertyFlags flags = device->physical->memory.memoryTypes[type].propertyFlags;
    const bool guarded = buffer->params.memory != ASSAY_MEMORY_DEVICE &&
                         (flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) &&
                         (flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT) &&
                         needs.size < GUARDED_BYTES_MAX;
    buffer->guard_bytes = guarded ? GUARD_BYTES : 0;
    if (!allocate(buffer, 0, needs.size + buffer->guard_bytes, (uint32_t)type, NULL, error))
        return false;
    buffer->coherent = flags & VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
    buffer->device_local = buffer->params.memory == ASSAY_MEMORY_DEVICE ||
                           buffer->params.memory == ASSAY_MEMORY_BAR;
    if (!(flags & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT))
        return true;
    const VkResult result = device->vk.vkMapMemory(device->handle, buffer->memory[0], 0,
                                                   VK_WHOLE_SIZE, 0, &buffer->address);
    if (result != VK_SUCCESS)
        return device_fail(buffer->device, result, "vkMapMemory", error);
    return true;
}

static bool import(struct assay_buffer *buffer, unsigned member, uint64_t bytes,
                   uint32_t allowed_bits, struct assay_error *error)
{
    const struct vulkan_device *device = buffer->device->members[member];
    VkMemoryHostPointerPropertiesEXT pointer = {
        .sType = VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT};
    const VkResult result = device->vk.vkGetMemoryHostPointerPropertiesEXT(
        device->handle, VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT, buffer->allocation,
        &pointer);
    if (result != VK_SUCCESS)
        return device_fail(buffer->device, result, "vkGetMemoryHostPointerPropertiesEXT", error);
    const char *why_not = NULL;
    const int type = memory_type_find(device->physical, ASSAY_MEMORY_IMPORTED,
                                      allowed_bits & pointer.memoryTypeBits, &why_not);
    if (type < 0)
        return assay_fail(error, ASSAY_UNSUPPORTED, "%s cannot import host memory: %s",
                          device->physical->name, why_not);
    const VkImportMemoryHostPointerInfoEXT info = {
        .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
        .handleType = VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT,
        .pHostPointer = buffer->allocation,
    };
    return allocate(buffer, member, bytes, (uint32_t)type, &info, error);
}

/* Host memory that every member imports: its size must satisfy all of them, so the buffers come
 * first. What can be imported is asked of the pointer alone: VkExternalBufferProperties say nothing
 * on SwiftShader, which imports well. */
static bool allocate_imported(struct assay_buffer *buffer, struct assay_error *error)
{
    struct assay_device *set = buffer->device;
    uint32_t allowed[VULKAN_MEMBERS_MAX];
    uint64_t bytes = buffer->params.bytes, alignment = page_bytes();
    for (unsigned i = 0; i < set->member_count; i++) {
        const struct vulkan_device *device = set->members[i];
        if (device->missing[ASSAY_FEATURE_HOST_IMPORT])
            return assay_fail(error, ASSAY_UNSUPPORTED, "%s cannot import host memory: %s",
                              device->physical->name, device->missing[ASSAY_FEATURE_HOST_IMPORT]);
        if (!create_handle(buffer, i, error))
            return false;
        VkMemoryRequirements needs;
        device->vk.vkGetBufferMemoryRequirements(device->handle, buffer->handles[i], &needs);
        allowed[i] = needs.memoryTypeBits;
        bytes = needs.size > bytes ? needs.size : bytes;
        if (device->physical->import_alignment_bytes > alignment)
            alignment = device->physical->import_alignment_bytes;
    }
    bytes = round_up(bytes, alignment);
    buffer->allocation = allocate_host(buffer, bytes, alignment, error);
    if (!buffer->allocation)
        return false;
    buffer->address = buffer->allocation;
    buffer->coherent = true;
    for (unsigned i = 0; i < set->member_count; i++)
        if (!import(buffer, i, bytes, allowed[i], error))
            return false;
    return true;
}

static bool allocate_pageable(struct assay_buffer *buffer, struct assay_error *error)
{
    buffer->guard_bytes = buffer->params.bytes < GUARDED_BYTES_MAX ? GUARD_BYTES : 0;
    buffer->allocation = allocate_host(buffer, buffer->params.bytes + buffer->guard_bytes,
                                       page_bytes(), error);
    buffer->address = buffer->allocation;
    buffer->coherent = true;
    return buffer->allocation != NULL;
}

static unsigned char *guard(const struct assay_buffer *buffer)
{
    return (unsigned char *)buffer->address + buffer->params.bytes;
}

bool buffer_check_guard(const struct assay_buffer *buffer, struct assay_error *error)
{
    for (uint32_t i = 0; i < buffer->guard_bytes; i++)
        if (guard(buffer)[i] != GUARD_WORD)
            return assay_fail(error, ASSAY_WRONG_RESULT,
                              "buffer '%s' ends at byte %llu, but byte %llu was written: a host "
                              "stage or a kernel goes past its end",
                              buffer->name, (unsigned long long)buffer->params.bytes,
                              (unsigned long long)buffer->params.bytes + i);
    return true;
}

static bool check_params(const struct assay_device *device,
                         const struct assay_buffer_params *params, struct assay_error *error)
{
    if ((unsigned)params->memory >= ASSAY_MEMORY_COUNT)
        return assay_fail(error, ASSAY_INVALID, "%d is no kind of memory", (int)params->memory);
    if (params->bytes == 0)
        return assay_fail(error, ASSAY_INVALID, "its size is 0 B, but at least 1 B is needed");
    if (params->role == ASSAY_ROLE_INPUT && !fill_check(&params->fill, error))
        return false;
    return memory_check_size(device, params->memory, params->bytes, error);
}

/* First touch of host memory belongs to creation, never to a measurement. */
static bool initialise(struct assay_buffer *buffer, struct assay_error *error)
{
    if (buffer->params.role != ASSAY_ROLE_SCRATCH)
        return buffer_restore(buffer, error);
    if (!buffer->address || buffer->device_local)
        return true;
    memset(buffer->address, 0, (size_t)buffer->params.bytes);
    return buffer_flush(buffer, error);
}

/* The caller's data may go. */
static bool keep_data(struct assay_buffer *buffer, struct assay_error *error)
{
    struct assay_fill *fill = &buffer->params.fill;
    if (buffer->params.role != ASSAY_ROLE_INPUT || fill->kind != ASSAY_FILL_DATA)
        return true;
    buffer->data = malloc((size_t)buffer->params.bytes);
    if (!buffer->data)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "no %llu B of host memory left for its fill",
                          (unsigned long long)buffer->params.bytes);
    memcpy(buffer->data, fill->data, (size_t)buffer->params.bytes);
    fill->data = buffer->data;
    return true;
}

struct assay_buffer *buffer_create_internal(struct assay_device *device,
                                            const struct assay_buffer_params *given, uint64_t seed,
                                            struct assay_error *error)
{
    struct assay_buffer_params own, *params = &own;
    if (!abi_copy(&own, sizeof(own), ABI_END(struct assay_buffer_params, fill.high), given,
                  "assay_buffer_params", error))
        return NULL;
    const char *name = params->name ? params->name : "buffer";
    struct assay_buffer *buffer = calloc(1, sizeof(*buffer));
    if (!buffer) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of memory for buffer '%s'", name);
        return NULL;
    }
    buffer->device = device;
    buffer->params = *params;
    buffer->seed = seed;
    snprintf(buffer->name, sizeof(buffer->name), "%s", name);
    buffer->params.name = buffer->name;
    buffer->unnamed = !params->name;
    struct assay_error cause = {0};
    bool ok = check_params(device, params, &cause) && keep_data(buffer, &cause);
    if (ok && params->memory == ASSAY_MEMORY_PAGEABLE)
        ok = allocate_pageable(buffer, &cause);
    else if (ok && imported(buffer))
        ok = allocate_imported(buffer, &cause);
    else if (ok)
        ok = allocate_own(buffer, &cause);
    if (ok && buffer->guard_bytes)
        memset(guard(buffer), GUARD_WORD, buffer->guard_bytes);
    if (ok && initialise(buffer, &cause))
        return buffer;
    error_prefix(&cause, "buffer '%s'", buffer->name);
    if (error && error->status == ASSAY_OK)
        *error = cause;
    assay_buffer_destroy(&buffer);
    return NULL;
}

struct assay_buffer *assay_buffer_create(struct assay_slot *slot,
                                         const struct assay_buffer_params *params,
                                         struct assay_error *error)
{
    const uint64_t seed = random_child(slot->seed, slot->buffer_count);
    if (!slot->device) {
        assay_fail(error, ASSAY_INTERNAL, "a workload of MODEL stages alone has no buffers");
        return NULL;
    }
    struct assay_buffer *buffer = buffer_create_internal(slot->device, params, seed, error);
    if (!buffer)
        return NULL;
    slot->buffer_count++;
    buffer_adopt(slot, buffer);
    return buffer;
}

void buffer_name_late(struct assay_buffer *buffer, const char *name)
{
    if (!buffer->unnamed)
        return;
    buffer->unnamed = false;
    snprintf(buffer->name, sizeof(buffer->name), "%s", name);
    for (unsigned i = 0; i < buffer->device->member_count; i++)
        if (buffer->handles[i])
            device_name_object(buffer->device->members[i], VK_OBJECT_TYPE_BUFFER,
                               (uint64_t)buffer->handles[i], buffer->name);
}

void buffer_adopt(struct assay_slot *slot, struct assay_buffer *buffer)
{
    buffer->slot = slot;
    struct assay_buffer **tail = &slot->buffers;
    while (*tail)
        tail = &(*tail)->next;
    *tail = buffer;
}

static void unlink_buffer(struct assay_buffer *buffer)
{
    if (!buffer->slot)
        return;
    struct assay_buffer **at = &buffer->slot->buffers;
    while (*at && *at != buffer)
        at = &(*at)->next;
    if (*at)
        *at = buffer->next;
}

void assay_buffer_destroy(struct assay_buffer **buffer)
{
    struct assay_buffer *self = *buffer;
    *buffer = NULL;
    if (!self)
        return;
    unlink_buffer(self);
    /* A lost set may still write to the memory: it stays until the process ends. */
    if (self->device->lost)
        return;
    for (unsigned i = 0; i < self->device->member_count; i++) {
        const struct vulkan_device *device = self->device->members[i];
        device->vk.vkDestroyBuffer(device->handle, self->handles[i], NULL);
        device->vk.vkFreeMemory(device->handle, self->memory[i], NULL);
    }
    self->device->members[0]->held_bytes[self->held_heap] -= self->held_bytes;
    free(self->allocation);
    free(self->data);
    free(self);
}

typedef VkResult (*ranges_call)(VkDevice, uint32_t, const VkMappedMemoryRange *);

static bool each_range(struct assay_buffer *buffer, bool flush, struct assay_error *error)
{
    for (unsigned i = 0; i < buffer->device->member_count; i++) {
        const struct vulkan_device *device = buffer->device->members[i];
        const VkMappedMemoryRange range = {
            .sType = VK_STRUCTURE_TYPE_MAPPED_MEMORY_RANGE,
            .memory = buffer->memory[i],
            .size = VK_WHOLE_SIZE,
        };
        const ranges_call call = flush ? device->vk.vkFlushMappedMemoryRanges
                                       : device->vk.vkInvalidateMappedMemoryRanges;
        const VkResult result = call(device->handle, 1, &range);
        if (result != VK_SUCCESS)
            return device_fail(
                buffer->device, result,
                flush ? "vkFlushMappedMemoryRanges" : "vkInvalidateMappedMemoryRanges", error);
    }
    return true;
}

bool buffer_flush(struct assay_buffer *buffer, struct assay_error *error)
{
    return buffer->coherent || !buffer->address || each_range(buffer, true, error);
}

bool buffer_invalidate(struct assay_buffer *buffer, struct assay_error *error)
{
    return buffer->coherent || !buffer->address || each_range(buffer, false, error);
}

bool buffer_is_host(const struct assay_buffer *buffer)
{
    return buffer->params.memory != ASSAY_MEMORY_DEVICE;
}

/* What it is filled with when it is restored, and the seed of that. */
static struct assay_fill contents(const struct assay_buffer *buffer, uint64_t *seed)
{
    /* Poison is random too: a constant could be what a broken kernel writes. Of what an upload
     * fills it is another stream than that upload's random bits. */
    const bool brought = buffer->source && !buffer->partly_uploaded;
    *seed = brought ? random_child(buffer->seed, 1) : buffer->seed;
    if (brought || buffer->params.role != ASSAY_ROLE_INPUT)
        return (struct assay_fill){.kind = ASSAY_FILL_RANDOM_BITS};
    return buffer->params.fill;
}

bool buffer_restore(struct assay_buffer *buffer, struct assay_error *error)
{
    struct assay_error cause = {0};
    uint64_t seed;
    if (buffer->params.role == ASSAY_ROLE_SCRATCH)
        return true;
    const struct assay_fill fill = contents(buffer, &seed);
    if (fill_device_restore(buffer, &fill, seed, &cause))
        return true;
    if (cause.status != ASSAY_OK) {
        if (error && error->status == ASSAY_OK)
            *error = cause;
        return false;
    }
    if (!buffer->address)
        return staging_restore(buffer, error);
    fill_bytes(&fill, seed, 0, buffer->params.bytes, buffer->address);
    return buffer_flush(buffer, error);
}

uint64_t assay_buffer_bytes(const struct assay_buffer *buffer)
{
    return buffer->params.bytes;
}

void *assay_buffer_address(struct assay_buffer *buffer)
{
    return buffer->address;
}

static bool check_range(const struct assay_buffer *buffer, uint64_t offset, uint64_t bytes,
                        struct assay_error *error)
{
    if (offset <= buffer->params.bytes && bytes <= buffer->params.bytes - offset)
        return true;
    return assay_fail(error, ASSAY_INVALID,
                      "buffer '%s' has %llu B; %llu B from offset %llu on are not all inside",
                      buffer->name, (unsigned long long)buffer->params.bytes,
                      (unsigned long long)bytes, (unsigned long long)offset);
}

bool assay_buffer_read(struct assay_buffer *buffer, uint64_t offset, uint64_t bytes, void *host,
                       struct assay_error *error)
{
    if (!check_range(buffer, offset, bytes, error))
        return false;
    if (!buffer->address)
        return staging_read(buffer, offset, bytes, host, error);
    /* What the host wrote through the address may not be dropped with the cache's lines. */
    if (!buffer_flush(buffer, error) || !buffer_invalidate(buffer, error))
        return false;
    memcpy(host, (const char *)buffer->address + offset, (size_t)bytes);
    return true;
}

bool assay_buffer_write(struct assay_buffer *buffer, uint64_t offset, uint64_t bytes,
                        const void *host, struct assay_error *error)
{
    if (!check_range(buffer, offset, bytes, error))
        return false;
    if (!buffer->address)
        return staging_write(buffer, offset, bytes, host, error);
    memcpy((char *)buffer->address + offset, host, (size_t)bytes);
    return buffer_flush(buffer, error);
}

void assay_buffer_fill_bytes(const struct assay_buffer *buffer, uint64_t offset, uint64_t bytes,
                             void *host)
{
    uint64_t seed;
    const struct assay_fill fill = contents(buffer, &seed);
    fill_bytes(&fill, seed, offset, bytes, host);
}

VkBuffer assay_buffer_handle(const struct assay_buffer *buffer, unsigned member)
{
    return member < buffer->device->member_count ? buffer->handles[member] : VK_NULL_HANDLE;
}
