/* SPDX-License-Identifier: MIT */
#include "vulkan/dump.h"

#include "base/json.h"
#include "base/os.h"
#include "vulkan/slot.h"
#include "vulkan/specialise.h"

#include <math.h>

static json_t *text_or_null(const char *text)
{
    return text ? json_clean_string(text) : json_null();
}

/* 64-bit numbers over what JSON integers hold are reals. */
static json_t *whole(uint64_t value)
{
    return value <= INT64_MAX ? json_integer((json_int_t)value) : json_real((double)value);
}

static const char *kind_name(enum reflect_kind kind)
{
    switch (kind) {
    case REFLECT_STORAGE_BUFFER:
        return "storage buffer";
    case REFLECT_UNIFORM_BUFFER:
        return "uniform buffer";
    case REFLECT_STORAGE_TEXEL_BUFFER:
        return "storage texel buffer";
    case REFLECT_UNIFORM_TEXEL_BUFFER:
        return "uniform texel buffer";
    default:
        return "no buffer";
    }
}

static const char *access_name(const struct reflect_binding *binding)
{
    if (binding->kind == REFLECT_UNIFORM_BUFFER || binding->kind == REFLECT_UNIFORM_TEXEL_BUFFER)
        return "readonly";
    if (binding->readonly)
        return binding->writeonly ? "none" : "readonly";
    return binding->writeonly ? "writeonly" : "both";
}

static json_t *bindings_json(const struct reflection *reflection)
{
    json_t *array = json_array();
    for (size_t i = 0; i < reflection->binding_count; i++) {
        const struct reflect_binding *binding = &reflection->bindings[i];
        json_array_append_new(
            array,
            json_pack("{s:o, s:o, s:s, s:o, s:o, s:o, s:s, s:o, s:o}", "set", whole(binding->set),
                      "binding", whole(binding->binding), "kind", kind_name(binding->kind),
                      "instance", text_or_null(binding->instance), "block",
                      text_or_null(binding->block), "member", text_or_null(binding->member),
                      "access", access_name(binding), "fixed_bytes", whole(binding->fixed_bytes),
                      "stride_bytes", whole(binding->stride_bytes)));
    }
    return array;
}

static json_t *type_json(struct reflect_scalar scalar)
{
    return scalar.type == REFLECT_OTHER ? json_null() : json_string(reflect_scalar_name(scalar));
}

static json_t *pushes_json(const struct reflection *reflection)
{
    json_t *array = json_array();
    for (size_t i = 0; i < reflection->push_count; i++) {
        const struct reflect_push *push = &reflection->pushes[i];
        json_array_append_new(array,
                              json_pack("{s:o, s:o, s:o, s:o}", "name", text_or_null(push->name),
                                        "offset", whole(push->offset), "bytes", whole(push->bytes),
                                        "type", type_json(push->scalar)));
    }
    return array;
}

static json_t *value_json(struct reflect_scalar scalar, uint64_t bits)
{
    const unsigned unused = 64 - scalar.bits;
    double real;
    switch (scalar.type) {
    case REFLECT_BOOL:
        return json_boolean(bits != 0);
    case REFLECT_INT: /* the sign's bit into the highest, and back */
        return json_integer((json_int_t)(bits << unused) >> unused);
    case REFLECT_UINT:
        return whole(bits);
    case REFLECT_FLOAT:
        real = reflect_decode_float(scalar.bits, bits);
        return isfinite(real) ? json_real(real) : json_null();
    default:
        return json_null();
    }
}

static json_t *constants_json(const struct reflection *reflection,
                              const struct specialisation *values)
{
    json_t *array = json_array();
    for (size_t i = 0; i < reflection->constant_count; i++) {
        const struct reflect_constant *constant = &reflection->constants[i];
        json_array_append_new(
            array, json_pack("{s:o, s:o, s:o, s:o, s:o}", "id", whole(constant->id), "name",
                             text_or_null(constant->name), "type", type_json(constant->scalar),
                             "default", value_json(constant->scalar, constant->bits), "value",
                             value_json(constant->scalar, specialise_bits(values, constant))));
    }
    return array;
}

static json_t *capabilities_json(const struct reflection *reflection)
{
    json_t *array = json_array();
    for (size_t i = 0; i < reflection->capability_count; i++)
        json_array_append_new(array, whole(reflection->capabilities[i]));
    return array;
}

static json_t *interface_json(const struct shader *shader, const struct reflection *reflection,
                              const struct specialisation *values, const char *file)
{
    char hash[HASH_HEX_BYTES];
    json_t *size = json_array(), *ids = json_array();
    for (int i = 0; i < 3; i++) {
        const uint32_t id = reflection->local_size_id[i];
        json_array_append_new(size, whole(values->local_size[i]));
        json_array_append_new(ids, id == UINT32_MAX ? json_null() : whole(id));
    }
    hash_hex(&shader->source_hash, hash);
    return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name",
                     json_clean_string(shader->name), "source_hash", hash, "file",
                     json_clean_string(file), "words", whole(shader->word_count), "entry",
                     text_or_null(reflection->entry), "capabilities", capabilities_json(reflection),
                     "local_size", size, "local_size_ids", ids, "shared_bytes",
                     whole(values->shared_bytes), "bindings", bindings_json(reflection),
                     "push_bytes", whole(reflection->push_bytes), "push_constants",
                     pushes_json(reflection), "constants", constants_json(reflection, values));
}

/* Without a device: SPIR-V and interface. */
static json_t *dump_interface(const struct dump_params *params, struct arena *arena,
                              struct assay_error *error)
{
    const struct assay_kernel_params *kernel = params->kernel;
    const struct shader_params load = {.source = kernel->source,
                                       .text = kernel->text,
                                       .defines = kernel->defines,
                                       .define_count = kernel->define_count,
                                       .search = params->search};
    struct shader shader;
    struct reflection reflection;
    struct specialisation values;
    struct text file = {0}, path = {0};
    json_t *json = NULL;
    if (!shader_load(&load, &shader, error))
        return NULL;
    text_addf(&file, "%s.spv", params->stem);
    os_path_join(&path, params->directory, text_string(&file));
    if (!reflect_spirv(shader.words, shader.word_count, arena, &reflection, error)) {
        error_prefix(error, "kernel '%s'", shader.name);
    } else if (specialise(shader.name, &reflection, kernel->constants, kernel->constant_count,
                          arena, &values, error) &&
               os_file_write_atomic(text_string(&path), shader.words,
                                    shader.word_count * sizeof(*shader.words), error)) {
        json = interface_json(&shader, &reflection, &values, text_string(&file));
        if (!json)
            assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a kernel");
    }
    text_free(&file);
    text_free(&path);
    shader_free(&shader);
    return json;
}

/* NULL without an error: `why` says what is missing. */
static json_t *look_into(const struct dump_params *params, struct text *why,
                         struct assay_error *error)
{
    struct assay_error failure = {0};
    if (!params->device) {
        text_add(why, params->no_device);
        return NULL;
    }
    const struct slot_params slot_params = {.device = params->device, .search = params->search};
    struct assay_slot *slot = slot_create(&slot_params, &failure);
    struct assay_kernel *kernel = slot ? assay_kernel_create(slot, params->kernel, &failure) : NULL;
    json_t *pipeline = NULL;
    if (kernel && params->device->members[0]->no_executables)
        text_add(why, params->device->members[0]->no_executables);
    else if (kernel)
        pipeline = dump_pipeline(kernel, params, &failure);
    if (failure.status == ASSAY_UNSUPPORTED)
        text_add(why, failure.text);
    else if (failure.status != ASSAY_OK)
        *error = failure;
    slot_destroy(&slot);
    return pipeline;
}

json_t *dump_kernel(const struct dump_params *params, struct assay_error *error)
{
    struct arena *arena = arena_create();
    struct text why = {0};
    json_t *pipeline = NULL, *json = NULL;
    json_t *kernel = arena ? dump_interface(params, arena, error) : NULL;
    if (kernel)
        pipeline = look_into(params, &why, error);
    if (kernel && (pipeline || error->status == ASSAY_OK))
        json = json_pack("{s:O, s:o, s:o}", "kernel", kernel, "pipeline",
                         pipeline ? json_incref(pipeline) : json_null(), "pipeline_missing",
                         pipeline ? json_null() : json_clean_string(text_string(&why)));
    if (!json)
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for a kernel");
    json_decref(kernel);
    json_decref(pipeline);
    text_free(&why);
    arena_destroy(&arena);
    return json;
}
