-- SPDX-License-Identifier: MIT
std = "lua54"
max_line_length = 130
ignore = { "581" } -- not (x > y) is not x <= y: NaN
files["scripts/meta"] = { ignore = { "212", "211", "131", "241", "111", "112", "113", "631", "122" } }
files["core/script/prelude.lua"] = { globals = { "assay" } }
