-- SPDX-License-Identifier: MIT
-- The section `schedules` of ci/bench: batches in flight on lavapipe, on one thread of its own, against what the stages'
-- times allow. Beside them what two threads of this machine do that one does not: the limit of every overlap here.
-- Gets what bench.lua shares; returns the measurements by name, in order: { name, function }.

-- The rows that a run of the script gives; `ratio` of a row is its value over what it should be.
local script = [[
local assay = require "assay"
local part = assay.option("part", "balanced")
local flops = assay.quantity(assay.option("flops", "1 flop"))
local function figure(name, value) print(("figure %s %.9g"):format(name, type(value) == "number" and value or value.value)) end

-- What r.STAGE.sensitivity should be: what the model makes of the same delay.
local function predicted(r, stage)
  local delay = r.period.value / 4
  local later = r:what_if{ [stage] = 1 + delay / r[stage].time.value }.period.value
  return (later - r:what_if{}.period.value) / delay
end

local function case(of)
  of.workload, of.name, of.pair = "overlap", part, #of.schedule > 1 and "schedule" or nil
  assay.experiment(of)
end

local parts = {}
-- Flops that take 12 ms, and how long the upload takes. Each case would find its own by compute_time, some per cent apart.
function parts.link()
  case { fixed = { upload = "64 MiB", compute_time = "12 ms", download = "0 B" }, schedule = { assay.serial() }, budget = "1 s",
    check = function(r)
      figure("upload", r.upload.time)
      figure("rate", r.batch_flops / r.compute.time)
    end }
end
local function gain(g) -- of batches in flight, over serial in the same group
  local r = g:one{ schedule = "pipelined" }
  figure("gain", g:one{ schedule = "serial" }.time / r.period)
  figure("own", r.serial_time / r.period)
  figure("bound", r.serial_time / r.ideal_period)
end
function parts.balanced()
  case { fixed = { upload = "64 MiB", flops = flops, download = "0 B" }, budget = "4 s",
    schedule = { assay.serial(), assay.pipelined{ depth = 3, queues = "devices" } },
    check = gain }
end
function parts.prepare()
  case { fixed = { upload = "1 MiB", prepare = "decode", decode_time = "16 ms", flops = flops, download = "64 KiB" },
    budget = "3 s", schedule = { assay.serial(), assay.pipelined{ depth = 2, queues = "devices" } },
    check = gain }
end
function parts.host() -- prepare decides, and the queue has time to spare
  case { fixed = { upload = "256 KiB", prepare = "decode", decode_time = "6 ms", compute_time = "1500 us", download = "64 KiB" },
    budget = "8 s", schedule = { assay.pipelined{ depth = 2, sensitivity = true } },
    check = function(r)
      figure("period", r.period / r.ideal_period)
      for _, stage in ipairs { "prepare", "compute" } do
        figure(stage, r[stage].sensitivity)
        figure(stage .. "_model", predicted(r, stage))
      end
    end }
end
function parts.queue() -- the queue decides, which upload and compute share, and prepare has time to spare
  case { fixed = { upload = "4 MiB", prepare = "decode", decode_time = "1500 us", compute_time = "5 ms", download = "0 B" },
    budget = "8 s", schedule = { assay.pipelined{ depth = 2, queues = "one", sensitivity = true } },
    check = function(r)
      for _, stage in ipairs { "prepare", "upload", "compute" } do
        figure(stage, r[stage].sensitivity)
        figure(stage .. "_model", predicted(r, stage))
      end
    end }
end
function parts.one() -- in flight
  case { fixed = { upload = "8 MiB", prepare = "decode", decode_time = "4 ms", flops = flops, download = "1 MiB" },
    budget = "3 s", schedule = { assay.serial(), assay.pipelined{ depth = 1 } },
    check = function(g) figure("period", g:one{ schedule = "pipelined" }.period / g:one{ schedule = "serial" }.time) end }
end
parts[part]()
]]

local two_cores = 1.7 -- what two threads have to gain for the machine to have two processors

return function(bench)
  local times = bench.quick and 1 or 5
  local on_lavapipe = os.getenv("ASSAY_BENCH_LAVAPIPE") or ""
  if on_lavapipe ~= "" then on_lavapipe = ("VK_DRIVER_FILES=%s VK_ICD_FILENAMES=%s "):format(on_lavapipe, on_lavapipe) end
  on_lavapipe = on_lavapipe .. "LP_NUM_THREADS=1 "

  local function run(path, options)
    local text, _, _, status = bench.capture(("%s%s%s run %s --device cpu %s --no-progress -o %s 2>&1"):format(bench.environment,
      on_lavapipe, bench.assay, path, options or "", bench.output_directory()))
    return text, status
  end

  -- The figures of a part of the script, by name.
  local function part(name, options)
    local text, status = run(bench.write("schedules.lua", script), ("--option part=%s %s"):format(name, options or ""))
    local figures = {}
    for what, value in text:gmatch("figure (%S+) (%S+)") do figures[what] = tonumber(value) end
    if status ~= 0 or not next(figures) then bench.fail(("part %s: exit status %s\n%s"):format(name, status, text:sub(-2000))) end
    return figures
  end

  -- Some runs of a part, with what the processors do in each moment: medians by name.
  local function medians(name, options)
    local all, result = {}, {}
    for _ = 1, times do
      local figures = part(name, options and options())
      local cores = bench.numbers(bench.programs .. "bench_cores 5")
      figures.spin, figures.copies, figures.beside = cores[1], cores[2], cores[3]
      for what, value in pairs(figures) do
        all[what] = all[what] or {}
        table.insert(all[what], value)
      end
    end
    for what, values in pairs(all) do result[what] = bench.median(values) end
    return result
  end

  -- Where plain threads do not gain as much at that time, no schedule could: not judged (nil).
  local function verdict(good, beside, least)
    if good or beside >= least then return good end
  end

  local function gain(name, of, goal, beside, what)
    bench.report(name .. ", devices", "x", of.gain, of.bound, of.gain / of.bound, (">= %.1f"):format(goal),
      verdict(of.gain >= goal, beside, goal))
    bench.report(("  %s at that time"):format(what), "x", beside, 2, beside / 2, "shown")
  end

  -- As many flops as take some time, in a run just before.
  local function for_time(seconds)
    return function()
      local link = part("link")
      return ("--option flops=%.0fFLOP"):format(link.rate * (seconds or link.upload))
    end
  end

  -- Upload of what takes as long as compute. Nothing but the processor's own memory is the link here.
  local function balanced()
    local of = medians("balanced", for_time())
    gain("balanced stages, serial time / period", of, 1.6, of.beside, "a copy beside a thread that counts")
    bench.report("  two copies at that time", "x", of.copies, 2, of.copies / 2, "shown")
  end

  local function prepare()
    local of = medians("prepare", for_time(0.016))
    gain("prepare beside compute, serial time / period", of, 1.5, of.spin, "two threads that count")
  end

  -- `spin`: of bench_cores at that time, where two threads are to run beside each other.
  local function close(name, value, limit, within, spin)
    bench.report(name, "", value, limit, value / limit, ("within %g %%"):format(100 * within),
      verdict(math.abs(value / limit - 1) <= within, spin or 2, two_cores))
  end

  -- A stage that decides has the sensitivity that the model says, to 10 %; one that does not, about 0.
  local function sensitivity(where, of, stages)
    for _, stage in ipairs(stages) do
      local value, model = of[stage], of[stage .. "_model"]
      local off = model < 0.05
      bench.report(("sensitivity, %s decides: %s"):format(where, stage), "", value, model, off and value or value / model,
        off and "within 0.1 of 0" or "within 10 %", verdict(math.abs(value - model) <= 0.1, of.spin, two_cores))
    end
  end

  local function host()
    local of = medians("host")
    close("a host stage decides, period / ideal", of.period, 1, 0.1, of.spin)
    bench.report("  two threads that count at that time", "x", of.spin, 2, of.spin / 2, "shown")
    sensitivity("prepare", of, { "prepare", "compute" })
    sensitivity("the queue", medians("queue"), { "upload", "compute", "prepare" })
  end

  local function one() close("one batch in flight, period / serial", medians("one", for_time(0.012)).period, 1, 0.03) end

  local function engine()
    local got = bench.numbers(("%s%sbench_engine %d"):format(on_lavapipe, bench.programs, bench.quick and 30 or 100))
    for i, what in ipairs { "1 in flight", "2 in flight", "2 in flight, devices" } do
      local mine, raw, difference = got[3 * i - 2] / 1e3, got[3 * i - 1] / 1e3, got[3 * i] / 1e3
      bench.report(("a batch of three copies, %s (raw)"):format(what), "us", mine, raw, mine / raw,
        ("< 60 us more; is %.1f"):format(difference), difference < 60)
    end
  end

  -- Each step of scripts/copy_bound.lua: the measured time over the predicted one.
  local function copy_bound()
    local steps, spins = {}, {}
    for i = 1, times do
      local text = run("scripts/copy_bound.lua", "--inconclusive pass --option flops=36MFLOP")
      spins[i] = bench.numbers(bench.programs .. "bench_cores 5")[1]
      local found = 0
      for step, ratio in text:gmatch("measured over predicted, step (%d): ([%d.]+)") do
        steps[step] = steps[step] or {}
        table.insert(steps[step], tonumber(ratio))
        found = found + 1
      end
      if found ~= 3 then bench.fail("copy_bound.lua: " .. text:sub(-2000)) end
    end
    for step = 1, 3 do
      close(("copy_bound.lua, step %d, measured / predicted"):format(step), bench.median(steps[tostring(step)]), 1, 0.1,
        step == 3 and bench.median(spins))
    end
  end

  return { { "overlap, balanced", balanced }, { "overlap, prepare", prepare }, { "host stage and sensitivity", host },
    { "one in flight", one }, { "engine cost", engine }, { "copy_bound.lua", copy_bound } }
end
