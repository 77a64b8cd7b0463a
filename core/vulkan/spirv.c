/* SPDX-License-Identifier: MIT */
#include "vulkan/spirv.h"

#include <string.h>

#define SPIRV_MAGIC UINT32_C(0x07230203)
#define SPIRV_HEADER_WORDS 5
#define SPIRV_BOUND_MAX UINT32_C(4194303) /* universal limit of the specification */

struct instruction {
    uint32_t opcode, count;
    const uint32_t *words;
};

const struct spirv_id *spirv_get(const struct spirv_module *module, uint32_t id, uint32_t opcode,
                                 uint32_t count)
{
    if (id >= module->bound)
        return NULL;
    const struct spirv_id *found = &module->ids[id];
    return found->opcode == opcode && found->count >= count ? found : NULL;
}

static struct spirv_id *id_at(struct spirv_module *module, uint32_t id)
{
    return id > 0 && id < module->bound ? &module->ids[id] : NULL;
}

const struct spirv_member *spirv_member(const struct spirv_module *module, uint32_t type,
                                        uint32_t index)
{
    for (size_t i = 0; i < module->member_count; i++)
        if (module->members[i].type == type && module->members[i].index == index)
            return &module->members[i];
    return NULL;
}

static struct spirv_member *member_at(struct spirv_module *module, uint32_t type, uint32_t index)
{
    /* Annotations of one member stand together or a few apart: look from the end. */
    for (size_t i = module->member_count; i-- > 0;)
        if (module->members[i].type == type && module->members[i].index == index)
            return &module->members[i];
    if (module->member_count == module->member_capacity) {
        size_t capacity = module->member_capacity > 0 ? 2 * module->member_capacity : 32;
        struct spirv_member *grown = arena_alloc(module->arena, capacity * sizeof(*grown));
        if (grown == NULL)
            return NULL;
        if (module->member_count > 0)
            memcpy(grown, module->members, module->member_count * sizeof(*grown));
        module->members = grown;
        module->member_capacity = capacity;
    }
    struct spirv_member *member = &module->members[module->member_count++];
    *member = (struct spirv_member){.type = type, .index = index};
    return member;
}

/* A literal string that starts at word `first`; NULL when it is empty or not closed. */
static const char *literal(const struct spirv_module *module, const struct instruction *at,
                           uint32_t first)
{
    if (first >= at->count)
        return NULL;
    size_t bytes = (size_t)(at->count - first) * sizeof(uint32_t);
    const char *text = (const char *)(at->words + first);
    if (text[0] == '\0' || memchr(text, '\0', bytes) == NULL)
        return NULL;
    return arena_copy(module->arena, text);
}

static void decorate(struct spirv_module *module, const struct instruction *at)
{
    struct spirv_id *id = at->count >= 3 ? id_at(module, at->words[1]) : NULL;
    if (id == NULL)
        return;
    uint32_t value = at->count >= 4 ? at->words[3] : 0;
    switch (at->words[2]) {
    case SPIRV_SPEC_ID:
        id->spec_id = value;
        id->has_spec_id = at->count >= 4;
        break;
    case SPIRV_BLOCK:
        id->block = true;
        break;
    case SPIRV_BUFFER_BLOCK:
        id->buffer_block = true;
        break;
    case SPIRV_ARRAY_STRIDE:
        id->array_stride = value;
        break;
    case SPIRV_BUILTIN:
        if (value == SPIRV_BUILTIN_WORKGROUP_SIZE)
            module->workgroup_size_id = at->words[1];
        break;
    case SPIRV_NON_WRITABLE:
        id->nonwritable = true;
        break;
    case SPIRV_NON_READABLE:
        id->nonreadable = true;
        break;
    case SPIRV_BINDING:
        id->binding = value;
        id->has_binding = at->count >= 4;
        break;
    case SPIRV_DESCRIPTOR_SET:
        id->set = value;
        break;
    default:
        break;
    }
}

static bool member_decorate(struct spirv_module *module, const struct instruction *at)
{
    if (at->count < 4)
        return true;
    struct spirv_member *member = member_at(module, at->words[1], at->words[2]);
    if (member == NULL)
        return false;
    uint32_t value = at->count >= 5 ? at->words[4] : 0;
    switch (at->words[3]) {
    case SPIRV_OFFSET:
        member->offset = value;
        break;
    case SPIRV_MATRIX_STRIDE:
        member->matrix_stride = value;
        break;
    case SPIRV_ROW_MAJOR:
        member->row_major = true;
        break;
    case SPIRV_NON_WRITABLE:
        member->nonwritable = true;
        break;
    case SPIRV_NON_READABLE:
        member->nonreadable = true;
        break;
    default:
        break;
    }
    return true;
}

static void execution_mode(struct spirv_module *module, const struct instruction *at)
{
    if (at->count < 6 || module->entry_id == 0 || at->words[1] != module->entry_id)
        return;
    bool fixed = at->opcode == SPIRV_EXECUTION_MODE && at->words[2] == SPIRV_MODE_LOCAL_SIZE;
    bool by_id = at->opcode == SPIRV_EXECUTION_MODE_ID && at->words[2] == SPIRV_MODE_LOCAL_SIZE_ID;
    if (fixed)
        memcpy(module->local_size, at->words + 3, sizeof(module->local_size));
    if (by_id)
        memcpy(module->local_size_ids, at->words + 3, sizeof(module->local_size_ids));
}

static bool annotate(struct spirv_module *module, const struct instruction *at)
{
    struct spirv_id *id;
    struct spirv_member *member;
    switch (at->opcode) {
    case SPIRV_NAME:
        id = at->count >= 3 ? id_at(module, at->words[1]) : NULL;
        if (id != NULL)
            id->name = literal(module, at, 2);
        return true;
    case SPIRV_MEMBER_NAME:
        if (at->count < 4)
            return true;
        member = member_at(module, at->words[1], at->words[2]);
        if (member != NULL)
            member->name = literal(module, at, 3);
        return member != NULL;
    case SPIRV_ENTRY_POINT:
        if (at->count >= 4 && at->words[1] == SPIRV_MODEL_GLCOMPUTE && module->entry_id == 0) {
            module->entry_id = at->words[2];
            module->entry = literal(module, at, 3);
        }
        return true;
    case SPIRV_EXECUTION_MODE:
    case SPIRV_EXECUTION_MODE_ID:
        execution_mode(module, at);
        return true;
    case SPIRV_CAPABILITY:
        if (at->count >= 2)
            module->capabilities[module->capability_count++] = at->words[1];
        return true;
    case SPIRV_DECORATE:
        decorate(module, at);
        return true;
    case SPIRV_MEMBER_DECORATE:
        return member_decorate(module, at);
    default:
        return true;
    }
}

/* Types have their id in word 1, constants and variables in word 2. */
static void define(struct spirv_module *module, const struct instruction *at)
{
    bool type = at->opcode >= SPIRV_TYPE_BOOL && at->opcode <= SPIRV_TYPE_POINTER;
    bool constant = at->opcode >= SPIRV_CONSTANT && at->opcode <= SPIRV_SPEC_CONSTANT_OP;
    bool variable = at->opcode == SPIRV_VARIABLE;
    uint32_t place = type ? 1 : 2;
    if ((!type && !constant && !variable) || at->count <= place)
        return;
    struct spirv_id *id = id_at(module, at->words[place]);
    if (id == NULL || id->opcode != 0)
        return;
    id->opcode = at->opcode;
    id->words = at->words;
    id->count = at->count;
    if (variable && at->count >= 4)
        module->variables[module->variable_count++] = at->words[place];
    if (at->opcode >= SPIRV_SPEC_CONSTANT_TRUE && at->opcode <= SPIRV_SPEC_CONSTANT)
        module->constants[module->constant_count++] = at->words[place];
}

/* Room for all that the instructions before the first function can hold. */
static bool make_tables(struct spirv_module *module, const uint32_t *words, size_t word_count)
{
    size_t capabilities = 0, variables = 0, constants = 0;
    for (size_t at = SPIRV_HEADER_WORDS; at < word_count && words[at] >> 16 != 0;
         at += words[at] >> 16) {
        uint32_t opcode = words[at] & 0xffff;
        if (opcode == SPIRV_FUNCTION)
            break;
        capabilities += opcode == SPIRV_CAPABILITY;
        variables += opcode == SPIRV_VARIABLE;
        constants += opcode >= SPIRV_SPEC_CONSTANT_TRUE && opcode <= SPIRV_SPEC_CONSTANT;
    }
    module->ids = arena_alloc(module->arena, module->bound * sizeof(*module->ids));
    module->capabilities = arena_alloc(module->arena, (capabilities + 1) * sizeof(uint32_t));
    module->variables = arena_alloc(module->arena, (variables + 1) * sizeof(uint32_t));
    module->constants = arena_alloc(module->arena, (constants + 1) * sizeof(uint32_t));
    return module->ids != NULL && module->capabilities != NULL && module->variables != NULL &&
           module->constants != NULL;
}

bool spirv_parse(const uint32_t *words, size_t word_count, struct arena *arena,
                 struct spirv_module *module, struct assay_error *error)
{
    *module = (struct spirv_module){.arena = arena, .local_size = {1, 1, 1}};
    if (word_count < SPIRV_HEADER_WORDS || words[0] != SPIRV_MAGIC)
        return assay_fail(error, ASSAY_INVALID, "the shader is no SPIR-V module");
    module->bound = words[3];
    if (module->bound == 0 || module->bound > SPIRV_BOUND_MAX)
        return assay_fail(error, ASSAY_INVALID,
                          "the SPIR-V module states an id bound of %u, allowed are 1 to %u",
                          module->bound, SPIRV_BOUND_MAX);
    if (module->bound / 16 > word_count) /* ids are dense in practice; spare the table's memory */
        return assay_fail(error, ASSAY_INVALID,
                          "the SPIR-V module states an id bound of %u, but has %zu words",
                          module->bound, word_count);
    if (!make_tables(module, words, word_count))
        return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for reflection");
    for (size_t at = SPIRV_HEADER_WORDS; at < word_count;) {
        const struct instruction instruction = {
            .opcode = words[at] & 0xffff, .count = words[at] >> 16, .words = words + at};
        if (instruction.count == 0 || instruction.count > word_count - at)
            return assay_fail(error, ASSAY_INVALID,
                              "the SPIR-V module is cut short or damaged at word %zu of %zu", at,
                              word_count);
        if (instruction.opcode == SPIRV_FUNCTION)
            return true;
        if (!annotate(module, &instruction))
            return assay_fail(error, ASSAY_OUT_OF_MEMORY, "out of host memory for reflection");
        define(module, &instruction);
        at += instruction.count;
    }
    return assay_fail(error, ASSAY_INVALID, "the SPIR-V module is cut short: it has no function");
}
