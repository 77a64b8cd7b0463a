-- SPDX-License-Identifier: MIT
-- The figures of ci/bench (which builds what this runs). Run from the root of the checkout.

local json, only, quick, sections = false, nil, false, {}
local known_sections = { main = true, gemm = true, schedules = true, pairs = true, honesty = true }
do
  local i = 1
  while arg[i] do
    if arg[i] == "--json" then json = true
    elseif arg[i] == "--quick" then quick = true
    elseif arg[i] == "--only" and arg[i + 1] then
      i = i + 1
      only = arg[i]
    elseif known_sections[arg[i]] then sections[arg[i]] = true
    else
      io.stderr:write("ci/bench: unknown argument '", arg[i], "'; see ci/bench --help\n")
      os.exit(2)
    end
    i = i + 1
  end
  if not next(sections) then sections.main = true end
end

local shell = dofile("tests/bench/shell.lua")(os.getenv("ASSAY_BENCH_DEVICE"))
local programs, assay, environment, scratch = shell.programs, shell.assay, shell.environment, shell.scratch
local capture, fail, median, numbers, write = shell.capture, shell.fail, shell.median, shell.numbers, shell.write
local output_directory, device_option = shell.output_directory, shell.device_option

-- Runs a command: {status, wall_s, cpu_s, own_kb, children_kb}. `expect`: the exit status that is right.
local function rusage(command, options, expect)
  local got = numbers(("%srusage -o %s/output %s %s"):format(programs, scratch, options or "", command))
  if got[1] ~= (expect or 0) then
    local file = io.open(scratch .. "/output")
    fail(("exit status %d: %s\n%s"):format(got[1], command, file and file:read("a"):sub(-2000) or ""))
  end
  return { wall = got[2] / 1e9, cpu = got[3] / 1e9, own_kb = got[4], children_kb = got[5] }
end

local results = dofile("tests/bench/figures.lua")(json)
local report = results.report

local figures = {}
local function figure(name, measure, section)
  figures[#figures + 1] = { name = name, measure = measure, section = section or "main" }
end

-- Copy by command against one thread's memcpy: medians of 20 processes.
for _, mib in ipairs { 64, 256 } do
  local name = ("copy by command, %d MiB"):format(mib)
  figure(name, function()
    local device_ns, host_ns, ratios = {}, {}, {}
    for i = 1, quick and 5 or 20 do
      local got = numbers(("%sbench_copy %d %d"):format(programs, mib << 20, mib > 64 and 5 or 9))
      device_ns[i], host_ns[i], ratios[i] = got[1], got[2], got[3]
    end
    local bytes, ratio = mib << 20, median(ratios)
    report(name, "GB/s", bytes / median(device_ns), bytes / median(host_ns), ratio, ">= 0.9, better 0.95", ratio >= 0.9)
  end)
end

-- The peaks of a run of scripts/peaks.lua, the best of some runs: by name, and how long a run took.
local function peaks_run(best)
  local directory = output_directory()
  local wall = rusage(("%s run scripts/peaks.lua%s -o %s"):format(assay, device_option, directory)).wall
  for line in io.lines(directory .. "/journal.jsonl") do
    if line:find('^{"kind":"peaks"') then
      for name, text in line:gmatch('"name":"([%w.]+)"[^{}]-"value":([%d.eE+-]+)') do
        -- Of copies the last one counts, that of the largest working set.
        local kind = name:match("^%a+%d+") or name
        local value = tonumber(text)
        best[kind] = name == "copy.device" and value or math.max(best[kind] or 0, value)
      end
    end
  end
  return wall
end

-- Each in turn with the limit: the machine may change.
figure("peaks", function()
  local walls, fp32, fp64, copy, limit32, limit64, memcpy = {}, 0, 0, 0, 0, 0, 0
  for i = 1, quick and 2 or 5 do
    local best = {}
    walls[i] = peaks_run(best)
    local processor = numbers(programs .. "bench_peak " .. (quick and 10 or 30))
    local host = numbers(("%sbench_copy %d 9"):format(programs, 64 << 20))
    fp32, fp64 = math.max(fp32, best.fp32), math.max(fp64, best.fp64)
    copy = math.max(copy, best["copy.device"])
    limit32, limit64 = math.max(limit32, processor[1]), math.max(limit64, processor[2])
    memcpy = math.max(memcpy, (64 << 20) / host[2] * 1e9)
  end
  report("peaks, fp32 against the processor's own", "GFLOP/s", fp32 / 1e9, limit32 / 1e9, fp32 / limit32, ">= 0.85",
    fp32 >= 0.85 * limit32)
  report("peaks, fp64 against the processor's own", "GFLOP/s", fp64 / 1e9, limit64 / 1e9, fp64 / limit64, ">= 0.85",
    fp64 >= 0.85 * limit64)
  report("peaks, copy of 64 MiB against memcpy", "GB/s", copy / 1e9, memcpy / 1e9, copy / memcpy, ">= 0.95",
    copy >= 0.95 * memcpy)
  report("peaks, all of them", "s", median(walls), 15, median(walls) / 15, "< 15 s", median(walls) < 15)
end)

-- Cases of `null`.
local function null_script(cases)
  return write("null" .. cases .. ".lua", ([[
local assay = require "assay"
local replicas = {}
for i = 1, %d do replicas[i] = assay.ns(1000 + i) end
assay.experiment {
  name = "null", workload = "null", vary = { compute = replicas },
  check = function(r, expect) expect(r.compute.time):at_least("1 us") end,
}
]]):format(cases))
end

local function null_run(cases, options)
  return rusage(("%s run %s -o %s"):format(assay, null_script(cases), output_directory()), "-c 0 " .. (options or ""))
end

figure("10,000 null cases, wall time", function()
  local walls = {}
  for i = 1, quick and 1 or 3 do walls[i] = null_run(10000).wall end
  local wall = median(walls)
  report("10,000 null cases, wall time", "s", wall, 3, wall / 3, "<= 3 s on one core", wall <= 3)
end)

figure("10,000 null cases, memory growth", function()
  local small, large = null_run(100, "-m"), null_run(10000, "-m")
  for _, who in ipairs { { "supervisor", "own_kb" }, { "worker", "children_kb" } } do
    local growth = (large[who[2]] - small[who[2]]) * 1024 / 1e6
    report("10,000 null cases, memory growth, " .. who[1], "MB", growth, 30, growth / 30, "< 30 MB over 100 cases", growth < 30)
  end
end)

figure("null cases to 100,000, marginal cost", function()
  -- CPU time of all processes: less of the machine's other work in it than in wall time.
  local near, far = {}, {}
  for i = 1, quick and 1 or 9 do near[i] = (null_run(2000).cpu - null_run(1000).cpu) / 1000 * 1e6 end
  for i = 1, quick and 1 or 3 do far[i] = (null_run(100000).cpu - null_run(90000).cpu) / 10000 * 1e6 end
  local value, limit = median(far), median(near)
  report("null cases to 100,000, marginal cost", "us", value, limit, value / limit, "<= 1.3 x that at 1,000",
    value <= 1.3 * limit)
end)

figure("100,000 null cases judged again", function()
  local directory, walls, most = output_directory(), {}, 0
  local script = null_script(100000)
  rusage(("%s run %s -o %s"):format(assay, script, directory))
  for i = 1, quick and 1 or 3 do
    local got = rusage(("%s check %s %s"):format(assay, directory, script), "-m")
    walls[i], most = got.wall, math.max(most, got.own_kb * 1024 / 1e6)
  end
  local wall = median(walls)
  report("100,000 null cases judged again, wall time", "s", wall, 2, wall / 2, "< 2 s", wall < 2)
  report("100,000 null cases judged again, memory", "MB", most, 300, most / 300, "< 300 MB", most < 300)
end)

figure("overhead of a sample", function()
  local assay_ns, raw_ns, difference = {}, {}, {}
  for i = 1, quick and 3 or 9 do
    local got = numbers(programs .. "bench_overhead " .. (quick and 50 or 200))
    assay_ns[i], raw_ns[i], difference[i] = got[1] / 1000, got[2] / 1000, got[3] / 1000
  end
  local added = median(difference)
  report("overhead of a sample (value, raw loop)", "us", median(assay_ns), median(raw_ns), median(assay_ns) / median(raw_ns),
    ("< 2 us added; is %.2f"):format(added), added < 2)
end)

-- Against vulkaninfo --summary, in turn.
local function against_vulkaninfo(name, command, most, times)
  local mine, other, ratios = {}, {}, {}
  for i = 0, times do
    local b = rusage("vulkaninfo --summary").wall
    local a = rusage(command()).wall
    if i > 0 then mine[i], other[i], ratios[i] = a * 1000, b * 1000, a / b end -- the first is a warm-up
  end
  local ratio = median(ratios)
  report(name, "ms", median(mine), median(other), ratio, ("<= %.1f x vulkaninfo"):format(most), ratio <= most)
end

figure("assay devices", function()
  against_vulkaninfo("assay devices", function() return assay .. " devices" end, 1.1, quick and 11 or 41)
end)

figure("a script with one small copy", function()
  local script = write("small.lua", [[
local assay = require "assay"
assay.experiment { name = "small copy", workload = "copy", fixed = { bytes = "64 KiB" },
  check = function(r, expect) expect(r.copy.rate):at_least("1 MB/s") end }
]])
  against_vulkaninfo("a script with one small copy, --quick", function()
    return ("%s run %s --quick%s -o %s"):format(assay, script, device_option, output_directory())
  end, 2.0, quick and 11 or 41)
end)

-- The median of the ratios turn by turn, of short batches and of longer ones; of three pairs, the middle one.
figure("saxpy in Lua against C", function()
  rusage(("%s run tests/bench/saxpy.lua --inconclusive pass --plugin %ssaxpy.so%s%s -o %s"):format(assay, programs, device_option,
    quick and " --option budget=1s" or "", output_directory()))
  local ratios = { ["1024"] = {}, ["262144"] = {} }
  for line in io.lines(scratch .. "/output") do
    local n, ratio = line:match("^ratio (%d+) ([%d.]+)")
    if n then table.insert(ratios[n], tonumber(ratio)) end
  end
  for _, size in ipairs { { "1024", "1 Ki" }, { "262144", "256 Ki" } } do
    local all = ratios[size[1]]
    if #all < 3 then fail("saxpy.lua printed no ratios") end
    local last = table.move(all, #all - 2, #all, 1, {}) -- the last judgement's
    table.sort(last)
    local ratio = last[2]
    local name = ("saxpy in Lua against C, %s elements"):format(size[2])
    report(name, "", ratio, 1, ratio, "within 1 +- 3 %", math.abs(ratio - 1) <= 0.03)
  end
end)

figure("shaders compiled by a second run", function()
  local script = write("shader.lua", [[
local assay = require "assay"
assay.experiment { name = "shader copy", workload = "copy",
  fixed = { bytes = "64 KiB", method = "shader", direction = "device" } }
]])
  local function compiled()
    local directory = output_directory()
    rusage(("%s run %s --quick%s -o %s"):format(assay, script, device_option, directory))
    local fresh, all = 0, 0
    for line in io.lines(directory .. "/journal.jsonl") do
      if line:find('"kind":"case"', 1, true) then
        for cached in line:gmatch('"cached":(%a+)') do
          all = all + 1
          if cached == "false" then fresh = fresh + 1 end
        end
      end
    end
    if all == 0 then fail("the journal tells of no shader") end
    return fresh
  end
  os.execute("rm -rf " .. scratch .. "/cache")
  local first, second = compiled(), compiled()
  report("shaders compiled by a second run (first run)", "", second, first, second / math.max(first, 1), "0, and some at first",
    second == 0 and first > 0)
end)

shell.quick, shell.report, shell.skip = quick, report, results.skip
shell.runs = dofile("tests/bench/runs.lua")(shell)

figure("pairs", function() dofile("tests/bench/pairs.lua")(shell) end, "pairs")
for _, entry in ipairs(dofile("tests/bench/gemm.lua")(shell)) do figure(entry[1], entry[2], "gemm") end
for _, entry in ipairs(dofile("tests/bench/schedules.lua")(shell)) do figure(entry[1], entry[2], "schedules") end

-- The answers of the whole tool on the times of busy machines, each goal a row a kind of noise.
figure("honesty", function()
  local text = capture(("%slua5.4 tests/honesty/run.lua %s build/tests/honesty/recordings %d"):format(environment, assay,
    quick and 100 or 1000))
  local rows = 0
  for kind, what, share, side, goal in text:gmatch("([^\n%s]+) +([^\n]-) +([%d.]+) %% +at (%a+) ([%d.]+) %%") do
    share, goal, rows = tonumber(share), tonumber(goal), rows + 1
    local holds = side == "most" and share <= goal or side == "least" and share >= goal
    report(kind .. " " .. what, "%", share, goal, share / goal, ("at %s %g %%"):format(side, goal), holds)
  end
  if rows == 0 then fail("no answers: " .. text) end
end, "honesty")

results.head()
local any = false
local fine, why = pcall(function()
  for _, entry in ipairs(figures) do
    if sections[entry.section] and (not only or entry.name:find(only, 1, true)) then
      any = true
      entry.measure()
    end
  end
end)
shell.close()
if not fine then
  io.stderr:write("ci/bench: ", tostring(why), "\n")
  os.exit(2)
end
if not json and sections.main then
  print("not measured: ci/bench gemm (some 6 minutes), ci/bench schedules (8 minutes), ci/bench pairs (12 minutes), "
    .. "ci/bench honesty (2 minutes)")
end
if not any then
  io.stderr:write("ci/bench: no figure has '", only, "' in its name\n")
  os.exit(2)
end
os.exit(results.missed == 0)
