--- Writes the files of lua/ as a C file: pack.lua out.c source|bytecode lua/perilune/init.lua ...
local out, kind = arg[1], arg[2]

-- lua/perilune/a/b.lua -> perilune.a.b; init.lua stands for its folder.
local function module_name (path)
  return (path:gsub("^.-lua/", "", 1):gsub("%.lua$", ""):gsub("/init$", ""):gsub("/", "."))
end

local function read (path)
  local file = assert(io.open(path, "rb"))
  local text = file:read "a"
  file:close()
  return text
end

local function chunk_of (path)
  local text = read(path)
  local chunk = assert(load(text, "@" .. path, "t"))   -- a mistake shows now
  return kind == "bytecode" and string.dump(chunk, true) or text
end

-- As string literals, a line each; octal escapes have three digits, so that digits may follow.
local function literals (bytes)
  local lines = {}
  for i = 1, #bytes, 60 do
    lines[#lines + 1] = '  "' .. bytes:sub(i, i + 59):gsub('[^%w %.,;:_=<>+*/(){}%[%]-]', function (c)
      return string.format("\\%03o", c:byte())
    end) .. '"'
  end
  return table.concat(lines, "\n")
end

local files = {}
for i = 3, #arg do files[#files + 1] = { name = module_name(arg[i]), chunk = chunk_of(arg[i]) } end
table.sort(files, function (a, b) return a.name < b.name end)

local to = assert(io.open(out, "wb"))
to:write('#include "embed/embed.h"\n\n')
for i, file in ipairs(files) do to:write("static const char file_", i, "[] =\n", literals(file.chunk), ";\n\n") end
to:write("const EmbeddedFile perilune_files[] = {\n")
for i, file in ipairs(files) do to:write('  {"', file.name, '", file_', i, ", ", #file.chunk, "},\n") end
to:write("};\n\nconst size_t perilune_file_count = ", #files, ";\n")
to:close()
