-- SPDX-License-Identifier: MIT
-- The figures of ci/gpu (which builds what this runs): a card against its vendor's BLAS, its best copy and its link. Run from the
-- root of the checkout.

local dry, json, size, device = false, false, nil, nil
do
  local i = 1
  while arg[i] do
    if arg[i] == "--dry-run" then dry = true
    elseif arg[i] == "--json" then json = true
    elseif arg[i] == "--size" and math.tointeger(tonumber(arg[i + 1])) then
      i = i + 1
      size = math.tointeger(tonumber(arg[i]))
    elseif arg[i] == "--device" and arg[i + 1] then
      i = i + 1
      device = arg[i]
    else
      io.stderr:write("ci/gpu: unknown argument '", arg[i], "'; see ci/gpu --help\n")
      os.exit(2)
    end
    i = i + 1
  end
end

local shell = dofile("tests/bench/shell.lua")(dry and "cpu" or device or "gpu")
local runs = dofile("tests/bench/runs.lua")(shell)
local figures = dofile("tests/bench/figures.lua")(json)
local median = shell.median

local turns = dry and 1 or 3
local n = size or (dry and 128 or 8192)
local copy_bytes = dry and "4 MiB" or "1 GiB"
local upload_bytes = dry and "4 MiB" or "256 MiB"
local budget = dry and "100 ms" or "1 s"
local last_start_s = 7 * 60 -- a row that would begin later is left out
local began = os.time()

-- What the goals say is of cards: a dry run judges nothing.
local function judged(holds)
  if dry then return nil end
  return holds
end

-- A row that fails costs only itself.
local function row(name, measure)
  if os.time() - began > last_start_s then return figures.skip(name, "the time is over") end
  local fine, why = pcall(measure, name)
  if not fine then figures.fail(name, tostring(why)) end
end

-- The device that is chosen, as the record of a small copy tells it.
local function device_open()
  local case = assert(runs.case("copy", { bytes = "64 KiB", direction = "device" }, { stage = "copy", budget = "10 ms" }))
  local text = case.record:match('"device":(%b{})')
  local function field(name) return text:match('"' .. name .. '":"([^"]*)"') end
  return { name = field("name"), class = field("class"), pci = field("pci") }
end

-- What of bench_vendor serves a device: its library, or nil.
local function vendor_of(chosen)
  if chosen.class == "cpu" then return "openblas" end
  if chosen.name:find("NVIDIA", 1, true) then return "cuda" end
  if chosen.name:find("AMD", 1, true) or chosen.name:find("Radeon", 1, true) then return "rocm" end
  return nil
end

local function is_hopper(name)
  for _, part in ipairs { "H100", "H200", "H800", "H20", "GH200" } do
    if name:find(part .. "%f[%W]") then return true end
  end
  return false
end

-- Turn by turn: value() and limit() give a rate, or nil and why not.
local function compare(name, unit, goal, text, value, limit)
  local values, limits, ratios = {}, {}, {}
  for i = 1, turns do
    local a, b, why
    a, why = value()
    if not a then return figures.skip(name, why) end
    b, why = limit()
    if not b then return figures.skip(name, why) end
    values[i], limits[i], ratios[i] = a, b, a / b
  end
  local ratio = median(ratios)
  figures.report(name, unit, median(values) / 1e9, median(limits) / 1e9, ratio, (">= %g%s"):format(goal, text),
    judged(ratio >= goal))
end

local function gemm(precision, variant)
  local case, why = runs.case("gemm", { size = n, precision = precision, variant = variant, resident = true },
    { stage = "compute", budget = budget })
  if not case then return nil, why end
  return 2 * n ^ 3 / case.time_s
end

-- The best of some copies: {rate, record}, or nil and why there is none. list: parameters of each.
local function best_copy(list, around)
  local best, why
  for _, fixed in ipairs(list) do
    local case, reason = runs.case("copy", fixed, { stage = "copy", budget = budget, around = around })
    if case and (not best or case.rate > best) then best = case.rate end
    why = reason or why
  end
  return best, why
end

local found, chosen = pcall(device_open)
if not found then
  io.stderr:write("ci/gpu: no device to measure: ", tostring(chosen), "\n")
  shell.close()
  os.exit(2)
end
local vendor = vendor_of(chosen)
local function of_vendor(work, amount)
  return function()
    if not vendor then return nil, "no library of the vendor of " .. chosen.name .. " is known" end
    local got, why = runs.vendor(vendor, work, amount, { milliseconds = dry and 50 or 1000, pci = chosen.pci })
    return got and got.rate, why and vendor .. ": " .. why
  end
end

if not json then
  print(("%s%s, against %s"):format(dry and "dry run on " or "", chosen.name, vendor or "no vendor's library"))
end
figures.head()

row(("gemm fp32, n = %d, of the vendor's"):format(n), function(name)
  compare(name, "GFLOP/s", 0.85, "", function() return gemm("fp32", "auto") end, of_vendor("fp32", n))
end)

row(("gemm fp16 by coopmat, n = %d, of the vendor's"):format(n), function(name)
  local hopper = is_hopper(chosen.name)
  local work = vendor == "openblas" and "fp32" or "fp16" -- the stand-in has no other
  compare(name, "GFLOP/s", hopper and 0.5 or 0.7, hopper and " (Hopper)" or "", function() return gemm("fp16", "coopmat") end,
    of_vendor(work, n))
end)

row(("copy on the device, %s, of the vendor's"):format(copy_bytes), function(name)
  local value, units = tonumber(copy_bytes:match("%d+")), { MiB = 20, GiB = 30 }
  local bytes = value << units[copy_bytes:match("%a+")]
  compare(name, "GB/s", 0.93, "", function()
    return best_copy { { direction = "device", bytes = copy_bytes, method = "command" },
      { direction = "device", bytes = copy_bytes, method = "shader" } }
  end, of_vendor("copy", bytes))
end)

row(("upload, %s, of the link's rate"):format(upload_bytes), function(name)
  if not chosen.pci then return figures.skip(name, "the device has no PCI address") end
  local link, missing = dofile("tests/bench/link.lua")(chosen.pci, shell.scratch)
  if not link then return figures.skip(name, missing) end
  local rate, why = best_copy({ { direction = "upload", bytes = upload_bytes, host_memory = "pinned" },
    { direction = "upload", bytes = upload_bytes, host_memory = "imported" },
    { direction = "upload", bytes = upload_bytes, host_memory = "pinned", method = "shader" } }, link.watched)
  if not rate then return figures.skip(name, why) end
  local limit, text = link.limit()
  if not limit then return figures.skip(name, text) end
  figures.report(name, "GB/s", rate / 1e9, limit / 1e9, rate / limit, ">= 0.95; " .. text, judged(rate >= 0.95 * limit))
end)

if not json then print(("%d s"):format(os.time() - began)) end
shell.close()
os.exit(figures.missed == 0)
