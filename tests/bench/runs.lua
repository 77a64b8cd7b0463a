-- SPDX-License-Identifier: MIT
-- Single cases of the program, and the same work done by other libraries, for figures that compare the two.
-- `shell`: of shell.lua.

return function(shell)
  local runs = {}

  local function literal(value)
    return type(value) == "string" and ("%q"):format(value) or tostring(value)
  end

  local function unescape(text) return (text:gsub('\\(["\\/])', "%1")) end

  -- One case of a workload: {time_s, rate (bytes/s of the stage, or nil), record (its line in the journal)},
  -- or nil and why it was skipped. options: stage, budget, device (a selector), environment (further variables), around (makes
  -- another command of the command).
  function runs.case(workload, fixed, options)
    local fields = {}
    for name, value in pairs(fixed) do fields[#fields + 1] = ("%s = %s"):format(name, literal(value)) end
    table.sort(fields)
    local script = shell.write("case.lua", ([[
local assay = require "assay"
assay.experiment { name = "case", workload = "%s", fixed = { %s }, budget = "%s", deadline = "120 s",
  check = function(r)
    print(("time %%.9g"):format(r.%s.time.value))
    if not r.%s.rate.absent then print(("rate %%.9g"):format(r.%s.rate.value)) end
  end }
]]):format(workload, table.concat(fields, ", "), options.budget or "1 s", options.stage, options.stage, options.stage))
    local directory = shell.output_directory()
    local command = ("%s%s%s run %s%s --no-progress -o %s 2>&1"):format(shell.environment,
      options.environment and options.environment .. " " or "", shell.assay, script,
      options.device and (" --device '" .. options.device .. "'") or shell.device_option, directory)
    local text, _, _, status = shell.capture(options.around and options.around(command) or command)
    local file = io.open(directory .. "/journal.jsonl")
    local record = file and (file:read("a"):match('{"kind":"case"[^\n]*'))
    if file then file:close() end
    local time = tonumber(text:match("\ntime ([%d.e+-]+)") or text:match("^time ([%d.e+-]+)"))
    if time and record then
      return { time_s = time, rate = tonumber(text:match("\nrate ([%d.e+-]+)")), record = record }
    end
    local reason = record and record:match('"status":"skipped","reason":"(.-[^\\])"')
    if reason then return nil, unescape(reason) end
    error(("%s %s: exit status %s\n%s"):format(workload, table.concat(fields, " "), status, text:sub(-2000)), 0)
  end

  -- {rate, best, text}, or nil and why there is none. options: milliseconds, pci, environment.
  function runs.vendor(library, work, n, options)
    local command = ("%senv -u OPENBLAS_CORETYPE -u OPENBLAS_L2_SIZE %s %sbench_vendor %s %s %d %d %s 2>/dev/null"):format(
      shell.environment, options.environment or "", shell.programs, library, work, n, options.milliseconds or 300,
      options.pci or "")
    local text, _, _, status = shell.capture(command)
    local rate, best, what = text:match("^([%d.e+-]+) ([%d.e+-]+) ([^\n]*)")
    if rate then return { rate = tonumber(rate), best = tonumber(best), text = what } end
    if status == 77 then return nil, (text:gsub("\n", "")) end
    error(("bench_vendor %s %s %d: exit status %s: %s"):format(library, work, n, status, text), 0)
  end

  return runs
end
