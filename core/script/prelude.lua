-- SPDX-License-Identifier: MIT
-- The part of the table `assay` that is written in Lua. Called once with the table, a maker of unit
-- functions, and a function that raises an error at the user's line.
local assay, unit, fail = ...

local function count(name, values)
  if #values > 1000000 then fail(name .. ": more than 1,000,000 values") end
end

for _, name in ipairs {
  "B", "kB", "MB", "GB", "TB", "KiB", "MiB", "GiB", "TiB",
  "ns", "us", "ms", "s", "Hz", "kHz", "MHz", "GHz",
  "FLOP", "MFLOP", "GFLOP", "TFLOP", "W", "degC",
} do
  assay[name] = unit(name)
end

-- Only plain numbers stay plain: "4 KiB" becomes a quantity.
local function number_or_quantity(name, value)
  if math.type(value) then return value end
  if value == nil then fail(name .. ": a first and a last value are wanted") end
  return assay.quantity(value)
end

local function zero_of(value)
  return value - value
end

function assay.powers_of_two(from, to)
  local name = "assay.powers_of_two"
  local value, last = number_or_quantity(name, from), number_or_quantity(name, to)
  if value <= zero_of(value) or value ~= value then fail(name .. ": the first value must be over 0") end
  if value > last then
    fail(name .. ": no value lies between " .. tostring(from) .. " and " .. tostring(to))
  end
  local values = {}
  repeat
    values[#values + 1] = value
    value = value * 2
  until value > last or value <= values[#values] -- integers wrap
  return values
end

function assay.range(from, to, step)
  local name = "assay.range"
  local first, last = number_or_quantity(name, from), number_or_quantity(name, to)
  if step == nil and not math.type(first) then fail(name .. ": quantities need a step") end
  local by = step == nil and 1 or number_or_quantity(name, step)
  if by <= zero_of(by) or by ~= by then fail(name .. ": the step must be over 0") end
  if first > last then
    fail(name .. ": no value lies between " .. tostring(from) .. " and " .. tostring(to))
  end
  local values = {}
  local steps = (last - first) / by
  for i = 0, math.floor(steps + 1e-9) do
    values[#values + 1] = first + by * i
    count(name, values)
  end
  return values
end
