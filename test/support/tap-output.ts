export type Totals = { passed: number; failed: number; skipped: number };

// Reads TAP as it arrives: prints one line per passed file, and only the failures of others.
export class TapOutput {
  readonly totals: Totals = { passed: 0, failed: 0, skipped: 0 };
  private kept: string[] = [];
  private subtests: { indent: number; from: number }[] = [];
  private readonly print: (line: string) => void;

  constructor(print: (line: string) => void) {
    this.print = print;
  }

  read(line: string): void {
    const [, indent = '', not, rest = ''] = /^( *)(not )?ok \d+(?: - (.*))?$/.exec(line) ?? [];
    if (/^ *# Subtest: /.test(line)) this.begin(line);
    else if (/^ *(not )?ok \d+/.test(line))
      this.result(line, indent.length, not !== undefined, rest);
    else if (line.startsWith('# {')) this.total(line);
    else if (!/^(TAP version| *\d+\.\.\d+| *# time=|# No coverage| *$)/.test(line))
      this.kept.push(line);
  }

  end(): void {
    for (const line of this.kept) this.print(line);
    this.kept = [];
  }

  private begin(line: string): void {
    const indent = line.indexOf('#');
    if (indent === 0) this.end(); // print the diagnostics of the previous file
    this.subtests.push({ indent, from: this.kept.length });
    this.kept.push(line);
  }

  private result(line: string, indent: number, failed: boolean, description: string): void {
    const subtest = this.subtests.at(-1)?.indent === indent ? this.subtests.pop() : undefined;
    // tap reports a file without assertions as skipped; count it as failed.
    const empty = indent === 0 && /# SKIP no tests found$/i.test(description);
    if (empty) this.countAsFailed();
    if (failed || empty) {
      this.kept.push(empty ? line.replace(/^ok/, 'not ok') : line);
      return;
    }
    if (subtest) this.kept.length = subtest.from;
    if (indent === 0) this.print(`ok ${description}`);
    else if (/# (SKIP|TODO)/i.test(description)) this.print(`skipped: ${description}`);
  }

  private countAsFailed(): void {
    this.totals.failed++;
    this.totals.skipped--;
  }

  private total(line: string): void {
    const count = (name: string) => Number(new RegExp(`\\b${name}: (\\d+)`).exec(line)?.[1] ?? 0);
    this.totals.passed += count('pass');
    this.totals.failed += count('fail');
    this.totals.skipped += count('skip') + count('todo');
  }
}
