import { styleText } from 'node:util';

type Colour = Parameters<typeof styleText>[0];
const COLOURS: readonly Colour[] = ['cyan', 'green', 'magenta', 'yellow', 'blue'];

// Lines with the name of the process before them, in colour where a person is watching.
export function labelledLog(out: NodeJS.WriteStream): (label: string, line: string) => void {
  const seen: string[] = [];
  // The terminal may go away first; the processes still have to be stopped in order.
  out.on('error', () => undefined);
  return (label, line) => {
    if (!seen.includes(label)) seen.push(label);
    const prefix = `${label.padEnd(8)} |`;
    const colour = COLOURS[seen.indexOf(label) % COLOURS.length] ?? 'white';
    out.write(`${out.isTTY ? styleText(colour, prefix) : prefix} ${line}\n`);
  };
}
