-- SPDX-License-Identifier: MIT
-- assay.model: what theory says, from times that are given or were measured. Called once with the table
-- `assay` and what C does for it; returns the what_if of results.
local assay, help = ...
local fail, time_of, larger, estimate, unknown = help.fail, help.time_of, help.larger, help.estimate, help.unknown

local MOST_DEPTH = 4096
local methods = {}
local class = { __metatable = "assay.model" }

function class:__index(name)
  if methods[name] then return methods[name] end
  local names = {}
  for known in pairs(self) do names[#names + 1] = known end
  for known in pairs(methods) do names[#names + 1] = known end
  table.sort(names)
  unknown("a model", "member", tostring(name), names)
end

function class.__newindex()
  fail "a model cannot be changed; what_if gives another one"
end

function class:__tostring()
  return "serial " .. tostring(self.serial_time) .. ", period " .. tostring(self.period) .. " at depth " .. self.depth
end

-- False where one is absent.
local function exceeds(a, b)
  a, b = estimate(a), estimate(b)
  return a and b and a > b
end

-- The sums of the groups in the order of their first stages.
local function group_sums(stages)
  local sums, names, shared = {}, {}, false
  for _, stage in ipairs(stages) do
    local sum = sums[stage.group]
    sums[stage.group] = sum and sum + stage.time or stage.time
    if sum then shared = true else names[#names + 1] = stage.group end
  end
  return sums, names, shared
end

-- The stage with the largest time; its share is absent where a time is.
local function bottleneck(stages, serial)
  local most
  for _, stage in ipairs(stages) do
    local time = estimate(stage.time)
    if not time then return { share = serial / serial } end
    if not most or time > estimate(most.time) then most = stage end
  end
  return { stage = most.name, share = most.time / serial }
end

-- docs/method.md, "Pipelines"; core/stats/pipeline.c does the same on plain numbers.
local function predict(stages, depth)
  local serial = stages[1].time
  for i = 2, #stages do serial = serial + stages[i].time end
  if not help.is_metric(serial) and serial.value == 0 then fail "a model: its stages take no time at all" end
  local sums, names, shared = group_sums(stages)
  local busiest, limit = sums[names[1]], names[1]
  for i = 2, #names do
    local sum = sums[names[i]]
    if exceeds(sum, busiest) then limit = names[i] end
    busiest = larger(busiest, sum)
  end
  local period = busiest
  if depth == 1 then
    period, limit = serial, "depth"
  elseif #names > 1 then
    local share = serial / depth
    if exceeds(share, busiest) then limit = "depth" end
    period = larger(busiest, share)
  end
  return setmetatable({
    stages = stages, depth = depth, serial_time = serial, period = period, throughput = 1 / period,
    bottleneck = bottleneck(stages, serial), limit = limit, exact = depth == 1 or not shared,
  }, class)
end

local function depth_of(who, depth)
  if math.type(depth) ~= "integer" or depth < 1 or depth > MOST_DEPTH then
    fail(who .. ": depth: a whole number from 1 to " .. MOST_DEPTH .. " is wanted, not " .. tostring(depth))
  end
  return depth
end

local function check_fields(who, fields, allowed)
  for name in pairs(fields) do
    local known = false
    for _, other in ipairs(allowed) do known = known or name == other end
    if not known then unknown(who, "field", tostring(name), allowed) end
  end
end

local function table_of(who, value, what)
  if type(value) ~= "table" then fail(who .. ": " .. what .. " is wanted, not a " .. type(value)) end
  return value
end

local function stage_of(who, stage, at)
  local name = table_of(who, stage, 'stages: a stage such as { "upload", "100 ms" }')[1]
  if type(name) ~= "string" then fail(who .. ": stage " .. at .. " has no name; write { \"upload\", \"100 ms\" }") end
  check_fields(who .. ": stage '" .. name .. "'", stage, { 1, 2, "group" })
  local group = stage.group == nil and name or stage.group
  if type(group) ~= "string" then fail(who .. ": stage '" .. name .. "': group: a name is wanted, not a " .. type(group)) end
  return { name = name, time = time_of(stage[2], who .. ": stage '" .. name .. "'"), group = group }
end

local function find(who, stages, name)
  local names = {}
  for i, stage in ipairs(stages) do
    if stage.name == name then return i end
    names[i] = stage.name
  end
  unknown(who, "stage", tostring(name), names)
end

function assay.model.pipeline(definition)
  local who = "assay.model.pipeline"
  table_of(who, definition, "a table with stages")
  check_fields(who, definition, { "stages", "depth" })
  local stages = {}
  for i, stage in ipairs(table_of(who, definition.stages, "stages = { { \"upload\", \"100 ms\" }, ... }")) do
    stages[i] = stage_of(who, stage, i)
    if find(who, stages, stages[i].name) ~= i then fail(who .. ": stage '" .. stages[i].name .. "' is given twice") end
  end
  if #stages == 0 then fail(who .. ": it has no stage") end
  return predict(stages, depth_of(who, definition.depth or 1))
end

-- Stages with their times by `factors`; `how` may give another depth and other groups.
local function what_if(who, stages, depth, factors, how)
  local changed = {}
  for i, stage in ipairs(stages) do changed[i] = { name = stage.name, time = stage.time, group = stage.group } end
  for name, factor in pairs(table_of(who, factors, "stages and factors such as { compute = 0.5 }")) do
    local stage = changed[find(who, stages, name)]
    if not math.type(factor) or not (factor >= 0 and factor < math.huge) then
      fail(who .. ": " .. name .. ": a factor of 0 or more is wanted, not " .. tostring(factor))
    end
    stage.time = stage.time * factor
  end
  if how ~= nil then
    check_fields(who, table_of(who, how, "{ depth = 2 }"), { "depth", "groups" })
    for name, group in pairs(table_of(who, how.groups or {}, "groups = { upload = \"link\" }")) do
      if type(group) ~= "string" then
        fail(who .. ": groups: " .. tostring(name) .. ": a name is wanted, not a " .. type(group))
      end
      changed[find(who, stages, name)].group = group
    end
    depth = depth_of(who, how.depth or depth)
  end
  return predict(changed, depth)
end

function methods:what_if(factors, how)
  return what_if("what_if", self.stages, self.depth, factors, how)
end

-- Transfers a second and lane, and what line coding leaves of the bits.
local pcie = {
  ["1.0"] = { 2.5e9, 8 / 10 }, ["1.1"] = { 2.5e9, 8 / 10 }, ["2.0"] = { 5e9, 8 / 10 },
  ["3.0"] = { 8e9, 128 / 130 }, ["4.0"] = { 16e9, 128 / 130 }, ["5.0"] = { 32e9, 128 / 130 },
}

function assay.model.pcie(generation, lanes)
  local who = "assay.model.pcie"
  local link = pcie[math.type(generation) and string.format("%.1f", generation) or generation]
  if not link then fail(who .. ": '" .. tostring(generation) .. "' is not known; 1.0, 1.1, 2.0, 3.0, 4.0 and 5.0 are") end
  lanes = lanes == nil and 16 or lanes
  if math.type(lanes) ~= "integer" or lanes < 1 or lanes > 32 then
    fail(who .. ": lanes: a whole number from 1 to 32 is wanted, not " .. tostring(lanes))
  end
  return assay.quantity "1 B/s" * (link[1] * link[2] * lanes / 8)
end

return what_if
