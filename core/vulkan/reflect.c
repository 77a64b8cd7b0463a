/* SPDX-License-Identifier: MIT */
#include "vulkan/reflect.h"

#include "vulkan/spirv.h"

#include <stdlib.h>

#define REFLECT_PUSH_DEPTH_MAX 8
#define REFLECT_PUSHES_MAX 256

static struct reflect_scalar scalar_of(const struct spirv_module *module, uint32_t type)
{
    const struct spirv_id *id = type < module->bound ? &module->ids[type] : NULL;
    struct reflect_scalar scalar = {REFLECT_OTHER, 0};
    if (id == NULL)
        return scalar;
    if (id->opcode == SPIRV_TYPE_BOOL)
        return (struct reflect_scalar){REFLECT_BOOL, 32};
    if (id->opcode == SPIRV_TYPE_INT && id->count >= 4)
        scalar.type = id->words[3] != 0 ? REFLECT_INT : REFLECT_UINT;
    else if (id->opcode == SPIRV_TYPE_FLOAT && id->count >= 3)
        scalar.type = REFLECT_FLOAT;
    else
        return scalar;
    scalar.bits = id->words[2];
    if (scalar.bits != 8 && scalar.bits != 16 && scalar.bits != 32 && scalar.bits != 64)
        scalar = (struct reflect_scalar){REFLECT_OTHER, 0};
    return scalar;
}

/* What the variable's pointer points at, or 0. */
static uint32_t pointee(const struct spirv_module *module, const struct spirv_id *variable)
{
    const struct spirv_id *pointer = spirv_get(module, variable->words[1], SPIRV_TYPE_POINTER, 4);
    return pointer != NULL ? pointer->words[3] : 0;
}

/* The image behind a variable's type, with or without its sampler; NULL: none. */
static const struct spirv_id *image_of(const struct spirv_module *module, uint32_t type)
{
    const struct spirv_id *sampled = spirv_get(module, type, SPIRV_TYPE_SAMPLED_IMAGE, 3);
    return spirv_get(module, sampled != NULL ? sampled->words[2] : type, SPIRV_TYPE_IMAGE, 9);
}

static enum reflect_kind image_kind(const struct spirv_module *module, uint32_t type)
{
    const struct spirv_id *image = image_of(module, type);
    if (image == NULL || image->words[3] != SPIRV_DIM_BUFFER)
        return REFLECT_UNSUPPORTED;
    if (module->ids[type].opcode == SPIRV_TYPE_SAMPLED_IMAGE || image->words[7] == 1)
        return REFLECT_UNIFORM_TEXEL_BUFFER;
    return image->words[7] == 2 ? REFLECT_STORAGE_TEXEL_BUFFER : REFLECT_UNSUPPORTED;
}

static enum reflect_kind binding_kind(const struct spirv_module *module, uint32_t storage,
                                      uint32_t type)
{
    const struct spirv_id *block = spirv_get(module, type, SPIRV_TYPE_STRUCT, 3);
    if (storage == SPIRV_UNIFORM_CONSTANT)
        return image_kind(module, type);
    if (block == NULL)
        return REFLECT_UNSUPPORTED;
    if (storage == SPIRV_STORAGE_BUFFER || block->buffer_block)
        return REFLECT_STORAGE_BUFFER;
    return REFLECT_UNIFORM_BUFFER;
}

static void block_facts(const struct spirv_module *module, uint32_t type,
                        struct reflect_binding *binding)
{
    const struct spirv_id *block = spirv_get(module, type, SPIRV_TYPE_STRUCT, 3);
    if (block == NULL)
        return;
    uint32_t members = block->count - 2;
    bool nonwritable = true, nonreadable = true;
    for (uint32_t i = 0; i < members; i++) {
        const struct spirv_member *member = spirv_member(module, type, i);
        nonwritable = nonwritable && member != NULL && member->nonwritable;
        nonreadable = nonreadable && member != NULL && member->nonreadable;
    }
    binding->readonly = binding->readonly || nonwritable;
    binding->writeonly = binding->writeonly || nonreadable;
    binding->block = block->name;
    const struct spirv_member *last = spirv_member(module, type, members - 1);
    if (members == 1 && last != NULL)
        binding->member = last->name;
    const struct spirv_id *array = spirv_get(module, block->words[members + 1],
                                             SPIRV_TYPE_RUNTIME_ARRAY, 3);
    if (array != NULL) {
        binding->fixed_bytes = last != NULL ? last->offset : 0;
        binding->stride_bytes = array->array_stride > 0 ? array->array_stride
                                                        : spirv_size(module, array->words[2]);
    } else {
        binding->fixed_bytes = spirv_size(module, type);
    }
}

static int compare_bindings(const void *a, const void *b)
{
    const struct reflect_binding *left = a, *right = b;
    if (left->set != right->set)
        return left->set < right->set ? -1 : 1;
    return (left->binding > right->binding) - (left->binding < right->binding);
}

static bool find_bindings(const struct spirv_module *module, struct reflection *out)
{
    struct reflect_binding *bindings = arena_alloc(module->arena, (module->variable_count + 1) *
                                                                      sizeof(*bindings));
    if (bindings == NULL)
        return false;
    for (size_t i = 0; i < module->variable_count; i++) {
        const struct spirv_id *variable = &module->ids[module->variables[i]];
        uint32_t storage = variable->words[3];
        if (storage != SPIRV_STORAGE_BUFFER && storage != SPIRV_UNIFORM &&
            storage != SPIRV_UNIFORM_CONSTANT)
            continue;
        struct reflect_binding *binding = &bindings[out->binding_count++];
        uint32_t type = pointee(module, variable);
        binding->set = variable->set;
        binding->binding = variable->binding;
        binding->instance = variable->name;
        binding->readonly = variable->nonwritable;
        binding->writeonly = variable->nonreadable;
        binding->kind = variable->has_binding ? binding_kind(module, storage, type)
                                              : REFLECT_UNSUPPORTED;
        if (storage != SPIRV_UNIFORM_CONSTANT)
            block_facts(module, type, binding);
        else if (binding->kind != REFLECT_UNSUPPORTED)
            binding->texel_format = image_of(module, type)->words[8];
    }
    qsort(bindings, out->binding_count, sizeof(*bindings), compare_bindings);
    out->bindings = bindings;
    return true;
}

struct push_walk {
    const struct spirv_module *module;
    struct reflect_push *pushes;
    size_t count;
    unsigned visits; /* bounds the work on structs that garbage nests in themselves */
    bool failed;
};

/* Members of nested structs go by "outer.inner". */
static void walk_pushes(struct push_walk *walk, uint32_t type, const char *prefix, uint64_t base,
                        unsigned depth)
{
    const struct spirv_module *module = walk->module;
    const struct spirv_id *block = spirv_get(module, type, SPIRV_TYPE_STRUCT, 2);
    for (uint32_t i = 0; block != NULL && i < block->count - 2; i++) {
        if (++walk->visits > 16 * REFLECT_PUSHES_MAX || walk->count == REFLECT_PUSHES_MAX)
            return;
        const struct spirv_member *member = spirv_member(module, type, i);
        const char *name = member != NULL ? member->name : NULL;
        uint64_t offset = base + (member != NULL ? member->offset : 0);
        if (name != NULL && prefix != NULL) {
            name = arena_printf(module->arena, "%s.%s", prefix, name);
            walk->failed = walk->failed || name == NULL;
        }
        if (spirv_get(module, block->words[i + 2], SPIRV_TYPE_STRUCT, 2) != NULL &&
            depth < REFLECT_PUSH_DEPTH_MAX) {
            walk_pushes(walk, block->words[i + 2], name, offset, depth + 1);
            continue;
        }
        uint64_t bytes = spirv_member_size(module, type, i);
        walk->pushes[walk->count++] = (struct reflect_push){
            .name = name,
            .offset = offset > UINT32_MAX ? UINT32_MAX : (uint32_t)offset,
            .bytes = bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes,
            .scalar = scalar_of(module, block->words[i + 2]),
        };
    }
}

static bool find_pushes(const struct spirv_module *module, struct reflection *out)
{
    struct push_walk walk = {.module = module};
    for (size_t i = 0; i < module->variable_count && walk.count == 0; i++) {
        const struct spirv_id *variable = &module->ids[module->variables[i]];
        if (variable->words[3] != SPIRV_PUSH_CONSTANT)
            continue;
        uint32_t type = pointee(module, variable);
        uint64_t bytes = spirv_size(module, type);
        walk.pushes = arena_alloc(module->arena, REFLECT_PUSHES_MAX * sizeof(*walk.pushes));
        if (walk.pushes == NULL)
            return false;
        walk_pushes(&walk, type, NULL, 0, 0);
        out->push_bytes = bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes;
    }
    out->pushes = walk.pushes;
    out->push_count = walk.count;
    return !walk.failed;
}

/* `local_size_x_id = N` makes a nameless constant beside the named one of the same id. */
static bool names_another(const struct spirv_module *module, const struct spirv_id *id)
{
    for (size_t i = 0; id->name == NULL && i < module->constant_count; i++) {
        const struct spirv_id *other = &module->ids[module->constants[i]];
        if (other != id && other->has_spec_id && other->spec_id == id->spec_id &&
            (other->name != NULL || other < id))
            return true;
    }
    return false;
}

static uint64_t default_bits(const struct spirv_id *id)
{
    if (id->opcode != SPIRV_SPEC_CONSTANT)
        return id->opcode == SPIRV_SPEC_CONSTANT_TRUE;
    uint64_t low = id->count >= 4 ? id->words[3] : 0, high = id->count >= 5 ? id->words[4] : 0;
    return high << 32 | low;
}

static int compare_constants(const void *a, const void *b)
{
    const struct reflect_constant *left = a, *right = b;
    return (left->id > right->id) - (left->id < right->id);
}

static bool find_constants(const struct spirv_module *module, struct reflection *out)
{
    struct reflect_constant *constants = arena_alloc(module->arena, (module->constant_count + 1) *
                                                                        sizeof(*constants));
    if (constants == NULL)
        return false;
    for (size_t i = 0; i < module->constant_count; i++) {
        const struct spirv_id *id = &module->ids[module->constants[i]];
        if (id->has_spec_id && !names_another(module, id))
            constants[out->constant_count++] = (struct reflect_constant){
                .name = id->name,
                .id = id->spec_id,
                .scalar = scalar_of(module, id->words[1]),
                .bits = default_bits(id),
            };
    }
    qsort(constants, out->constant_count, sizeof(*constants), compare_constants);
    out->constants = constants;
    return true;
}

/* The WorkgroupSize built-in wins over the execution modes. */
static bool find_local_size(const struct spirv_module *module, struct reflection *out,
                            struct assay_error *error)
{
    uint32_t ids[3] = {module->local_size_ids[0], module->local_size_ids[1],
                       module->local_size_ids[2]};
    if (module->workgroup_size_id != 0) {
        const struct spirv_id *size = spirv_get(module, module->workgroup_size_id,
                                                SPIRV_SPEC_CONSTANT_COMPOSITE, 6);
        if (size == NULL)
            size = spirv_get(module, module->workgroup_size_id, SPIRV_CONSTANT_COMPOSITE, 6);
        for (int i = 0; i < 3; i++)
            ids[i] = size != NULL ? size->words[3 + i] : UINT32_MAX;
    }
    for (int i = 0; i < 3; i++) {
        out->local_size[i] = module->local_size[i];
        out->local_size_id[i] = UINT32_MAX;
        if (ids[i] == 0)
            continue;
        const struct spirv_id *fixed = spirv_get(module, ids[i], SPIRV_CONSTANT, 4);
        const struct spirv_id *special = spirv_get(module, ids[i], SPIRV_SPEC_CONSTANT, 4);
        if (fixed == NULL && special == NULL)
            return assay_fail(error, ASSAY_INVALID,
                              "the local size in %c is computed from constants: make it a number "
                              "or local_size_%c_id",
                              "xyz"[i], "xyz"[i]);
        const struct spirv_id *size = fixed != NULL ? fixed : special;
        out->local_size[i] = size->words[3];
        if (size == special && special->has_spec_id)
            out->local_size_id[i] = special->spec_id;
    }
    return true;
}

bool reflect_spirv(const uint32_t *words, size_t word_count, struct arena *arena,
                   struct reflection *out, struct assay_error *error)
{
    *out = (struct reflection){0};
    struct spirv_module *module = arena_alloc(arena, sizeof(*module));
    if (module == NULL)
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for reflection");
    if (!spirv_parse(words, word_count, arena, module, error))
        return false;
    if (module->entry_id == 0 || module->entry == NULL)
        return assay_fail(error, ASSAY_INVALID, "the SPIR-V module has no compute entry point");
    out->module = module;
    out->entry = module->entry;
    out->capabilities = module->capabilities;
    out->capability_count = module->capability_count;
    if (!find_local_size(module, out, error))
        return false;
    if (!find_bindings(module, out) || !find_pushes(module, out) || !find_constants(module, out))
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for reflection");
    return true;
}
