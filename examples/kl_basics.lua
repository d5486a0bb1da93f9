--- KL divergence: what it measures, why direction matters, batches, reductions, and when it is infinite.
local peri = require "perilune"
local Normal, Categorical, Uniform = peri.Normal, peri.Categorical, peri.Uniform

local function title (text) print("\n" .. text .. "\n" .. ("-"):rep(#text)) end

title "Direction matters"
local narrow, wide = Normal(0, 1), Normal(0, 3)
print(string.format("KL(narrow || wide) = %.4f    a wide q covers what p does", peri.kl_divergence(narrow, wide)))
print(string.format("KL(wide || narrow) = %.4f    a narrow q is surprised by the tails of p",
                    peri.kl_divergence(wide, narrow)))

title "A weather forecast, scored in nats"
local truth = Categorical { 0.7, 0.2, 0.1 }   -- sun, clouds, rain
for _, case in ipairs { { "perfect", { 0.7, 0.2, 0.1 } }, { "vague", { 1, 1, 1 } },
                        { "sure of sun", { 0.98, 0.01, 0.01 } } } do
  local forecast = Categorical(case[2])
  print(string.format("%-12s KL(truth || forecast) = %.4f   cross entropy = %.4f", case[1],
                      peri.kl_divergence(truth, forecast), truth:cross_entropy(forecast)))
end

title "Batches broadcast: loc down, scale across"
local loc, scale = peri.tensor { { 0 }, { 1 }, { 2 } }, peri.tensor { 0.5, 1, 2, 4 }
local all = peri.kl_divergence(Normal(loc, 1), Normal(0, scale))
print(all)

title "Reductions"
print("sum over everything ", all:sum())
print("mean                ", all:mean())
print("mean of the sums of rows, as a loss over a batch has it:", all:sum(-1):mean())

title "Where q says never, KL is infinite"
print("KL(U(0, 1) || U(0, 2)) =", peri.kl_divergence(Uniform(0, 1), Uniform(0, 2)))
print("KL(U(0, 2) || U(0, 1)) =", peri.kl_divergence(Uniform(0, 2), Uniform(0, 1)))
print("KL(Normal || Exponential) =", peri.kl_divergence(Normal(0, 1), peri.Exponential(1)))

title "How was it found?"
for _, pair in ipairs { { Normal(0, 1), Normal(1, 2) }, { peri.Gumbel(0, 1), peri.StudentT(3) },
                        { Normal(0, 1), Uniform(0, 1) } } do
  local how = peri.kl_explain(pair[1], pair[2])
  print(string.format("KL(%s || %s) = %.6g (%s)", pair[1], pair[2], how.value, how.method))
end
