import type { Commands } from './command.ts';
import { UsageError } from './context.ts';

/** A script that completes commands and options: `source <(svc completion bash)`. */
export function completion(
  shell: string | undefined,
  commands: Commands,
  general: readonly string[],
): string {
  if (shell !== 'bash' && shell !== 'zsh')
    throw new UsageError('The shell must be bash or zsh, as in: source <(svc completion bash).');
  const words = Object.entries(commands);
  const first = [...new Set(words.map(([name]) => name.split(' ')[0] ?? ''))];
  const seconds = new Map<string, string[]>();
  for (const [name] of words) {
    const [one = '', second] = name.split(' ');
    if (second) seconds.set(one, [...(seconds.get(one) ?? []), second]);
  }
  const pairs = words.flatMap(([name]) => (name.includes(' ') ? [`"${name}"`] : []));
  const shells = '      completion) words="bash zsh" ;;';
  const groups = [...seconds].map(([name, all]) => `      ${name}) words="${all.join(' ')}" ;;`);
  const options = words.map(([name, { options = {} }]) => {
    const flags = [...Object.keys(options), ...general].map((option) => `--${option}`);
    return `      "${name}") words="${flags.join(' ')}" ;;`;
  });
  return `${shell === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : ''}_svc() {
  local words="" current="\${COMP_WORDS[COMP_CWORD]}"
  if [[ $current == -* ]]; then
    local name="\${COMP_WORDS[1]} \${COMP_WORDS[2]}"
    case "$name" in
      ${pairs.join('|')}) ;;
      *) name="\${COMP_WORDS[1]}" ;;
    esac
    case "$name" in
${options.join('\n')}
    esac
  elif [[ $COMP_CWORD -eq 1 ]]; then
    words="${first.join(' ')}"
  elif [[ $COMP_CWORD -eq 2 ]]; then
    case "\${COMP_WORDS[1]}" in
${[...groups, shells].join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _svc svc
`;
}
