/* SPDX-License-Identifier: MIT */
#include "vulkan/descriptors.h"

#include "vulkan/texel.h"

#define POOL_SETS 64u
#define POOL_DESCRIPTORS 64u /* of a kind, four times as many storage buffers */
#define VIEWS_TRIED 64       /* the last ones: what repeats is near */

VkDescriptorType descriptors_type(enum reflect_kind kind)
{
    switch (kind) {
    case REFLECT_UNIFORM_BUFFER:
        return VK_DESCRIPTOR_TYPE_UNIFORM_BUFFER;
    case REFLECT_STORAGE_TEXEL_BUFFER:
        return VK_DESCRIPTOR_TYPE_STORAGE_TEXEL_BUFFER;
    case REFLECT_UNIFORM_TEXEL_BUFFER:
        return VK_DESCRIPTOR_TYPE_UNIFORM_TEXEL_BUFFER;
    default:
        return VK_DESCRIPTOR_TYPE_STORAGE_BUFFER;
    }
}

uint64_t descriptors_range(const struct assay_binding *given)
{
    return given->bytes > 0 ? given->bytes : given->buffer->params.bytes - given->offset;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static bool create_pool(struct assay_command *command, const struct command_descriptors *needed,
                        struct assay_error *error)
{
    struct vulkan_device *member = command->member;
    struct command_descriptors *pool = command_list_add(&command->descriptors, sizeof(*pool),
                                                        error);
    if (pool == NULL)
        return false;
    VkDescriptorPoolSize sizes[REFLECT_UNSUPPORTED];
    pool->sets_left = larger(needed->sets_left, POOL_SETS);
    for (int kind = 0; kind < REFLECT_UNSUPPORTED; kind++) {
        const uint32_t usual = kind == REFLECT_STORAGE_BUFFER ? 4 * POOL_DESCRIPTORS
                                                              : POOL_DESCRIPTORS;
        pool->left[kind] = larger(needed->left[kind], usual);
        sizes[kind] = (VkDescriptorPoolSize){.type = descriptors_type((enum reflect_kind)kind),
                                             .descriptorCount = pool->left[kind]};
    }
    const VkDescriptorPoolCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_POOL_CREATE_INFO,
        .maxSets = pool->sets_left,
        .poolSizeCount = REFLECT_UNSUPPORTED,
        .pPoolSizes = sizes,
    };
    VkResult result = member->vk.vkCreateDescriptorPool(member->handle, &info, NULL, &pool->pool);
    if (result != VK_SUCCESS) {
        command->descriptors.count--;
        return device_fail(command->device, result, "vkCreateDescriptorPool", error);
    }
    device_name_object(member, VK_OBJECT_TYPE_DESCRIPTOR_POOL, (uint64_t)pool->pool, command->name);
    return true;
}

static struct command_descriptors *last_pool(const struct assay_command *command)
{
    return (struct command_descriptors *)command->descriptors.data + command->descriptors.count - 1;
}

static bool has_room(const struct assay_command *command, const struct command_descriptors *needed)
{
    if (command->descriptors.count == 0)
        return false;
    const struct command_descriptors *pool = last_pool(command);
    bool room = pool->sets_left >= needed->sets_left;
    for (int kind = 0; kind < REFLECT_UNSUPPORTED; kind++)
        room = room && pool->left[kind] >= needed->left[kind];
    return room;
}

static bool allocate_sets(struct assay_command *command, const struct assay_kernel *kernel,
                          VkDescriptorSet *sets, struct assay_error *error)
{
    struct command_descriptors needed = {.sets_left = kernel->set_count};
    for (size_t i = 0; i < kernel->reflection.binding_count; i++)
        needed.left[kernel->reflection.bindings[i].kind]++;
    if (!has_room(command, &needed) && !create_pool(command, &needed, error))
        return false;
    struct command_descriptors *pool = last_pool(command);
    const VkDescriptorSetAllocateInfo info = {
        .sType = VK_STRUCTURE_TYPE_DESCRIPTOR_SET_ALLOCATE_INFO,
        .descriptorPool = pool->pool,
        .descriptorSetCount = kernel->set_count,
        .pSetLayouts = kernel->set_layouts[command->member_index],
    };
    VkResult result = command->member->vk.vkAllocateDescriptorSets(command->member->handle, &info,
                                                                   sets);
    if (result != VK_SUCCESS)
        return device_fail(command->device, result, "vkAllocateDescriptorSets", error);
    pool->sets_left -= needed.sets_left;
    for (int kind = 0; kind < REFLECT_UNSUPPORTED; kind++)
        pool->left[kind] -= needed.left[kind];
    return true;
}

static const struct command_view *find_view(const struct assay_command *command,
                                            const VkBufferViewCreateInfo *wanted)
{
    const struct command_view *views = command->views.data;
    const size_t count = command->views.count;
    for (size_t i = 0; i < count && i < VIEWS_TRIED; i++) {
        const struct command_view *view = &views[count - 1 - i];
        if (view->info.buffer == wanted->buffer && view->info.format == wanted->format &&
            view->info.offset == wanted->offset && view->info.range == wanted->range)
            return view;
    }
    return NULL;
}

/* NULL: failed. Valid until the next one is made. */
static const struct command_view *get_view(struct assay_command *command,
                                           const struct reflect_binding *binding,
                                           const struct assay_binding *given,
                                           struct assay_error *error)
{
    struct vulkan_device *member = command->member;
    const VkBufferViewCreateInfo info = {
        .sType = VK_STRUCTURE_TYPE_BUFFER_VIEW_CREATE_INFO,
        .buffer = given->buffer->handles[command->member_index],
        .format = texel_format(binding->texel_format)->format,
        .offset = given->offset,
        .range = descriptors_range(given),
    };
    const struct command_view *found = find_view(command, &info);
    if (found != NULL)
        return found;
    struct command_view *view = command_list_add(&command->views, sizeof(*view), error);
    if (view == NULL)
        return NULL;
    VkResult result = member->vk.vkCreateBufferView(member->handle, &info, NULL, &view->handle);
    if (result != VK_SUCCESS) {
        command->views.count--;
        device_fail(command->device, result, "vkCreateBufferView", error);
        return NULL;
    }
    view->info = info;
    device_name_object(member, VK_OBJECT_TYPE_BUFFER_VIEW, (uint64_t)view->handle,
                       given->buffer->name);
    return view;
}

bool descriptors_make(struct assay_command *command, const struct assay_kernel *kernel,
                      const struct assay_binding *const *given, VkDescriptorSet *sets,
                      struct assay_error *error)
{
    const struct reflection *reflection = &kernel->reflection;
    struct vulkan_device *member = command->member;
    if (!allocate_sets(command, kernel, sets, error))
        return false;
    for (size_t i = 0; i < reflection->binding_count; i++) {
        const struct reflect_binding *binding = &reflection->bindings[i];
        const VkDescriptorBufferInfo buffer = {
            .buffer = given[i]->buffer->handles[command->member_index],
            .offset = given[i]->offset,
            .range = descriptors_range(given[i]),
        };
        VkWriteDescriptorSet write = {
            .sType = VK_STRUCTURE_TYPE_WRITE_DESCRIPTOR_SET,
            .dstSet = sets[binding->set],
            .dstBinding = binding->binding,
            .descriptorCount = 1,
            .descriptorType = descriptors_type(binding->kind),
            .pBufferInfo = &buffer,
        };
        if (binding->kind == REFLECT_STORAGE_TEXEL_BUFFER) {
            const struct command_view *view = get_view(command, binding, given[i], error);
            if (view == NULL)
                return false;
            write.pTexelBufferView = &view->handle;
        }
        member->vk.vkUpdateDescriptorSets(member->handle, 1, &write, 0, NULL);
    }
    return true;
}
