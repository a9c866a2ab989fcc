import type { Command, Commands } from './command.ts';

const GENERAL_OPTIONS = `Options of every command:
  --home FOLDER   where the keys are kept (SVC_HOME, else ~/.svc)
  --at URL        the address of the service before the keys exist (SVC_URL, else http://localhost:3000)
  --json          prints answers and refusals as JSON, one a line
  --patience S    seconds for which one request is retried (900)
  --attempt-timeout S
                  seconds to wait for one answer before the request is sent again (30); more for a slow network
  --help          explains a command

Exit codes: 0 done; 1 failed; 2 wrong usage; 3 no answer from the service, run the same command again;
4 not registered or not allowed; 5 not found; 6 conflict with the present state; 7 the lease was lost; case claim --hold
passes on the exit code of its command, or 128 and the number of its signal.
A command that was interrupted is repeated with the same words: what the service did already happens once.
`;

/** The text of `svc --help`. */
export function generalHelp(commands: Commands): string {
  const lines = Object.entries(commands).map(
    ([name, { summary }]) => `  ${name.padEnd(16)}${firstSentence(summary)}`,
  );
  return `svc: a member of the service, from a shell

Usage: svc COMMAND [ARGUMENTS] [OPTIONS]

Commands:
${lines.join('\n')}

${GENERAL_OPTIONS}`;
}

/** The text of `svc COMMAND --help`. */
export function commandHelp(name: string, command: Command): string {
  const { args = [], options = {}, takesCommand, summary, example } = command;
  const flags = Object.entries(options).map(([option, { type }]) =>
    type === 'boolean' ? `[--${option}]` : `[--${option} VALUE]`,
  );
  const usage = ['svc', name, ...args, ...flags, ...(takesCommand ? ['[-- COMMAND]'] : [])];
  return `Usage: ${usage.join(' ')}

${summary}

Example:
  ${example}

${GENERAL_OPTIONS}`;
}

const firstSentence = (text: string) => text.replace(/[.:;] [\s\S]*$/, '').replace(/\.$/, '');
