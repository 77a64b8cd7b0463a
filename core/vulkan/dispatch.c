/* SPDX-License-Identifier: MIT */
/* Dispatches: bindings and push constants by name, checked before Vulkan sees them. */
#include "vulkan/descriptors.h"
#include "vulkan/kernel.h"
#include "vulkan/recording.h"
#include "vulkan/texel.h"

#include "base/abi.h"
#include "base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DISPATCH_PUSH_BYTES_MAX 4096

/* One dispatch that is being recorded. */
struct binder {
    struct assay_command *command;
    const struct assay_dispatch *dispatch;
    const struct assay_kernel *kernel;
    const struct assay_binding **given; /* for each binding of the kernel */
    struct assay_error *error;
};

static const char *kernel_name(const struct binder *binder)
{
    return binder->kernel->shader.name;
}

static void add_separator(struct text *text, size_t i, size_t count)
{
    if (i > 0)
        text_add(text, i + 1 < count ? ", " : " and ");
}

/* "kernel 'x.comp' binds source and destination; given: source and dest" */
static bool fail_bindings(const struct binder *binder, const char *detail)
{
    const struct reflection *reflection = &binder->kernel->reflection;
    struct text text = {0};
    text_addf(&text, "kernel '%s' binds ", kernel_name(binder));
    for (size_t i = 0; i < reflection->binding_count; i++) {
        add_separator(&text, i, reflection->binding_count);
        reflect_binding_add(&text, &reflection->bindings[i]);
    }
    text_add(&text, reflection->binding_count == 0 ? "nothing; given: " : "; given: ");
    for (size_t i = 0; i < binder->dispatch->binding_count; i++) {
        const char *name = binder->dispatch->bindings[i].name;
        add_separator(&text, i, binder->dispatch->binding_count);
        text_add_clean(&text, name != NULL ? name : "");
    }
    if (binder->dispatch->binding_count == 0)
        text_add(&text, "nothing");
    if (detail != NULL && detail[0] != '\0')
        text_addf(&text, " (%s)", detail);
    assay_fail(binder->error, ASSAY_INVALID, "%s", text_string(&text));
    text_free(&text);
    return false;
}

static bool match_bindings(struct binder *binder)
{
    const struct reflection *reflection = &binder->kernel->reflection;
    for (size_t i = 0; i < binder->dispatch->binding_count; i++) {
        const struct assay_binding *given = &binder->dispatch->bindings[i];
        struct assay_error cause = {0};
        int index = reflect_find_binding(reflection, given->name, &cause);
        if (index < 0)
            return fail_bindings(binder, cause.text);
        if (binder->given[index] != NULL) {
            struct text detail = {0};
            text_addf(&detail, "'%s' and '%s' are the same one", binder->given[index]->name,
                      given->name);
            fail_bindings(binder, text_string(&detail));
            text_free(&detail);
            return false;
        }
        binder->given[index] = given;
    }
    for (size_t i = 0; i < reflection->binding_count; i++)
        if (binder->given[i] == NULL)
            return fail_bindings(binder, NULL);
    return true;
}

static bool prefix_binding(const struct binder *binder, const struct assay_binding *given)
{
    error_prefix(binder->error, "kernel '%s': binding '%s'", kernel_name(binder), given->name);
    return false;
}

static bool check_limits(const struct binder *binder, const struct reflect_binding *binding,
                         const struct assay_binding *given)
{
    const VkPhysicalDeviceLimits *limits = &binder->command->member->physical->properties.limits;
    bool uniform = binding->kind == REFLECT_UNIFORM_BUFFER;
    bool texels = binding->kind == REFLECT_STORAGE_TEXEL_BUFFER;
    uint64_t alignment = uniform  ? limits->minUniformBufferOffsetAlignment
                         : texels ? limits->minTexelBufferOffsetAlignment
                                  : limits->minStorageBufferOffsetAlignment;
    uint64_t range = uniform ? limits->maxUniformBufferRange : limits->maxStorageBufferRange;
    uint64_t bytes = descriptors_range(given);
    if (alignment > 0 && given->offset % alignment != 0)
        return assay_fail(binder->error, ASSAY_INVALID,
                          "kernel '%s': binding '%s' starts at offset %llu, the device wants a "
                          "multiple of %llu",
                          kernel_name(binder), given->name, (unsigned long long)given->offset,
                          (unsigned long long)alignment);
    if (texels)
        return texel_check_range(binding, bytes, limits, binder->error) ||
               prefix_binding(binder, given);
    if (bytes > range)
        return assay_fail(binder->error, ASSAY_UNSUPPORTED,
                          "kernel '%s': binding '%s' takes %llu bytes, %s is %llu",
                          kernel_name(binder), given->name, (unsigned long long)bytes,
                          uniform ? "maxUniformBufferRange" : "maxStorageBufferRange",
                          (unsigned long long)range);
    return true;
}

static bool check_binding(const struct binder *binder, const struct reflect_binding *binding,
                          const struct assay_binding *given)
{
    const struct assay_buffer *buffer = given->buffer;
    if (!command_check_range(binder->command, buffer, given->offset,
                             given->bytes > 0 ? given->bytes : 1, binder->error))
        return prefix_binding(binder, given);
    if (buffer->params.memory == ASSAY_MEMORY_PAGEABLE)
        return assay_fail(binder->error, ASSAY_UNSUPPORTED,
                          "kernel '%s': binding '%s': buffer '%s' is pageable, the device cannot "
                          "see it",
                          kernel_name(binder), given->name, buffer->name);
    uint64_t least = 0;
    if (__builtin_add_overflow(binding->fixed_bytes, binding->stride_bytes, &least))
        least = UINT64_MAX;
    if (descriptors_range(given) < least)
        return assay_fail(binder->error, ASSAY_INVALID,
                          "kernel '%s': binding '%s' needs at least %llu bytes, given are %llu of "
                          "buffer '%s'",
                          kernel_name(binder), given->name, (unsigned long long)least,
                          (unsigned long long)descriptors_range(given), buffer->name);
    return check_limits(binder, binding, given);
}

/* "kernel 'x.comp' has the push constants n and a; given: n" */
static bool fail_pushes(const struct binder *binder)
{
    const struct reflection *reflection = &binder->kernel->reflection;
    struct text text = {0};
    text_addf(&text, "kernel '%s' has %s", kernel_name(binder),
              reflection->push_count > 0 ? "the push constants " : "no push constants");
    for (size_t i = 0; i < reflection->push_count; i++) {
        const struct reflect_push *push = &reflection->pushes[i];
        add_separator(&text, i, reflection->push_count);
        if (push->name != NULL)
            text_add(&text, push->name);
        else
            text_addf(&text, "[%zu]", i);
    }
    text_add(&text, "; given: ");
    for (size_t i = 0; i < binder->dispatch->push_count; i++) {
        const char *name = binder->dispatch->pushes[i].name;
        add_separator(&text, i, binder->dispatch->push_count);
        text_add_clean(&text, name != NULL ? name : "");
    }
    if (binder->dispatch->push_count == 0)
        text_add(&text, "nothing");
    assay_fail(binder->error, ASSAY_INVALID, "%s", text_string(&text));
    text_free(&text);
    return false;
}

/* Members go by name, or by their place ("[0]") where the names were stripped. */
static bool push_is(const struct reflect_push *push, size_t place, const char *name)
{
    char number[24];
    if (name == NULL)
        return false;
    if (push->name != NULL && strcmp(push->name, name) == 0)
        return true;
    snprintf(number, sizeof(number), "[%zu]", place);
    return strcmp(number, name) == 0;
}

static bool encode_push(const struct binder *binder, const struct reflect_push *push,
                        const struct assay_push *given, unsigned char *bytes, size_t limit)
{
    const char *wanted = NULL;
    uint64_t bits = 0;
    size_t width = push->scalar.bits / 8;
    if (!reflect_encode(push->scalar, given->value, &bits, &wanted)) {
        struct text number = {0};
        number_add(&number, given->value);
        assay_fail(binder->error, ASSAY_INVALID,
                   "kernel '%s': push constant '%s' is %s: %s does not fit, allowed is %s",
                   kernel_name(binder), given->name, reflect_scalar_name(push->scalar),
                   text_string(&number), wanted);
        text_free(&number);
        return false;
    }
    if (push->offset > limit || width > limit - push->offset)
        return assay_fail(binder->error, ASSAY_INVALID,
                          "kernel '%s': push constant '%s' lies outside its block",
                          kernel_name(binder), given->name);
    memcpy(bytes + push->offset, &bits, width);
    return true;
}

/* Each member exactly once. */
static bool encode_pushes(const struct binder *binder, unsigned char *bytes, size_t limit)
{
    const struct reflection *reflection = &binder->kernel->reflection;
    const struct assay_dispatch *dispatch = binder->dispatch;
    if (dispatch->push_count != reflection->push_count)
        return fail_pushes(binder);
    for (size_t i = 0; i < reflection->push_count; i++) {
        const struct assay_push *given = NULL;
        for (size_t j = 0; j < dispatch->push_count && given == NULL; j++)
            if (push_is(&reflection->pushes[i], i, dispatch->pushes[j].name))
                given = &dispatch->pushes[j];
        if (given == NULL)
            return fail_pushes(binder);
        if (!encode_push(binder, &reflection->pushes[i], given, bytes, limit))
            return false;
    }
    return true;
}

static bool count_groups(const struct binder *binder, uint32_t groups[3])
{
    const struct assay_dispatch *dispatch = binder->dispatch;
    const struct assay_limits *limits = &binder->command->device->limits;
    for (int i = 0; i < 3; i++) {
        uint64_t local = binder->kernel->local_size[i];
        uint64_t invocations = dispatch->invocations[i] > 0 ? dispatch->invocations[i] : 1;
        uint64_t count = invocations / local + (invocations % local > 0);
        if (dispatch->groups[0] > 0)
            count = dispatch->groups[i] > 0 ? dispatch->groups[i] : 1;
        if (count > limits->max_groups[i])
            return assay_fail(binder->error, ASSAY_UNSUPPORTED,
                              "kernel '%s': %llu workgroups in %c, maxComputeWorkGroupCount[%d] is "
                              "%u",
                              kernel_name(binder), (unsigned long long)count, "xyz"[i], i,
                              limits -> max_groups[i]);
        groups[i] = (uint32_t)count;
    }
    return true;
}

static bool record(struct binder *binder, const unsigned char *pushes, const uint32_t groups[3],
                   VkDescriptorSet *sets)
{
    struct assay_command *command = binder->command;
    const struct assay_kernel *kernel = binder->kernel;
    unsigned m = command->member_index;
    uint32_t push_bytes = (kernel->reflection.push_bytes + 3u) & ~3u;
    VkCommandBuffer buffer = command_open(command, binder->error);
    if (buffer == NULL)
        return false;
    for (size_t i = 0; i < kernel->reflection.binding_count; i++) {
        const struct reflect_binding *binding = &kernel->reflection.bindings[i];
        if (!command_use(command, binder->given[i]->buffer, binder->error))
            return false;
        if (binding->kind != REFLECT_UNIFORM_BUFFER && !binding->readonly)
            command_write(command, binder->given[i]->buffer);
    }
    if (kernel->set_count > 0) {
        if (!descriptors_make(command, kernel, binder->given, sets, binder->error))
            return false;
        command->member->vk.vkCmdBindDescriptorSets(buffer, VK_PIPELINE_BIND_POINT_COMPUTE,
                                                    kernel->layout[m], 0, kernel->set_count, sets,
                                                    0, NULL);
    }
    command->member->vk.vkCmdBindPipeline(buffer, VK_PIPELINE_BIND_POINT_COMPUTE,
                                          kernel->pipeline[m]);
    if (push_bytes > 0)
        command->member->vk.vkCmdPushConstants(buffer, kernel->layout[m],
                                               VK_SHADER_STAGE_COMPUTE_BIT, 0, push_bytes, pushes);
    command->member->vk.vkCmdDispatch(buffer, groups[0], groups[1], groups[2]);
    return true;
}

static bool check_dispatch(const struct binder *binder)
{
    const struct assay_command *command = binder->command;
    const struct vulkan_queue *queue = command->queues[command->lane];
    const VkQueueFamilyProperties *families = command->member->physical->queue_families;
    if (!(families[queue->family].queueFlags & VK_QUEUE_COMPUTE_BIT))
        return assay_fail(binder->error, ASSAY_INVALID,
                          "stage '%s' is a transfer stage and runs on a queue without compute; a "
                          "dispatch needs a compute stage",
                          command->name);
    if (binder->kernel->device != command->device)
        return assay_fail(binder->error, ASSAY_INVALID,
                          "stage '%s': kernel '%s' belongs to another device", command->name,
                          kernel_name(binder));
    if (binder->kernel->reflection.push_bytes > DISPATCH_PUSH_BYTES_MAX)
        return assay_fail(binder->error, ASSAY_UNSUPPORTED,
                          "kernel '%s': its push constants take %u B, allowed are %d",
                          kernel_name(binder), binder->kernel->reflection.push_bytes,
                          DISPATCH_PUSH_BYTES_MAX);
    return true;
}

bool assay_command_dispatch(struct assay_command *command, const struct assay_dispatch *given,
                            struct assay_error *error)
{
    unsigned char pushes[DISPATCH_PUSH_BYTES_MAX] = {0};
    uint32_t groups[3];
    struct assay_dispatch own, *dispatch = &own;
    if (!command_recording(command, error) ||
        !abi_copy(&own, sizeof(own), ABI_END(struct assay_dispatch, groups), given,
                  "assay_dispatch", error))
        return false;
    if (dispatch->kernel == NULL)
        return assay_fail(error, ASSAY_INVALID, "stage '%s': a dispatch needs a kernel",
                          command->name);
    struct binder binder = {
        .command = command, .dispatch = dispatch, .kernel = dispatch->kernel, .error = error};
    const struct reflection *reflection = &binder.kernel->reflection;
    VkDescriptorSet *sets = calloc(binder.kernel->set_count + 1, sizeof(*sets));
    binder.given = calloc(reflection->binding_count + 1, sizeof(*binder.given));
    bool done = sets != NULL && binder.given != NULL;
    if (!done)
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a dispatch");
    done = done && check_dispatch(&binder) && match_bindings(&binder);
    for (size_t i = 0; done && i < reflection->binding_count; i++)
        done = check_binding(&binder, &reflection->bindings[i], binder.given[i]);
    done = done && encode_pushes(&binder, pushes, reflection->push_bytes) &&
           count_groups(&binder, groups) && record(&binder, pushes, groups, sets);
    free(sets);
    free((void *)binder.given);
    command->dispatches = true;
    return done;
}
