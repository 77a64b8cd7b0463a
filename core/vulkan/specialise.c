/* SPDX-License-Identifier: MIT */
#include "vulkan/specialise.h"

#include "base/units.h"
#include "vulkan/spirv.h"

#include <string.h>

static void set(const struct reflection *reflection, struct specialisation *out, size_t constant,
                uint64_t bits)
{
    const struct reflect_constant *row = &reflection->constants[constant];
    uint32_t entry = out->info.mapEntryCount++;
    size_t bytes = row->scalar.bits / 8;
    memcpy(&out->values[entry], &bits, bytes);
    out->entries[entry] = (VkSpecializationMapEntry){
        .constantID = row->id, .offset = entry * (uint32_t)sizeof(uint64_t), .size = bytes};
    for (int i = 0; i < 3; i++)
        if (reflection->local_size_id[i] == row->id)
            out->local_size[i] = (uint32_t)bits;
}

static bool take(const char *kernel, const struct reflection *reflection,
                 struct specialisation *out, const struct assay_constant *given, bool *seen,
                 struct assay_error *error)
{
    const char *wanted = NULL;
    uint64_t bits = 0;
    int index = reflect_find_constant(reflection, given->name, error);
    if (index < 0) {
        error_prefix(error, "kernel '%s'", kernel);
        return false;
    }
    const struct reflect_constant *row = &reflection->constants[index];
    if (seen[index])
        return assay_fail(error, ASSAY_INVALID, "kernel '%s': constant '%s' is given twice", kernel,
                          given->name);
    seen[index] = true;
    if (!reflect_encode(row->scalar, given->value, &bits, &wanted)) {
        struct text number = {0};
        number_add(&number, given->value);
        assay_fail(error, ASSAY_INVALID,
                   "kernel '%s': constant '%s' is %s: %s does not fit, "
                   "allowed is %s",
                   kernel, given->name, reflect_scalar_name(row->scalar), text_string(&number),
                   wanted);
        text_free(&number);
        return false;
    }
    set(reflection, out, (size_t)index, bits);
    return true;
}

/* With the constants' values, since the lengths of shared arrays may hang on them. */
static bool count_shared(const struct reflection *reflection, struct arena *arena,
                         struct specialisation *out)
{
    const size_t count = out->info.mapEntryCount;
    struct spirv_value *values = arena_alloc(arena, (count + 1) * sizeof(*values));
    for (size_t i = 0; values != NULL && i < count; i++)
        values[i] = (struct spirv_value){out->entries[i].constantID, out->values[i]};
    if (values != NULL)
        out->shared_bytes = spirv_shared_bytes(reflection->module, values, count);
    return values != NULL;
}

bool specialise(const char *kernel, const struct reflection *reflection,
                const struct assay_constant *given, size_t given_count, struct arena *arena,
                struct specialisation *out, struct assay_error *error)
{
    const size_t count = reflection->constant_count;
    bool *seen = arena_alloc(arena, count + 1);
    *out = (struct specialisation){
        .entries = arena_alloc(arena, (count + 1) * sizeof(*out->entries)),
        .values = arena_alloc(arena, (count + 1) * sizeof(*out->values)),
    };
    if (seen == NULL || out->entries == NULL || out->values == NULL)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a kernel");
    memcpy(out->local_size, reflection->local_size, sizeof(out->local_size));
    for (size_t i = 0; i < given_count; i++)
        if (!take(kernel, reflection, out, &given[i], seen, error))
            return false;
    /* `local_size_x_id = 0` alone means 1, whatever the named constant 0 has as its default: the
     * name is what the author set, so its default counts for both. */
    for (size_t i = 0; i < count; i++)
        for (int axis = 0; axis < 3 && !seen[i]; axis++)
            if (reflection->local_size_id[axis] == reflection->constants[i].id &&
                reflection->constants[i].name != NULL) {
                set(reflection, out, i, reflection->constants[i].bits);
                seen[i] = true;
            }
    out->info.pMapEntries = out->entries;
    out->info.dataSize = out->info.mapEntryCount * sizeof(uint64_t);
    out->info.pData = out->values;
    return count_shared(reflection, arena, out) ||
           assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a kernel");
}

uint64_t specialise_bits(const struct specialisation *specialisation,
                         const struct reflect_constant *constant)
{
    for (uint32_t i = 0; i < specialisation->info.mapEntryCount; i++)
        if (specialisation->entries[i].constantID == constant->id)
            return specialisation->values[i];
    return constant->bits;
}
