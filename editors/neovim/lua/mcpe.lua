-- The language server of mcpe in Neovim 0.7 and newer: require("mcpe").setup({ cmd = { ".venv/bin/mcpe", "lsp" } })
local M = {}

M.options = {
  cmd = { "mcpe", "lsp" },
  root_markers = { "mcpe.toml", "pyproject.toml", ".git" },
  on_attach = nil,
  capabilities = nil,
}

-- The server offers command lines only to an editor that can show them running.
local INIT = { terminal = true }

-- The nearest folder upwards that has one of the markers, or the file's own.
local function root_of(path)
  local folder = vim.fn.fnamemodify(path, ":p:h")
  local at = folder
  while true do
    for _, marker in ipairs(M.options.root_markers) do
      local found = at .. "/" .. marker
      if vim.fn.filereadable(found) == 1 or vim.fn.isdirectory(found) == 1 then
        return at
      end
    end
    local parent = vim.fn.fnamemodify(at, ":h")
    if parent == at then
      return folder
    end
    at = parent
  end
end

-- "run this task": the words of the command in a terminal below, without a shell. Only a person's choice comes here.
local function run_in_terminal(command)
  local line = command.arguments and command.arguments[1]
  if not line then
    return
  end
  local words = vim.deepcopy(line.command)
  if M.options.cmd[#M.options.cmd] == "lsp" then
    local program = vim.list_slice(M.options.cmd, 1, #M.options.cmd - 1)
    words = vim.list_extend(program, vim.list_slice(words, 2))
  end
  vim.cmd("silent! wall") -- what is run is what stands on the disk
  vim.cmd("botright new")
  vim.fn.termopen(words, { cwd = line.cwd })
end

local function keys(buffer)
  local function map(lhs, rhs)
    vim.keymap.set("n", lhs, rhs, { buffer = buffer, silent = true })
  end
  map("K", vim.lsp.buf.hover)
  map("gd", vim.lsp.buf.definition)
  map("gr", vim.lsp.buf.references)
  map("<leader>rn", vim.lsp.buf.rename)
  map("<leader>ca", vim.lsp.buf.code_action)
  map("<leader>cl", vim.lsp.codelens.run)
  map("<leader>f", M.format)
end

local function attached(client, buffer)
  vim.bo[buffer].omnifunc = "v:lua.vim.lsp.omnifunc"
  if M.options.on_attach then
    M.options.on_attach(client, buffer)
  else
    keys(buffer)
  end
end

function M.format()
  if vim.lsp.buf.format then
    vim.lsp.buf.format()
  else
    vim.lsp.buf.formatting_sync(nil, 5000)
  end
end

-- Before 0.11 a client is started for each project, once.
local clients = {}

local function start(buffer)
  local path = vim.api.nvim_buf_get_name(buffer)
  local root = root_of(path ~= "" and path or vim.fn.getcwd() .. "/x")
  if not clients[root] then
    clients[root] = vim.lsp.start_client({
      name = "mcpe",
      cmd = M.options.cmd,
      root_dir = root,
      workspace_folders = { { uri = vim.uri_from_fname(root), name = root } },
      init_options = INIT,
      capabilities = M.options.capabilities or vim.lsp.protocol.make_client_capabilities(),
      on_attach = attached,
      on_exit = function()
        clients[root] = nil
      end,
    })
  end
  if clients[root] then
    vim.lsp.buf_attach_client(buffer, clients[root])
  end
end

function M.setup(options)
  M.options = vim.tbl_extend("force", M.options, options or {})
  vim.lsp.commands["mcpe.runInTerminal"] = run_in_terminal
  local group = vim.api.nvim_create_augroup("mcpe", { clear = true })
  if vim.lsp.config and vim.lsp.enable then
    vim.lsp.config("mcpe", {
      cmd = M.options.cmd,
      filetypes = { "mcpe" },
      root_markers = M.options.root_markers,
      init_options = INIT,
      capabilities = M.options.capabilities,
      on_attach = attached,
    })
    vim.lsp.enable("mcpe")
  else
    vim.api.nvim_create_autocmd("FileType", {
      group = group,
      pattern = "mcpe",
      callback = function(event)
        start(event.buf)
      end,
    })
  end
  vim.api.nvim_create_autocmd({ "BufEnter", "InsertLeave", "BufWritePost" }, {
    group = group,
    pattern = "*.mcpe",
    callback = function()
      local known = vim.lsp.get_clients and vim.lsp.get_clients({ bufnr = 0 }) or vim.lsp.buf_get_clients(0)
      if next(known) then
        pcall(vim.lsp.codelens.refresh)
      end
    end,
  })
end

return M
