export interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

export interface FileResult extends Counts {
  file: string;
  /** Seconds of processor time of the file's process and its children, without PostgreSQL. */
  processor: number;
  /** What to print about the file: its failures and skipped tests. */
  lines: string[];
  /** Titles of the failed tests of the file's first level. */
  failures: string[];
}

/** Begins the comment with a file's counts, which follows the last line of the file. */
export const COUNTS = 'counts ';
const COUNTS_LINE = `# ${COUNTS}`;

const FILE_INDENT = 0;
const TEST_INDENT = 4;

/**
 * Reads the TAP of one process with a test for each file, as it arrives. Calls `finished` after
 * each file; keeps only the lines of failures.
 */
export class TapOutput {
  private kept: string[] = [];
  private failures: string[] = [];
  private subtests: { indent: number; from: number }[] = [];
  private file = '';
  private readonly finished: (result: FileResult) => void;

  constructor(finished: (result: FileResult) => void) {
    this.finished = finished;
  }

  read(line: string): void {
    const [, indent = '', not, rest = ''] = /^( *)(not )?ok \d+(?: - (.*))?$/.exec(line) ?? [];
    if (/^ *# Subtest: /.test(line)) this.begin(line);
    else if (/^ *(not )?ok \d+/.test(line))
      this.result(line, indent.length, not !== undefined, rest);
    else if (line.startsWith(COUNTS_LINE)) this.end(JSON.parse(line.slice(COUNTS_LINE.length)));
    else if (!/^(TAP version| *\d+\.\.\d+| *# time=|# \{| *$)/.test(line)) this.kept.push(line);
  }

  /** Returns the lines that belong to no finished file, as after the end of the process. */
  rest(): string[] {
    return this.kept.splice(0);
  }

  private begin(line: string): void {
    this.subtests.push({ indent: line.indexOf('#'), from: this.kept.length });
    this.kept.push(line);
  }

  private result(line: string, indent: number, failed: boolean, description: string): void {
    const subtest = this.subtests.at(-1)?.indent === indent ? this.subtests.pop() : undefined;
    if (indent === FILE_INDENT) this.file = description.replace(/ # .*/, '');
    if (failed) {
      this.kept.push(line);
      if (indent === TEST_INDENT) this.failures.push(description.replace(/ # time=.*/, ''));
      return;
    }
    const skipped = /# (SKIP|TODO)/i.test(description) && indent !== FILE_INDENT;
    if (subtest) {
      const skips = this.kept.slice(subtest.from).filter((kept) => kept.startsWith('skipped: '));
      this.kept.length = subtest.from;
      this.kept.push(...skips);
    }
    if (skipped) this.kept.push(`skipped: ${description}`);
  }

  private end(counts: Record<string, number>): void {
    const { pass = 0, fail = 0, skip = 0, todo = 0, processor = 0 } = counts;
    const lines = this.rest();
    // tap reports a file without assertions as skipped or as passed; count it as failed.
    const empty = pass + fail + skip + todo === 0;
    if (empty) lines.push(`not ok - ${this.file} has no tests`);
    this.finished({
      file: this.file,
      processor,
      passed: pass,
      failed: fail + (empty ? 1 : 0),
      skipped: skip + todo,
      lines,
      failures: this.failures.splice(0),
    });
  }
}
