--- The tables of bench/mpi.md, from the lines that bench/mpi/work.lua printed: `lua5.4 bench/mpi/report.lua FILE`
--
-- The model of costs that is fitted to them, with R ranks, n numbers in a message and N rows:
--
--   step = overhead + (N/R) row + message(R, n)
--   message(R, n) = ceil(log2 R) latency + (R - 1) n number
local lines = {}
for line in io.lines(arg[1]) do
  local fields = {}
  for field in line:gmatch "[^\t]+" do fields[#fields + 1] = tonumber(field) or field end
  lines[#lines + 1] = fields
end

local COLUMNS, DRAWS = 20, 8
local NUMBERS = DRAWS * (COLUMNS + 1)          -- in the message of a step

local function output (command)
  local pipe = io.popen(command .. " 2>/dev/null")
  local text = pipe:read "a"
  pipe:close()
  return (text:gsub("%s+$", ""))
end

local function digits (x) return x and string.format("%.3g", x):gsub("e%+0?", "e") or "–" end
local function row (...)
  local cells = { ... }
  for i, cell in ipairs(cells) do cells[i] = type(cell) == "number" and digits(cell) or cell end
  print("| " .. table.concat(cells, " | ") .. " |")
end
local function head (...)
  row(...)
  row(table.unpack({ "---", "---", "---", "---", "---", "---", "---", "---", "---" }, 1, select("#", ...)))
end

-- The lines that begin with these fields.
local function select_lines (...)
  local found = {}
  for _, fields in ipairs(lines) do
    local fits = true
    for i, field in ipairs { ... } do fits = fits and fields[i] == field end
    if fits then found[#found + 1] = fields end
  end
  return found
end

local ranks = 1
for _, fields in ipairs(select_lines "sum") do ranks = fields[2] end

local function steps (name)
  local one, many
  for _, fields in ipairs(select_lines("step", name)) do
    if fields[3] == 1 then one = fields else many = fields end
  end
  return one, many
end


-- Tables ------------------------------------------------------------------------------------------

local function scaling ()
  print "\n## Scaling\n"
  print [[
A step of `vi` (mean field, 8 draws) on a logistic regression of 20 columns; four chains of `nuts` with the same on 10⁴
rows. Strong: the same rows on more ranks, the gain is the ratio of times. Weak: as many rows on each rank, the gain is
the ratio times the ranks. Rows that no cache holds (67 MB) wait for memory, which the cores of a machine share.
]]
  head("", "one rank", ranks .. " ranks", "gain", "demand")
  for _, kind in ipairs { { "strong", "strong, 4·10⁴ rows in all", 1 }, { "weak", "weak, 2·10⁴ rows a rank", ranks },
                          { "large", "strong, 4·10⁵ rows in all", 1 },
                          { "small batches", "weak, batches of 1000 rows a rank", ranks } } do
    local one, many = steps(kind[1])
    local gain = one[7] / many[7] * kind[3]
    row(kind[2], digits(one[7]) .. " µs", digits(many[7]) .. " µs", string.format("%.2f", gain),
        (kind[1] == "small batches" or kind[1] == "large") and "–" or "≥ 1.7: " .. (gain >= 1.7 and "yes" or "NO"))
  end
  local one, many = select_lines("chains", 1)[1][3], select_lines("chains", ranks)[1][3]
  row("nuts, 4 chains", digits(one) .. " s", digits(many) .. " s", string.format("%.2f", one / many),
      "≥ 1.7: " .. (one / many >= 1.7 and "yes" or "NO"))
end

local function messages ()
  print "\n## What a step sends\n"
  print("On " .. ranks .. " ranks. Time in MPI is also that in which a rank waits for a slower one.\n")
  head("step", "messages", "bytes", "µs in MPI", "µs in all")
  for _, name in ipairs { "strong", "weak", "large", "small batches" } do
    local _, many = steps(name)
    row(name, many[8], many[9], many[10], many[7])
  end
  print "\n## A sum in the order of ranks\n"
  print("µs for n doubles on " .. ranks .. " ranks: ours, which gives the same bits in every run, and MPI_Allreduce, "
        .. "which need not.\n")
  head("n", "perilune", "MPI_Allreduce")
  for _, fields in ipairs(select_lines "sum") do
    local other = select_lines("allreduce", ranks, fields[3])[1]
    row(string.format("%d", fields[3]), fields[4], other and other[4])
  end
end

local function apart ()
  print "\n## Steps between messages\n"
  print("`local_steps` = k on " .. ranks .. [[ ranks, batches of 1000 rows a rank of 2·10⁵; and a whole fit of 10⁵ rows
by batches of 500: how far its means are from those of the fit with all rows, at most, in sds of the posterior.
]])
  head("k", "µs a step", "bytes a step", "steps of the fit", "verdict", "off by", "seconds")
  for _, fields in ipairs(select_lines "fit") do
    local step
    for _, one in ipairs(select_lines("step", "apart", ranks)) do step = one[6] == fields[3] and one or step end
    row(string.format("%d", fields[3]), step[7], step[9], string.format("%d", fields[4]), fields[5],
        string.format("%.3f", fields[6]), fields[7])
  end
end


-- The model of costs ------------------------------------------------------------------------------

-- a + b x by least squares of relative errors.
local function line_of (points)
  local sw, sx, sy, sxx, sxy = 0, 0, 0, 0, 0
  for _, p in ipairs(points) do
    local w = 1 / p[2] ^ 2
    sw, sx, sy, sxx, sxy = sw + w, sx + w * p[1], sy + w * p[2], sxx + w * p[1] ^ 2, sxy + w * p[1] * p[2]
  end
  local b = (sw * sxy - sx * sy) / (sw * sxx - sx * sx)
  return (sy - b * sx) / sw, b
end

local function log2_up (r)
  local k = 0
  while 2 ^ k < r do k = k + 1 end
  return k
end

local function costs ()
  local sums, rows = {}, {}
  for _, fields in ipairs(select_lines "sum") do
    if fields[3] <= 10000 then sums[#sums + 1] = { (ranks - 1) * fields[3], fields[4] } end
  end
  for _, name in ipairs { "strong", "weak" } do
    local one = steps(name)
    rows[#rows + 1] = { one[4], one[7] }
  end
  local latency, number = line_of(sums)
  local overhead, large = line_of(rows), steps "large"
  overhead = math.max(overhead, 0)
  return { latency = latency / log2_up(ranks), number = number, overhead = overhead,
           row = (large[7] - overhead) / large[4] }
end

local function step_time (cost, network, r, n)
  local message = r == 1 and 0 or log2_up(r) * network.latency + (r - 1) * NUMBERS * network.number
  return cost.overhead + n / r * cost.row + message, message
end

local function model ()
  local cost = costs()
  print "\n## A model of costs\n"
  print(string.format([[
Fitted to the sums and the steps on one rank above, a row being one that no cache holds; for %d columns and %d draws a
step (n = %d numbers a message), R ranks, N rows:

    step [µs] = %.3g + %.3g N/R + message,   message [µs] = %.3g ⌈log₂ R⌉ + %.3g (R - 1) n]], COLUMNS, DRAWS, NUMBERS,
                      cost.overhead, cost.row, cost.latency, cost.number))
  local _, many = steps "large"
  local told = step_time(cost, cost, ranks, many[4])
  print(string.format([[

The step of 4·10⁵ rows on %d ranks, which was not fitted: %.3g µs by the model, %.3g measured.

Extrapolated. "Shared memory" has this machine's messages, which no network has; the two networks are assumed: 2 µs and
10 GB/s, 50 µs and 1 GB/s. Efficiency is the time of one rank over R times that of R. (docs/scaling.md says what the
model leaves out.)
]], ranks, told, many[7]))
  head("rows", "ranks", "GB a rank", "shared memory", "2 µs, 10 GB/s", "50 µs, 1 GB/s", "efficiency",
       "on the slow network")
  local fast, slow = { latency = 2, number = 8e-4 + 1e-3 }, { latency = 50, number = 8e-3 + 1e-3 }   -- and 1 ns to add
  for _, n in ipairs { 1e5, 1e7, 1e9 } do
    for _, r in ipairs { 1, 2, 8, 64 } do
      local function seconds (network) return step_time(cost, network, r, n) / 1e6 end
      local alone = step_time(cost, cost, 1, n) / 1e6
      local function efficiency (network) return string.format("%.0f %%", 100 * alone / (r * seconds(network))) end
      row(string.format("%.0e", n):gsub("e%+0?", "e"), string.format("%d", r), n / r * (COLUMNS + 1) * 8 / 1e9,
          digits(seconds(cost)) .. " s", digits(seconds(fast)) .. " s", digits(seconds(slow)) .. " s", efficiency(fast),
          efficiency(slow))
    end
  end
end

print "# Ranks on one machine\n"
print(string.format([[
Machine: %s, %s cores; load average %s. %s. `make mpi-bench` writes this page; times are wall clock, the
best of rounds.]],
                    output "sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -1", output "nproc",
                    output "cut -d' ' -f1 /proc/loadavg", output "mpirun --version | head -1"))
scaling()
messages()
apart()
model()
