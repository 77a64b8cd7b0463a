/* SPDX-License-Identifier: MIT */
#include "vulkan/fill_device.h"

#include "base/element.h"
#include "vulkan/command.h"
#include "vulkan/fill.h"
#include "vulkan/fill_comp.h" /* generated from fill.comp */
#include "vulkan/slot.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES (UINT64_C(64) << 20) /* under maxStorageBufferRange everywhere */
#define SAMPLE_BYTES 4096

enum kind { KIND_RANDOM, KIND_VALUE, KIND_FLOAT, KIND_SMALL, KIND_WHOLE, KIND_DOUBLE };

struct fill_device {
    struct assay_slot *slot;
    struct assay_kernel *kernels[ASSAY_ELEMENT_COUNT + 2]; /* uniform by element; random; value */
    bool missing[ASSAY_ELEMENT_COUNT + 2];                 /* this driver does not take it */
};
#define PLACE_RANDOM ASSAY_ELEMENT_COUNT
#define PLACE_VALUE (ASSAY_ELEMENT_COUNT + 1)

static size_t done_count;

size_t fill_device_count(void)
{
    return done_count;
}

void fill_device_destroy(struct assay_device *device)
{
    if (device->fill) {
        slot_destroy(&device->fill->slot);
        free(device->fill);
    }
    device->fill = NULL;
}

static struct fill_device *prepare(struct assay_device *device, struct assay_error *error)
{
    if (device->fill)
        return device->fill;
    const struct slot_params params = {.device = device};
    struct fill_device *made = calloc(1, sizeof(*made));
    if (!made) {
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of memory for fills");
        return NULL;
    }
    made->slot = slot_create(&params, error);
    if (!made->slot) {
        free(made);
        return NULL;
    }
    device->fill = made;
    return made;
}

static enum kind kind_of(const struct assay_fill *fill)
{
    if (fill->kind == ASSAY_FILL_RANDOM_BITS)
        return KIND_RANDOM;
    if (fill->kind == ASSAY_FILL_VALUE)
        return KIND_VALUE;
    if (element_is_whole(fill->element))
        return KIND_WHOLE;
    if (fill->element == ASSAY_ELEMENT_DOUBLE)
        return KIND_DOUBLE;
    return fill->element == ASSAY_ELEMENT_FLOAT ? KIND_FLOAT : KIND_SMALL;
}

/* Whether every value and every step to it is zero or a normal number: drivers may flush others. */
static bool is_normal_throughout(const struct assay_fill *fill, enum kind kind)
{
    const bool wide = kind == KIND_DOUBLE;
    const double span = fill->to - fill->from;
    const double least_span = wide ? 0x1p-960 : 0x1p-100, least = wide ? 0x1p-900 : 0x1p-76;
    return span >= least_span && (fill->from == 0 || fabs(fill->from) >= least);
}

static bool is_known(const struct assay_device *device, const struct assay_fill *fill)
{
    const enum kind kind = kind_of(fill);
    if (fill->kind == ASSAY_FILL_SEQUENCE || fill->kind == ASSAY_FILL_DATA ||
        (kind == KIND_SMALL && element_bytes(fill->element) == 1))
        return false;
    if (kind == KIND_DOUBLE && !assay_device_has(device, ASSAY_FEATURE_FP64, NULL))
        return false;
    return kind == KIND_RANDOM || kind == KIND_VALUE || kind == KIND_WHOLE ||
           is_normal_throughout(fill, kind);
}

/* NULL: not on this driver, which is no error: the host fills then. */
static struct assay_kernel *kernel_for(struct fill_device *self, const struct assay_fill *fill)
{
    const enum kind kind = kind_of(fill);
    const size_t place = kind == KIND_RANDOM  ? PLACE_RANDOM
                         : kind == KIND_VALUE ? PLACE_VALUE
                                              : fill->element;
    char kind_text[8], width[8];
    if (self->kernels[place] || self->missing[place])
        return self->kernels[place];
    snprintf(kind_text, sizeof(kind_text), "%d", (int)kind);
    snprintf(width, sizeof(width), "%zu",
             place < ASSAY_ELEMENT_COUNT ? element_bytes(fill->element) : sizeof(uint32_t));
    const bool bfloat = fill->element == ASSAY_ELEMENT_BFLOAT16;
    const struct assay_define defines[] = {
        {"KIND", kind_text}, {"WIDTH", width}, {"BFLOAT", bfloat ? "1" : "0"}};
    char *text = calloc(1, sizeof(fill_comp) + 1);
    struct assay_error why_not = {0};
    if (text) {
        memcpy(text, fill_comp, sizeof(fill_comp));
        const struct assay_kernel_params params = {.size = sizeof(params),
                                                   .source = "fill.comp",
                                                   .text = text,
                                                   .defines = defines,
                                                   .define_count = 3};
        self->kernels[place] = assay_kernel_create(self->slot, &params, &why_not);
        self->missing[place] = !self->kernels[place];
    }
    free(text);
    return self->kernels[place];
}

static double low_half(uint64_t value)
{
    return (uint32_t)value;
}

static double high_half(uint64_t value)
{
    return (double)(value >> 32);
}

/* As the element holds it. */
static double held(enum assay_element element, double value)
{
    unsigned char bytes[8] = {0};
    element_store(element, value, bytes);
    return element_real(element, bytes, 0);
}

/* What the shader's pushes are for all pieces; the first three are the piece's. */
static size_t make_pushes(const struct assay_fill *fill, uint64_t seed, struct assay_push *pushes)
{
    const enum kind kind = kind_of(fill);
    const bool floats = kind == KIND_FLOAT || kind == KIND_SMALL;
    const uint64_t a = kind == KIND_VALUE   ? fill_pattern(fill)
                       : kind == KIND_WHOLE ? (uint64_t)(int64_t)fill->from
                                            : 0;
    const uint64_t b = kind == KIND_WHOLE ? (uint64_t)(fill->to - fill->from) + 1 : 0;
    const double low = floats ? held(fill->element, fill->from) : 0;
    const double high = floats ? held(fill->element, fill->to) : 0;
    const double below = (double)nextafterf((float)high, (float)low);
    uint16_t top = 0, under = 0;
    if (kind == KIND_SMALL)
        fill_small_bounds(fill->element, low, high, &top, &under);
    const struct assay_push all[] = {
        {"pairs", 0},
        {"first_low", 0},
        {"first_high", 0},
        {"seed_low", low_half(seed)},
        {"seed_high", high_half(seed)},
        {"a_low", low_half(a)},
        {"a_high", high_half(a)},
        {"b_low", low_half(b)},
        {"b_high", high_half(b)},
        {"top", top},
        {"under", under},
        {"low", low},
        {"high", high},
        {"below", below},
        {"wide_low", fill->from},
        {"wide_high", fill->to},
        {"wide_below", nextafter(fill->to, fill->from)},
    };
    memcpy(pushes, all, sizeof(all));
    return sizeof(all) / sizeof(all[0]) - (kind == KIND_DOUBLE ? 0 : 3);
}
#define PUSHES_MAX 17

static bool run_piece(struct fill_device *self, struct assay_buffer *buffer,
                      struct assay_dispatch *dispatch, uint64_t offset, uint64_t bytes,
                      struct assay_error *error)
{
    const struct command_params params = {
        .slot = self->slot, .name = "fill", .role = VULKAN_ROLE_COMPUTE};
    const struct assay_binding binding = {
        .name = "words_block", .buffer = buffer, .offset = offset, .bytes = bytes};
    struct assay_push *pushes = (struct assay_push *)dispatch->pushes;
    struct command_times times;
    pushes[0].value = (double)(bytes / 8);
    pushes[1].value = low_half(offset / 8);
    pushes[2].value = high_half(offset / 8);
    dispatch->bindings = &binding;
    dispatch->binding_count = 1;
    dispatch->invocations[0] = bytes / 8;
    struct assay_command *command = command_create(&params, error);
    const bool done = command && assay_command_dispatch(command, dispatch, error) &&
                      command_finish(command, error) &&
                      command_execute(command, clock_monotonic(), &times, error);
    command_destroy(&command);
    return done;
}

/* Start, middle and end against the host's. */
static bool samples_agree(struct assay_buffer *buffer, const struct assay_fill *fill, uint64_t seed,
                          uint64_t bytes, struct assay_error *error)
{
    unsigned char got[SAMPLE_BYTES], wanted[SAMPLE_BYTES];
    const uint64_t offsets[] = {0, bytes / 2 / 8 * 8, bytes - SAMPLE_BYTES};
    for (size_t i = 0; i < 3; i++) {
        if (!assay_buffer_read(buffer, offsets[i], sizeof(got), got, error))
            return false;
        fill_bytes(fill, seed, offsets[i], sizeof(wanted), wanted);
        if (memcmp(got, wanted, sizeof(got)) != 0)
            return false;
    }
    return true;
}

bool fill_device_restore(struct assay_buffer *buffer, const struct assay_fill *given, uint64_t seed,
                         struct assay_error *error)
{
    struct assay_push pushes[PUSHES_MAX];
    const struct assay_fill fill = fill_plain(given);
    const uint64_t whole = buffer->params.bytes / 8 * 8; /* two words at a time */
    if (buffer->params.bytes < FILL_DEVICE_BYTES || !buffer->device_local ||
        !is_known(buffer->device, &fill))
        return false;
    struct fill_device *self = prepare(buffer->device, error);
    struct assay_kernel *kernel = self ? kernel_for(self, &fill) : NULL;
    if (!kernel)
        return false;
    struct assay_dispatch dispatch = {.size = sizeof(dispatch), .kernel = kernel, .pushes = pushes};
    dispatch.push_count = make_pushes(&fill, seed, pushes);
    for (uint64_t offset = 0; offset < whole; offset += PIECE_BYTES) {
        const uint64_t left = whole - offset;
        if (!run_piece(self, buffer, &dispatch, offset, left < PIECE_BYTES ? left : PIECE_BYTES,
                       error))
            return false;
    }
    if (!samples_agree(buffer, &fill, seed, whole, error))
        return false;
    unsigned char tail[8];
    fill_bytes(&fill, seed, whole, buffer->params.bytes - whole, tail);
    if (whole < buffer->params.bytes &&
        !assay_buffer_write(buffer, whole, buffer->params.bytes - whole, tail, error))
        return false;
    done_count++;
    return true;
}
