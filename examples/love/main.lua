--- Habits, for LÖVE 11: arrow keys move, escape ends.
--
--   make love-play
--
-- On the right is what the three enemies believe of each lane: how likely it is that a bomb hits there. With `--demo
-- FILE` a player of habit plays half a minute without clock, and the last picture is written to FILE.
local Game = require "game"
local peri = require "perilune"

local graphics = love.graphics
local COLOURS = { { 0.93, 0.49, 0.19 }, { 0.27, 0.66, 0.87 }, { 0.55, 0.80, 0.35 } }
local GROUND, PANEL, LANE = 540, 600, 100
local WIDTH, TALLEST = 330, 5   -- of the panels: columns, and the density at their top
local X = peri.linspace(0.004, 0.996, 125)
local xs = X:totable()

local game, demo

function love.load (arguments)
  game = Game.new(7)
  if arguments[1] == "--demo" then demo = { file = arguments[2], frames = 0 } end
  graphics.setNewFont(14)
  graphics.setBackgroundColor(0.07, 0.08, 0.11)
end

local STEP, CHANGE, FRAMES = 1 / 60, 16, 1920

local function demo_frame ()
  for _ = 1, 8 do
    game:habit(CHANGE)
    game:update(STEP)
    demo.frames = demo.frames + 1
  end
end

function love.update (dt)
  if demo then demo_frame() else game:update(math.min(dt, 0.1)) end
end

function love.keypressed (key)
  if key == "left" then game:move(-1)
  elseif key == "right" then game:move(1)
  elseif key == "escape" then love.event.quit()
  end
end

local function centre (lane) return (lane - 0.5) * LANE + 30 end

local function draw_field ()
  for lane = 1, game.LANES do
    graphics.setColor(1, 1, 1, lane % 2 == 0 and 0.05 or 0.02)
    graphics.rectangle("fill", centre(lane) - LANE / 2, 60, LANE, GROUND - 60)
  end
  for i, enemy in ipairs(game.enemies) do
    graphics.setColor(COLOURS[i])
    graphics.polygon("fill", centre(enemy.place) - 22, 40, centre(enemy.place) + 22, 40, centre(enemy.place), 66)
  end
  for _, bomb in ipairs(game.bombs) do
    for i, enemy in ipairs(game.enemies) do if enemy == bomb.enemy then graphics.setColor(COLOURS[i]) end end
    local from = centre(bomb.enemy.place)
    if bomb.age < 1 then
      local x = from + (centre(bomb.lane) - from) * math.min(1, bomb.age * 2)
      graphics.circle("fill", x, 66 + (GROUND - 80) * bomb.age, 8)
    else
      graphics.circle(bomb.is_hit and "fill" or "line", centre(bomb.lane), GROUND - 14, 14 + 60 * (bomb.age - 1))
    end
  end
  graphics.setColor(1, 1, 1)
  graphics.rectangle("fill", centre(game.x) - 26, GROUND - 12, 52, 24, 6)
  for lane = 1, game.LANES do
    graphics.setColor(1, 1, 1, lane == game.lane and 1 or 0.35)
    graphics.printf("lane " .. lane, centre(lane) - LANE / 2, GROUND + 20, LANE, "center")
  end
end

-- A curve over a lane's line, and a faint shade below it.
local function draw_density (density, colour, bottom, height)
  local points = {}
  for k, y in ipairs(density) do
    local px, py = PANEL + WIDTH * xs[k], bottom - height * math.min(y / TALLEST, 1)
    points[2 * k - 1], points[2 * k] = px, py
    graphics.setColor(colour[1], colour[2], colour[3], 0.16)
    graphics.rectangle("fill", px, py, WIDTH * (xs[2] - xs[1]), bottom - py)
  end
  graphics.setColor(colour)
  graphics.line(points)
end

-- The densities of one lane; tall ones are cut.
local function draw_beliefs (lane, top, height)
  local bottom = top + height
  for i, enemy in ipairs(game.enemies) do
    draw_density(enemy:density(lane, X):totable(), COLOURS[i], bottom, height)
  end
  graphics.setColor(1, 1, 1, 0.6)
  graphics.line(PANEL, bottom, PANEL + WIDTH, bottom)
  for tenths = 0, 10, 5 do
    graphics.line(PANEL + WIDTH * tenths / 10, bottom, PANEL + WIDTH * tenths / 10, bottom + 4)
  end
  graphics.print("lane " .. lane, PANEL, top - 4)
end

local function draw_axis (y)
  graphics.setColor(1, 1, 1, 0.6)
  for tenths = 0, 10, 5 do
    graphics.printf(tostring(tenths / 10), PANEL + WIDTH * tenths / 10 - 20, y, 40, "center")
  end
end

-- Hits while nothing is known, when the habit is learnt, after it has changed, and when that is learnt, too.
local function report (n)
  local half = math.floor(n * CHANGE * 60 / FRAMES)
  print(string.format("hits: %.2f at first, %.2f of a known habit, %.2f of a new one, %.2f later",
                      game:rate(1, 10), game:rate(half - 29, half),
                      game:rate(half + 1, half + 10), game:rate(n - 29, n)))
end

local function end_demo (n)
  demo.done = true
  graphics.captureScreenshot(function (picture)
    local file = assert(io.open(demo.file, "wb"))
    file:write(picture:encode("png"):getString())
    file:close()
    report(n)
    love.event.quit()
  end)
end

function love.draw ()
  draw_field()
  for lane = 1, game.LANES do draw_beliefs(lane, 44 + (lane - 1) * 104, 80) end
  draw_axis(GROUND + 8)
  graphics.setColor(1, 1, 1)
  graphics.print("how likely a bomb hits, as each enemy believes", PANEL, 12)
  local n = #game.results
  local recent = 100 * game:rate(math.max(1, n - 29), n)
  graphics.print(string.format("bombs %d   hits of the last 30: %.0f %%", n, recent), 30, 12)
  if demo and demo.frames >= FRAMES and not demo.done then end_demo(n) end
end
