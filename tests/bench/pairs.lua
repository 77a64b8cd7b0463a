-- SPDX-License-Identifier: MIT
-- The section `pairs` of ci/bench: what can be told apart on the device while all cores are loaded by other processes.
-- Gets what bench.lua shares; returns the measurement.

-- A copy into the device's memory that is long for its clock and short for the scheduler's slices.
local case = 'direction = "upload", method = "map"'
local bytes = 1 << 20
local command_bytes = 64 << 10 -- the same for a copy by command, which waits for the driver's threads beside
local budget_ms = 600 -- of each case
local most_s = 3 -- of a run

return function(bench)
  local function pair_script(name, fixed)
    return bench.write(name .. ".lua", ([[
local assay = require "assay"
assay.experiment { name = "%s", workload = "copy", fixed = { %s }, replica = 2, pair = "replica", budget = "%d ms",
  check = function(g, expect)
    expect(g:one{ replica = 0 }.copy.time / g:one{ replica = 1 }.copy.time):between(0.95, 1.05)
  end }
]]):format(name, fixed, budget_ms))
  end
  local alone = bench.write("alone.lua", ([[
local assay = require "assay"
assay.experiment { name = "alone", workload = "copy", fixed = { %s, bytes = %d }, budget = "%d ms" }
]]):format(case, bytes, budget_ms))

  local function run(path, seed)
    local directory = bench.output_directory()
    local got = bench.numbers(("%srusage %s run %s --seed %d%s --no-progress -o %s"):format(bench.programs, bench.assay, path,
      seed, bench.device_option, directory))
    return math.tointeger(got[1]), got[2] / 1e9, directory
  end

  -- The paired figure and the unpaired one of `assay noise`: medians of some.
  local function noise(options, times)
    local paired, unpaired = {}, {}
    for i = 1, times do
      local text = bench.capture(("%s%s noise --json --forget --seed %d%s %s"):format(bench.environment, bench.assay, i,
        bench.device_option, options))
      paired[i] = tonumber(text:match('"paired":{"smallest":([%d.e+-]+)')) or math.huge
      unpaired[i] = assert(tonumber(text:match('"unpaired":{"smallest":([%d.e+-]+)')), text)
    end
    return bench.median(paired), bench.median(unpaired)
  end

  local function loaded(measure)
    local pids = {}
    for _ = 1, tonumber((bench.capture("nproc"))) do
      -- Ends by itself where this does not come to end it.
      pids[#pids + 1] = bench.capture("timeout 1800 sh -c 'while :; do :; done' >/dev/null 2>&1 & echo $!"):match("%d+")
    end
    local fine, why = pcall(measure)
    os.execute("kill " .. table.concat(pids, " "))
    if not fine then error(why, 0) end
  end

  local function paired(script, what)
    local n, passed, undecided, slowest = bench.quick and 10 or 100, 0, 0, 0
    for i = 1, n do
      local status, wall = run(script, i)
      passed = passed + ((status == 0 and wall <= most_s) and 1 or 0)
      undecided = undecided + (status == 3 and 1 or 0)
      slowest = math.max(slowest, wall)
    end
    bench.report("copy/copy in [0.95, 1.05], " .. what, "runs", passed, n, passed / n,
      (">= 98 %%; %d open, <= %.1f s"):format(undecided, slowest), passed >= 0.98 * n)
  end

  -- For contrast, no goal: two whole runs, one after the other, by the same margin.
  local function unpaired()
    local n, same, wrong = bench.quick and 5 or 20, 0, 0
    for i = 1, n do
      local _, _, a = run(alone, i)
      bench.keep()
      local _, _, b = run(alone, i)
      local text = bench.capture(("%s%s compare %s %s --margin 5%% --json"):format(bench.environment, bench.assay, a, b))
      local answer = text:match('"answer":%s*"(%a+)"')
      same = same + (answer == "same" and 1 or 0)
      wrong = wrong + ((answer == "slower" or answer == "faster") and 1 or 0)
    end
    bench.report("the same, unpaired: two runs compared", "runs", same, n, same / n,
      ("shown; %d wrong, %d open"):format(wrong, n - same - wrong), true)
  end

  -- The case of `paired` against one that moves more bytes, by 1.5 times what `assay noise` says now.
  local function planted()
    local n, found = bench.quick and 10 or 40, 0
    local options = "--set direction=upload --set method=map --set bytes=%dB --budget %dms"
    local figure = noise(options:format(bytes, 4 * budget_ms), 1)
    local more = math.floor(bytes * (1 + 1.5 * figure) / 64) * 64
    local slower = bench.write("slower.lua", ([[
local assay = require "assay"
assay.experiment { name = "planted", workload = "copy", fixed = { %s }, vary = { bytes = { %d, %d } }, pair = "bytes",
  budget = "%d ms",
  check = function(g, expect)
    expect(g:one{ bytes = %d }.copy.time / g:one{ bytes = %d }.copy.time):at_most(1.01)
  end }
]]):format(case, bytes, more, budget_ms, more, bytes))
    for i = 1, n do found = found + (run(slower, i) == 1 and 1 or 0) end
    bench.report(("a planted slow-down of %.2g %%, loaded"):format(150 * figure), "runs", found, n, found / n, ">= 95 % found",
      found >= 0.95 * n)
  end

  local times = bench.quick and 1 or 3
  local idle, idle_unpaired = noise("--budget 3s", times)
  loaded(function()
    local busy, busy_unpaired = noise("--budget 3s", times)
    bench.report("assay noise, paired, loaded (limit: idle)", "%", 100 * busy, 100 * idle, busy / idle, "rises", busy > idle)
    bench.report("assay noise, unpaired, loaded (limit: idle)", "%", 100 * busy_unpaired, 100 * idle_unpaired,
      busy_unpaired / idle_unpaired, "shown", true)
    paired(pair_script("mapped", ("%s, bytes = %d"):format(case, bytes)), "loaded")
    paired(pair_script("commanded", "bytes = " .. command_bytes), "by command")
    planted()
    unpaired()
  end)
end
