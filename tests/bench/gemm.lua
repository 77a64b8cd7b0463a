-- SPDX-License-Identifier: MIT
-- The section `gemm` of ci/bench: `gemm` on lavapipe against OpenBLAS, by the best of short turns of each, one after the
-- other, and against ggml's Vulkan backend, on two threads each; the first dispatch by a cold and a warm cache; how long
-- SwiftShader takes to build the kernels.
-- Gets what bench.lua shares; returns the measurements by name, in order: { name, function }.

local sizes = { 512, 1024, 2048 }
local threads = 2
-- Against which of OpenBLAS, and how much of it.
local rows = {
  { precision = "fp32", against = "fp32", goal = 0.33 },
  { precision = "fp32", against = "fp32", goal = 0.45, wide = true },
  { precision = "fp64", against = "fp64", goal = 0.28 },
  { precision = "fp16", against = "fp32", goal = 0.22 },
  { precision = "int8", against = "fp32", goal = 0.22 },
}
local verification_goal = 0.1 -- of the measured time, from this size on
local verification_from = 1024
local ggml_goal = 15
local ggml_package = "@node-llama-cpp/linux-x64-vulkan@3.22.1"
local cold_goal = 0.1
local build_goal_s = 5

return function(bench)
  local runs = bench.runs
  local variant = os.getenv("ASSAY_BENCH_VARIANT") or "auto"
  local on_lavapipe = os.getenv("ASSAY_BENCH_LAVAPIPE") or ""
  if on_lavapipe ~= "" then on_lavapipe = ("VK_DRIVER_FILES=%s VK_ICD_FILENAMES=%s "):format(on_lavapipe, on_lavapipe) end
  on_lavapipe = ("%sLP_NUM_THREADS=%d"):format(on_lavapipe, threads)
  -- A cache of its own: kernels of another vector width.
  local wide_environment = ("%s LP_NATIVE_VECTOR_WIDTH=512 MESA_SHADER_CACHE_DIR=%s/mesa512"):format(on_lavapipe, bench.scratch)
  local cpu = io.open("/proc/cpuinfo")
  local has_wide = cpu and cpu:read("a"):find("avx512f", 1, true) ~= nil
  if cpu then cpu:close() end

  -- What a tuner chose, else what was asked for.
  local function chosen(case) return case.record:match('"tuning":{.-"choice":"([^"]*)"') or variant end

  local function gemm(row, n)
    return runs.case("gemm", { size = n, precision = row.precision, variant = variant }, { stage = "compute", device = "cpu",
      budget = bench.quick and "150 ms" or "300 ms", environment = row.wide and wide_environment or on_lavapipe })
  end

  local function name_of(row, n)
    return ("gemm %s%s, n = %d, of OpenBLAS' %s"):format(row.precision, row.wide and " at 512 bit" or "", n,
      row.against == "fp64" and "dgemm" or "sgemm")
  end

  -- Of both sides alike: the best of the turns, each of which gives the median of its own. What else the machine or its host
  -- does makes a turn slower, and lasts longer than one; only what a turn can reach says what the program can.
  local function turns_of(n) return (n <= 512 and 4 or n <= 1024 and 3 or 2) * (bench.quick and 1 or 2) end

  -- What checking C took, of the time that the samples took: the most of all cases.
  local verified = { share = 0 }
  local function look_at_verification(row, n, case)
    local ns = tonumber(case.record:match('"verification":{.-"time_ns":(%d+)'))
    local samples = tonumber(case.record:match('"sampling":{.-"n":(%d+)'))
    local measured_s = samples * case.time_s
    if n >= verification_from and ns / 1e9 / measured_s > verified.share then
      verified = { share = ns / 1e9 / measured_s, ns = ns, measured_s = measured_s,
        what = ("%s, n = %d"):format(row.precision, n) }
    end
  end

  -- One turn: each row with OpenBLAS right before it; a row that cannot be had is left out from then on.
  local function turn(n, state)
    for i, row in ipairs(rows) do
      local of = state[i]
      local why = row.wide and not has_wide and "the processor has no vectors of 512 bits"
      local blas, case
      if not of.skipped and not why then
        blas, why = runs.vendor("openblas", row.against, n,
          { milliseconds = bench.quick and 150 or 300, environment = "OPENBLAS_NUM_THREADS=" .. threads })
      end
      if blas then case, why = gemm(row, n) end
      if case then
        of.rate, of.limit = math.max(of.rate, 2 * n ^ 3 / case.time_s), math.max(of.limit, blas.rate)
        of.choice = chosen(case)
        look_at_verification(row, n, case)
      elseif not of.skipped then
        of.skipped = why
        bench.skip(name_of(row, n), why)
      end
    end
  end

  local function against_openblas(n)
    local state, best = {}, nil
    for i in ipairs(rows) do state[i] = { rate = 0, limit = 0 } end
    for _ = 1, turns_of(n) do turn(n, state) end
    for i, row in ipairs(rows) do
      local of = state[i]
      if not of.skipped then
        local ratio = of.rate / of.limit
        if not row.wide and row.precision == "fp32" then best = of.rate end
        bench.report(name_of(row, n), "GFLOP/s", of.rate / 1e9, of.limit / 1e9, ratio,
          (">= %g, best of %d turns each; %s"):format(row.goal, turns_of(n), of.choice), ratio >= row.goal)
      end
    end
    return best
  end

  -- The directory of ggml's libraries, fetched once into build/ggml; or nil and why not.
  local function ggml_directory()
    local directory = "build/ggml/package/bins/linux-x64-vulkan"
    local file = io.open(directory .. "/libggml-vulkan.so")
    if file then
      file:close()
      return directory
    end
    if bench.capture("uname -sm") ~= "Linux x86_64\n" then return nil, "the package is of x86-64 Linux" end
    if not os.execute("command -v npm >/dev/null") then return nil, "npm, which would fetch it, is not installed" end
    local text, fine = bench.capture(([[
mkdir -p build/ggml && cd build/ggml && rm -f *.tgz && npm pack --silent %s 2>&1 >/dev/null && tar xzf *.tgz 2>&1 &&
rm -f *.tgz]]):format(ggml_package))
    if not fine then return nil, ggml_package .. " cannot be fetched: " .. text:sub(-200) end
    return directory
  end

  local function against_ggml(n, rate)
    local name = ("gemm fp32, n = %d, of ggml's Vulkan"):format(n)
    local directory, why = ggml_directory()
    if not directory then return bench.skip(name, why) end
    local got
    got, why = runs.vendor("ggml", "fp32", n, { milliseconds = 1000,
      environment = ("%s GGML_VK_VISIBLE_DEVICES=0 ASSAY_BENCH_GGML=%s"):format(on_lavapipe, directory) })
    if not got then return bench.skip(name, why) end
    bench.report(name, "GFLOP/s", rate / 1e9, got.rate / 1e9, rate / got.rate, (">= %d x"):format(ggml_goal),
      rate >= ggml_goal * got.rate)
  end

  -- Kernels from their source to a pipeline, and the first batch, in which lavapipe compiles.
  local function started_s(case)
    local ns = tonumber(case.record:match('"first_ns":(%d+)'))
    for build in case.record:gmatch('"build_ns":(%d+)') do ns = ns + tonumber(build) end
    return ns / 1e9
  end

  -- The names of the tile shapes that the variant has, as the tuner tried them; {} when it did not.
  local function candidates(case)
    local names = {}
    local list = case and case.record:match('"tuning":{.-"candidates":(%b[])')
    for entry in (list or ""):gmatch("%b{}") do
      if not entry:find('"verdict":"unsupported"', 1, true) then names[#names + 1] = entry:match('"name":"([^"]*)"') end
    end
    return names
  end

  local function split(candidate) -- "subgroup 32x64"
    return candidate:match("^(%S+) (%S+)$")
  end

  local function first_dispatch(choice)
    local kind, tile = split(choice)
    local fixed = { size = 128, precision = "fp32", resident = true, variant = kind or choice, tile = tile }
    local function once(turn_number)
      local directory = ("%s/first%d"):format(bench.scratch, turn_number)
      local environment = ("%s XDG_CACHE_HOME=%s MESA_SHADER_CACHE_DIR=%s/mesa"):format(on_lavapipe, directory, directory)
      os.execute(("mkdir -p %s/mesa"):format(directory))
      local case, why = runs.case("gemm", fixed,
        { stage = "compute", budget = "10 ms", device = "cpu", environment = environment })
      if not case then error("gemm " .. choice .. ": " .. why, 0) end
      return started_s(case)
    end
    local cold, warm, ratios = {}, {}, {}
    for i = 1, bench.quick and 3 or 9 do
      cold[i] = once(i)
      warm[i] = once(i)
      ratios[i] = warm[i] / cold[i]
    end
    local ratio = bench.median(ratios)
    bench.report("gemm, first dispatch, warm against cold cache", "ms", bench.median(warm) * 1e3, bench.median(cold) * 1e3, ratio,
      ("< %g; %s"):format(cold_goal, choice), ratio < cold_goal)
  end

  local function on_swiftshader()
    local name = "gemm, slowest kernel built by SwiftShader"
    local words, fine = bench.capture("ci/software-drivers build-matrix/drivers swiftshader 2>&1")
    local driver = words:match("driver='([^']*)'")
    if not fine or not driver then return bench.skip(name, "it cannot be fetched: " .. words:sub(-200)) end
    local environment = ("VK_DRIVER_FILES=%s VK_ICD_FILENAMES=%s"):format(driver, driver)
    local options = { stage = "compute", budget = "10 ms", device = "cpu", environment = environment }
    local tuned, why = runs.case("gemm", { size = 128, variant = variant }, options)
    if not tuned then return bench.skip(name, why) end
    local names = candidates(tuned)
    if #names == 0 then names = { chosen(tuned) } end
    local slowest, which = 0, names[1]
    for _, candidate in ipairs(names) do
      local kind, tile = split(candidate)
      local case = runs.case("gemm", { size = 128, variant = kind or candidate, tile = tile }, options)
      if case and started_s(case) > slowest then slowest, which = started_s(case), candidate end
    end
    bench.report(("%s (%d)"):format(name, #names), "s", slowest, build_goal_s, slowest / build_goal_s,
      ("< %d s; %s"):format(build_goal_s, which), slowest < build_goal_s)
  end

  local list = {}
  for _, n in ipairs(sizes) do
    list[#list + 1] = { ("gemm, n = %d"):format(n), function()
      local rate = against_openblas(n)
      if rate then against_ggml(n, rate) end
    end }
  end
  list[#list + 1] = { "gemm, verification", function()
    if not verified.what then return bench.skip("gemm, verification", "no size was measured from " .. verification_from) end
    bench.report("gemm, verification of the time measured", "ms", verified.ns / 1e6, verified.measured_s * 1e3, verified.share,
      ("< %g; the most: %s"):format(verification_goal, verified.what), verified.share < verification_goal)
  end }
  list[#list + 1] = { "gemm, first dispatch", function()
    local case, why = gemm(rows[1], sizes[1])
    if not case then return bench.skip("gemm, first dispatch", why) end
    first_dispatch(chosen(case))
  end }
  list[#list + 1] = { "gemm, SwiftShader", on_swiftshader }
  return list
end
