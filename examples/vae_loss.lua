--- The loss of a variational autoencoder: reconstruction, and the divergence of each posterior from a standard normal
-- prior. Both maps are linear here, so the best possible loss is known: probabilistic principal components.
local peri = require "perilune"
local Normal = peri.Normal

local N, WIDTH, LATENT, NOISE = 200, 6, 2, 0.3
local rng = peri.rng(2026)

-- Data: two hidden causes mixed into six measurements.
local mixing = Normal(0, 1):sample({ LATENT, WIDTH }, rng)
local data = Normal(0, 1):sample({ N, LATENT }, rng):matmul(mixing) + NOISE * Normal(0, 1):sample({ N, WIDTH }, rng)

local function weights (...) return peri.param(0.1 * Normal(0, 1):sample({ ... }, rng)) end
local model = {
  encoder = weights(WIDTH, LATENT), log_sd = peri.param(peri.zeros(LATENT)),
  decoder = weights(LATENT, WIDTH), log_noise = peri.param(0),
}
local prior = Normal(0, 1)

-- Both parts of the loss, in nats for each row.
local function loss_parts ()
  local posterior = Normal(data:matmul(model.encoder), model.log_sd:exp())
  local z = posterior:rsample(nil, rng)
  local reconstruction = Normal(z:matmul(model.decoder), model.log_noise:exp())
  local kl = peri.kl_divergence(posterior, prior):sum(-1):mean()
  return -reconstruction:log_prob(data):sum(-1):mean(), kl
end

local opt = peri.optim.Adam(model, { lr = 0.03 })
local STEPS, lines = 1200, {}
opt:schedule(peri.optim.schedules.warmup(20, peri.optim.schedules.cosine(STEPS - 20)))
for step = 1, STEPS do
  opt:zero_grad()
  local error_part, kl = loss_parts()
  local loss = error_part + kl
  loss:backward()
  opt:step()
  if step % 50 == 0 then
    io.write(string.format("\rstep %4d  loss %8.4f", step, loss:item())):flush()
  end
  if step == 1 or step % 200 == 0 then
    lines[#lines + 1] = string.format("%5d  %14.4f  %8.4f  %8.4f", step, error_part:item(), kl:item(), loss:item())
  end
end
print("\n\n step  reconstruction        KL      loss\n" .. table.concat(lines, "\n"))

-- The likelihood of the mixing and noise that made the data: a good fit comes close.
local covariance = mixing:transpose(1, 2):matmul(mixing) + NOISE ^ 2 * peri.eye(WIDTH)
local truth = peri.MultivariateNormal { loc = peri.zeros(WIDTH), covariance_matrix = covariance }
print(string.format("\nminus log likelihood of the data under their true law: %.4f",
                    -truth:log_prob(data):mean()))
print(string.format("noise found: %.3f, true: %.3f", math.exp(model.log_noise:item()), NOISE))
