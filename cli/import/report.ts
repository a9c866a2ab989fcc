import { printable } from '../moderator/terminal.ts';
import type { Findings } from './collect.ts';
import type { Place } from './threads.ts';

/** Counts what becomes of the comments of a file; prints a line for each that is not imported as it was. */
export function createReport(print: (line: string) => void) {
  const refused = new Map<string, number>();
  const moved = new Map<string, number>();
  const results = new Map<string, number>();
  let shortened = 0;
  const count = (counts: Map<string, number>, name: string) =>
    counts.set(name, (counts.get(name) ?? 0) + 1);
  const line = (...parts: string[]) => print(`${parts.map(printable).join('\t')}\n`);

  const findings: Findings = {
    shortened(label, parts) {
      shortened += 1;
      line('shortened', label, parts.join(', '));
    },
    refused(label, reason) {
      count(refused, reason);
      line('refused', label, reason);
    },
  };
  return {
    ...findings,
    moved(label: string, why: NonNullable<Place<unknown>['moved']>) {
      count(moved, why);
      line('moved', label, MOVED[why]);
    },
    result: (result: string) => count(results, result),
    results,
    /** The lines of the end of the report. */
    summary(): string[] {
      const sum = (counts: Map<string, number>) => [...counts.values()].reduce((a, b) => a + b, 0);
      const parts = (counts: Map<string, number>, say = (name: string) => name) =>
        [...counts].map(([name, number]) => `    ${number}: ${say(name)}`);
      return [
        `  imported before: ${results.get('known') ?? 0}`,
        `  shortened: ${shortened}`,
        `  moved in their threads: ${sum(moved)}`,
        ...parts(moved, (name) => MOVED[name as keyof typeof MOVED]),
        `  refused: ${sum(refused)}`,
        ...parts(refused),
      ].map(printable);
    },
  };
}

export type Report = ReturnType<typeof createReport>;

const MOVED: Readonly<Record<NonNullable<Place<unknown>['moved']>, string>> = {
  folded: 'a reply to a reply; now a reply to the first comment of the thread',
  'parent missing': 'what it replies to is not imported; now a comment without a parent',
  circle: 'it is among its own ancestors; now a comment without a parent',
};
