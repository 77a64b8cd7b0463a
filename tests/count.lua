-- SPDX-License-Identifier: MIT
-- lua5.4 count.lua TESTLOG.json COUNTS: counts the single tests of what `meson test` ran (cmocka prints one line a test)
-- and appends "passed failed skipped", a line for each executable. Prints what failed or was skipped.
local log, counts = arg[1], arg[2]

-- Names behind a marker of cmocka's, each once; its summary repeats them, with lines "... test(s)" between.
local function names(text, marker)
  local found, count = {}, 0
  for name in text:gmatch("%[" .. marker .. "%] ([^\n]+)") do
    if not name:find("test%(s%)") and not found[name] then
      found[name] = true
      count = count + 1
    end
  end
  return found, count
end

local input, why = io.open(log)
if not input then
  io.stderr:write("count.lua: no results of meson test: ", why, "\n")
  os.exit(2)
end
local output = assert(io.open(counts, "a"))
for line in input:lines() do
  local name = line:match('"name": "([^"]*)"') or "?"
  local result = line:match('"result": "([^"]*)"') or "?"
  local text = line:gsub("\\n", "\n"):gsub("\\t", "\t"):gsub('\\"', '"')
  local _, started = names(text, " RUN      ")
  local _, passed = names(text, "       OK ")
  local skipped_names, skipped = names(text, "  SKIPPED ")
  local failed = started - passed - skipped
  if started == 0 then
    passed, skipped, failed = 0, 0, 0
    if result == "OK" then passed = 1 elseif result == "SKIP" then skipped = 1 else failed = 1 end
  elseif result ~= "OK" and result ~= "SKIP" and failed == 0 then
    failed = 1 -- it ended badly outside of its tests
  end
  if failed > 0 then print(("FAIL %s: %d of %d (%s)"):format(name, failed, started, result)) end
  for skip in pairs(skipped_names) do print(("skip %s: %s"):format(name, skip)) end
  if started == 0 and skipped > 0 then print(("skip %s"):format(name)) end
  output:write(("%d %d %d\n"):format(passed, failed, skipped))
end
output:close()
