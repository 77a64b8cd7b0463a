/* SPDX-License-Identifier: MIT */
#include "cli/arguments.h"
#include "cli/choices.h"
#include "cli/cli.h"
#include "cli/dump_text.h"
#include "cli/output.h"
#include "run/supervisor.h"

#include "base/json.h"
#include "base/os.h"
#include "base/units.h"

#include <string.h>

#define SPIRV_BYTES_MAX (UINT32_C(64) << 20)
#define DISASSEMBLY_LIMIT_NS INT64_C(60000000000)

struct dump_choices {
    struct arguments_list constants, defines;
    const char *device, *directory;
    bool json;
};

static bool take(void *user, const char *name, const char *value, struct assay_error *error)
{
    struct dump_choices *choices = user;
    if (strcmp(name, "constant") == 0)
        return arguments_pair(name, value, error) &&
               arguments_list_add(&choices->constants, value, error);
    if (strcmp(name, "define") == 0)
        return arguments_list_add(&choices->defines, value, error);
    if (strcmp(name, "device") == 0)
        choices->device = value;
    else if (strcmp(name, "output") == 0)
        choices->directory = value;
    else if (strcmp(name, "json") == 0)
        choices->json = true;
    return true;
}

/* {"name", "value"} of NAME=VALUE; the value is the text behind the sign, or NULL without one. */
static json_t *named(const char *pair, const char **value)
{
    struct text name = {0};
    size_t length = strcspn(pair, "=");
    text_add_bytes(&name, pair, length);
    *value = pair[length] ? pair + length + 1 : NULL;
    json_t *object = json_pack("{s:o}", "name", json_clean_string(text_string(&name)));
    text_free(&name);
    return object;
}

static json_t *constant_json(const char *pair, struct assay_error *error)
{
    const char *text, *end = NULL;
    double value = 0;
    json_t *object = named(pair, &text);
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
        value = text[0] == 't';
    } else if (!number_parse(text, &end, &value) || *end) {
        json_decref(object);
        assay_fail(error, ASSAY_INVALID,
                   "--constant: '%s': the value is neither a number nor true or false", pair);
        return NULL;
    }
    if (!object || json_object_set_new(object, "value", json_real(value)) == 0)
        return object;
    json_decref(object);
    assay_fail(error, ASSAY_INVALID, "--constant: '%s' is out of range", pair);
    return NULL;
}

static json_t *define_json(const char *pair, struct assay_error *error)
{
    const char *value;
    json_t *object = named(pair, &value);
    (void)error; /* any text is a macro's value; the compiler judges it */
    if (object)
        json_object_set_new(object, "value", json_clean_string(value ? value : "1"));
    return object;
}

static json_t *list_json(const struct arguments_list *list,
                         json_t *(*one)(const char *, struct assay_error *),
                         struct assay_error *error)
{
    json_t *array = json_array();
    for (size_t i = 0; array && i < list->count; i++) {
        json_t *item = one(list->items[i], error);
        if (item && json_array_append_new(array, item) == 0)
            continue;
        json_decref(array);
        array = NULL;
    }
    if (!array)
        assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the command line");
    return array;
}

static json_t *request_json(const struct dump_choices *choices, const char *kernel,
                            const struct output *output, struct assay_error *error)
{
    struct text stem = {0};
    const char *slash = strrchr(kernel, '/');
    os_path_stem(&stem, kernel);
    json_t *constants = list_json(&choices->constants, constant_json, error);
    json_t *defines = constants ? list_json(&choices->defines, define_json, error) : NULL;
    json_t *request = NULL;
    if (defines)
        request = json_pack("{s:s, s:s?, s:O, s:O, s:s, s:s}", "source",
                            os_is_file(kernel) && slash ? slash + 1 : kernel, "device",
                            choices->device, "constants", constants, "defines", defines,
                            "directory", text_string(&output->directory), "stem",
                            text_string(&stem));
    if (!request)
        assay_fail(error, ASSAY_INVALID, "what the command line names is not UTF-8");
    json_decref(constants);
    json_decref(defines);
    text_free(&stem);
    return request;
}

/* A kernel that is a file is searched in its own folder, with what it includes. */
static json_t *ask(const struct dump_choices *choices, const char *kernel,
                   const struct output *output, struct assay_error *error)
{
    struct text beside = {0}, shaders = {0};
    struct supervisor *supervisor = NULL;
    json_t *answer = NULL, *request = request_json(choices, kernel, output, error);
    text_add(&beside, ".");
    if (os_is_file(kernel)) {
        text_clear(&beside);
        os_path_directory(&beside, kernel);
    }
    if (request && os_shader_directory(&shaders, error)) {
        const char *directories[] = {text_string(&beside), text_string(&shaders), NULL};
        struct supervisor_params params = {.log_path = text_string(&output->log),
                                           .shader_directories = directories};
        supervisor = supervisor_create(&params, error);
    }
    if (supervisor)
        answer = supervisor_dump(supervisor, request, error);
    supervisor_destroy(&supervisor);
    json_decref(request);
    text_free(&beside);
    text_free(&shaders);
    return answer;
}

/* STEM.spvasm beside the SPIR-V; where that cannot be, the reason is told, and nothing is lost. */
static bool disassemble(const struct output *output, json_t *dump, struct assay_error *error)
{
    const char *file = json_text(json_object_get(dump, "kernel"), "file", "");
    struct text path = {0}, program = {0}, spirv = {0}, listing = {0}, name = {0}, target = {0};
    struct assay_error why = {0};
    os_path_join(&path, text_string(&output->directory), file);
    text_addf(&name, "%sasm", file);
    os_path_join(&target, text_string(&output->directory), text_string(&name));
    bool there = os_program_find("spirv-dis", &program);
    const char *argv[] = {text_string(&program), "--no-color", "-", NULL};
    if (!there)
        assay_fail(&why, ASSAY_SYSTEM, "spirv-dis is not in $PATH (Debian: spirv-tools)");
    bool good = there && os_file_read(text_string(&path), SPIRV_BYTES_MAX, &spirv, &why) &&
                os_program_run(argv, spirv.data, spirv.length, DISASSEMBLY_LIMIT_NS, &listing,
                               &why) &&
                os_file_write_atomic(text_string(&target), listing.data, listing.length, &why);
    bool kept = json_object_set_new(dump, "disassembly",
                                    good ? json_clean_string(text_string(&name)) : json_null()) ==
                    0 &&
                json_object_set_new(dump, "disassembly_missing",
                                    good ? json_null() : json_clean_string(why.text)) == 0;
    struct text *texts[] = {&path, &program, &spirv, &listing, &name, &target};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        text_free(texts[i]);
    return kept || assay_fail(error, ASSAY_OUT_OF_MEMORY, "no memory for the answer");
}

/* STEM.json; `out` gets the same, or the text for people. */
static bool tell(const struct dump_choices *choices, const char *kernel,
                 const struct output *output, const json_t *dump, struct text *out,
                 struct assay_error *error)
{
    struct text line = {0}, name = {0}, path = {0};
    os_path_stem(&name, kernel);
    text_add(&name, ".json");
    os_path_join(&path, text_string(&output->directory), text_string(&name));
    bool good = json_add_line(&line, dump, false, error);
    text_add_char(&line, '\n');
    good = good && os_file_write_atomic(text_string(&path), line.data, line.length, error);
    if (choices->json) {
        text_add_bytes(out, text_string(&line), line.length);
    } else {
        dump_add_text(out, dump);
        text_addf(out, "\nwritten to %s\n", text_string(&output->directory));
    }
    text_free(&line);
    text_free(&name);
    text_free(&path);
    return good;
}

static const struct arguments_option options[] = {
    {"output", 'o', "DIR", "where the files go (assay-out/KERNEL-TIME)"},
    {"device", 0, "DEVICE",
     "whose driver makes the pipeline: an index, a UUID, a PCI address, a\n"
     "part of the name, 'cpu' or 'gpu' ('assay devices' lists them)"},
    {"define", 0, "NAME[=VALUE]", "a macro for the GLSL (1 without a value)"},
    {"constant", 0, "NAME=VALUE", "a specialisation constant, by its name or [number]"},
    {"json", 0, NULL, "JSON in place of the text"},
    {0},
};

static const struct arguments arguments = {
    .command = "dump",
    .usage = "KERNEL [OPTION...]",
    .about =
        "What a kernel is: KERNEL.spv (its SPIR-V), KERNEL.spvasm (disassembled, where "
        "spirv-dis is\nthere), KERNEL.json (bindings, push constants, specialisation "
        "constants, local size) and\nwhat the driver tells of the pipeline that it makes of "
        "it: statistics, and its own code in\nKERNEL.pipeline-N.txt. KERNEL is GLSL or SPIR-V, "
        "a file or one that comes with assay.\n",
    .options = options,
    .min_words = 1,
    .max_words = 1,
    .take = take,
    .footer = "exit status: 0 when there is SPIR-V, also where the driver tells nothing; 2 when "
              "the kernel\nor the command line is wrong; 4 when the driver fails\n",
};

static int dump_kernel(const struct dump_choices *choices, const char *kernel)
{
    struct assay_error error = {0};
    struct output output;
    struct text out = {0};
    if (!output_prepare(&output, choices->directory, kernel, &error))
        return cli_error(&error);
    json_t *dump = ask(choices, kernel, &output, &error);
    bool good = dump && disassemble(&output, dump, &error) &&
                tell(choices, kernel, &output, dump, &out, &error);
    if (!dump)
        output_discard(&output);
    json_decref(dump);
    output_free(&output);
    return cli_answer(good, &out, &error);
}

static int run(int argc, char **argv)
{
    struct dump_choices choices = {0};
    char **words;
    int status = arguments_parse(&arguments, argc, argv, &choices, &words);
    if (status == ARGUMENTS_GO)
        status = dump_kernel(&choices, words[0]);
    arguments_list_free(&choices.constants);
    arguments_list_free(&choices.defines);
    return status;
}

const struct cli_command cli_dump = {"dump", "SPIR-V, interface and pipeline of a kernel", run};
