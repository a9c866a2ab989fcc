import { styleText } from 'node:util';

type Colour = Parameters<typeof styleText>[0];
const COLOURS: readonly Colour[] = ['cyan', 'green', 'magenta', 'yellow', 'blue'];

/** Returns a printer that prefixes lines with the name of their process, coloured on a terminal. */
export function labelledLog(out: NodeJS.WriteStream): (label: string, line: string) => void {
  const seen: string[] = [];
  // The terminal may close first, but the processes must still be stopped in order.
  out.on('error', () => undefined);
  return (label, line) => {
    if (!seen.includes(label)) seen.push(label);
    const prefix = `${label.padEnd(8)} |`;
    const colour = COLOURS[seen.indexOf(label) % COLOURS.length] ?? 'white';
    out.write(`${out.isTTY ? styleText(colour, prefix) : prefix} ${line}\n`);
  };
}
