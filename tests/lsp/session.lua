-- A session in Neovim with its own LSP client: see the diagnostic, apply the code action, save.
-- The environment says what to start and where the transcript goes.

local transcript = assert(io.open(os.getenv('TRANSCRIPT'), 'w'))
local start = vim.loop.hrtime()

local function say(text)
  transcript:write(string.format('%7.0f ms  %s\n', (vim.loop.hrtime() - start) / 1e6, text))
  transcript:flush()
end

local function wait(what, condition)
  if not vim.wait(120000, condition, 5) then
    say('NEVER: ' .. what)
    vim.cmd('cquit 1')
  end
end

local function session()
  say(vim.split(vim.fn.execute('version'), '\n', { trimempty = true })[1] .. ' opens ' .. vim.fn.expand('%:t'))
  local configuration = {
    name = 'autodetach',
    cmd = { os.getenv('PYTHON'), '-m', 'autodetach', 'server' },
    root_dir = vim.fn.getcwd(),
  }
  if vim.lsp.start then
    vim.lsp.start(configuration)
  else
    vim.lsp.buf_attach_client(0, vim.lsp.start_client(configuration))
  end

  wait('a diagnostic', function() return #vim.diagnostic.get(0) > 0 end)
  for _, found in ipairs(vim.diagnostic.get(0)) do
    local code = found.code or (found.user_data and found.user_data.lsp and found.user_data.lsp.code)
    say(string.format('line %d: %s: %s', found.lnum + 1, code, found.message))
  end

  local offered
  vim.ui.select = function(items, options, choose)
    offered = items
    for number, item in ipairs(items) do
      say(string.format('offered %d: %s', number, options.format_item and options.format_item(item) or item))
    end
    choose(items[1], 1)
  end
  local first = vim.diagnostic.get(0)[1]
  vim.api.nvim_win_set_cursor(0, { first.lnum + 1, first.col })
  local before = vim.api.nvim_buf_get_changedtick(0)
  vim.lsp.buf.code_action()
  wait('code actions', function() return offered end)
  wait('an edit', function() return vim.api.nvim_buf_get_changedtick(0) > before end)
  say('chose 1; line ' .. first.lnum + 1 .. ' is now: ' .. vim.trim(vim.api.nvim_buf_get_lines(0, first.lnum, first.lnum + 1, true)[1]))

  wait('no diagnostic any more', function() return #vim.diagnostic.get(0) == 0 end)
  say('no diagnostics')
  vim.cmd('write')
  say('written')
end

local ok, trouble = pcall(session)
if not ok then
  say('TROUBLE: ' .. tostring(trouble))
  vim.cmd('cquit 1')
end
transcript:close()
vim.cmd('qall')
