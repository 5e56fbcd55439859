// The client of `mcpe lsp`: starts it, and runs in a terminal what a code lens offers. The server itself starts nothing.
import * as fs from "node:fs"
import * as path from "node:path"
import * as vscode from "vscode"
import { LanguageClient, type LanguageClientOptions, type ServerOptions } from "vscode-languageclient/node"

// The command of a code lens: what the server asks the editor to run, if the person says so.
const RUN = "mcpe.runInTerminal"

interface CommandLine {
  cwd: string
  command: string[]
}

let client: LanguageClient | undefined

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  context.subscriptions.push(
    vscode.commands.registerCommand(RUN, runInTerminal),
    vscode.commands.registerCommand("mcpe.restart", restart),
    vscode.commands.registerCommand("mcpe.showLog", () => client?.outputChannel.show()),
    vscode.workspace.onDidChangeConfiguration(async (change) => {
      if (change.affectsConfiguration("mcpe.command")) await restart()
    }),
  )
  await start()
}

export async function deactivate(): Promise<void> {
  await stop()
}

async function start(): Promise<void> {
  const [command, ...rest] = commandLine()
  const server: ServerOptions = { command, args: [...rest, "lsp"], options: { cwd: firstFolder() } }
  const options: LanguageClientOptions = {
    documentSelector: [
      { language: "mcpe", scheme: "file" },
      { language: "mcpe", scheme: "untitled" },
    ],
    // the server offers command lines only to an editor that can show them running
    initializationOptions: { terminal: true },
  }
  client = new LanguageClient("mcpe", "mcpe", server, options)
  try {
    await client.start()
  } catch (error) {
    const settings = "Settings"
    const message = `mcpe: the language server does not start (${command} lsp): ${String(error)}`
    const chosen = await vscode.window.showErrorMessage(message, settings)
    if (chosen === settings) await vscode.commands.executeCommand("workbench.action.openSettings", "mcpe.command")
  }
}

async function stop(): Promise<void> {
  const running = client
  client = undefined
  if (running?.isRunning()) await running.stop()
}

async function restart(): Promise<void> {
  await stop()
  await start()
}

function firstFolder(): string | undefined {
  return vscode.workspace.workspaceFolders?.find((folder) => folder.uri.scheme === "file")?.uri.fsPath
}

function commandLine(): string[] {
  const configured = vscode.workspace.getConfiguration("mcpe").get<string[]>("command") ?? []
  const [command = "mcpe", ...rest] = configured.filter((word) => typeof word === "string" && word !== "")
  const folder = firstFolder()
  if (folder !== undefined && command.includes("/") && !path.isAbsolute(command)) {
    const inside = path.join(folder, command)
    if (fs.existsSync(inside)) return [inside, ...rest]
  }
  return [command, ...rest]
}

// Words go to the program as they are: no shell reads them.
function runInTerminal(line: CommandLine | undefined): void {
  if (line === undefined || !Array.isArray(line.command) || line.command.length < 2) return
  if (!vscode.workspace.isTrusted) {
    void vscode.window.showWarningMessage("mcpe: nothing is run in a workspace that is not trusted.")
    return
  }
  const [program, ...before] = commandLine()
  const args = [...before, ...line.command.slice(1)]
  const execution = new vscode.ProcessExecution(program, args, { cwd: line.cwd })
  const task = new vscode.Task({ type: "mcpe" }, vscode.TaskScope.Workspace, args.join(" "), "mcpe", execution)
  task.presentationOptions = { reveal: vscode.TaskRevealKind.Always, panel: vscode.TaskPanelKind.Shared }
  void vscode.tasks.executeTask(task)
}
