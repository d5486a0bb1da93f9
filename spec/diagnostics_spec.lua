--- Diagnostics of chains, against R's posterior 1.4.0 on the same draws.
local diagnostics = require "perilune.inference.diagnostics"
local peri        = require "perilune"

local function chains ()
  local rows = {}
  for c = 1, 4 do
    local s = 0.3 * c
    rows[c] = {}
    for t = 1, 200 do
      s = 0.8 * s + math.sin(t * t * 0.7 + c * 1.3) + 0.5 * math.cos(t * 3.1 * c)
      rows[c][t] = s
    end
  end
  return peri.tensor(rows)
end

local function shifted ()
  local x = chains()
  x[2]:copy(x[2] + 2)
  return x
end

-- rhat, ess_bulk, ess_tail, ess_mean, mcse_mean, mcse_sd, mcse_quantile 0.3, ess_quantile 0.3
local cases = {
  ["four chains"] = { chains(), 1.0494276888759295, 72.803463496738857, 141.16880943571977, 72.093430444061923,
                      0.19128045438291208, 0.10023706227111108, 0.25993391397653198, 101.27779204319657 },
  ["one chain apart"] = { shifted(), 1.1651558022671968, 37.906460557841854, 31.630062594415726, 32.04705863846857,
                          0.32890362745428342, 0.21333702931755083, 0.22714164337461978, 103.74366002446983 },
  ["many ties"] = { chains():round(), 1.0597172652658622, 73.637584642060332, 100.30975762991154, 72.92206641973857,
                    0.19095879957761044, 0.10222577242621189, 0, 100.65651943919744 },
  ["an odd number of draws"] = { chains():narrow(1, 1, 2):narrow(2, 1, 51):contiguous(), 1.8757257769942008,
                                 3.5187215184199037, 19.924023058736026, 3.2023379216349896, 1.110975690562825,
                                 0.40454566083617083, 1.5567818686662123, 3.5146089741598114 },
  ["one chain"] = { chains():narrow(1, 1, 1):contiguous(), 1.0021347939054359, 31.788531426700846, 100.78192543399922,
                    30.358887839141886, 0.2163122949001671, 0.068492690974848933, 0.38503602622009725,
                    33.265203533806186 },
}

describe("diagnostics", function ()
  for name, case in pairs(cases) do
    it("are R's: " .. name, function ()
      local x = case[1]
      local found = { diagnostics.rhat(x), diagnostics.ess_bulk(x), diagnostics.ess_tail(x), diagnostics.ess_mean(x),
                      diagnostics.mcse_mean(x), diagnostics.mcse_sd(x), diagnostics.mcse_quantile(x, 0.3),
                      diagnostics.ess_quantile(x, 0.3) }
      for i, value in ipairs(found) do assert.near(case[i + 1], value, 1e-12 * math.max(1, case[i + 1])) end
    end)
  end

  it("of several quantities at once are those of each", function ()
    local list = { chains(), shifted(), chains():round(), peri.ones(4, 200), -chains() ^ 3 }
    local found = { diagnostics.all(peri.stack(list)) }
    for i, x in ipairs(list) do
      for k, f in ipairs { "rhat", "ess_bulk", "ess_tail" } do
        local one, several = diagnostics[f](x), found[k][i]
        assert.equal(one ~= one and "nan" or one, several ~= several and "nan" or several)
      end
    end
  end)

  it("are NaN for draws that do not move, or are not finite", function ()
    for _, x in ipairs { peri.ones(4, 100), peri.full({ 4, 100 }, 0 / 0), peri.full({ 2, 10 }, math.huge) } do
      for _, f in ipairs { "rhat", "ess_bulk", "ess_tail" } do
        local value = diagnostics[f](x)
        assert.not_equal(value, value)
      end
    end
  end)

  it("of four draws of each chain: R-hat alone", function ()
    local x = peri.tensor { { 1, 2, 3, 5 }, { 11, 14, 12, 13 } }
    assert.is_true(diagnostics.rhat(x) > 1.5)
    local ess = diagnostics.ess_bulk(x)
    assert.not_equal(ess, ess)
  end)

  it("of independent draws find all of them", function ()
    local x = peri.Normal(0, 1):sample({ 4, 1000 }, peri.rng(1))
    assert.near(1, diagnostics.rhat(x), 0.005)
    assert.near(4000, diagnostics.ess_bulk(x), 600)
    assert.near(1, diagnostics.autocorrelation(x[1], 3)[1], 1e-12)
  end)

  it("of energies: 2 for independent ones", function ()
    local x = peri.Normal(0, 1):sample({ 2, 4000 }, peri.rng(1))
    assert.near(2, diagnostics.e_bfmi(x)[1], 0.15)
  end)
end)
