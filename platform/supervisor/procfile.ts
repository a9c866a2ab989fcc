export type Procfile = ReadonlyMap<string, string>;
export type Instance = { readonly name: string; readonly command: string; readonly index: number };

/** Parses `name: command` lines. Throws if a line is malformed. */
export function parseProcfile(text: string): Procfile {
  const processes = new Map<string, string>();
  for (const line of text.split('\n')) {
    if (/^\s*(#|$)/.test(line)) continue;
    const [, name, command] = /^([A-Za-z0-9_-]+):\s*(\S.*)$/.exec(line.trim()) ?? [];
    if (!name || !command) throw new Error(`The Procfile has a line without "name: command"`);
    processes.set(name, command);
  }
  return processes;
}

/**
 * Lists the processes to start: one of each, or as many as arguments such as `worker=2` say.
 * Excludes `release`, which runs once before them. Throws if an argument is invalid.
 */
export function instances(procfile: Procfile, args: readonly string[]): Instance[] {
  const counts = new Map<string, number>();
  for (const argument of args) {
    const [, name = '', count] = /^([^=]+)=(\d{1,2})$/.exec(argument) ?? [];
    if (!procfile.has(name) || name === 'release')
      throw new Error(`"${argument}" is not the count of a process, such as worker=2`);
    counts.set(name, Number(count));
  }
  return [...procfile]
    .filter(([name]) => name !== 'release')
    .flatMap(([name, command]) =>
      Array.from({ length: counts.get(name) ?? 1 }, (_, index) => ({ name, command, index })),
    );
}
