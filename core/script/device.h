/* SPDX-License-Identifier: MIT */
/* What a script holds inside slot, record, verify, report and explore: device, buffer, kernel,
 * command, view, fill. Objects live as long as their slot; one that is used later is an error of
 * the script. Functions that take a lua_State may raise Lua errors. */
#ifndef SCRIPT_DEVICE_H
#define SCRIPT_DEVICE_H

#include <assay/buffer.h>
#include <assay/command.h>
#include <assay/kernel.h>
#include <assay/verification.h>

#include "base/element.h"
#include "measure/closeness.h"
#include "script/inside.h"

/* Makes the metatables of a state. Called once, before any script runs. */
void device_classes_open(lua_State *L);
/* Adds uniform, fill, random_bits, sequence, permutation, computed, compare, f32 and f16 to the
 * table on top. */
void device_functions_add(lua_State *L);

/* --- device.c ------------------------------------------------------------------------------- */

/* The C side of one slot's `device`; values in Lua, of one or of several states, refer to it. */
struct script_device;
/* `slot` NULL: for `supported`, where there are no buffers and kernels yet. NULL: out of memory. */
struct script_device *script_device_open(const struct assay_device *device, struct assay_slot *slot,
                                         struct assay_error *error);
/* Destroys all buffers and kernels of the slot, whose recordings must be gone; values that are left
 * in Lua raise from now on. NULL is allowed. */
void script_device_close(struct script_device **device);
void script_device_push(lua_State *L, struct script_device *device);
/* From now on script_device_maker raises: `slot` has run. NULL is allowed. */
void script_device_settle(struct script_device *device);
/* Names the buffers among a table's members (the table that `slot` filled) that have no name after
 * their keys: for messages. Does not raise. */
void script_device_name_members(lua_State *L, int table);
/* The slot; raises where the device is closed or has none. `what` is for the message. */
struct assay_slot *script_device_slot(lua_State *L, struct script_device *device, const char *what);
/* The same, to make something in it: raises once the device is settled, too. */
struct assay_slot *script_device_maker(lua_State *L, struct script_device *device,
                                       const char *what);

/* A device, buffer or kernel in Lua. */
struct script_object {
    struct script_device *device;
    void *object; /* struct assay_buffer or assay_kernel; NULL for a device */
};
#define SCRIPT_DEVICE "assay.device"
#define SCRIPT_BUFFER "assay.buffer"
#define SCRIPT_KERNEL "assay.kernel"
void script_object_push(lua_State *L, const char *class, struct script_device *device,
                        void *object);
int script_object_collect(lua_State *L);
/* Raises for another kind of value and for what belongs to a slot that is gone. */
struct script_object *script_object_check(lua_State *L, int index, const char *class,
                                          const char *what);
/* Pushes the same device, buffer or kernel onto another state's stack, for host stages, which have
 * a state of their own. False: some other kind of value; nothing was pushed. */
bool script_object_copy(lua_State *from, int index, lua_State *to);

/* Raises with the user's place in front, the status kept: what state_call then returns has it
 * (ASSAY_INVALID becomes ASSAY_SCRIPT). Reasons of skips and GLSL errors keep their text. */
int script_raise_status(lua_State *L, const struct assay_error *error) __attribute__((noreturn));
/* The same for a kernel; the place in a `text` of the script stands behind the script's. */
int script_raise_kernel(lua_State *L, const struct assay_error *error, bool text)
    __attribute__((noreturn));

/* --- buffer.c, kernel.c ----------------------------------------------------------------------- */

void script_buffer_open(lua_State *L);
void script_kernel_open(lua_State *L);
int script_buffer_new(lua_State *L); /* device:buffer{...} */
int script_kernel_new(lua_State *L); /* device:kernel{...} */
/* Raises for other values. */
struct script_device *script_device_check(lua_State *L, int index, const char *what);
struct assay_buffer *script_buffer_check(lua_State *L, int index, const char *what);
struct assay_kernel *script_kernel_check(lua_State *L, int index, const char *what);

/* --- command.c -------------------------------------------------------------------------------- */

/* Pushes `cmd` for a record hook. Good until command_expire, which the caller does after the hook,
 * however that ended. One at a time a state. */
void script_command_open(lua_State *L);
void script_command_push(lua_State *L, struct assay_command *command);
void script_command_expire(struct script *script);

/* --- fill.c ----------------------------------------------------------------------------------- */

void script_fill_open(lua_State *L);
/* The fill that the value at `index` means: a number (fp32) or what assay.uniform and the like
 * gave. DATA fills are computed into the scratch arena, for a buffer of `bytes`. */
struct assay_fill script_fill_of(lua_State *L, int index, const char *what, uint64_t bytes,
                                 uint64_t seed);
/* One 32-bit word for cmd:fill; raises for fills that are none. */
uint32_t script_fill_word(lua_State *L, int index, const char *what);
/* assay.fill, assay.uniform, ... */
extern const luaL_Reg script_fill_functions[];

/* --- view.c ----------------------------------------------------------------------------------- */

struct view {
    char name[64]; /* of the buffer */
    enum assay_element element;
    uint64_t count;
    void *data; /* malloc'ed: what the buffer held when it was read */
};
void script_view_open(lua_State *L);
/* Pushes a view without elements, and gives it some, uninitialised; for once. */
struct view *script_view_new(lua_State *L, const char *name, enum assay_element element);
void script_view_allocate(lua_State *L, struct view *view, uint64_t count);
int script_view_read(lua_State *L); /* buffer:read(type, { offset =, count = }) */
struct view *script_view_test(lua_State *L, int index);
enum assay_element script_element_of(lua_State *L, int index, const char *what);

/* --- compare.c -------------------------------------------------------------------------------- */

void script_compare_open(lua_State *L);
int script_compare(lua_State *L); /* assay.compare(view, reference, tolerances) */
int script_f32(lua_State *L);
int script_f16(lua_State *L);
/* What assay.compare gave, or NULL for another value. */
/* It goes into the record by comparison_apply (measure/closeness.h). */
struct comparison *script_comparison_test(lua_State *L, int index);

/* --- shared ----------------------------------------------------------------------------------- */

/* Raises unless all keys of the table are among the names ("[1]" for the first element, where
 * allowed). `what` is "device:buffer". */
void script_check_fields(lua_State *L, int table, const char *what, const char *const *names,
                         size_t count);
/* A value in a message: "nil", "3", "a table". */
const char *script_shown(lua_State *L, int index);
/* The keys of a table of constants, bindings, ..., sorted by name: the order of a Lua table is no
 * order. */
struct script_named {
    const char *name; /* "[3]" for the number 3; in the scratch arena */
    bool numbered;
    lua_Integer number;
};
size_t script_names(lua_State *L, int table, const char *what, struct script_named **names);
int script_named_push(lua_State *L, int table, const struct script_named *named);
/* The number on top, true as 1 and false as 0; raises "WHAT: 'NAME' ..." for other values. */
double script_number_of(lua_State *L, const char *what, const char *name);
/* A whole number or a size ("64 MiB") of at least `least`. */
uint64_t script_bytes_of(lua_State *L, int index, const char *what, uint64_t least);

#endif
