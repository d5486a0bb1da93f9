--- A script in a sandbox: only base, table, string and math; and `require`, or the module as an argument.
local before = {}
for name, value in pairs(_G) do before[name] = value end

local peri = ... or require "perilune"
local p, q = peri.Normal(0, 1), peri.Normal { loc = { 1, 2 }, scale = 2 }
local results = {
  tostring(p), tostring(q), tostring(peri.has "Nothing"), tostring(peri.has "nothing"),
  tostring(peri.kl_divergence(p, p)), tostring(peri.kl_divergence(p, q)),
  tostring(peri.Exponential(2):log_prob(1)), tostring(peri.Uniform(0, 2):sample({ 2 }, peri.rng(1))),
  tostring(peri.tensor { { 1, 2 }, { 3, 4 } }:matmul { 1, 1 }), tostring(peri.special.lgamma(0.5)),
  tostring(pcall(peri.Normal, 0, -1)), tostring(peri.Normal:extend "My" (1, 2)),
}
local My = setmetatable({ __name = "My" }, { __index = peri.Normal })
My.__index = My
peri.register_kl(My, My, function () return 7 end)
peri.set_threads(2)
results[#results + 1] = tostring(peri.zeros(100000):sum())
peri.set_threads(1)

-- Fits need neither a clock of os, nor coroutines, nor io for their progress.
local posed = peri.model(function (m, d)
  m.mu, m.scale = peri.Normal(0, 5), peri.HalfNormal(2)
  m.y = peri.Normal(m.mu, m.scale):expand(#d.y)
end) { y = { 1.2, 0.7, 2.1, 1.4 } }
local said = 0
local post = posed:vi { seed = 1, progress = function () said = said + 1 end }
assert(said > 0, "progress without io is a callback")
posed:vi { seed = 1, progress = true }
local fit = posed:vi { run = false, seed = 2, objective = "elbo" }
repeat fit:step { ms = 1 } until fit.steps > 0
assert(posed:smc { run = false, particles = 100, seed = 1 }:step { ms = 1 } ~= nil)
results[#results + 1] = string.format("%a %a %s", post.mean.mu, post.sd.scale, post.verdict)

for name, value in pairs(_G) do assert(before[name] == value, "a global was set: " .. name) end
for name, value in pairs(before) do assert(_G[name] == value, "a global was changed: " .. name) end
for _, name in ipairs { "io", "os", "debug", "coroutine", "utf8" } do
  assert(_G[name] == nil, name .. " is no part of a sandbox")
end
return table.concat(results, "\n")
