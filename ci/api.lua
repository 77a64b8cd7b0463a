-- SPDX-License-Identifier: MIT
-- lua5.4 ci/api.lua HEADER...: whether every function, hook, struct member, enumerator and macro of public C headers says
-- what a user of it must know. Prints FILE:LINE: what is missing (exit status 1), else what was looked at.
--
--   A function or a hook has a comment in front of it (functions without a blank line between share one), which names
--     errors     an ASSAY_ status, when it takes a struct assay_error (a hook: in the comment of its struct at the latest)
--     ownership  how long what it returns lives or whose it is, when that is a pointer or a handle; the file's first
--                comment may say so for all
--     threads    from which threads it may be called; the file's first comment may say so for all
--     units      of each number that it takes or returns: in the number's name, or in the comment with that name
--   A hook begins with Required or Optional.
--   A member has a comment before or behind it, or the comment of its struct names it; a number has its unit in the name or
--     the comment; a struct with pointers says how long they live.
--   An enumerator has a comment, or its enum has; a macro that users write has one.

local failures, counts = 0, { functions = 0, hooks = 0, members = 0, enumerators = 0, macros = 0 }

-- Words in which a comment can say it.
local ownership = { "valid", "belong", "owned", "static", "never destroy", "copied", "released", "constant", "unchanged",
  "freed", "lives", "borrowed" }
local units = { "byte", "%f[%w]ns%f[%W]", "flop", "item", "sizeof", "number of", "index", "multiple", "bit", "unit", "share",
  "factor", "word", "max%u%w+", "min%u%w+", "size of", "%f[%w]size%f[%W]", "line", "dimensionless", "converted to", "ASSAY_ABI",
  "elements", "groups", "invocations", "flags", "degC", "%f[%w]Hz%f[%W]", "%f[%w]fd%f[%W]" }
local unit_names = { "bytes$", "_ns$", "count$", "flops$", "items$", "invocations", "groups$", "elements$", "index$", "line$",
  "_size$", "_hz$" }
local number_types = { "size_t", "u?int%d+_t", "int", "unsigned", "long", "float", "double" }
local statuses = {}

local function any(text, patterns)
  for _, pattern in ipairs(patterns) do
    if text:lower():find(pattern:find("%u") and "\0" or pattern) or text:find(pattern) then return true end
  end
  return false
end

local function is_number(type)
  for _, name in ipairs(number_types) do
    if type:find("%f[%w_]" .. name .. "%f[^%w_]") then return true end
  end
  return false
end

-- Comments, macros and statements of a piece of C, in order. A statement ends at `ending` outside of all brackets.
local function split(source, first_line, ending)
  local pieces, at, line = {}, 1, first_line
  local code, start, depth = {}, nil, 0
  local function finish(inner)
    local text = table.concat(code):gsub("%s+", " "):match("^%s*(.-)%s*$")
    if text ~= "" then pieces[#pieces + 1] = { kind = "code", text = text, first = start, last = line, inner = inner } end
    code, start = {}, nil
  end
  local body, body_line
  while at <= #source do
    local comment = source:match("^/%*.-%*/", at)
    local char = source:sub(at, at)
    if comment then
      local _, lines = comment:gsub("\n", "")
      if depth == 0 then
        local text = comment:sub(3, -3):gsub("\n[ \t]*%*", " "):gsub("%s+", " ")
        local before = pieces[#pieces]
        local inside = start ~= nil -- in the middle of a statement: of that one
        local piece = { kind = "comment", text = text, first = line, last = line + lines, inside = inside,
          behind = not inside and before ~= nil and before.kind == "code" and before.last == line }
        pieces[#pieces + 1] = piece
      end
      at, line = at + #comment, line + lines
    elseif char == "#" and source:sub(1, at - 1):match("[^\n]*$"):match("^%s*$") then
      local directive = source:match("^[^\n]*", at)
      while directive:sub(-1) == "\\" do directive = directive .. source:match("^\n[^\n]*", at + #directive) end
      local name = directive:match("^#%s*define%s+([%w_]+)")
      local _, lines = directive:gsub("\n", "")
      if name then pieces[#pieces + 1] = { kind = "macro", text = name, first = line, last = line + lines } end
      at, line = at + #directive, line + lines
    else
      if char == "\n" then line = line + 1 end
      if char == "{" and depth == 0 then body, body_line = at + 1, line end
      if char == "{" or char == "(" then depth = depth + 1 end
      if char == "}" or char == ")" then depth = depth - 1 end
      local inner
      if char == "}" and depth == 0 then inner = { text = source:sub(body, at - 1), line = body_line } end
      if inner then code.inner = inner end
      if char == ending and depth == 0 then
        finish(code.inner)
      elseif not char:match("%s") or start then
        start = start or line
        code[#code + 1] = char
      end
      at = at + 1
    end
  end
  finish(code.inner)
  return pieces
end

-- What is said of pieces[i]: comments that end right above it, lie inside it or begin behind it on its last line.
local function said_of(pieces, i)
  local piece, said = pieces[i], {}
  local above = piece.kind == "macro" and 2 or 1 -- an #if may stand between
  for _, other in ipairs(pieces) do
    if other.kind == "comment" and
      ((not other.behind and not other.inside and other.last >= piece.first - above and other.last <= piece.first) or
      (other.behind and other.first == piece.last) or
      (other.inside and other.first >= piece.first and other.last <= piece.last)) then
      said[#said + 1] = other.text
    end
  end
  return #said > 0 and table.concat(said, " ") or nil
end

local function check_file(path)
  local file = assert(io.open(path))
  local source = file:read("a")
  file:close()
  local pieces = split(source, 1, ";")
  local top = {}
  for _, piece in ipairs(pieces) do
    if piece.kind ~= "comment" then break end
    top[#top + 1] = piece.text
  end
  top = table.concat(top, " ")

  local function missing(piece, what)
    failures = failures + 1
    print(("%s:%d: %s"):format(path, piece.first, what))
  end

  -- name, type of each parameter
  local function parameters(text)
    local list = {}
    for one in (text:match("%((.*)%)[^()]*$") or ""):gmatch("[^,]+") do
      local type, name = one:match("^%s*(.-)%s*([%w_]+)[%[%d%]]*%s*$")
      if name and type ~= "" then list[#list + 1] = { name = name, type = type } end
    end
    return list
  end

  -- Units, errors, ownership and threads of a function or a hook.
  local function check_call(piece, name, result, arguments, said, around)
    local everything = said .. " " .. around
    local nearby = everything .. " " .. top
    for _, argument in ipairs(parameters(arguments)) do
      local plain = argument.type:gsub("const", "")
      if is_number(plain) and not any(argument.name, unit_names) and
        not (said:find("%f[%w_]" .. argument.name .. "%f[^%w_]") and any(everything, units)) then
        missing(piece, ("%s: the unit of '%s' is not said"):format(name, argument.name))
      end
      if argument.type:find("struct assay_error") and argument.type:find("%*") then
        local named = false
        for status in everything:gmatch("ASSAY_[%u_]+") do named = named or statuses[status] end
        if not named then missing(piece, name .. ": it can fail, but the comment names no status") end
      end
    end
    if is_number(result) and not result:find("%*") and not any(name, unit_names) and not any(said, units) then
      missing(piece, name .. ": the unit of what it returns is not said")
    end
    if (result:find("%*") or result:find("Vk") or result:find("PFN_")) and not any(nearby, ownership) then
      missing(piece, name .. ": whose what it returns is, or how long it lives, is not said")
    end
    if not nearby:lower():find("thread") then
      missing(piece, name .. ": threads are not mentioned, neither here nor at the top of the file")
    end
  end

  local function check_hook(piece, member, struct_said, said)
    local result, name, arguments = member:match("^(.-)%(%s*%*%s*([%w_]+)%s*%)%s*(%(.*%))$")
    counts.hooks = counts.hooks + 1
    if not said then
      missing(piece, ("hook '%s' has no comment"):format(name))
    else
      if not said:find("^ *Required") and not said:find("^ *Optional") then
        missing(piece, ("hook '%s': the comment begins neither with Required nor with Optional"):format(name))
      end
      check_call(piece, name, result, arguments, said, struct_said)
    end
  end

  local function check_member(piece, struct_said, said)
    if piece.text:find("%(%s*%*") then return check_hook(piece, piece.text, struct_said, said) end
    local head, others = piece.text:match("^([^,]*)(.*)$")
    local type, first = head:match("^(.*[%s%*])([%a_][%w_]*)[%[%]%w_]*%s*$")
    for name in ((first or "") .. others):gmatch("([%a_][%w_]*)[%[%]%w_]*") do
      counts.members = counts.members + 1
      local own = said or (struct_said:find("%f[%w_]" .. name .. "%f[^%w_]") and struct_said)
      if not own then
        missing(piece, ("member '%s' has no comment"):format(name))
      elseif is_number(type) and not any(name, unit_names) and not any(own, units) then
        missing(piece, ("member '%s': its unit is not said"):format(name))
      end
    end
    return type and type:find("%*") ~= nil
  end

  local function check_struct(piece, said)
    local members, pointers, lives = split(piece.inner.text, piece.inner.line, ";"), false, said or ""
    for i, member in ipairs(members) do
      if member.kind == "code" then
        local own = said_of(members, i)
        pointers = check_member(member, said or "", own) or pointers
      elseif member.kind == "comment" then
        lives = lives .. " " .. member.text
      end
    end
    if not said then missing(piece, ("'%s' has no comment"):format(piece.text:match("^[%w_ ]*[%w_]"))) end
    if pointers and not any(lives .. " " .. top, ownership) then
      missing(piece, ("'%s': how long what it points to lives is not said"):format(piece.text:match("^[%w_ ]*[%w_]")))
    end
  end

  local function check_enum(piece, said)
    local values = split(piece.inner.text, piece.inner.line, ",")
    for i, value in ipairs(values) do
      if value.kind == "code" then
        counts.enumerators = counts.enumerators + 1
        -- The comment stands behind the comma.
        local own = said_of(values, i)
        if not said and not own and not value.text:find("_COUNT$") then
          missing(value, ("enumerator '%s' has no comment, nor has its enum"):format(value.text:match("^[%w_]+")))
        end
      end
    end
  end

  local shared, shared_end
  for i, piece in ipairs(pieces) do
    local said = said_of(pieces, i)
    if piece.kind == "macro" then
      if not piece.text:find("_H$") then
        counts.macros = counts.macros + 1
        local before = pieces[i - 1]
        if said then
          shared = said
        elseif not (before and before.kind == "macro" and before.last >= piece.first - 2 and shared) then
          -- Several in a row share one, and so do the branches of an #if.
          missing(piece, ("macro '%s' has no comment"):format(piece.text))
        end
      end
    elseif piece.kind == "code" then
      piece.text = piece.text:gsub("^ASSAY_BEGIN_DECLARATIONS ", ""):gsub("^ASSAY_END_DECLARATIONS$", "")
      if piece.inner and piece.text:find("^struct ") then
        check_struct(piece, said)
      elseif piece.inner and piece.text:find("^enum ") then
        check_enum(piece, said)
      elseif piece.text:find("^ASSAY_API ") or piece.text:find("^typedef .*%)$") then
        local text = piece.text:gsub("^ASSAY_API ", ""):gsub("^typedef ", ""):gsub(" ASSAY_PRINTF%b()", "")
        local result, name, arguments = text:match("^(.-)([%w_]+)(%b())$")
        counts.functions = counts.functions + 1
        if said then
          shared = said
        elseif shared_end ~= piece.first - 1 then
          shared = nil
        end
        shared_end = piece.last
        if shared then
          check_call(piece, name, result, arguments, shared, "")
        else
          missing(piece, ("function '%s' has no comment"):format(name))
        end
      end
    end
  end
end

if #arg == 0 then
  io.stderr:write("usage: lua5.4 ci/api.lua HEADER...\n")
  os.exit(2)
end
for _, path in ipairs(arg) do
  if path:find("error%.h$") then
    for line in io.lines(path) do
      local status = line:match("^%s*(ASSAY_[%u_]+),")
      if status then statuses[status] = true end
    end
  end
end
for _, path in ipairs(arg) do check_file(path) end
if failures > 0 then
  print(("%d missing"):format(failures))
  os.exit(1)
end
print(("%d functions, %d hooks, %d members, %d enumerators and %d macros say what there is to know"):format(counts.functions,
  counts.hooks, counts.members, counts.enumerators, counts.macros))
