--- The characters that pictures are made of, by whether there is more than ASCII.
local UTF8 = {
  left = "│", tick = "┤", corner = "└", zero = "┼", bottom = "─", mark = "┬", cut = "↑",
  outer = "─", inner = "━", middle = "●", shades = { "░", "▒", "▓", "█" },
  points = { "•", "◦", "×", "+" }, parts = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" }, bodies = { "█", "▒", "░", "▓" },
}
local ASCII = {
  left = "|", tick = "+", corner = "+", zero = "+", bottom = "-", mark = "+", cut = "^",
  outer = "-", inner = "=", middle = "o", shades = { ".", ":", "-", "=", "+", "*", "#", "%", "@" },
  points = { "*", "o", "x", "+" }, parts = { ".", ":", "#" }, bodies = { "#", "o", "+", "x" },
}

--- glyphs(ascii)
return function (ascii) return ascii and ASCII or UTF8 end
