/** For a command that takes no arguments: `--help` tells its usage, and whatever else is refused. */
export function takeNoArguments(command: string): void {
  const args = process.argv.slice(2);
  if (args.length === 0) return;
  const usage = `Usage:\n  ${command}\n`;
  if (args.join(' ') === '--help') {
    process.stdout.write(usage);
    process.exit(0);
  }
  process.stderr.write(`It takes no arguments, but was given ${args.join(' ')}\n${usage}`);
  process.exit(1);
}
