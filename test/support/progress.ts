import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Finished } from './file-pool.ts';
import type { Counts } from './tap-output.ts';

/** How long each file took when it last passed, in seconds. */
export type Durations = Record<string, number>;

const SLOWEST = 10;
/** How many lines of each failed file are printed again at the end. */
const REPEATED_LINES = 120;
/** A guess for a file that has not run here yet. */
const UNKNOWN_SECONDS = 10;
/** The part of the expected time after which the rest is estimated: the first files to end are the short ones. */
const ESTIMATED_FROM = 0.05;

export function readDurations(path: string): Durations {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return {};
  }
}

export function writeDurations(path: string, durations: Durations): void {
  mkdirSync(dirname(path), { recursive: true });
  const written = `${path}.${process.pid}`;
  writeFileSync(written, JSON.stringify(durations, null, 1));
  renameSync(written, path);
}

/** A command that runs the first failed test of a file again. */
export function commandFor({ file, failures: [title] }: Finished): string {
  const quoted = title === undefined ? '' : ` --grep='${title.replaceAll("'", `'\\''`)}'`;
  return `npm test -- ${file}${quoted}`;
}

/** Prints each file as it ends, with what is left, and at the end the slowest and the failed. */
export class Progress {
  readonly totals: Counts = { passed: 0, failed: 0, skipped: 0 };
  private readonly finished: Finished[] = [];
  private readonly startedAt = performance.now();
  private readonly files: readonly string[];
  private readonly durations: Durations;
  private readonly print: (line: string) => void;

  constructor(files: readonly string[], durations: Durations, print: (line: string) => void) {
    this.files = files;
    this.durations = durations;
    this.print = print;
  }

  add(result: Finished): void {
    this.finished.push(result);
    for (const count of ['passed', 'failed', 'skipped'] as const)
      this.totals[count] += result[count];
    const { file, failed, seconds, processor, lines, before } = result;
    if (failed === 0) this.durations[file] = Number(seconds.toFixed(1));
    for (const line of lines) this.print(line);
    if (failed > 0) {
      if (before.length > 0) this.print(`  before it in the same process: ${before.join(' ')}`);
      this.print(`  again: ${commandFor(result)}`);
    }
    const state = failed > 0 ? 'not ok' : 'ok';
    this.print(
      `${this.position()} ${state} ${file} ${seconds.toFixed(1)} s (processor ${processor.toFixed(1)} s)`,
    );
  }

  end(): void {
    if (this.finished.length > SLOWEST) {
      const slowest = this.finished.toSorted((a, b) => b.seconds - a.seconds).slice(0, SLOWEST);
      this.print(`Slowest of ${this.finished.length} files:`);
      for (const { file, seconds, processor } of slowest)
        this.print(
          `${seconds.toFixed(1).padStart(7)} s (processor ${processor.toFixed(1)} s) ${file}`,
        );
    }
    this.printLeftOut();
    const failed = this.finished.filter((result) => result.failed > 0);
    if (failed.length > 0 && this.finished.length > 1) {
      this.print('Failed:');
      for (const result of failed) {
        this.print(`  ${result.file}: ${result.failures.join('; ') || result.lines.at(-1)}`);
        this.print(`    ${commandFor(result)}`);
        for (const line of result.lines.slice(0, REPEATED_LINES)) this.print(`    ${line}`);
      }
    }
  }

  /** Why tests were skipped, and how many. */
  private printLeftOut(): void {
    const reasons = this.finished.flatMap(({ lines }) =>
      lines.flatMap((line) => /^skipped: .* # (?:SKIP|TODO) (.*)$/i.exec(line)?.[1] ?? []),
    );
    if (reasons.length === 0) return;
    this.print('Left out:');
    const tests = Object.entries(Object.groupBy(reasons, (reason) => reason));
    for (const [reason, { length = 0 } = []] of tests.sort(([a], [b]) => (a < b ? -1 : 1)))
      this.print(`${`${length}`.padStart(7)} ${length === 1 ? 'test' : 'tests'}: ${reason}`);
  }

  private position(): string {
    const total = this.files.length;
    const count = `${this.finished.length}`.padStart(`${total}`.length);
    const left = this.secondsLeft();
    if (left === undefined) return `[${count}/${total}]`;
    return `[${count}/${total}, ${left < 60 ? `${Math.ceil(left)} s` : `${Math.round(left / 60)} min`} left]`;
  }

  /**
   * The time so far, in proportion to the expected time of the finished and the other files; undefined before there is
   * something to go by, and at the end.
   */
  private secondsLeft(): number | undefined {
    const expected = (file: string) => this.durations[file] ?? UNKNOWN_SECONDS;
    const ended = new Set(this.finished.map(({ file }) => file));
    const sum = (files: readonly string[]) =>
      files.reduce((seconds, file) => seconds + expected(file), 0);
    const done = sum([...ended]);
    const left = sum(this.files.filter((file) => !ended.has(file)));
    const passed = (performance.now() - this.startedAt) / 1000;
    const known = left > 0 && done >= ESTIMATED_FROM * (done + left);
    return known ? (passed * left) / done : undefined;
  }
}
