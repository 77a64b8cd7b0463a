-- SPDX-License-Identifier: MIT
-- lua5.4 trace_check.lua TRACE: whether a trace of `assay run --trace` can be what happened. Stages on one row never overlap, the
-- stages of a batch run in order, and a slot begins a batch when its last one has ended; every batch has all stages and one
-- begin and end of its own. The same of the rows by the device's clock, within what that is known to, where a stage ends when
-- the host sees it at the latest. Prints what was looked at, or what is wrong (exit status 1).
local path = ...
local processes, order, failures, events, on_device = {}, {}, 0, 0, 0

local function wrong(...)
  failures = failures + 1
  if failures <= 10 then print(string.format(...)) end
end

local function process_of(line)
  local id = line:match('"pid":(%d+)')
  if not processes[id] then
    processes[id] = { rows = {}, batches = {}, named = 0, slack = {} }
    order[#order + 1] = id
  end
  return processes[id]
end

-- Times are in us with three decimals: whole ns.
local function ns(line, member)
  local whole, part = line:match('"' .. member .. '":(%d+)%.(%d%d%d)')
  return whole and math.tointeger(whole) * 1000 + math.tointeger(tonumber(part))
end

local function number(line, member)
  return math.tointeger(tonumber(line:match('"' .. member .. '":(%d+)')))
end

local lines = {}
for line in io.lines(path) do lines[#lines + 1] = line end
if lines[1] ~= '{"displayTimeUnit":"ns","traceEvents":[' or lines[#lines] ~= "]}" then wrong("the frame is not whole") end
for i = 2, #lines - 1 do
  local line, process = lines[i], process_of(lines[i])
  if (line:sub(-1) == ",") ~= (i < #lines - 1) then wrong("line %d: a comma", i) end
  local kind = line:match('^{"ph":"(%a)"')
  if kind == "M" then
    process.named = process.named + 1
    local slack = line:match("by the device's clock, to (%d+) ns")
    if slack then process.slack[line:match('"tid":(%d+)')] = math.tointeger(tonumber(slack)) end
  elseif kind == "X" then
    local begin, duration = ns(line, "ts"), ns(line, "dur")
    local event = { stage = number(line, "stage"), slot = number(line, "slot"), batch = number(line, "batch"), begin = begin,
      ended = begin + duration, name = line:match('"name":"([^"]*)"') }
    local row = line:match('"tid":(%d+)')
    process.rows[row] = process.rows[row] or {}
    table.insert(process.rows[row], event)
    local batch = process.batches[event.batch] or { stages = {}, device = {} }
    process.batches[event.batch] = batch
    event.slack = process.slack[row] or 0
    if line:find('"cat":"device"', 1, true) then
      if batch.device[event.stage] then wrong("batch %d has stage %s twice by the device's clock", event.batch, event.name) end
      batch.device[event.stage] = event
      on_device = on_device + 1
      goto next
    end
    if batch.stages[event.stage] then wrong("batch %d has stage %s twice", event.batch, event.name) end
    batch.stages[event.stage] = event
    events = events + 1
  elseif kind == "b" or kind == "e" then
    local number_of = number(line, "batch")
    local batch = process.batches[number_of] or { stages = {}, device = {} }
    process.batches[number_of] = batch
    batch[kind] = ns(line, "ts")
  else
    wrong("line %d: neither metadata nor an event", i)
  end
  ::next::
end

local batches = 0
for _, id in ipairs(order) do
  local process = processes[id]
  for row, list in pairs(process.rows) do
    table.sort(list, function(a, b) return a.begin < b.begin or a.begin == b.begin and a.ended < b.ended end)
    for i = 2, #list do
      local a, b = list[i - 1], list[i]
      if b.begin < a.ended - 2 * b.slack then
        wrong("process %s, row %s: %s of batch %d begins %d ns before %s of batch %d ends", id, row, b.name, b.batch,
          a.ended - b.begin, a.name, a.batch)
      end
    end
  end
  local count, stage_count = 0, 0
  for _, batch in pairs(process.batches) do
    count = count + 1
    stage_count = math.max(stage_count, #batch.stages + 1)
  end
  local last_of_slot = {}
  for number_of = 0, count - 1 do
    local batch = process.batches[number_of]
    if not batch then
      wrong("process %s: there is no batch %d of %d", id, number_of, count)
      break
    end
    for stage = 0, stage_count - 1 do
      local event, before = batch.stages[stage], batch.stages[stage - 1]
      if not event then
        wrong("process %s: batch %d has no stage %d", id, number_of, stage)
      elseif before and event.begin < before.ended then
        wrong("process %s: %s of batch %d begins %d ns before %s ends", id, event.name, number_of, before.ended - event.begin,
          before.name)
      end
    end
    for stage, event in pairs(batch.device) do
      local before, seen = batch.device[stage - 1], batch.stages[stage]
      if before and event.begin < before.ended - before.slack - event.slack then
        wrong("process %s: %s of batch %d begins %d ns before %s ends by the device's clock", id, event.name, number_of,
          before.ended - event.begin, before.name)
      end
      if seen and event.ended > seen.ended + event.slack then
        wrong("process %s: %s of batch %d ends %d ns after the host saw it end", id, event.name, number_of,
          event.ended - seen.ended)
      end
    end
    local first, last = batch.stages[0], batch.stages[stage_count - 1]
    if first and last then
      local previous = last_of_slot[first.slot]
      if previous and first.begin < previous then
        wrong("process %s: batch %d begins in slot %d before its last one ends", id, number_of, first.slot)
      end
      last_of_slot[first.slot] = last.ended
      if batch.b ~= first.begin or batch.e ~= last.ended then wrong("process %s: batch %d is not its stages", id, number_of) end
    end
    batches = batches + 1
  end
  if process.named == 0 then wrong("process %s has no name", id) end
end
if failures > 0 then
  print(failures .. " wrong")
  os.exit(1)
end
local by_device = on_device > 0 and string.format(", %d by the device's clock", on_device) or ""
print(string.format("%d cases, %d batches, %d stages in order%s", #order, batches, events, by_device))
